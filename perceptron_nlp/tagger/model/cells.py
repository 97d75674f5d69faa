"""The cells of several sets of weights side by side: for mixing them, and for their sum.

The weights of several models or runs are summed: an ensemble, as linear scores add up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp.errors import ArgumentError

# Label numbers are below 2**16, so a row's number and a label make one sortable integer.
_LABELS = 1 << 16

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Rows:
    """The cells of one set of weights, row by row.

    keys : uint64[n_rows], each once
    groups : uint16[n_rows]
    counts : int[n_rows]; cells in each row
    labels : int[n_cells]; each once in a row
    """

    keys: Array
    groups: Array
    counts: Array
    labels: Array


class Union:
    """All cells that any of several sets of weights has, rows ascending by key, cells by label.

    sets : at least one; where several have a key, they have it in the same group

    n_cells : how many there are
    places : for each set, int64[its n_cells]: the place of each of its cells
    """

    def __init__(self, sets: Sequence[Rows]) -> None:
        self._keys, row_of = _ranked(np.concatenate([rows.keys for rows in sets]))
        self._groups = np.empty(len(self._keys), sets[0].groups.dtype)
        self._groups[row_of] = np.concatenate([rows.groups for rows in sets])
        cells = np.repeat(row_of * _LABELS, np.concatenate([rows.counts for rows in sets]))
        cells += np.concatenate([rows.labels for rows in sets])
        self._cells, places = _ranked(cells)
        self.n_cells = len(self._cells)
        self.places = np.split(places, np.cumsum([len(rows.labels) for rows in sets])[:-1])

    def rows(self, kept: npt.NDArray[np.bool_]) -> Rows:
        """Return the cells that are kept, with their rows."""
        cells = self._cells[kept]
        counts = np.bincount(cells // _LABELS, minlength=len(self._keys))
        rows = np.flatnonzero(counts)
        return Rows(
            self._keys[rows], self._groups[rows], counts[rows], (cells % _LABELS).astype(np.uint32)
        )


def _ranked(numbers: Array) -> tuple[Array, Array]:
    """Return the distinct numbers, ascending, and the place of each number among them."""
    order = np.argsort(numbers)
    ordered = numbers[order]
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = ordered[1:] != ordered[:-1]
    ranks, place = np.empty(len(ordered), np.int64), np.cumsum(is_first)
    place -= 1
    ranks[order] = place
    return ordered[is_first], ranks


def sum_of(runs: Sequence[FrozenWeights], factors: Sequence[float] | None = None) -> FrozenWeights:
    """Return weights that score anything as the sum of the runs, each times its factor."""
    first = runs[0]
    if any((run.n_labels, run.table_bits) != (first.n_labels, first.table_bits) for run in runs):
        raise ArgumentError("runs: they have other labels, or tables of another kind")
    union = Union([Rows(run.keys, run.groups, np.diff(run.starts), run.labels) for run in runs])
    # Run after run, so that the order of additions is the same on every machine.
    weights = np.zeros(union.n_cells)
    for place, run, factor in zip(union.places, runs, factors or [1.0] * len(runs), strict=True):
        weights[place] += run.weights * factor
    kept = weights != 0
    rows = union.rows(kept)
    return FrozenWeights(
        first.n_labels,
        rows.keys,
        rows.groups,
        np.concatenate([[0], np.cumsum(rows.counts)]),
        rows.labels,
        weights[kept],
        table_bits=first.table_bits,
    )
