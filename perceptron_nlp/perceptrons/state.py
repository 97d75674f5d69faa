"""The weights of a classifier in training: where they begin, their mean, and their votes.

The voted perceptron (L6) keeps its vectors as updates. An update is a multiple of one training row,
so what is kept is each row that was ever wrong, once, and for each update the row, the classes, the
amount and the time. That is O(d + U + the kept rows' non-zeros) for U updates, where the vectors
would be O(U d). Source: Y. Freund and R. E. Schapire, "Large margin classification using the
perceptron algorithm", Machine Learning 37, 1999, figure 1 and section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.vectors import UPDATE, Rows, mean_to_owed, owed_to_mean, tally_votes
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError, quote
from perceptron_nlp.sampling import uniform

Floats = NDArray[np.float64]


@dataclass
class TrainingState:
    """All that a training needs in order to go on.

    weights : float64[vectors, width], the last ones; one vector for two classes, else one a class
    bias : float64[vectors]
    averaged : whether the mean is kept
    mean, mean_bias : means after each example; None before the first
    seen : examples so far
    epochs, steps : how many so far
    """

    weights: Floats
    bias: Floats
    averaged: bool
    mean: Floats | None = None
    mean_bias: Floats | None = None
    seen: int = 0
    epochs: int = 0
    steps: int = 0

    def resumed(self, width: int, weight: float) -> TrainingState:
        """A copy to train on; new features, up to `width`, have had `weight` all the time."""
        added = np.full((width - self.weights.shape[1], len(self.bias)), weight)

        def widened(weights: Floats) -> Floats:
            return np.concatenate([weights.T, added]).T if added.size else weights.copy(order="K")

        mean = None if self.mean is None else widened(self.mean)
        return replace(self, weights=widened(self.weights), bias=self.bias.copy(), mean=mean)

    def laid_out(self, *, sparse: bool) -> None:
        """Lay weights out by feature for sparse rows, by class for dense ones."""
        order: Literal["F", "C"] = "F" if sparse else "C"
        self.weights = np.asarray(self.weights, order=order)
        if self.mean is not None:
            self.mean = np.asarray(self.mean, order=order)

    def owed(self) -> tuple[Floats, Floats]:
        """N weights and biases less the sum after each example, flat as in memory."""
        if self.mean is None or self.mean_bias is None:
            return np.zeros(self.weights.size), np.zeros(self.bias.size)
        return (
            mean_to_owed(flat_view(self.weights), flat_view(self.mean), self.seen),
            mean_to_owed(self.bias, self.mean_bias, self.seen),
        )

    def settle(self, owed: Floats, owed_bias: Floats) -> None:
        """Turn what is owed now into the mean, in place: at 10^7 features a copy shows."""
        owed_to_mean(flat_view(self.weights), owed, self.seen)
        owed_to_mean(self.bias, owed_bias, self.seen)
        by_class = self.weights.flags.c_contiguous
        self.mean = owed.reshape(self.weights.shape, order="C" if by_class else "F")
        self.mean_bias = owed_bias

    def result(self) -> tuple[Floats, Floats]:
        """The weights and biases that training gives: the mean where one is kept."""
        if self.mean is None or self.mean_bias is None:
            return self.weights, self.bias
        return self.mean, self.mean_bias


def flat_view(weights: Floats) -> Floats:
    """Weights in the order in which they lie in memory; a view, never a copy."""
    turned = weights if weights.flags.c_contiguous else weights.T
    return turned.reshape(-1)


RANDOM_START = (-0.01, 0.01)
"""The range of ``init="random"``: small, as the source advises (Jenkins, general GD, note 3)."""


def start_weights(
    init: Any, vectors: int, width: int, seed: int, *, intercept: bool
) -> tuple[Floats, Floats]:
    """The weights and biases to begin with.

    init : "zeros", a number for every weight, "random", (low, high), or an array of shape
        (vectors, width) or, with the biases as last column, (vectors, width + 1); for two
        classes also (width,) or (width + 1,)

    Raises ArgumentError, ArgumentTypeError if `init` is none of these, or holds NaN or infinity.
    """
    full = width + intercept
    if isinstance(init, str) and init == "zeros":
        init = 0.0
    if is_number(init):
        # NumPy's zeros come from the system as they are needed, its fills do not.
        shape, a = (vectors, width), start_weight(init)
        weights = np.zeros(shape) if a == 0 else np.full(shape, a)
        return weights, np.full(vectors, a if intercept else 0.0)
    low_high = RANDOM_START if isinstance(init, str) and init == "random" else init
    if isinstance(low_high, tuple):
        return _random(low_high, vectors, full, width, seed)
    if isinstance(init, str):
        raise ArgumentError(f"init {quote(init)} is not 'zeros' or 'random', a number or an array")
    return _from_array(init, vectors, width, intercept)


def is_number(init: Any) -> bool:
    """Return True if a start is one number for every weight."""
    return isinstance(init, int | float | np.number) and not isinstance(init, bool)


def start_weight(init: Any) -> float:
    """Return such a number as a float; ArgumentError if it is not finite."""
    weight = _as_float(init)
    _finite(np.asarray(weight))
    return weight


def _as_float(number: Any) -> float:
    try:
        return float(number)
    except OverflowError:
        return np.inf


def _random(
    low_high: tuple[Any, ...], vectors: int, full: int, width: int, seed: int
) -> tuple[Floats, Floats]:
    if len(low_high) != 2:
        raise ArgumentError(f"init {quote(repr(low_high))} must be a range (low, high)")
    try:
        low, high = map(_as_float, low_high)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"init {quote(repr(low_high))} must hold two numbers") from None
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ArgumentError(f"init {quote(repr(low_high))} must be finite, the lower number first")
    table = uniform(vectors * full, low, high, seed).reshape(vectors, full)
    bias = table[:, width].copy() if full > width else np.zeros(vectors)
    return table[:, :width].copy(), bias


def _from_array(init: Any, vectors: int, width: int, intercept: bool) -> tuple[Floats, Floats]:
    try:
        table = np.array(init, dtype=np.float64, ndmin=2)
    except OverflowError:
        raise ArgumentError("init must be finite") from None
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"init must be 'zeros', 'random', a number, a pair or an array, got {quote(repr(init))}"
        ) from None
    shapes = [(vectors, width)] + [(vectors, width + 1)] * intercept
    if table.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise ArgumentError(f"init has the shape {np.shape(init)}, but the weights have {wanted}")
    _finite(table)
    bias = table[:, width].copy() if table.shape[1] > width else np.zeros(vectors)
    return table[:, :width].copy(), bias


def _finite(values: Floats) -> None:
    if not np.isfinite(values).all():
        raise ArgumentError("init must be finite")


Ints = NDArray[np.int32]

_POINT_VALUES = 1 << 22
"""Numbers converted at a time where points come dense and rows are kept sparse, or reversed."""

_ENTRY_BYTES = UPDATE.itemsize + 4


@dataclass
class _Block:
    """Some updates in order of time, and the rows they are of."""

    kept: Rows
    row: Ints
    gold: Ints
    rival: Ints
    amount: Floats
    seen: NDArray[np.int64]


@dataclass
class VotedUpdates:
    """Every weight vector that a training went through, as its start and its updates.

    ``seen`` examples are the number of votes; ``intercept`` tells if a bias is learned.
    """

    weights: Floats
    bias: Floats
    intercept: bool
    seen: int = 0
    blocks: list[_Block] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """Bytes of the updates and their rows."""
        return sum(
            _ENTRY_BYTES * len(block.row) + 12 * len(block.kept.values) for block in self.blocks
        )

    def add(self, rows: Rows, ids: Ints, log: list[NDArray[Any]], seen: int) -> None:
        """Append the updates of one more training on `rows`; `ids` are the rows' classes."""
        self.seen = seen
        updates = np.concatenate([np.empty(0, dtype=UPDATE), *log])
        if not len(updates):
            return
        wrong, row = np.unique(updates["row"], return_inverse=True)
        self.blocks.append(
            _Block(
                kept=_kept_rows(rows, wrong),
                row=row.astype(np.int32),
                gold=ids[updates["row"]],
                rival=updates["rival"].copy(),
                amount=updates["amount"].copy(),
                seen=updates["seen"].copy(),
            )
        )
        # Blocks halve in size down the list, so there are few however many trainings there were.
        while len(self.blocks) > 1 and 2 * len(self.blocks[-1].row) >= len(self.blocks[-2].row):
            if self.blocks[-1].kept.is_sparse != self.blocks[-2].kept.is_sparse:
                break
            later, earlier = self.blocks.pop(), self.blocks.pop()
            self.blocks.append(_joined(earlier, later))

    def widened(self, width: int, weight: float) -> VotedUpdates:
        """A copy that can go on, with new features up to `width` started from `weight`."""
        added = np.full((len(self.bias), width - self.weights.shape[1]), weight)
        weights = np.concatenate([self.weights, added], axis=1) if added.size else self.weights
        return replace(self, weights=weights, blocks=list(self.blocks))

    def tally(self, points: Rows) -> Floats:
        """Votes of the vectors for each class: float64[points, classes]."""
        start = np.asarray(self.weights, order="F" if points.is_sparse else "C")
        scores = points.scores(flat_view(start), self.bias)
        tally = np.zeros((points.count, max(2, len(self.bias))))
        times = np.concatenate([*(block.seen for block in self.blocks), [self.seen]])
        chosen = (scores[:, 0] > 0) if len(self.bias) == 1 else scores.argmax(axis=1)
        tally[np.arange(points.count), chosen.astype(np.intp)] += float(times[0])
        votes, first = np.diff(times).astype(np.float64), 0
        for block in self.blocks:
            last = first + len(block.row)
            self._tally_block(points, block, votes[first:last], scores, tally)
            first = last
        return tally

    def _tally_block(
        self, points: Rows, block: _Block, votes: Floats, scores: Floats, tally: Floats
    ) -> None:
        size = points.count
        if points.is_sparse != block.kept.is_sparse:
            size = max(1, _POINT_VALUES // points.width)
        for first in range(0, points.count, size):
            part = slice(first, min(first + size, points.count))
            tally_votes(
                _of_kind(points, part, sparse=block.kept.is_sparse),
                block.kept,
                (block.row, block.gold, block.rival, block.amount, votes),
                scores[part],
                tally[part],
                one=float(self.intercept),
            )


def check_memory(rows: Rows, epochs: int, limit: int, held: int) -> None:
    """Raise unless the most that voting could come to keep is within `limit` bytes.

    The bound is every row of every epoch wrong: an entry for each, and each row kept.
    """
    # While training goes on the log, while it is sorted its copies: twice the entries.
    bound = held + 2 * _ENTRY_BYTES * rows.count * epochs + 12 * len(rows.values)
    bound += 8 * (rows.width if rows.is_sparse else 0)
    if bound > limit:
        raise MemoryLimitError(
            f"voted=True could keep up to {bound:,} bytes of updates ({rows.count:,} samples, "
            f"{epochs} epochs), and memory_limit is {limit:,}; lower max_iter, raise "
            "memory_limit, or use average=True, which keeps no updates"
        )


def _kept_rows(rows: Rows, chosen: NDArray[np.int32]) -> Rows:
    """The chosen rows: dense as they are; sparse ones by column, as the votes read them."""
    if rows.starts is None or rows.columns is None:
        table = rows.values.reshape(rows.count, rows.width)[chosen]
        return Rows(table.reshape(-1), None, None, len(chosen), rows.width)
    lengths = np.diff(rows.starts)[chosen]
    places = _ranges(rows.starts[:-1][chosen], lengths)
    row = np.repeat(np.arange(len(chosen), dtype=np.int32), lengths)
    return _by_column(rows.values[places], rows.columns[places], row, rows.width, len(chosen))


def _by_column(values: Floats, columns: Ints, row: Ints, width: int, count: int) -> Rows:
    order = np.argsort(columns, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=width))])
    return Rows(values[order], row[order], starts.astype(np.int64), width, count)


