"""Candidate errors in gold labels."""
