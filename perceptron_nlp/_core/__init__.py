"""Numbers only: hashes, weight tables, feature keys and sentence loops."""
