"""Confidences: scores turned into calibrated probabilities."""
