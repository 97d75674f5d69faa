"""Weights in a dictionary, averaged by adding them all up after every example."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from perceptron_nlp._core.model.frozenweights import FrozenWeights

Cells = dict[tuple[int, int], Any]


class NaiveWeights:
    """(row, label) -> weight; a row is a key, or in a fixed table the top bits of it."""

    def __init__(self, table_bits: int | None = None) -> None:
        self.shift = 0 if table_bits is None else 64 - table_bits
        self.w: Cells = defaultdict(int)
        self.total: Cells = defaultdict(int)
        self.squares: Cells = defaultdict(int)
        self.done = 0

    def add(
        self, keys: Sequence[int], label: int, step: Any, values: Sequence[Any] | None = None
    ) -> None:
        for i, key in enumerate(keys):
            self.w[key >> self.shift, label] += step * (1 if values is None else values[i])

    def add_adagrad(
        self,
        keys: Sequence[int],
        label: int,
        sign: float,
        rate: float,
        values: Sequence[float] | None = None,
    ) -> None:
        """Duchi, Hazan and Singer (2011): rate · gradient / root of the sum of its squares."""
        for i, key in enumerate(keys):
            gradient = sign * (1.0 if values is None else values[i])
            if gradient:
                cell = key >> self.shift, label
                self.squares[cell] += gradient * gradient
                self.w[cell] += rate * gradient / self.squares[cell] ** 0.5

    def advance(self, examples: int = 1) -> None:
        for _ in range(examples):
            self.done += 1
            for cell, w in self.w.items():
                self.total[cell] += w

    def scores(
        self, keys: Sequence[int], n_labels: int, values: Sequence[Any] | None = None
    ) -> list[Any]:
        scores = [0] * n_labels
        rows: dict[int, list[tuple[int, Any]]] = defaultdict(list)
        for (row, label), w in self.w.items():
            rows[row].append((label, w))
        for i, key in enumerate(keys):
            for label, w in rows.get(key >> self.shift, ()):
                scores[label] += w * (1 if values is None else values[i])
        return scores

    def average(self) -> Cells:
        """Exact on integers: the means that are not 0, each the nearest float to its fraction."""
        exact = all(isinstance(total, int) for total in self.total.values())
        return {
            cell: float(Fraction(total, self.done)) if exact else total / self.done
            for cell, total in self.total.items()
            if total
        }

    def last(self) -> Cells:
        return {cell: float(w) for cell, w in self.w.items() if w}


def cells_of(frozen: FrozenWeights) -> Cells:
    """A frozen model as a dictionary; its arrays are checked on the way."""
    assert frozen.starts[0] == 0 and frozen.starts[-1] == len(frozen.labels) == len(frozen.weights)
    found: Cells = {}
    keys = frozen.keys.tolist()
    labels, weights = frozen.labels.tolist(), frozen.weights.tolist()
    starts = frozen.starts.tolist()
    assert len(set(keys)) == len(keys) == len(starts) - 1 == len(frozen.groups)
    for row, key in enumerate(keys):
        mine = labels[starts[row] : starts[row + 1]]
        assert mine and mine == sorted(set(mine))
        for cell in range(starts[row], starts[row + 1]):
            assert weights[cell] != 0
            found[key, labels[cell]] = weights[cell]
    return found
