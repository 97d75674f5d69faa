"""Weights and templates that no longer change, ready for tagging."""
