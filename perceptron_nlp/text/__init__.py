"""Sentences, tag sets, spans, edit scripts, and rules that cut running text."""
