"""Training: a learner, an order, a rate and a start make a stream of updates, which votes.

Sources: Jenkins' lecture, "Notes – perceptron GD", note 3 (the start is arbitrary); Huang, the
voted perceptron (Freund and Schapire 1999; L5 and L6: every vector that there was has a vote).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import prod
from numbers import Integral
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.perceptrons.textbook.averaging import averaged_counter, distinct
from perceptron_nlp.perceptrons.textbook.orders import Halt, Order, Progress, Sequential
from perceptron_nlp.perceptrons.textbook.schedule import Constant, Rate, Schedule, step_size
from perceptron_nlp.perceptrons.textbook.stream import (
    Array,
    Delta,
    Step,
    Stream,
    at_least,
    gold,
    vectors,
)
from perceptron_nlp.sampling import IntArray, uniform

Start = Callable[[tuple[int, ...]], Array]


def zeros(shape: tuple[int, ...]) -> Array:
    """w(0) = 0."""
    return np.zeros(shape, dtype=np.int64)


def all_equal(a: Rate) -> Start:
    """w(0) = a·1."""
    return lambda shape: np.full(shape, a, dtype=np.int64 if isinstance(a, int) else object)


def random_in(low: float, high: float, *, seed: int) -> Start:
    """w(0) random, each number from low to high; the same for the same seed."""
    return lambda shape: uniform(prod(shape), low, high, seed).reshape(shape)


def begun(start: Start | Array, shape: tuple[int, ...]) -> Array:
    """The start as weights of `shape`; an array is taken as it is."""
    w = np.asarray(start(shape) if callable(start) else start)
    if w.shape != shape:
        raise ArgumentError(f"start must have the shape {shape} of the weights, got {w.shape}")
    return w


def exact(w: Array) -> Array:
    """The weights as exact numbers, floats as the fractions that they are."""
    numbers = [Fraction(value) if isinstance(value, float) else value for value in w.flat]
    return np.array(numbers, dtype=object).reshape(w.shape)


class Learner(Protocol):
    """The interface of a learner, for training, voting and prediction."""

    @property
    def labels(self) -> NDArray[np.int64]:
        """The labels, lowest class first."""

    def shape(self, d: int) -> tuple[int, ...]:
        """The shape of the weights for vectors of d numbers."""

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """Return the change of w by the example, before the rate; None where w stays."""

    def choose(self, w: Array, X: Array) -> NDArray[np.int64]:
        """The class of each row of X, counted from 0."""


@dataclass(frozen=True)
class Run(Stream):
    """A training that has ended: its stream, its last weights, and why it ended.

    Attributes
    ----------
    start, steps : see :class:`Stream`; ``trace()`` gives the weights after every step
    learner : who learned
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
    """Train `learner` on the examples (X, y).

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
        eta = step_size(rate, len(seen.steps) + 1)
        eta = float(eta) if seen.w.dtype == np.float64 else eta
        t = seen.steps[-1].t + seen.steps[-1].examples if seen.steps else 1
        step = batch_step(learner, seen.w, X, y, batch, eta, t)
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


def _as_weights(start: Array, X: Array, rate: Schedule) -> Array:
    if X.dtype == object:
        return exact(start.astype(object))
    whole = isinstance(rate, Constant) and isinstance(rate.eta0, Integral)
    integers = X.dtype.kind == "i" and start.dtype.kind == "i" and whole
    return start.astype(np.int64 if integers else np.float64)


def voted_naive(run: Run, X: ArrayLike) -> NDArray[np.int64]:
    """L5: the label that most of the N vectors w_1 … w_N give to each row of X.

    Keeps the vector after *every* example: O(N·d) in space. Equal votes go to the lowest class.
    """
    models = []
    for step, w in zip(run.steps, run.trace()[1:], strict=True):
        models += [w] * step.examples
    return _majority(run, X, [(w, 1) for w in models])


def voted_improved(run: Run, X: ArrayLike) -> NDArray[np.int64]:
    """L6: the same, from each distinct vector once with its number of votes. O(U·d)."""
    return _majority(run, X, distinct(run))


def _majority(run: Run, X: ArrayLike, models: list[tuple[Array, int]]) -> NDArray[np.int64]:
    table = vectors(X)
    rows = np.arange(len(table))
    votes = np.zeros((len(table), len(run.learner.labels)), dtype=np.int64)
    for w, v in models:
        votes[rows, run.learner.choose(w, table)] += v
    return np.asarray(run.learner.labels[np.argmax(votes, axis=1)], dtype=np.int64)
