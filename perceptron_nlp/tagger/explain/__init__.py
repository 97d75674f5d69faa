"""Explanations: which features gave a label its score."""
