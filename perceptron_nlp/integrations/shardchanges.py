"""What shards of a text change of one training state, mixed: iterative parameter mixing, sparsely.

McDonald, Hall and Mann (2010, "Distributed training strategies for the structured perceptron")
mix the weights of all shards. A weight that one of k shards has moved is then moved by a k-th of
that, though nothing spoke against it; and most weights belong to rare features. Here a weight is
the mean over those shards that moved it, and so what a shard did not change it need not send.

Let a piece of an epoch begin at state 0 (N_0 words done) and end on shard i at state i, after
n_i = N_i - N_0 words; the shares m_i add up to 1, n = n_1 + … + n_k and N = N_0 + n. For one
weight, let S be the shards that changed it, M the sum of their shares, and D what a number of
state i is above that of state 0. Mixed are, with c_i = n m_i / n_i and sums over S alone,

    w    = w_0 + (1 / M) sum of m_i Dw_i
    owed = owed_0 + (1 / M) sum of (c_i Dowed_i + (N m_i - c_i N_i) Dw_i)
    g    = g_0 + (1 / M) sum of m_i Dg_i

A state stands for the sum of a weight after each word, T = N w - owed (kernels.h). Put in, the
second line says T = T_0 + n (1 / M) sum of m_i (T_i - T_0) / n_i: what the piece adds is n times
the mean, over the shards of S, of the mean that the weight had on each. So w - owed / N stays the
mean of the weight over all words of all shards. All is a sum over shards, which a tree can take.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from perceptron_nlp.combine.statechanges import changes, with_changes
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.ensemble import Rows, Union
from perceptron_nlp.tagger.model.state import RunState

Numbers = npt.NDArray[np.float64]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What some shards together add to a state.

    Attributes
    ----------
    rows : the cells that any of them changed, rows ascending by key, cells by label
    share : float64[n_cells]; the sum of the shares of the shards that changed the cell
    w, owed : float64[n_cells]; the sums over these shards, before they are divided by `share`
    g : float64[n_cells], or None
    """

    rows: Rows
    share: Numbers
    w: Numbers
    owed: Numbers
    g: Numbers | None

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        arrays = (
            self.rows.keys,
            self.rows.groups,
            self.rows.counts,
            self.rows.labels,
            self.share,
            self.w,
            self.owed,
            self.g,
        )
        return sum(array.nbytes for array in arrays if array is not None)


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """A step from one state to the next: the mix of several shards.

    Attributes
    ----------
    change : what all shards add
    words : n, what they have learnt from
    epochs : passes begun so far
    """

    change: Change
    words: int
    epochs: int

    def applied(self, begun: RunState) -> RunState:
        """The next state."""
        return advanced(begun, self)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.change.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """A step from one state to the next: what one shard by itself has now, bit for bit."""

    changed: RunState

    def applied(self, begun: RunState) -> RunState:
        """The next state."""
        return with_changes(begun, self.changed)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return state_bytes(self.changed)


Step = Added | Replaced


def state_bytes(state: RunState) -> int:
    """Bytes of a state's arrays."""
    return sum(array.nbytes for array in state.arrays().values())


def difference(state: RunState, begun: RunState) -> RunState:
    """What a state is above another, where it is not the same; ``done`` is that of the state."""
    changed = changes(state, begun)
    union = Union([_rows(changed), _rows(begun)])
    new, old = union.places
    at_changed = np.zeros(union.n_cells, np.int64)
    at_changed[new] = np.arange(1, len(new) + 1)
    places = at_changed[old] - 1
    shared = places >= 0

    def above(values: Numbers, before: Numbers) -> Numbers:
        found = values.copy()
        found[places[shared]] -= before[shared]
        return found

    g = None if changed.g is None or begun.g is None else above(changed.g, begun.g)
    return replace(changed, w=above(changed.w, begun.w), owed=above(changed.owed, begun.owed), g=g)


def weighted(shard: RunState, share: float, words: int, begun: int) -> Change:
    """What one shard adds to a mix.

    Parameters
    ----------
    shard : its difference
    share : m_i
    words : n, what all shards have learnt from
    begun : N_0, the words done when they began
    """
    own = shard.done - begun
    scale = words * share / own if own else 0.0
    owed = scale * shard.owed + ((begun + words) * share - scale * shard.done) * shard.w
    return Change(
        _rows(shard),
        np.full(len(shard.w), share),
        share * shard.w,
        owed,
        None if shard.g is None else share * shard.g,
    )


def plus(one: Change, other: Change) -> Change:
    """What the shards of both add to a mix."""
    union = Union([one.rows, other.rows])

    def added(a: Numbers, b: Numbers) -> Numbers:
        sums = np.zeros(union.n_cells)
        sums[union.places[0]] = a
        sums[union.places[1]] += b
        return sums

    g = None if one.g is None or other.g is None else added(one.g, other.g)
    return Change(
        union.rows(np.ones(union.n_cells, bool)),
        added(one.share, other.share),
        added(one.w, other.w),
        added(one.owed, other.owed),
        g,
    )


def tree(items: Sequence[Item], both: Callable[[Item, Item], Item]) -> Item:
    """All items as one: neighbours first, then neighbouring pairs, and so on: a fixed order."""
    while len(items) > 1:
        pairs = [both(items[at], items[at + 1]) for at in range(0, len(items) - 1, 2)]
        items = [*pairs, *items[len(pairs) * 2 :]]
    return items[0]


def advanced(begun: RunState, step: Added) -> RunState:
    """The state after a mix."""
    change = step.change
    union = Union([_rows(begun), change.rows])
    old, new = union.places
    # Shards of share 0 change cells, but nothing of them counts.
    share = np.where(change.share > 0, change.share, 1.0)

    def sums(before: Numbers, more: Numbers) -> Numbers:
        found = np.zeros(union.n_cells)
        found[old] = before
        found[new] += more / share
        return found

    w, owed = sums(begun.w, change.w), sums(begun.owed, change.owed)
    g = None if begun.g is None or change.g is None else sums(begun.g, change.g)
    kept = (w != 0) | (owed != 0) | (False if g is None else g != 0)
    rows = union.rows(kept)
    return RunState(
        rows.keys,
        rows.groups,
        rows.counts.astype(np.uint32),
        rows.labels,
        w[kept],
        owed[kept],
        None if g is None else g[kept],
        begun.done + step.words,
        step.epochs,
    )


def shares_of(examples: Sequence[int], mistakes: Sequence[int], mix_by: str) -> list[float]:
    """m_i of each shard: by its words, or by its mistakes (by its words where nobody made one).

    Raises
    ------
    ArgumentError : no shard has learnt from a word
    """
    if not any(examples):
        raise ArgumentError("train: no shard has a labelled word; give more text, or fewer workers")
    counts = mistakes if mix_by == "errors" and any(mistakes) else examples
    total = sum(counts)
    return [count / total for count in counts]


def no_state(adagrad: bool) -> RunState:
    """The state of a training that has not begun."""
    none = np.empty(0)
    return RunState(
        np.empty(0, np.uint64),
        np.empty(0, np.uint16),
        np.empty(0, np.uint32),
        np.empty(0, np.uint32),
        none,
        none,
        none if adagrad else None,
        0,
        0,
    )


def _rows(state: RunState) -> Rows:
    return Rows(state.keys, state.groups, state.counts, state.labels)
