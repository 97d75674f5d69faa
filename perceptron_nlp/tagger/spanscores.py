"""Spans found against gold ones, counted as conlleval counts (CoNLL-2000 shared task)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from perceptron_nlp.text.spans import spans_of


@dataclass(slots=True)
class SpanScores:
    """Counts of spans, by type; a span is right if its type and both its ends are.

    Attributes
    ----------
    gold, given, right : spans in the gold labels, in the labels given, and in both
    """

    gold: Counter[str] = field(default_factory=Counter)
    given: Counter[str] = field(default_factory=Counter)
    right: Counter[str] = field(default_factory=Counter)

    def add(self, gold: Sequence[str], given: Sequence[str]) -> None:
        """Count one sentence, given by the span labels of its words."""
        truth, found = set(spans_of(gold)), set(spans_of(given))
        self.gold.update(kind for kind, _, _ in truth)
        self.given.update(kind for kind, _, _ in found)
        self.right.update(kind for kind, _, _ in truth & found)

    @property
    def precision(self) -> float:
        """Of the spans given, the share that is right; 0 where none is given."""
        return _share(self.right.total(), self.given.total())

    @property
    def recall(self) -> float:
        """Of the gold spans, the share that is given; 0 where there are none."""
        return _share(self.right.total(), self.gold.total())

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return _share(2 * self.right.total(), self.gold.total() + self.given.total())

    def to_dict(self) -> dict[str, Any]:
        """``precision``, ``recall``, ``f1``, and the same with ``support`` by type in ``spans``."""
        return {
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "spans": {
                kind: {
                    "precision": _share(self.right[kind], self.given[kind]),
                    "recall": _share(self.right[kind], self.gold[kind]),
                    "f1": _share(2 * self.right[kind], self.gold[kind] + self.given[kind]),
                    "support": self.gold[kind],
                }
                for kind in sorted(self.gold | self.given)
            },
        }


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
