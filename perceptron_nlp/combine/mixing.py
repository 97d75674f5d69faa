"""Training states of shards mixed into one, averages kept right: iterative parameter mixing.

McDonald, Hall and Mann (2010, "Distributed training strategies for the structured perceptron"):
each shard of the text is learnt from for an epoch, all from the same weights; the weights that
come of it are mixed, and the next epoch begins from the mix.

Let the epoch begin at state 0 (N_0 words done, weights w_0), and end on shard i at state i, after
n_i = N_i - N_0 words of its own; the shares m_i add up to 1, and n = n_1 + … + n_k. A state stands
for the sum of its weights after each word, T_i = N_i w_i - owed_i (kernels.h). Mixed are

    w    = m_1 w_1 + … + m_k w_k
    N    = N_0 + n
    T    = T_0 + n (m_1 (T_1 - T_0) / n_1 + … + m_k (T_k - T_0) / n_k)
    owed = N w - T
    g    = m_1 g_1 + … + m_k g_k

so that the mean of the epoch, (T - T_0) / n, is the mean of the shards' means, mixed as their
weights are: with shares n_i / n (by examples) each word counts once. Put into the third line,

    owed = sum of (c_i owed_i + (N m_i - c_i N_i) w_i) + (c_1 + … + c_k - 1) T_0,  c_i = n m_i / n_i

which with one shard (m = c = 1, N = N_1) is owed_1 itself, bit for bit, and is a sum over shards:
it can be taken by a tree, in any order that is fixed. AdaGrad's sums of squares are mixed as
weights are, not added up: a weight that one shard alone has moved is moved less by the mix, and
with the sum of all squares its next steps would be shorter on top of that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.ensemble import Rows, Union
from perceptron_nlp.tagger.model.state import RunState

Numbers = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Term:
    """What some shards add to a mix; terms of other shards can be added to it (plus).

    Attributes
    ----------
    rows : the cells, rows ascending by key, cells by label
    w, owed : float64[n_cells]
    g : float64[n_cells], or None
    shards : how many
    scales : the sum of their c_i
    """

    rows: Rows
    w: Numbers
    owed: Numbers
    g: Numbers | None
    shards: int
    scales: float


def term(state: RunState, share: float, words: int, begun: int = 0) -> Term:
    """What one shard adds to a mix.

    Parameters
    ----------
    state : the shard's, after its epoch
    share : m_i
    words : n, what all shards together have learnt from in the epoch
    begun : N_0, the words done when the epoch began

    Raises
    ------
    ArgumentError : the shard has learnt from no word, and weighs something
    """
    own = state.done - begun
    if own < 0 or (own == 0 and share > 0):
        raise ArgumentError(
            "states: one has learnt from no word since the epoch began, and yet it weighs something"
        )
    scale = words * share / own if own else 0.0
    rows = Rows(state.keys, state.groups, state.counts, state.labels)
    owed = scale * state.owed + ((begun + words) * share - scale * state.done) * state.w
    return Term(rows, share * state.w, owed, None if state.g is None else share * state.g, 1, scale)


def plus(one: Term, other: Term) -> Term:
    """What the shards of both add to a mix."""
    union = Union([one.rows, other.rows])

    def added(a: Numbers, b: Numbers) -> Numbers:
        sums = _spread(a, union.places[0], union.n_cells)
        sums[union.places[1]] += b
        return sums

    if (one.g is None) != (other.g is None):
        raise ArgumentError("states: some have AdaGrad's sums of squares and some have not")
    g = None if one.g is None or other.g is None else added(one.g, other.g)
    return Term(
        union.rows(np.ones(union.n_cells, bool)),
        added(one.w, other.w),
        added(one.owed, other.owed),
        g,
        one.shards + other.shards,
        one.scales + other.scales,
    )


def tree_sum(terms: Sequence[Term]) -> Term:
    """All terms added, neighbours first, then neighbouring pairs, and so on: a fixed order."""
    while len(terms) > 1:
        pairs = [plus(*terms[at : at + 2]) for at in range(0, len(terms) - 1, 2)]
        terms = [*pairs, *terms[len(pairs) * 2 :]]
    return terms[0]


def finished(whole: Term, words: int, epochs: int, begun: RunState | None = None) -> RunState:
    """The mix out of the sum of the terms of all shards.

    Parameters
    ----------
    whole : that sum
    words : n, as for term
    epochs : passes made so far
    begun : state 0; None for a training that begins
    """
    done = words + (0 if begun is None else begun.done)
    rows, w, owed, g = whole.rows, whole.w, whole.owed, whole.g
    if begun is not None and whole.shards > 1:
        union = Union([rows, Rows(begun.keys, begun.groups, begun.counts, begun.labels)])
        here, there = union.places
        rows = union.rows(np.ones(union.n_cells, bool))
        w, owed = (_spread(old, here, union.n_cells) for old in (w, owed))
        g = None if g is None else _spread(g, here, union.n_cells)
        owed[there] += (whole.scales - 1) * (begun.done * begun.w - begun.owed)
    kept = (w != 0) | (owed != 0) | (False if g is None else g != 0)
    if not kept.all():
        rows = Union([rows]).rows(kept)
    return RunState(
        rows.keys,
        rows.groups,
        rows.counts.astype(np.uint32),
        rows.labels,
        w[kept],
        owed[kept],
        None if g is None else g[kept],
        done,
        epochs,
    )


def _spread(values: Numbers, places: npt.NDArray[np.int64], n_cells: int) -> Numbers:
    wide = np.zeros(n_cells)
    wide[places] = values
    return wide


def mix(
    states: Sequence[RunState],
    weights: Sequence[float] | None = None,
    *,
    begun: RunState | None = None,
) -> RunState:
    """The states of shards as one, from which an ordinary training can go on.

    Parameters
    ----------
    states : of the shards after an epoch that all began at `begun`; over the same labels,
        templates and kind of table
    weights : None for the words that each has learnt from in it, or a number from 0 for each, such
        as its mistakes; their sum does not matter
    begun : where the epoch began; None for a training that begins

    Raises
    ------
    ArgumentError : there is no state, weights are too few, negative or all 0, or a state that
        weighs something has learnt from nothing
    """
    first = 0 if begun is None else begun.done
    if not states:
        raise ArgumentError("states: there is none; give one at least")
    own = [state.done - first for state in states]
    factors = [float(weight) for weight in (own if weights is None else weights)]
    if len(factors) != len(states) or not all(0 <= factor < np.inf for factor in factors):
        raise ArgumentError(f"weights: {len(states)} finite numbers are needed, none below 0")
    if len(states) == 1:
        return states[0]
    if sum(factors) == 0:
        raise ArgumentError("weights: all are 0: no shard has learnt from a word")
    words = sum(own)
    shares = [factor / sum(factors) for factor in factors]
    terms = [term(state, share, words, first) for state, share in zip(states, shares, strict=True)]
    return finished(tree_sum(terms), words, max(state.epochs for state in states), begun)
