"""The training of a classifier: epochs in every order, the mean of its weights, and their votes.

The voted perceptron (L6) keeps its vectors as updates. An update is a multiple of one sample, so
what is kept is each sample that was ever mistaken, once, and for each update the sample, the
classes, the amount and the time. Source: Y. Freund and R. E. Schapire, "Large margin classification
using the perceptron algorithm", Machine Learning 37, 1999, figure 1 and section 3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.train.values import Learner, walk_votes
from perceptron_nlp.errors import ArgumentError, MemoryLimitError
from perceptron_nlp.perceptrons.estimator import Options, is_number, start_weight, start_weights
from perceptron_nlp.perceptrons.inputs import Floats, Rows, Samples
from perceptron_nlp.perceptrons.textbook.orders import Halt
from perceptron_nlp.perceptrons.textbook.schedule import Constant, Inverse, step_size
from perceptron_nlp.sampling import draws, permutation, without_replacement

Ints = NDArray[np.int32]

BLOCK_WORK = 1 << 22
"""Products taken before signals are looked at: some milliseconds."""

_BY_NORM = ("replacement", "minibatch-random", "minibatch")
_VALUES = 1 << 22
"""Numbers that are multiplied at a time where points vote."""
_ENTRY_BYTES = 8 + 8 + 4 + 4


@dataclass
class Training:
    """All that a classifier has learned, and needs in order to go on.

    A further fit makes a new one and leaves this be.

    samples, classes : the way from X to rows, and the labels in order
    weights : float64[1 + width, vectors], the last ones, intercepts first; one vector for two
        classes, else one a class
    totals : the same shape, their sums after each sample, if the mean is kept
    averaged : whether the mean is kept
    votes : all vectors, if kept
    seen, epochs, steps : samples, epochs and steps so far
    mistakes, updates, halted_by : of the last fit, those of each epoch begun, the steps that
        changed the weights, and what ended it
    """

    samples: Samples
    classes: NDArray[Any]
    weights: Floats
    totals: Floats
    averaged: bool
    votes: VotedUpdates | None
    seen: int = 0
    epochs: int = 0
    steps: int = 0
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    halted_by: Halt = Halt.EPOCH_LIMIT

    @classmethod
    def begin(
        cls, samples: Samples, classes: NDArray[Any], width: int, init: Any, options: Options
    ) -> Training:
        """Before the first example; `width` is the number of features."""
        numbers = is_number(init) or (isinstance(init, str) and init == "zeros")
        if samples.index is not None and not numbers:
            raise ArgumentError("init must be a number where X holds feature dictionaries")
        vectors = 1 if len(classes) == 2 else len(classes)
        weights = start_weights(init, vectors, width, options.seed, intercept=options.fit_intercept)
        votes = VotedUpdates(weights, options.fit_intercept) if options.voted else None
        return cls(samples, classes, weights, np.zeros_like(weights), options.average, votes)

    def resumed(self, width: int, init: Any, options: Options) -> Training:
        """A copy to train on; new features, up to `width`, have had their weight all the time."""
        if self.averaged != options.average or (self.votes is not None) != options.voted:
            raise ArgumentError(
                "average and voted cannot change once training has begun; "
                "fit again, with warm_start=False"
            )
        weight = start_weight(init) if is_number(init) else 0.0
        return replace(
            self,
            samples=replace(self.samples),
            weights=_widened(self.weights, width, weight),
            totals=_widened(self.totals, width, weight * self.seen),
            votes=self.votes and self.votes.copied(width, weight),
        )

    def result(self) -> tuple[Floats, Floats]:
        """The weights, [vectors, width], and intercepts that training gives: means, if kept."""
        given = self.totals / self.seen if self.averaged and self.seen else self.weights
        return given[1:].T.copy(), given[0].copy()

    def run(self, rows: Rows, gold: Ints, rates: Floats, options: Options, epochs: int) -> None:
        """Train in place for at most `epochs` epochs; `gold`, `rates` go by row and class.

        Raises ArgumentError if the schedule gives no rate, or weights grow beyond what a float
        holds; MemoryLimitError, before the first epoch, if votes could need too much.
        """
        if self.votes is not None:
            self.votes.check_memory(rows, epochs, options.memory_limit)
        step, vectors = options.step(rows.count), self.weights.shape[1]
        learner = Learner(
            WeightTable(vectors),
            rows.parts,
            rows.width,
            gold,
            rates,
            margin=options.margin,
            strict=options.strict,
            intercept=options.fit_intercept,
            averaged=self.averaged,
            logs=options.voted,
        )
        learner.take_up(self.weights, self.totals, self.seen)
        per_row = 1 + len(rows.values) // rows.count
        block = step * max(1, BLOCK_WORK // (per_row * vectors) // step)
        log: list[Any] = []
        self.mistakes, halted = [], None
        while halted is None and len(self.mistakes) < epochs:
            halted = self._epoch(learner, rows.count, block, options, log)
        self.halted_by, self.updates = halted or Halt.EPOCH_LIMIT, learner.updates
        self.weights, self.totals = learner.state()
        with np.errstate(over="ignore", invalid="ignore"):
            is_finite = np.isfinite(self.weights.sum() + self.totals.sum())
        if not is_finite:
            raise ArgumentError(
                "X holds values so large that weights overflowed; scale its columns"
            )
        if self.votes is not None:
            self.votes.add(rows, gold, log, self.seen)
        self.samples.width = rows.width

    def _epoch(
        self, learner: Learner, count: int, block: int, options: Options, log: list[Any]
    ) -> Halt | None:
        """One epoch on `count` rows; what halts the training after it or within it."""
        name, step, tol = options.order, options.step(count), options.tol
        order = _order(options, count, step, self.epochs)
        self.epochs += 1
        begun, patience = learner.mistakes, -1 if name != "sequential" or tol is None else count
        watched = tol is not None and (name == "batch" or (name in _BY_NORM and tol > 0))
        before = learner.state()[0] if watched else None
        for first in range(0, len(order), block):
            part = order[first : first + block]
            taken = learner.train(
                part, step, *self._rates(options, -(-len(part) // step)), patience
            )
            self.steps += -(-taken // step)
            if options.voted:
                log.append(learner.logged())
            if 0 <= patience <= learner.quiet:
                break
        self.seen = learner.table.done
        mistakes = learner.mistakes - begun
        self.mistakes.append(mistakes)
        if name == "sequential" and tol is not None:
            return Halt.NO_UPDATE if learner.quiet >= count else None
        if name == "stochastic" and tol is not None:
            return None if mistakes else Halt.NO_CHANGE
        if tol is None or before is None:
            return None
        change = learner.state()[0] - before
        if name == "batch":
            # Mistakes that cancel out leave the weights as they were; so does a rate of 0.
            still = not mistakes or (
                not change.any() and step_size(options.schedule, self.steps) > 0
            )
            return Halt.ZERO_SUM if still else None
        return Halt.SMALL_NORM if float((change * change).sum()) < tol**2 else None

    def _rates(self, options: Options, steps: int) -> tuple[float, Floats | None]:
        """The rate of the next steps: one for all, or one for each."""
        schedule, first = options.schedule, self.steps + 1
        if isinstance(schedule, Constant):
            return float(schedule.eta0), None
        if isinstance(schedule, Inverse):
            return 0.0, float(schedule.eta0) / np.arange(first, first + steps)
        rates = [float(step_size(schedule, i)) for i in range(first, first + steps)]
        return 0.0, np.array(rates)


def _order(options: Options, count: int, step: int, epoch: int) -> NDArray[np.int64]:
    """The numbers of the rows in the order in which an epoch sees them."""
    seed, name = options.seed, options.order
    if name == "replacement":
        return draws(count, count, seed, epoch)
    if name == "minibatch-random":
        steps = -(-count // step)
        first = epoch * steps
        chosen = [without_replacement(count, step, seed, i) for i in range(first, first + steps)]
        return np.concatenate(chosen)
    if name == "batch" or not options.shuffle:
        return np.arange(count)
    return permutation(count, seed, 0 if name == "sequential" else epoch)


def _widened(table: Floats, width: int, weight: float) -> Floats:
    """A copy of weights with rows for all of `width` features, the new ones of `weight`."""
    added = np.full((1 + width - len(table), table.shape[1]), weight)
    return np.concatenate([table, added])


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

    def check_memory(self, rows: Rows, epochs: int, limit: int) -> None:
        """Raise unless the most that voting could come to keep is within `limit` bytes.

        The bound is every row of every epoch wrong: an entry for each, and each row kept.
        """
        held = [_ENTRY_BYTES * len(own.row) + 12 * len(own.kept.values) for own in self.trainings]
        # While training goes on the log, while it is sorted its copies: twice the entries.
        bound = sum(held) + 2 * _ENTRY_BYTES * rows.count * epochs + 12 * len(rows.values)
        if bound > limit:
            raise MemoryLimitError(
                f"voted=True could keep up to {bound:,} bytes of updates ({rows.count:,} samples, "
                f"{epochs} epochs), and memory_limit is {limit:,}; lower max_iter, raise "
                "memory_limit, or use average=True, which keeps no updates"
            )

    def add(self, rows: Rows, gold: Ints, log: list[Any], seen: int) -> None:
        """Append the updates of one more training on `rows`, as the core's Learner logged them."""
        self.seen = seen
        times, amounts, samples, rivals = (np.concatenate(part) for part in zip(*log, strict=True))
        if len(times):
            wrong, row = np.unique(samples, return_inverse=True)
            own = rows.chosen(wrong), row.astype(np.int32), gold[samples]
            self.trainings.append(_Updates(*own, rivals, amounts, times))

    def copied(self, width: int, weight: float) -> VotedUpdates:
        """A copy that can go on, with new features up to `width` started from `weight`."""
        weights = _widened(self.weights, width, weight)
        return replace(self, weights=weights, trainings=[*self.trainings])

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

    def _products(self, points: Rows, kept: Rows) -> Iterator[tuple[slice, Floats]]:
        """Yield, some points at a time, their products with each sample that was kept."""
        size = max(1, _VALUES // max(kept.count, points.width))
        for first in range(0, points.count, size):
            at = slice(first, min(first + size, points.count))
            table = points.dense(at)[:, : kept.width].T
            # Not a product of BLAS, which adds in another order on each machine.
            products = kept.scores(table, np.zeros(table.shape[1]))
            yield at, np.ascontiguousarray(products.T) + float(self.intercept)
