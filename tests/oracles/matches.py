"""What words of a dictionary match about the atoms of a text, as matches.h tells it, slowly."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from itertools import groupby

from oracles.atoms import Atoms, atoms_of
from perceptron_nlp.text.atoms import character_type
from perceptron_nlp.text.tagset import LONGEST_ENTRY, NOTHING, seen


def matches(
    text: str, entries: Collection[str], single: str = "", atoms: Atoms | None = None
) -> list[str]:
    """Return what TextAtoms.matches gives for a text, or for some of its atoms alone."""
    spans, gaps = atoms_of(text, single) if atoms is None else atoms
    n = len(spans)
    types = [character_type(seen(text[start:end])[0]) for start, end in spans]
    found = set()
    for i in range(n):
        for j in range(i, min(n, i + LONGEST_ENTRY)):
            if NOTHING * (j - i) != "".join(gaps[i:j]):
                break
            if text[spans[i][0] : spans[j][1]] in entries:
                found.add((i, j))
    runs, begin = {}, 0
    for _, own in groupby(range(n), _Run(text, spans, gaps, single)):
        size = len(list(own))
        runs.update(dict.fromkeys(range(begin, begin + size), (begin, begin + size - 1)))
        begin += size
    shown = []
    for at in range(n):
        first, last = runs[at]
        over = max((j - i + 1 for i, j in found if i <= at < j), default=0)
        ends = max((at - i + 1 for i, j in found if j == at), default=0)
        has_next = at + 1 < n and gaps[at] == NOTHING
        begins = max((j - at for i, j in found if i == at + 1), default=0) if has_next else 0
        type_ = types[at].replace("s", "c") if types[at] in "Aac9hkzs" else "o"
        shown.append(
            _length(over, False)
            + _length(begins, has_next and at + begins == runs[at + 1][1])
            + _length(ends, at - ends + 1 == first)
            + f"{min(at - first, 6)}{min(last - at, 6)}{type_}"
        )
    return shown


def _length(length: int, is_edge: bool) -> str:
    return chr(ord("a" if length and is_edge else "0") + min(length, 5))


class _Run:
    """Tells of each atom in turn which run it is of; atoms that are in none have one each."""

    def __init__(
        self, text: str, spans: list[tuple[int, int]], gaps: list[str], single: str
    ) -> None:
        self._text, self._spans, self._gaps, self._single = text, spans, gaps, single
        self._number = 0

    def _kind(self, at: int) -> str:
        start, end = self._spans[at]
        letter = seen(self._text[start:end])[0]
        look = character_type(letter)
        is_alone = len(atoms_of(letter * 2, self._single).spans) == 2
        if unicodedata.category(letter)[0] != "L" or not is_alone:
            return ""
        return "a" if look == "A" else look

    def __call__(self, at: int) -> int:
        kind = self._kind(at)
        if not (at and kind and kind == self._kind(at - 1) and self._gaps[at - 1] == NOTHING):
            self._number += 1
        return self._number
