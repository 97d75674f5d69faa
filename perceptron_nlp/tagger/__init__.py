"""Sentences in, tags out: training, models, tagging and evaluation."""
