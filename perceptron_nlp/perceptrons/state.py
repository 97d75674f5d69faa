"""The weights of a classifier in training: where they begin, their mean, and their votes.

The voted perceptron (L6) keeps its vectors as updates. An update is a multiple of one sample, so
what is kept is each sample that was ever mistaken, once, and for each update the sample, the
classes, the amount and the time. Source: Y. Freund and R. E. Schapire, "Large margin classification
using the perceptron algorithm", Machine Learning 37, 1999, figure 1 and section 3.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.values import walk_votes
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError, quote
from perceptron_nlp.perceptrons.rows import Rows
from perceptron_nlp.sampling import uniform

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Update = tuple[NDArray[np.int64], Floats, Ints, Ints]
"""Of some updates: samples seen before, amounts, samples and rivals; see the core's Learner."""


@dataclass
class TrainingState:
    """All that a training needs in order to go on.

    weights : float64[1 + width, vectors], the last ones, intercepts first; one vector for two
        classes, else one a class
    totals : the same shape, their sums after each sample, if the mean is kept
    averaged : whether the mean is kept
    seen : samples so far
    epochs, steps : how many so far
    """

    weights: Floats
    totals: Floats
    averaged: bool
    seen: int = 0
    epochs: int = 0
    steps: int = 0

    def resumed(self, width: int, weight: float) -> TrainingState:
        """A copy to train on; new features, up to `width`, have had `weight` all the time."""
        shape = 1 + width - len(self.weights), self.weights.shape[1]
        return replace(
            self,
            weights=np.concatenate([self.weights, np.full(shape, weight)]),
            totals=np.concatenate([self.totals, np.full(shape, weight * self.seen)]),
        )

    def result(self) -> tuple[Floats, Floats]:
        """The weights, [vectors, width], and intercepts that training gives: means, if kept."""
        given = self.totals / self.seen if self.averaged and self.seen else self.weights
        return given[1:].T.copy(), given[0].copy()


RANDOM_START = (-0.01, 0.01)
"""The range of ``init="random"``: small, as the source advises (Jenkins, general GD, note 3)."""


def start_weights(init: Any, vectors: int, width: int, seed: int, *, intercept: bool) -> Floats:
    """Return the weights to begin with: float64[1 + width, vectors], intercepts first.

    init : "zeros", a number for every weight, "random", (low, high), or an array of shape
        (vectors, width) or, with the biases as last column, (vectors, width + 1); for two
        classes also (width,) or (width + 1,)

    Raises ArgumentError, ArgumentTypeError if `init` is none of these, or holds NaN or infinity.
    """
    if isinstance(init, str) and init == "zeros":
        init = 0.0
    if is_number(init):
        weights = np.full((1 + width, vectors), start_weight(init))
        if not intercept:
            weights[0] = 0.0
        return weights
    if isinstance(init, str) and init == "random":
        init = RANDOM_START
    if isinstance(init, tuple):
        table = _random(init, vectors, width + intercept, seed)
    elif isinstance(init, str):
        raise ArgumentError(f"init {quote(init)} is not 'zeros' or 'random', a number or an array")
    else:
        table = _from_array(init, vectors, width, intercept)
    bias = table[:, width:] if table.shape[1] > width else np.zeros((vectors, 1))
    return np.ascontiguousarray(np.concatenate([bias, table[:, :width]], axis=1).T)


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


def _random(low_high: tuple[Any, ...], vectors: int, full: int, seed: int) -> Floats:
    if len(low_high) != 2:
        raise ArgumentError(f"init {quote(repr(low_high))} must be a range (low, high)")
    try:
        low, high = map(_as_float, low_high)
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"init {quote(repr(low_high))} must hold two numbers") from None
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ArgumentError(f"init {quote(repr(low_high))} must be finite, the lower number first")
    return uniform(vectors * full, low, high, seed).reshape(vectors, full)


def _from_array(init: Any, vectors: int, width: int, intercept: bool) -> Floats:
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
    return table


def _finite(values: Floats) -> None:
    if not np.isfinite(values).all():
        raise ArgumentError("init must be finite")


_VALUES = 1 << 22
"""Numbers that are multiplied at a time where points vote."""

_ENTRY_BYTES = 8 + 8 + 4 + 4


