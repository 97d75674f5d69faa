"""Packed models: the heaviest rows of their tables, in keys of fewer bits and coarser steps."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perceptron_nlp.features.templates import most_features
from perceptron_nlp.tagger.model.derived import FirstPass
from perceptron_nlp.tagger.model.model import MOST_VECTORS, TEXT, Segmentation, TaggerModel
from perceptron_nlp.tagger.model.weights import LARGEST, QuantizedWeights

# A feature that the model does not have meets a row by chance once in 2^12 times at most.
SPARE_BITS = 12
# With keys of more bits nothing is saved that the number of rows would not outweigh.
MOST_BITS = 48
# Weights below so much of a step are left out: that saves more bytes than it costs.
LEAST_STEP = 0.8


class Level(NamedTuple):
    """How much stays of a column: the share of its rows, and its steps; see reduced."""

    share: float
    steps: int | None


def packed(
    model: TaggerModel, share: float, steps: int | None, levels: Mapping[str, Level] | None = None
) -> TaggerModel:
    """Return a model with the heaviest rows of each of its parts, packed; see reduced.

    share, steps : of all parts
    levels : of columns, by name, and of segmentation, in place of that; of their shares, `share`
        stays; if it is above 1 they are larger, but for what is whole
    """
    own = (levels or {}).get(model.column, Level(1.0, steps))
    first = () if model.first is None else (FirstPass(_packed_part(model.first, share, own)),)
    return _packed_part(model.deriving(*first), share, own).replace(
        more=tuple(packed(other, share, steps, levels) for other in model.more),
        segmentation=_packed_cut(model.segmentation, share, steps, levels),
    )


def _packed_part(model: TaggerModel, share: float, level: Level) -> TaggerModel:
    share = min(1.0, share * level.share)
    weights = reduced(model.weights, share, level.steps, _most_weights(model))
    return model.replace(weights=weights, packed=max(1, model.packed))


def at_level(part: TaggerModel, level: Level) -> TaggerModel:
    """Return a column's model by itself, nothing of it settled, with so much of its weights."""
    return packed(part.replace(settled=None), level.share, level.steps)


def _packed_cut(
    segmentation: Segmentation | None,
    share: float,
    steps: int | None,
    levels: Mapping[str, Level] | None,
) -> Segmentation | None:
    """A segmentation with all its rows, unless it has a level."""
    if segmentation is None:
        return None
    if levels is None or TEXT not in levels:
        return cut_at_level(segmentation, Level(1.0, steps))
    level = levels[TEXT]
    return cut_at_level(segmentation, level._replace(share=min(1.0, share * level.share)))


def cut_at_level(segmentation: Segmentation, level: Level) -> Segmentation:
    """Return a segmentation with so much of its weights."""
    cut, splits = segmentation.cut, segmentation.splits
    return segmentation._replace(
        cut=cut.replace(weights=reduced(cut.weights, *level)),
        splits=None if splits is None else splits.replace(weights=reduced(splits.weights, *level)),
    )


def _most_weights(model: TaggerModel) -> int:
    """Return how many weights a score of 16 bits sums at most; 0: any number, or none has 16."""
    # Scores of components, and of many labels, have 32 bits.
    most = most_features(model.templates)
    wide = model.parts is not None or len(model.tags) > MOST_VECTORS
    return 0 if wide or not all(most) else sum(most)


def reduced(
    weights: QuantizedWeights, share: float, steps: int | None, most: int = 0
) -> QuantizedWeights:
    """The heaviest rows, their weights in fewer steps, in a fixed table.

    Rows are ranked by their largest weight. Keys are cut to log2(rows) + 12 bits, as those of a
    fixed table of so many rows. Where two keys become one, the heavier row stays.

    weights : what to begin with
    share : how many of the rows stay, from 0 to 1; one at least, where there is one
    steps : the most that the heaviest weight may be as a whole number; None for as fine as they
        are. Weights that round to 0 go, and rows without others
    most : how many weights a score is the sum of at most, 0 for any number: each may be the
        heaviest, since in a fixed table every template may meet every row, and steps are so few
        that scores fit 16 bits even then
    """
    n_groups = len(weights.group_starts) - 1
    steps = min(LARGEST if steps is None else steps, max(1, LARGEST // max(1, most)))
    if not weights.n_rows:
        return weights
    sizes = row_sizes(weights)
    order = np.argsort(-sizes, kind="stable")
    scale = scale_for(weights, steps)
    exact = weights.weights * (scale / weights.scale)
    values = np.where(np.abs(exact) < LEAST_STEP, 0, np.rint(exact)).astype(np.int16)
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
    return QuantizedWeights(
        keys=keys,
        group_starts=np.array([0] + [len(keys)] * n_groups, np.int64),
        starts=starts.astype(np.int64),
        labels=weights.labels[cells],
        weights=values[cells],
        scale=scale,
        table_bits=bits,
    )


def row_sizes(weights: QuantizedWeights) -> npt.NDArray[np.int32]:
    """int32[n_rows]: the largest weight of each row, without its sign."""
    sizes: npt.NDArray[np.int32] = np.maximum.reduceat(
        np.abs(weights.weights.astype(np.int32)), weights.starts[:-1]
    )
    return sizes


def scale_for(weights: QuantizedWeights, steps: int) -> float:
    """The finest power of two, none finer than there is, that keeps weights within the steps."""
    largest = int(np.abs(weights.weights.astype(np.int32)).max(initial=0))
    if largest <= steps:
        return weights.scale
    return weights.scale * 2.0 ** math.floor(math.log2(steps / largest))


def _key_bits(weights: QuantizedWeights, n_rows: int) -> int:
    wanted = min(MOST_BITS, math.ceil(math.log2(max(2, n_rows))) + SPARE_BITS)
    return wanted if weights.table_bits is None else min(wanted, weights.table_bits)
