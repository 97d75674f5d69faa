"""What of a training state changed since another: all that a worker needs to send, and no more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.ensemble import Rows, Union
from perceptron_nlp.tagger.model.state import RunState

Numbers = npt.NDArray[np.float64]


def changes(state: RunState, begun: RunState) -> RunState:
    """The cells of a state that are not, bit for bit, those of the one that it began at.

    A cell that `begun` has and `state` has not is there with zeros. It is no state to train from:
    see with_changes.
    """
    union, (before, after) = _side_by_side(begun, state)
    differs = np.zeros(union.n_cells, bool)
    for old, new in zip(before, after, strict=True):
        differs |= old.view(np.int64) != new.view(np.int64)
    return _of(union, differs, after, state)


def with_changes(begun: RunState, changed: RunState) -> RunState:
    """The state whose changes since `begun` these are, bit for bit."""
    union, (old, new) = _side_by_side(begun, changed)
    for before, after in zip(old, new, strict=True):
        before[union.places[1]] = after[union.places[1]]
    kept = np.zeros(union.n_cells, bool)
    for values in old:
        kept |= values != 0
    return _of(union, kept, old, changed)


def _side_by_side(one: RunState, other: RunState) -> tuple[Union, list[list[Numbers]]]:
    """All cells of both, and for each state its numbers at all of them, 0 where it has none."""
    if (one.g is None) != (other.g is None):
        raise ArgumentError("states: one has AdaGrad's sums of squares and one has not")
    union = Union([Rows(s.keys, s.groups, s.counts, s.labels) for s in (one, other)])
    sides = []
    for state, places in zip((one, other), union.places, strict=True):
        side = []
        for values in (state.w, state.owed, state.g):
            if values is not None:
                wide = np.zeros(union.n_cells)
                wide[places] = values
                side.append(wide)
        sides.append(side)
    return union, sides


def _of(
    union: Union, kept: npt.NDArray[np.bool_], values: list[Numbers], like: RunState
) -> RunState:
    rows = union.rows(kept)
    w, owed, *g = (numbers[kept] for numbers in values)
    return replace(
        like,
        keys=rows.keys,
        groups=rows.groups,
        counts=rows.counts.astype(np.uint32),
        labels=rows.labels,
        w=w,
        owed=owed,
        g=g[0] if g else None,
    )
