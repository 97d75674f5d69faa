"""Bytes to sentences and back: the only place that knows a file layout."""
