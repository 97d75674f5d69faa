"""Several models as one: linear scores add up, so their weights do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.cells import Rows, Union


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
