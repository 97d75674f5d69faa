"""The contents of a model."""
