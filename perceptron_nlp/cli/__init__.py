"""The command line: one file per verb, on the public API alone."""
