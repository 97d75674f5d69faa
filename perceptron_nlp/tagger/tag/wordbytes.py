"""Words and labels as the core hashes them."""

from __future__ import annotations

from perceptron_nlp._core.features.hashing import hash64


def word_bytes(word: str) -> bytes:
    """The bytes of a word that the core hashes: UTF-8, a lone surrogate as three bytes."""
    return word.encode("utf-8", "surrogatepass")


def word_hash(word: str) -> int:
    """The hash of a word, or of a label, 0 to 2**64 - 1: what it is in the key of a feature."""
    return hash64(word_bytes(word))
