"""What formats can hold: columns and their values, tags behind words, names of columns."""

from __future__ import annotations

import re
from collections.abc import Sequence

from perceptron_nlp.errors import ArgumentTypeError
from perceptron_nlp.text.tagset import known_labels as known_labels

SEPARATOR = "/"
"""What stands between a word and its tag."""
CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
NO_SPACES = ("upos", "xpos", "deprel")
_SPACE = re.compile("[ \u00a0]")
_FEATS = re.compile(r"[^\s|=]+=[^\s|=]+(?:\|[^\s|=]+=[^\s|=]+)*")
_NODE = r"(?:0|[1-9][0-9]*)(?:\.[1-9][0-9]*)?"
_DEPS = re.compile(rf"{_NODE}:[^\s|]+(?:\|{_NODE}:[^\s|]+)*")


def wrong_conllu_value(column: str, value: str) -> str | None:
    """Return what is wrong with a value by itself, or None."""
    if not value or "\t" in value or "\n" in value:
        return "is empty or holds a tab or a line break"
    if value == "_":
        return None
    if column in NO_SPACES and _SPACE.search(value):
        return "holds a space, which only FORM, LEMMA and MISC may"
    if column == "feats":
        if not _FEATS.fullmatch(value):
            return "is not Name=Value pairs joined by |, nor _"
        names = [pair.partition("=")[0] for pair in value.split("|")]
        return None if len(set(names)) == len(names) else "names a feature twice"
    if column == "deps" and not _DEPS.fullmatch(value):
        return "is not head:relation pairs joined by |, nor _"
    return None


def wrong_tag(tag: str, separator: str = SEPARATOR) -> bool:
    """Return True for a label that could not be read back from ``word/TAG``."""
    return not tag or separator in tag or any(mark in tag for mark in " \t\n")


def names_in(fields: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return ``fields`` as a tuple; raise unless they are a list of names, or None."""
    if fields is None:
        return None
    if (
        isinstance(fields, str)
        or not isinstance(fields, Sequence)
        or not all(isinstance(name, str) for name in fields)
    ):
        raise ArgumentTypeError("fields: a list of column names is needed")
    return tuple(fields)
