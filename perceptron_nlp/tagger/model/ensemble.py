"""Ensembles: the weights of several models or runs summed, as linear scores add up."""

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

    Attributes
    ----------
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

    Parameters
    ----------
    sets : at least one; where several have a key, they have it in the same group

    Attributes
    ----------
    n_cells : how many there are
    places : for each set, int64[its n_cells]: the place of each of its cells
    """

    def __init__(self, sets: Sequence[Rows]) -> None:
        keys = np.concatenate([rows.keys for rows in sets])
        self._keys, first, row_of = np.unique(keys, return_index=True, return_inverse=True)
        self._groups = np.concatenate([rows.groups for rows in sets])[first]
        ends = np.cumsum([0, *(len(rows.keys) for rows in sets)])
        wide = [
            np.repeat(row_of[at : at + len(rows.keys)], rows.counts) * _LABELS
            + rows.labels.astype(np.int64)
            for at, rows in zip(ends[:-1], sets, strict=True)
        ]
        # Stable sorting merges what is in order already; np.unique would hash every cell.
        cells = np.sort(np.concatenate(wide), kind="stable")
        self._cells = cells[np.diff(cells, prepend=-1) > 0]
        self.places = [np.searchsorted(self._cells, place) for place in wide]

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return len(self._cells)

    def rows(self, kept: npt.NDArray[np.bool_]) -> Rows:
        """Return the cells that are kept, with their rows."""
        cells = self._cells[kept]
        counts = np.bincount(cells // _LABELS, minlength=len(self._keys))
        rows = np.flatnonzero(counts)
        return Rows(
            self._keys[rows], self._groups[rows], counts[rows], (cells % _LABELS).astype(np.uint32)
        )


def sum_of(runs: Sequence[FrozenWeights], factors: Sequence[float] | None = None) -> FrozenWeights:
    """One set of weights whose score of anything is the sum of the runs' scores.

    Parameters
    ----------
    runs : averaged weights over the same labels, templates and kind of table, at least one
    factors : what each run's scores are multiplied by; None for 1

    Raises
    ------
    ArgumentError : they differ in labels or table
    """
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
