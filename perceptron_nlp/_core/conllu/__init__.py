"""CoNLL-U as bytes: scanned, numbered, filled in."""
