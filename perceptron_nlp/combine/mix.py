"""Training states of shards mixed into one: iterative parameter mixing, sparsely.

McDonald, Hall and Mann (2010, "Distributed training strategies for the structured perceptron"):
each shard of the text is learned from for a while, all from the same state; the weights are mixed,
and learning goes on from the mix. There, a weight that one of k shards has moved is then moved by a
k-th of that, though nothing spoke against it; and most weights belong to rare features. Here a
weight is the mean over those shards that moved it, so a shard need not send what it did not change.

Let a piece of an epoch begin at state 0 (N_0 tokens done) and end on shard i at state i, after
n_i = N_i - N_0 tokens; the shares m_i add up to 1, n = n_1 + … + n_k and N = N_0 + n. For one
weight, let S be the shards that moved it, M the sum of their shares, T the sum of the weight after
each token (RunState.sums), and D the difference of a number of state i from that of state 0. The
mix is, with c_i = n m_i / n_i and sums over S alone,

    w = w_0 + (1 / M) sum of m_i Dw_i
    T = T_0 + (1 / M) sum of c_i DT_i
    g = g_0 + (1 / M) sum of m_i Dg_i

The piece adds to T n times the mean, over the shards of S, of the mean that the weight had on each;
where S is empty, T grows by n w_0. So T / N stays the mean of the weight over all tokens of all
shards. All is a sum over shards, which a tree of additions can take. AdaGrad's sums of squares are
mixed as the weights are, not added up: next steps would be shorter.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.state import Rows, RunState, Union

Numbers: TypeAlias = npt.NDArray[np.float64]
Item = TypeVar("Item")
# What rounding makes of a total is less than this part of it.
ROUNDING = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """The sum of the changes of some shards.

    rows : the cells that any of them changed, rows ascending by key, cells by label
    sums : float64[3 or 4, n_cells]; over the shards that changed the cell the sum of their shares,
        and those of w, T and (AdaGrad) g, before they are divided by the first
    """

    rows: Rows
    sums: Numbers

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        rows = self.rows
        arrays = (rows.keys, rows.groups, rows.counts, rows.labels, self.sums)
        return sum(array.nbytes for array in arrays)


@dataclass(frozen=True, slots=True, eq=False)
class Added:
    """A step from one state to the next: the mix of shards, which learned from so many words."""

    change: Change
    words: int
    epochs: int

    def applied(self, begun: RunState) -> RunState:
        """Return the next state."""
        union = Union([begun.rows, self.change.rows])
        old, new = union.places
        numbers = _spread(_settled(begun), old, union.n_cells)
        share = self.change.sums[0]
        # Shards of share 0 change cells, but nothing of them counts.
        moved = np.zeros(union.n_cells, bool)
        moved[new] = share > 0
        numbers[1] += np.where(moved, 0.0, self.words * numbers[0])
        numbers[:, new] += self.change.sums[1:] / np.where(share > 0, share, 1.0)
        weight, sums, *squares = numbers
        done = begun.done + self.words
        return RunState.settled(
            union, weight, sums, squares[0] if squares else None, done, self.epochs
        )

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return self.change.nbytes


@dataclass(frozen=True, slots=True, eq=False)
class Replaced:
    """A step from one state to the next: the changes of the only shard, bit for bit."""

    changed: RunState

    def applied(self, begun: RunState) -> RunState:
        """Return the next state."""
        return with_changes(begun, self.changed)

    @property
    def nbytes(self) -> int:
        """Bytes of its arrays."""
        return state_bytes(self.changed)


Step: TypeAlias = Added | Replaced


def changes(state: RunState, begun: RunState) -> RunState:
    """Return the cells of a state that differ, in any bit, from the one that it began at.

    A cell that `begun` has and `state` has not is there with zeros. It is no state to train from:
    see with_changes.
    """
    union, before, after = _side_by_side(begun, state)
    kept = _differing(before, after)
    return _state_of(union.rows(kept), after[:, kept], state.done, state.epochs)


def difference(state: RunState, begun: RunState) -> RunState:
    """Return the cells that a step was made in since `begun`, with its numbers taken from theirs.

    Totals are differences of sums. If a row was settled all its totals change, but if a weight
    stood still this is no more than what it came to meanwhile, but for rounding: such cells are
    left out.
    """
    union, before, after = _side_by_side(begun, state)
    waited = before[1] + (after[2] - before[2]) * before[0]
    moved = np.abs(after[1] - waited) > ROUNDING * (np.abs(before[1]) + np.abs(after[1]))
    moved |= _differing(np.delete(before, (1, 2), 0), np.delete(after, (1, 2), 0))
    first, second = (
        _spread(_settled(each), places, union.n_cells)[:, moved]
        for each, places in zip((begun, state), union.places, strict=True)
    )
    weight, sums, *squares = second - first
    numbers = np.stack([weight, sums, np.full(len(sums), state.done), *squares])
    return _state_of(union.rows(moved), numbers, state.done, state.epochs)


def with_changes(begun: RunState, changed: RunState) -> RunState:
    """Return the state whose changes since `begun` these are, bit for bit."""
    union, numbers, new = _side_by_side(begun, changed)
    places = union.places[1]
    numbers[:, places] = new[:, places]
    return _state(union, numbers, changed.done, changed.epochs)


def weighted(shard: RunState, share: float, words: int, begun: int) -> Change:
    """Return the term of one shard in a mix out of its difference, m_i, n and N_0."""
    own = shard.done - begun
    scale = words * share / own if own else 0.0
    squares = [] if shard.squares is None else [share * shard.squares]
    sums = [np.full(len(shard.weight), share), share * shard.weight, scale * shard.total]
    return Change(shard.rows, np.stack([*sums, *squares]))


def plus(one: Change, other: Change) -> Change:
    """Return the sum of two terms."""
    if len(one.sums) != len(other.sums):
        raise _unlike()
    union = Union([one.rows, other.rows])
    sums = _spread(one.sums, union.places[0], union.n_cells)
    sums[:, union.places[1]] += other.sums
    return Change(union.rows(np.ones(union.n_cells, bool)), sums)


def tree(items: Sequence[Item], both: Callable[[Item, Item], Item]) -> Item:
    """Fold items in a fixed order: neighbors first, then neighboring pairs, and so on."""
    while len(items) > 1:
        pairs = [both(items[at], items[at + 1]) for at in range(0, len(items) - 1, 2)]
        items = [*pairs, *items[len(pairs) * 2 :]]
    return items[0]


def shares_of(examples: Sequence[int], mistakes: Sequence[int], mix_by: str) -> list[float]:
    """Return m_i of each shard: by its tokens, or by its mistakes if there is any.

    All are 0 where no shard learned from a token: of dictionary words, or in a piece of an epoch
    that has no sentence.
    """
    counts = mistakes if mix_by == "errors" and any(mistakes) else examples
    total = sum(counts) or 1
    return [count / total for count in counts]


def no_state(adagrad: bool) -> RunState:
    """Return the state of a training that has not begun."""
    rows = Rows(*(np.empty(0, kind) for kind in (np.uint64, np.uint16, np.uint32, np.uint32)))
    return _state_of(rows, np.empty((4 if adagrad else 3, 0)), 0, 0)


def state_bytes(state: RunState) -> int:
    """Bytes of a state's arrays."""
    return sum(array.nbytes for array in state.arrays().values())