def _joined(earlier: _Block, later: _Block) -> _Block:
    """Two blocks as one; the rows of the later are numbered after those of the earlier."""
    a, b = earlier.kept, later.kept
    if a.starts is None or b.starts is None or a.columns is None or b.columns is None:
        offset = a.count
        kept = Rows(np.concatenate([a.values, b.values]), None, None, a.count + b.count, a.width)
    else:
        offset, width = a.width, max(a.count, b.count)
        features = [
            np.repeat(np.arange(r.count), np.diff(s)) for r, s in ((a, a.starts), (b, b.starts))
        ]
        kept = _by_column(
            np.concatenate([a.values, b.values]),
            np.concatenate(features).astype(np.int32),
            np.concatenate([a.columns, b.columns + np.int32(offset)]),
            width,
            a.width + b.width,
        )
    return _Block(
        kept=kept,
        row=np.concatenate([earlier.row, later.row + np.int32(offset)]),
        gold=np.concatenate([earlier.gold, later.gold]),
        rival=np.concatenate([earlier.rival, later.rival]),
        amount=np.concatenate([earlier.amount, later.amount]),
        seen=np.concatenate([earlier.seen, later.seen]),
    )


def _of_kind(points: Rows, part: slice, *, sparse: bool) -> Rows:
    """Some of the points, sparse or dense as wanted."""
    count = part.stop - part.start
    if points.starts is None or points.columns is None:
        table = points.values.reshape(points.count, points.width)[part]
        if not sparse:
            return Rows(table.reshape(-1), None, None, count, points.width)
        row, columns = np.nonzero(table)
        starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=count))])
        return Rows(
            table[row, columns],
            columns.astype(np.int32),
            starts.astype(np.int64),
            count,
            points.width,
        )
    if sparse:
        return points
    table = np.zeros((count, points.width))
    lengths = np.diff(points.starts)[part]
    places = _ranges(points.starts[:-1][part], lengths)
    row = np.repeat(np.arange(count), lengths)
    np.add.at(table, (row, points.columns[places]), points.values[places])
    return Rows(table.reshape(-1), None, None, count, points.width)


def _ranges(starts: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """starts[0], starts[0]+1, …, for lengths[0] numbers, then the same from starts[1], …"""
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
