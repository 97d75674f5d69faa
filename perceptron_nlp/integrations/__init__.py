"""Integrations: each module fits the tagger into another library."""
