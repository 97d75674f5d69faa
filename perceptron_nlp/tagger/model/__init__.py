"""A trained tagger as data: its parts, its file, its size."""