@dataclass(frozen=True)
class _Updates:
    """Some updates in order of time, and the samples they are of."""

    kept: Rows
    row: Ints
    gold: Ints
    rival: Ints
    amount: Floats
    seen: NDArray[np.int64]


@dataclass
class VotedUpdates:
    """Every weight vector that a training went through, as its start and its updates.

    ``seen`` samples are the number of votes; ``intercept`` tells if one is learned.
    """

    weights: Floats
    intercept: bool
    seen: int = 0
    trainings: list[_Updates] = field(default_factory=list)

    @property
    def nbytes(self) -> int:
        """Bytes of the updates and their samples."""
        return sum(
            _ENTRY_BYTES * len(own.row) + 12 * len(own.kept.values) for own in self.trainings
        )

    def add(self, rows: Rows, ids: Ints, log: list[Update], seen: int) -> None:
        """Append the updates of one more training on `rows`; `ids` are the rows' classes."""
        self.seen = seen
        if not sum(len(own[0]) for own in log):
            return
        times, amounts, samples, rivals = (np.concatenate(part) for part in zip(*log, strict=True))
        wrong, row = np.unique(samples, return_inverse=True)
        self.trainings.append(
            _Updates(rows.chosen(wrong), row.astype(np.int32), ids[samples], rivals, amounts, times)
        )

    def widened(self, width: int, weight: float) -> VotedUpdates:
        """A copy that can go on, with new features up to `width` started from `weight`."""
        added = np.full((1 + width - len(self.weights), self.weights.shape[1]), weight)
        weights = np.concatenate([self.weights, added])
        return replace(self, weights=weights, trainings=list(self.trainings))

    def tally(self, points: Rows) -> Floats:
        """Votes of the vectors for each class: float64[points, classes]."""
        vectors = self.weights.shape[1]
        scores = points.scores(self.weights[1:], self.weights[0])
        tally = np.zeros((points.count, max(2, vectors)))
        times = np.concatenate([*(own.seen for own in self.trainings), [self.seen]])
        chosen = (scores[:, 0] > 0) if vectors == 1 else scores.argmax(axis=1)
        tally[np.arange(points.count), chosen.astype(np.intp)] += float(times[0])
        votes, first = np.diff(times).astype(np.float64), 0
        for own in self.trainings:
            last = first + len(own.row)
            updates = own.row, own.gold, own.rival, own.amount, votes[first:last]
            for at, products in self._products(points, own.kept):
                walk_votes(products, updates, scores[at], tally[at])
            first = last
        return tally

    def _products(self, points: Rows, kept: Rows) -> Any:
        """Yield, some points at a time, their products with each sample that was kept."""
        size = max(1, _VALUES // max(1, len(kept.values), points.width))
        for first in range(0, points.count, size):
            at = slice(first, min(first + size, points.count))
            dense = points.dense(at)
            if kept.columns is None or kept.starts is None:
                width = kept.width
                # Not a product of BLAS, which adds in another order on each machine.
                table = kept.values.reshape(-1, width)
                products = np.einsum("pw,kw->pk", dense[:, :width], table)
            else:
                products = np.zeros((at.stop - at.start, kept.count))
                filled = np.diff(kept.starts) > 0
                terms = dense[:, kept.columns] * kept.values
                if filled.any():
                    begins = kept.starts[:-1][filled]
                    products[:, filled] = np.add.reduceat(terms, begins, axis=1)
            yield at, np.ascontiguousarray(products + float(self.intercept))


def check_memory(rows: Rows, epochs: int, limit: int, held: int) -> None:
    """Raise unless the most that voting could come to keep is within `limit` bytes.

    The bound is every row of every epoch wrong: an entry for each, and each row kept.
    """
    # While training goes on the log, while it is sorted its copies: twice the entries.
    bound = held + 2 * _ENTRY_BYTES * rows.count * epochs + 12 * len(rows.values)
    if bound > limit:
        raise MemoryLimitError(
            f"voted=True could keep up to {bound:,} bytes of updates ({rows.count:,} samples, "
            f"{epochs} epochs), and memory_limit is {limit:,}; lower max_iter, raise "
            "memory_limit, or use average=True, which keeps no updates"
        )
