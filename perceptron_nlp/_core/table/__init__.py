"""Weights of hashed features while they are learned."""
