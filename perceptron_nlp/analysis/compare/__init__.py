"""Taggers side by side on one test set: the differences, and whether chance explains them."""
