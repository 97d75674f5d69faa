"""Train a tagger: from options and text to weights."""
