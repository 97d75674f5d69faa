"""Slow, plain twins of the core, written for the tests from its documentation alone."""
