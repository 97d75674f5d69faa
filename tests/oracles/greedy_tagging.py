"""Greedy tagging in plain Python: look up every feature, add, take the best, go on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from oracles.feature_keys import template_keys
from perceptron_nlp.features.templates import Template

Columns = Mapping[str, Sequence[str]]
Row = Mapping[int, int]


@dataclass
class SlowTagger:
    """`row_of` gives the weights of a key by label number, or nothing."""

    templates: Sequence[Template]
    labels: Sequence[str]
    row_of: Callable[[int], Row | None]
    right_to_left: bool = False
    dictionary: Mapping[str, int] = field(default_factory=dict)

    def tag(self, columns: Columns) -> tuple[list[int], list[list[int] | None]]:
        """Label numbers, and the scores of all labels (None where the dictionary decided)."""
        n = len(columns["form"])
        given = [0] * n
        scores: list[list[int] | None] = [None] * n
        past: list[str] = []
        for i in reversed(range(n)) if self.right_to_left else range(n):
            word = columns["form"][i]
            if word in self.dictionary:
                given[i] = self.dictionary[word]
            else:
                sums = scores[i] = self.score(columns, i, past)
                given[i] = sums.index(max(sums))
            past.insert(0, self.labels[given[i]])
        return given, scores

    def score(self, columns: Columns, i: int, past: Sequence[str]) -> list[int]:
        sums = [0] * len(self.labels)
        for template in self.templates:
            for key in template_keys(template, columns, i, past):
                for label, weight in (self.row_of(key) or {}).items():
                    sums[label] += weight
        return sums
