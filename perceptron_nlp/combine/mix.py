"""Training states of shards mixed into one: iterative parameter mixing, sparsely.

McDonald, Hall and Mann (2010, "Distributed training strategies for the structured perceptron"):
each shard of the text is learned from for a while, all from the same state; the weights are mixed,
and learning goes on from the mix. There, a weight that one of k shards has moved is then moved by a
k-th of that, though nothing spoke against it; and most weights belong to rare features. Here a
weight is the mean over those shards that moved it.

Let learning begin at state 0 (N_0 tokens done) and end on shard i at state i, after n_i = N_i - N_0
tokens; the shares m_i add up to 1, n = n_1 + … + n_k and N = N_0 + n. For one weight, let S be the
shards that moved it, M the sum of their shares, T the sum of the weight after each token
(RunState.sums), and D the difference of a number of state i from that of state 0. The mix is, with
c_i = n m_i / n_i and sums over S alone,

    w = w_0 + (1 / M) sum of m_i Dw_i
    T = T_0 + (1 / M) sum of c_i DT_i
    g = g_0 + (1 / M) sum of m_i Dg_i

This adds to T n times the mean, over the shards of S, of the mean that the weight had on each;
where S is empty, T grows by n w_0. So T / N stays the mean of the weight over all tokens of all
shards. AdaGrad's sums of squares are mixed as the weights are, not added up: next steps would be
shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.state import RunState, Union

Numbers: TypeAlias = npt.NDArray[np.float64]
# What rounding makes of a sum is less than this part of it.
ROUNDING = 1e-12


def mixed(base: RunState, states: Sequence[RunState], weights: Sequence[float]) -> RunState:
    """Return the mix of states that shards reached from `base`; a single one as it is.

    Raises ArgumentError if one of them cannot have come from there.
    """
    if any(
        state.done < base.done
        or state.epochs < base.epochs
        or (state.squares is None) != (base.squares is None)
        for state in states
    ):
        raise ArgumentError("base: not all of the taggers were resumed from it")
    # Shards without a labeled token have nothing to say.
    moved = [(s, w) for s, w in zip(states, weights, strict=True) if s.done > base.done]
    if len(moved) == 1:
        return moved[0][0]
    union = Union([base.rows, *(state.rows for state, _ in moved)])
    done = sum(state.done - base.done for state, _ in moved)
    before = _numbers(base, union, 0)
    change, share = np.zeros_like(before), np.zeros(union.n_cells)
    for place, (state, weight) in enumerate(moved, 1):
        after, own_done = _numbers(state, union, place), state.done - base.done
        has_moved = _moved(before, after, own_done)
        own = weight * (after - before)
        own[1] *= done / own_done
        change += np.where(has_moved, own, 0.0)
        share += np.where(has_moved, weight, 0.0)
    before[1] += np.where(share > 0, 0.0, done * before[0])
    values, sums, *squares = before + change / np.where(share > 0, share, 1.0)
    epochs = max(state.epochs for state in states)
    return RunState.settled(
        union, values, sums, squares[0] if squares else None, base.done + done, epochs
    )


def _numbers(state: RunState, union: Union, place: int) -> Numbers:
    """float64[2 or 3, n_cells]: weight, sums, squares of a state at all cells, 0 elsewhere."""
    squares = [] if state.squares is None else [state.squares]
    wide = np.zeros((2 + len(squares), union.n_cells))
    wide[:, union.places[place]] = np.stack([state.weight, state.sums, *squares])
    return wide


def _moved(before: Numbers, after: Numbers, done: int) -> npt.NDArray[np.bool_]:
    """Tell which weights a step was made in, even if others took it back.

    The sum of a weight that stood still is no more than what it came to meanwhile.
    """
    waited = before[1] + done * before[0]
    moved: npt.NDArray[np.bool_] = (
        np.abs(after[1] - waited) > ROUNDING * (np.abs(before[1]) + np.abs(after[1]))
    ) | (np.delete(before, 1, 0) != np.delete(after, 1, 0)).any(axis=0)
    return moved
