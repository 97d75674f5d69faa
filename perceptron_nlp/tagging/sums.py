"""Several training runs as one model: linear scores add up, so their weights do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from perceptron_nlp._core.weights import FrozenWeights
from perceptron_nlp.errors import ArgumentError

# Label numbers are below 2**16, so a row's number and a label make one sortable integer.
_LABELS = 1 << 16


def sum_of(runs: Sequence[FrozenWeights]) -> FrozenWeights:
    """One set of weights whose score of anything is the sum of the runs' scores.

    Parameters
    ----------
    runs : averaged weights over the same labels, templates and kind of table, at least one

    Raises
    ------
    ArgumentError : they differ in labels or table
    """
    first = runs[0]
    if any((run.n_labels, run.table_bits) != (first.n_labels, first.table_bits) for run in runs):
        raise ArgumentError("runs: they have other labels, or tables of another kind")
    groups = np.concatenate([run.groups for run in runs])
    keys = np.concatenate([run.keys for run in runs])
    _, chosen, row_of = np.unique(keys, return_index=True, return_inverse=True)
    ends = np.cumsum([0, *(len(run.keys) for run in runs)])
    places = [np.repeat(row_of[at:at + len(run.keys)], np.diff(run.starts)) * _LABELS + run.labels
              for at, run in zip(ends[:-1], runs, strict=True)]
    cells = np.unique(np.concatenate(places))
    # Run after run, so that the order of additions is the same on every machine.
    weights = np.zeros(len(cells))
    for place, run in zip(places, runs, strict=True):
        weights[np.searchsorted(cells, place)] += run.weights
    kept = np.flatnonzero(weights)
    counts = np.bincount(cells[kept] // _LABELS, minlength=len(chosen))
    rows = np.flatnonzero(counts)
    return FrozenWeights(
        first.n_labels, keys[chosen][rows], groups[chosen][rows],
        np.concatenate([[0], np.cumsum(counts[rows])]), (cells[kept] % _LABELS).astype(np.uint32),
        weights[kept], table_bits=first.table_bits)
