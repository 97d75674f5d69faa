"""Taggers compared on one test set: the differences, and tests of their significance."""