def _unlike() -> ArgumentError:
    return ArgumentError("states: only some of them have AdaGrad's sums of squares")


def _numbers(state: RunState) -> Numbers:
    """float64[3 or 4, n_cells]: weight, total, time stamp of the row, squares."""
    squares = [] if state.squares is None else [state.squares]
    return np.stack([state.weight, state.total, state.stamps.astype(float), *squares])


def _settled(state: RunState) -> Numbers:
    """float64[2 or 3, n_cells]: weight, sums, squares."""
    squares = [] if state.squares is None else [state.squares]
    return np.stack([state.weight, state.sums, *squares])


def _spread(numbers: Numbers, places: npt.NDArray[np.int64], n_cells: int) -> Numbers:
    """The numbers at their places among more cells, 0 elsewhere."""
    wide = np.zeros((len(numbers), n_cells))
    wide[:, places] = numbers
    return wide


def _side_by_side(one: RunState, other: RunState) -> tuple[Union, Numbers, Numbers]:
    """All cells of both states, and the numbers of each at all of them."""
    if (one.squares is None) != (other.squares is None):
        raise _unlike()
    union = Union([one.rows, other.rows])
    first, second = (
        _spread(_numbers(state), places, union.n_cells)
        for state, places in zip((one, other), union.places, strict=True)
    )
    return union, first, second


def _differing(before: Numbers, after: Numbers) -> npt.NDArray[np.bool_]:
    differs: npt.NDArray[np.bool_] = (before.view(np.int64) != after.view(np.int64)).any(axis=0)
    return differs


def _state(union: Union, numbers: Numbers, done: int, epochs: int) -> RunState:
    """The state of these numbers at all cells of a union, without the cells of zeros."""
    kept = (np.delete(numbers, 2, 0) != 0).any(axis=0)
    return _state_of(union.rows(kept), numbers[:, kept], done, epochs)


def _state_of(rows: Rows, numbers: Numbers, done: int, epochs: int) -> RunState:
    weight, total, stamps, *squares = numbers
    starts = np.cumsum(rows.counts) - rows.counts
    # Cells that are gone have no stamp.
    last_update = np.maximum.reduceat(stamps, starts) if len(starts) else stamps
    own = squares[0] if squares else None
    return RunState.at(rows, last_update.astype(np.int64), weight, total, own, done, epochs)
