"""A classifier's training on the fast core, all or nothing; its epochs: orders, rates, halting."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.permutation import permutation
from perceptron_nlp._core.train.vectors import Learner, Rows
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.perceptrons.estimator import Options
from perceptron_nlp.perceptrons.inputs import Samples
from perceptron_nlp.perceptrons.schedule import Constant, Inverse, step_size
from perceptron_nlp.perceptrons.state import (
    TrainingState,
    VotedUpdates,
    check_memory,
    flat_view,
    is_number,
    start_weight,
    start_weights,
)
from perceptron_nlp.perceptrons.textbook.orders import Halt
from perceptron_nlp.sampling import draws, without_replacement

Floats = NDArray[np.float64]

BLOCK_WORK = 1 << 22
"""Products taken before signals are looked at: some milliseconds."""


@dataclass
class Outcome:
    """The result of some epochs.

    halted_by : what ended them
    mistakes : for each epoch begun, its mistakes
    updates : steps that changed the weights
    log : the updates one by one, if kept: arrays of `UPDATE`, `seen` as in the state
    """

    halted_by: Halt = Halt.EPOCH_LIMIT
    mistakes: list[int] = field(default_factory=list)
    updates: int = 0
    log: list[NDArray[Any]] = field(default_factory=list)


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
    state.laid_out(sparse=rows.is_sparse)
    run = _Run(rows, gold, rates, options, state)
    outcome = Outcome()
    for _ in range(epochs):
        halted = run.epoch(outcome)
        if halted is not None:
            outcome.halted_by = halted
            break
    outcome.updates = run.learner.updates
    if run.owed is not None:
        state.settle(*run.owed)
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [part.sum() for part in (state.weights, state.bias, *state.result())]
    if not np.isfinite(sums).all():
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
        self.learner = Learner(
            rows,
            gold,
            flat_view(state.weights),
            state.bias,
            rates,
            margin=options.margin,
            strict=options.strict,
            intercept=options.fit_intercept,
        )
        per_row = 1 + len(rows.values) // rows.count
        self.block = self.step * max(1, BLOCK_WORK // (per_row * len(state.bias)) // self.step)
        self.owed: tuple[Floats, Floats] | None = None
        if state.averaged:
            self.owed = state.owed()
            self.learner.keep_average(*self.owed, state.seen)
        self.seen_before = state.seen - self.learner.seen
        if options.voted:
            self.learner.keep_updates(max(self.block, self.step))

    def epoch(self, outcome: Outcome) -> Halt | None:
        """One epoch; what halts the training after it or within it."""
        options, learner = self.options, self.learner
        order = self._order(self.state.epochs)
        self.state.epochs += 1
        mistakes, patience = learner.mistakes, -1
        if options.order == "sequential":
            patience = self.rows.count
        watched = options.order == "batch" or (options.order in _BY_NORM and options.tol > 0)
        before = (self.state.weights.copy(), self.state.bias.copy()) if watched else None
        try:
            for first in range(0, len(order), self.block):
                self._block(order[first : first + self.block], patience, outcome)
                if 0 <= patience <= learner.quiet:
                    break
        finally:
            self.state.seen = self.seen_before + learner.seen
        outcome.mistakes.append(learner.mistakes - mistakes)
        return self._halted(outcome, before)

    def _block(self, order: NDArray[np.int64], patience: int, outcome: Outcome) -> None:
        steps = -(-len(order) // self.step)
        rate, rates = self._rates(steps)
        taken = self.learner.train(order, self.step, rate, rates, patience)
        self.state.steps += -(-taken // self.step)
        if self.options.voted:
            log = self.learner.logged()
            log["seen"] += self.seen_before
            outcome.log.append(log)

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

    def _halted(self, outcome: Outcome, before: tuple[Floats, Floats] | None) -> Halt | None:
        name, options = self.options.order, self.options
        if name == "sequential":
            return Halt.NO_UPDATE if self.learner.quiet >= self.rows.count else None
        if name == "stochastic":
            return None if outcome.mistakes[-1] else Halt.NO_CHANGE
        if before is None:
            return None
        if name == "batch" and not outcome.mistakes[-1]:
            return Halt.ZERO_SUM
        change = self.state.weights - before[0], self.state.bias - before[1]
        if name == "batch":
            # Mistakes that cancel out leave the weights as they were; so does a rate of 0.
            still = not change[0].any() and not change[1].any()
            rate = step_size(options.schedule, self.state.steps)
            return Halt.ZERO_SUM if still and rate > 0 else None
        accumulated = float((change[0] * change[0]).sum() + (change[1] * change[1]).sum())
        return Halt.SMALL_NORM if accumulated < options.tol**2 else None


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
        weights, bias = start_weights(
            init, vectors, width, options.seed, intercept=options.fit_intercept
        )
        state = TrainingState(weights, bias, options.average)
        votes = None
        if options.voted:
            votes = VotedUpdates(weights.copy(), bias.copy(), options.fit_intercept)
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
