"""What an atom of a feature saw, as text: ``lower[0]=dog``, ``tag[-1]=DET``.

The core works with hashes of what words look like. Here the likely texts behind such a hash are
made again from the word and tried: a text is shown if it has just that hash, so what is shown is
true; where none has it, a question mark stands.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from perceptron_nlp._core.hashing import hash64
from perceptron_nlp.features.atoms import Atom, Value
from perceptron_nlp.tagging.examples import word_bytes

UNTOLD = "?"
NO_LABEL = "<none>"
_CLASSES = ((str.isdigit, "d"), (str.isupper, "X"), (str.isalpha, "x"))
_LONGEST_RUN = 4


def value_text(word: str, value: Value, hashed: int) -> str:
    """The text of a word's value that has this hash, or a question mark."""
    for view in _views(word):
        for text in _pieces(view, value):
            if hash64(word_bytes(text)) == hashed:
                return text.replace("\x02", "^").replace("\x03", "$")
    return UNTOLD


def edge_text(place: int, length: int) -> str:
    """What stands for a word beyond a sentence's ends: ``<s>`` just before, ``<s2>`` further."""
    distance = -place if place < 0 else place - length + 1
    return f"<{'s' if place < 0 else '/s'}{distance if distance > 1 else ''}>"


def named(atom: Atom, text: str) -> str:
    """An atom with what it saw."""
    return f"{atom}={text}"


def _views(word: str) -> Iterator[str]:
    yield word
    yield word.lower()
    classes = [next((mark for is_in, mark in _CLASSES if is_in(c)), c) for c in word]
    runs = [(mark, len(list(run))) for mark, run in itertools.groupby(classes)]
    yield "".join(mark for mark, _ in runs)
    yield "".join(mark * min(length, _LONGEST_RUN) for mark, length in runs)
    yield from "01"


def _pieces(view: str, value: Value) -> list[str]:
    if value.affix == "prefix":
        return [view[:value.low]]
    if value.affix == "suffix":
        return [view[-value.low:]]
    if value.affix == "pieces":
        return view.split("|")
    if value.affix == "none":
        return [view]
    edged = f"\x02{view}\x03"
    return [edged[at:at + length] for length in range(value.low, value.high + 1)
            for at in range(len(edged) - length + 1)]
