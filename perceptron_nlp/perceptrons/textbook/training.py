"""Training: a learner, an order and a rate make a stream of updates."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from numbers import Integral
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.perceptrons.schedule import Constant, Rate, Schedule, step_size
from perceptron_nlp.perceptrons.textbook.averaging import averaged_counter
from perceptron_nlp.perceptrons.textbook.checks import at_least, gold, vectors
from perceptron_nlp.perceptrons.textbook.halting import Halt, Progress
from perceptron_nlp.perceptrons.textbook.orders import Order, Sequential
from perceptron_nlp.perceptrons.textbook.starts import Start, begun, exact, zeros
from perceptron_nlp.perceptrons.textbook.stream import Array, Delta, Step, Stream
from perceptron_nlp.sampling import IntArray


class Learner(Protocol):
    """What training, voting and prediction ask of a learner."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """The labels, lowest class first."""

    def shape(self, d: int) -> tuple[int, ...]:
        """The shape of the weights for vectors of d numbers."""

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """What the example adds to w, before the rate; None where w stays."""

    def choose(self, w: Array, X: Array) -> NDArray[np.int64]:
        """The class of each row of X, counted from 0."""


@dataclass(frozen=True)
class Run(Stream):
    """A training that has ended: its stream, its last weights, and why it ended.

    Attributes
    ----------
    start, steps : see :class:`Stream`; ``trace()`` gives the weights after every step
    learner : who learnt
    w : the last weights
    mistakes : for each epoch begun, at how many examples the condition for an update held
    halted_by : the condition that ended the training
    """

    learner: Learner
    w: Array
    mistakes: tuple[int, ...]
    halted_by: Halt

    @property
    def updates(self) -> int:
        """The number of steps at which w was updated."""
        return sum(step.mistakes > 0 for step in self.steps)

    def average(self) -> Array:
        """The mean of the weights after each example, w̄ = (1/N) Σ w_t (by L11)."""
        return averaged_counter(self)


def augment(X: ArrayLike) -> Array:
    """X with a column of ones: the weight of that column is the bias.

    Jenkins' augmented space; Nguyen's and Kuhlmann's b written as one more weight.
    """
    table = vectors(X)
    return np.hstack([table, np.ones((len(table), 1), dtype=table.dtype)])


def train(
    learner: Learner,
    X: ArrayLike,
    y: ArrayLike,
    *,
    order: Order | None = None,
    rate: Schedule | None = None,
    start: Start | Array = zeros,
    max_epochs: int = 100,
) -> Run:
    """What `learner` does on the examples (X, y).

    ::

        Initialize w(0)
        Iterate over epochs until convergence:
            w(i+1) = w(i) + η(i) Σ [condition] correction    over one example, or a batch

    Parameters
    ----------
    learner : Binary, Multiclass or MaximalValue
    X : [n, d], rows of numbers; see :func:`augment` for a bias
    y : n labels, as the learner wants them
    order : O1 … O6; the data's own order, again and again, when None
    rate : η(i), a function of the iteration i = 1, 2, …; 1 when None
    start : a function of the weights' shape, or the weights themselves
    max_epochs : how many epochs at most

    Returns
    -------
    Run
        Weights are exact (dtype object) when X is; int64 when X, start and a constant
        rate are integers; float64 otherwise.

    Raises
    ------
    ArgumentError, ArgumentTypeError
        naming the argument that cannot be used
    """
    table = vectors(X)
    answers = gold(y, len(table), learner.labels)
    order = Sequential(shuffle=False) if order is None else order
    rate = Constant() if rate is None else rate
    w = _as_weights(begun(start, learner.shape(table.shape[1])), table, rate)
    first, halted_by = w.copy(), Halt.EPOCH_LIMIT
    seen = Progress(n=len(table), w=w, w_before=w.copy())
    for epoch in islice(order.epochs(len(table)), at_least("max_epochs", max_epochs, 1)):
        ended = _one_epoch(learner, table, answers, order, rate, epoch, seen)
        if ended is not None:
            halted_by = ended
            break
    return Run(first, seen.steps, learner, w, tuple(seen.mistakes), halted_by)


def _one_epoch(
    learner: Learner,
    X: Array,
    y: list[int],
    order: Order,
    rate: Schedule,
    epoch: list[IntArray],
    seen: Progress,
) -> Halt | None:
    """The steps of one epoch, up to the one after which the order halts, if any does."""
    seen.w_before = seen.w.copy()
    seen.mistakes.append(0)
    for number, batch in enumerate(epoch, start=1):
        eta = _in_numbers_of(seen.w, step_size(rate, len(seen.steps) + 1))
        step = batch_step(learner, seen.w, X, y, batch, eta, _next_t(seen))
        if step.delta is not None:
            step.delta.add_to(seen.w)
        seen.steps.append(step)
        seen.mistakes[-1] += step.mistakes
        seen.quiet = 0 if step.mistakes else seen.quiet + 1
        seen.epoch_ended = number == len(epoch)
        halted = order.halted(seen)
        if halted is not None:
            return halted
    return None


def batch_step(
    learner: Learner, w: Array, X: Array, y: list[int], batch: IntArray, eta: Rate, t: int
) -> Step:
    """η(i) Σ_n [w·z_n x_n ≤ 0] z_n x_n over the batch, every mistake judged with the same w."""
    found = [learner.correction(w, X[n], y[n]) for n in batch.tolist()]
    corrections = [delta for delta in found if delta is not None]
    if not corrections:
        return Step(t, len(batch), 0, None)
    delta = corrections[0]
    if len(corrections) > 1:
        total = np.zeros(w.shape, dtype=X.dtype)
        for correction in corrections:
            correction.add_to(total)
        delta = Delta.of(total)
    return Step(t, len(batch), len(corrections), delta.times(eta))


def _in_numbers_of(w: Array, eta: Rate) -> Rate:
    return float(eta) if w.dtype == np.float64 else eta


def _next_t(seen: Progress) -> int:
    return seen.steps[-1].t + seen.steps[-1].examples if seen.steps else 1


def _as_weights(start: Array, X: Array, rate: Schedule) -> Array:
    if X.dtype == object:
        return exact(start.astype(object))
    whole = isinstance(rate, Constant) and isinstance(rate.eta0, Integral)
    integers = X.dtype.kind == "i" and start.dtype.kind == "i" and whole
    return start.astype(np.int64 if integers else np.float64)
