"""The values of CoNLL-U columns, checked once each and stored once each.

A treebank repeats its values; looking one up costs a tenth of checking it.  Nothing here
grows without limit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from perceptron_nlp.errors import quote
from perceptron_nlp.formats.conllu_rules import BeyondSentenceError, Place, wrong_value

_LIMIT = 1 << 16
_ABOVE_ALL = 10**10
_HEADS = re.compile(r"(?:^|\|)([0-9.]+):")


class SharedValues:
    """Makes equal strings one object, so that a corpus in memory stays small."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def take(self, values: Sequence[str]) -> tuple[str, ...]:
        """The values, each as it was first seen."""
        if len(self._known) > _LIMIT:
            self._known.clear()
        return tuple(map(self._known.setdefault, values, values))


class KnownValues:
    """The good values of one column seen so far."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._known: set[str] = set()

    def check(self, values: Sequence[str], place: Place) -> None:
        """Raises for the first value that the column may not have."""
        known = self._known
        if known.issuperset(values):
            return
        if len(known) > _LIMIT:
            known.clear()
        for row, value in enumerate(values):
            if value not in known:
                _check(self._column, row, value, place)
                known.add(value)


class KnownDeps:
    """The good values of DEPS seen so far, each with its highest head.

    A value that names an empty node, or a head of absurd length, has the highest head of
    all, so that it is looked at more closely.
    """

    def __init__(self) -> None:
        self._highest = {"_": 0}

    def check(self, values: Sequence[str], ids: Sequence[str], words: int, place: Place) -> None:
        """Raises for the first value that is wrong or names a node not in the sentence."""
        highest = self._highest
        try:
            top = max(map(highest.__getitem__, values))
        except KeyError:
            self._add(values, place)
            top = max(map(highest.__getitem__, values))
        if top <= words:
            return
        nodes = {"0", *ids}
        for row, value in enumerate(values):
            if highest[value] > words:
                for head in _HEADS.findall(value):
                    if head not in nodes:
                        raise BeyondSentenceError(
                            f"DEPS {quote(value)} names {quote(head)}, "
                            "which is not in its sentence",
                            place.path,
                            place.first_line + row,
                        )

    def _add(self, values: Sequence[str], place: Place) -> None:
        highest = self._highest
        if len(highest) > _LIMIT:
            highest.clear()
            highest["_"] = 0
        for row, value in enumerate(values):
            if value not in highest:
                _check("deps", row, value, place)
                highest[value] = max(map(_rank, _HEADS.findall(value)))


def _rank(head: str) -> int:
    return int(head) if head.isdigit() and len(head) < 10 else _ABOVE_ALL


def _check(column: str, row: int, value: str, place: Place) -> None:
    wrong = wrong_value(column, value)
    if wrong is not None:
        place.refuse(row, f"{place.name(column)} {quote(value)} {wrong}")
