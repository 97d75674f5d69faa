"""From the strings of a sentence to the keys of its features."""
