"""Sentences, tag sets, spans, edit scripts, and the atoms of running text."""
