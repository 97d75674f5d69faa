"""Weights made fewer and coarser, with short keys: what a compressed model tags with."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from perceptron_nlp.tagger.model.quantized import LARGEST, QuantisedWeights

# A feature that the model does not have meets a row by chance once in 2^12 times at most.
SPARE_BITS = 12
# With keys of more bits nothing is saved that the number of rows would not outweigh.
MOST_BITS = 48


def reduced(weights: QuantisedWeights, share: float, steps: int | None) -> QuantisedWeights:
    """The heaviest rows, their weights in fewer steps, in a fixed table.

    Rows are ranked by their largest weight. Keys are cut to log2(rows) + 12 bits, as those of a
    fixed table of so many rows. Where two keys become one, the heavier row stays.

    Parameters
    ----------
    weights : what to begin with
    share : how many of the rows stay, from 0 to 1; one at least, where there is one
    steps : the most that the heaviest weight may be as a whole number; None leaves weights as
        they are. Weights that round to 0 go, and rows without others
    """
    n_groups = len(weights.group_starts) - 1
    if not weights.n_rows:
        return weights
    sizes = row_sizes(weights)
    order = np.argsort(-sizes, kind="stable")
    scale = scale_for(weights, steps)
    values = np.rint(weights.weights * (scale / weights.scale)).astype(np.int16)
    in_row = np.repeat(np.arange(weights.n_rows), np.diff(weights.starts))
    stay = np.zeros(weights.n_rows, bool)
    stay[order[: max(1, round(share * weights.n_rows))]] = True
    cells = np.flatnonzero(stay[in_row] & (values != 0))
    counts = np.bincount(in_row[cells], minlength=weights.n_rows)
    rows = order[counts[order] > 0]
    bits = _key_bits(weights, len(rows))
    keys = weights.keys[rows] >> np.uint64((weights.table_bits or 64) - bits)
    # The first of equal keys is that of the heaviest row.
    keys, first = np.unique(keys, return_index=True)
    rows = rows[first]
    starts = np.concatenate([[0], np.cumsum(counts[rows])])
    before = np.concatenate([[0], np.cumsum(counts)])
    cells = cells[np.repeat(before[rows] - starts[:-1], counts[rows]) + np.arange(starts[-1])]
    return QuantisedWeights(
        keys=keys,
        group_starts=np.array([0] + [len(keys)] * n_groups, np.int64),
        starts=starts.astype(np.int64),
        labels=weights.labels[cells],
        weights=values[cells],
        scale=scale,
        table_bits=bits,
    )


def row_sizes(weights: QuantisedWeights) -> npt.NDArray[np.int32]:
    """int32[n_rows]: the largest weight of each row, without its sign."""
    sizes: npt.NDArray[np.int32] = np.maximum.reduceat(
        np.abs(weights.weights.astype(np.int32)), weights.starts[:-1]
    )
    return sizes


def scale_for(weights: QuantisedWeights, steps: int | None) -> float:
    """The finest power of two, none finer than there is, that keeps weights within the steps."""
    largest = int(np.abs(weights.weights.astype(np.int32)).max(initial=0))
    if steps is None or largest <= steps:
        return weights.scale
    return weights.scale * 2.0 ** math.floor(math.log2(min(steps, LARGEST) / largest))


def _key_bits(weights: QuantisedWeights, n_rows: int) -> int:
    wanted = min(MOST_BITS, math.ceil(math.log2(max(2, n_rows))) + SPARE_BITS)
    return wanted if weights.table_bits is None else min(wanted, weights.table_bits)
