"""A classifier's training on the fast core, all or nothing; its epochs: orders, rates, halting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.train.values import Learner
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.perceptrons.estimator import Options
from perceptron_nlp.perceptrons.inputs import Samples
from perceptron_nlp.perceptrons.rows import Rows
from perceptron_nlp.perceptrons.schedule import Constant, Inverse, step_size
from perceptron_nlp.perceptrons.state import (
    TrainingState,
    Update,
    VotedUpdates,
    check_memory,
    is_number,
    start_weight,
    start_weights,
)
from perceptron_nlp.perceptrons.textbook.orders import Halt
from perceptron_nlp.sampling import draws, permutation, without_replacement

Floats = NDArray[np.float64]

BLOCK_WORK = 1 << 22
"""Products taken before signals are looked at: some milliseconds."""


@dataclass
class Outcome:
    """The result of some epochs.

    halted_by : what ended them
    mistakes : for each epoch begun, its mistakes
    updates : steps that changed the weights
    log : the updates one by one, if kept
    """

    halted_by: Halt = Halt.EPOCH_LIMIT
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    log: list[Update] = field(default_factory=list)


def train_epochs(
    rows: Rows,
    gold: NDArray[np.int32],
    rates: Floats,
    options: Options,
    state: TrainingState,
    epochs: int,
) -> Outcome:
    """Train `state` in place for at most `epochs` epochs; `gold`, `rates` go by row and class.

    Raises ArgumentError if the schedule gives no rate, or weights grow beyond what a float holds.
    """
    run = _Run(rows, gold, rates, options, state)
    outcome = Outcome()
    for _ in range(epochs):
        halted = run.epoch(outcome)
        if halted is not None:
            outcome.halted_by = halted
            break
    outcome.updates = run.learner.updates
    run.take_over()
    with np.errstate(over="ignore", invalid="ignore"):
        is_finite = np.isfinite(state.weights.sum() + state.totals.sum())
    if not is_finite:
        raise ArgumentError("X holds values so large that weights overflowed; scale its columns")
    return outcome


class _Run:
    """The core's learner on some rows, driven an epoch at a time."""

    def __init__(
        self,
        rows: Rows,
        gold: NDArray[np.int32],
        rates: Floats,
        options: Options,
        state: TrainingState,
    ) -> None:
        self.rows, self.options, self.state = rows, options, state
        self.step = options.step(rows.count)
        vectors = state.weights.shape[1]
        self.learner = Learner(
            WeightTable(vectors),
            rows.parts,
            rows.width,
            gold,
            rates,
            margin=options.margin,
            strict=options.strict,
            intercept=options.fit_intercept,
            averaged=state.averaged,
            logs=options.voted,
        )
        self.learner.take_up(state.weights, state.totals, state.seen)
        per_row = 1 + len(rows.values) // rows.count
        self.block = self.step * max(1, BLOCK_WORK // (per_row * vectors) // self.step)

    def take_over(self) -> None:
        """Bring the state up to what was learned."""
        self.state.weights, self.state.totals = self.learner.state()

    def epoch(self, outcome: Outcome) -> Halt | None:
        """One epoch; what halts the training after it or within it."""
        options, learner = self.options, self.learner
        order = self._order(self.state.epochs)
        self.state.epochs += 1
        mistakes, patience = learner.mistakes, -1
        if options.order == "sequential" and options.tol is not None:
            patience = self.rows.count
        watched = options.tol is not None and (
            options.order == "batch" or (options.order in _BY_NORM and options.tol > 0)
        )
        before = self.learner.state()[0] if watched else None
        try:
            for first in range(0, len(order), self.block):
                self._block(order[first : first + self.block], patience, outcome)
                if 0 <= patience <= learner.quiet:
                    break
        finally:
            self.state.seen = learner.table.done
        outcome.mistakes.append(learner.mistakes - mistakes)
        return self._halted(outcome, before)

    def _block(self, order: NDArray[np.int64], patience: int, outcome: Outcome) -> None:
        steps = -(-len(order) // self.step)
        rate, rates = self._rates(steps)
        taken = self.learner.train(order, self.step, rate, rates, patience)
        self.state.steps += -(-taken // self.step)
        if self.options.voted:
            outcome.log.append(self.learner.logged())

    def _rates(self, steps: int) -> tuple[float, Floats | None]:
        """The rate of the next steps: one for all, or one for each."""
        schedule, first = self.options.schedule, self.state.steps + 1
        if isinstance(schedule, Constant):
            return float(schedule.eta0), None
        if isinstance(schedule, Inverse):
            return 0.0, float(schedule.eta0) / np.arange(first, first + steps)
        rates = [float(step_size(schedule, i)) for i in range(first, first + steps)]
        return 0.0, np.array(rates)

    def _order(self, epoch: int) -> NDArray[np.int64]:
        count, seed, name = self.rows.count, self.options.seed, self.options.order
        if name == "replacement":
            return draws(count, count, seed, epoch)
        if name == "minibatch-random":
            steps = -(-count // self.step)
            first = epoch * steps
            chosen = [
                without_replacement(count, self.step, seed, i) for i in range(first, first + steps)
            ]
            return np.concatenate(chosen)
        if name == "batch" or not self.options.shuffle:
            return np.arange(count)
        return permutation(count, seed, 0 if name == "sequential" else epoch)

    def _halted(self, outcome: Outcome, before: Floats | None) -> Halt | None:
        name, options = self.options.order, self.options
        if options.tol is None:
            return None
        if name == "sequential":
            return Halt.NO_UPDATE if self.learner.quiet >= self.rows.count else None
        if name == "stochastic":
            return None if outcome.mistakes[-1] else Halt.NO_CHANGE
        if before is None:
            return None
        if name == "batch" and not outcome.mistakes[-1]:
            return Halt.ZERO_SUM
        change = self.learner.state()[0] - before
        if name == "batch":
            # Mistakes that cancel out leave the weights as they were; so does a rate of 0.
            still = not change.any()
            rate = step_size(options.schedule, self.state.steps)
            return Halt.ZERO_SUM if still and rate > 0 else None
        return Halt.SMALL_NORM if float((change * change).sum()) < options.tol**2 else None


_BY_NORM = ("replacement", "minibatch-random", "minibatch")


@dataclass(frozen=True)
class Training:
    """The state of a classifier: samples, labels in order, weights and their time, updates if kept.

    A further fit makes a new one and leaves this be.
    """

    samples: Samples
    classes: NDArray[Any]
    state: TrainingState
    votes: VotedUpdates | None

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
        state = TrainingState(weights, np.zeros_like(weights), options.average)
        votes = VotedUpdates(weights, options.fit_intercept) if options.voted else None
        return cls(samples, classes, state, votes)

    def resumed(self, width: int, init: Any, options: Options) -> Training:
        """A copy to train on, with room for `width` features."""
        if self.state.averaged != options.average or (self.votes is not None) != options.voted:
            raise ArgumentError(
                "average and voted cannot change once training has begun; "
                "fit again, with warm_start=False"
            )
        weight = start_weight(init) if is_number(init) else 0.0
        state = self.state.resumed(width, weight)
        votes = None if self.votes is None else self.votes.widened(width, weight)
        return replace(self, samples=replace(self.samples), state=state, votes=votes)

    def run(
        self, rows: Rows, ids: NDArray[np.int32], rates: Floats, options: Options, epochs: int
    ) -> Outcome:
        """Train on rows of the classes `ids`, in place."""
        if self.votes is not None:
            check_memory(rows, epochs, options.memory_limit, self.votes.nbytes)
        outcome = train_epochs(rows, ids, rates, options, self.state, epochs)
        if self.votes is not None:
            self.votes.add(rows, ids, outcome.log, self.state.seen)
        self.samples.width = rows.width
        return outcome
