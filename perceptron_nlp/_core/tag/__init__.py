"""Tagging with a frozen model."""
