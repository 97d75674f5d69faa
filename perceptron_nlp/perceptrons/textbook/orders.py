"""O1 to O6: in what order, and how many at a time, the examples are seen, and when training ends.

An order gives, epoch after epoch, a list of iterations, each the numbers of the examples in it, and
knows when to halt. An *update* is an iteration at which the learner's condition held, whatever it
then added. Source: Jenkins' lecture, "2. Perceptron learning case", the general gradient-descent
algorithms before it, the stopping lines of each algorithm and "Notes – perceptron GD", note 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Protocol

import numpy as np

from perceptron_nlp.perceptrons.textbook.schedule import Rate, not_negative
from perceptron_nlp.perceptrons.textbook.stream import Array, Step, size_fits
from perceptron_nlp.sampling import IntArray, batches, draws, permutation, without_replacement


class Halt(StrEnum):
    """The reason why training ended."""

    NO_UPDATE = "no update in the last N iterations"
    NO_CHANGE = "no change over an epoch"
    ZERO_SUM = "batch sum is zero"
    SMALL_NORM = "norm below tol"
    EPOCH_LIMIT = "epoch limit"


@dataclass
class Progress:
    """Training so far, as the halting conditions see it.

    Attributes
    ----------
    n : number of training examples, Jenkins' N
    w : the weights now
    w_before : the weights when the epoch began, copied
    steps : the iterations so far
    quiet : iterations since the last update
    mistakes : mistakes of each epoch so far
    epoch_ended : whether the last step was the last of its epoch
    """

    n: int
    w: Array
    w_before: Array
    steps: list[Step] = field(default_factory=list)
    quiet: int = 0
    mistakes: list[int] = field(default_factory=list)
    epoch_ended: bool = False


def norm_below(seen: Progress, tol: Rate) -> Halt | None:
    """O3, O5, O6: ‖w after the epoch - w before it‖ < tol. With tol = 0, never."""
    if not seen.epoch_ended:
        return None
    accumulated = (seen.w - seen.w_before).reshape(-1)
    return Halt.SMALL_NORM if accumulated @ accumulated < tol * tol else None


class Order(Protocol):
    """The interface of an order."""

    def epochs(self, n: int) -> Iterator[list[IntArray]]:
        """Without end, one epoch of iterations over n examples after another."""

    def halted(self, seen: Progress) -> Halt | None:
        """The condition that ends training now, or None."""


@dataclass(frozen=True)
class Sequential:
    """O1, basic sequential: shuffle once, then pass over the data in that order."""

    seed: int = 0
    shuffle: bool = True

    def epochs(self, n: int) -> Iterator[list[IntArray]]:
        """One example an iteration, in the same order in every epoch.

        ::

            Randomly shuffle the order of training data points
            Define seq_epoch m as:
                For n in {1, 2, …, N}
            Iterate seq_epoch over m = 1, 2, 3, …
        """
        order = permutation(n, self.seed) if self.shuffle else np.arange(n)
        while True:
            yield batches(order, 1)

    def halted(self, seen: Progress) -> Halt | None:
        """Stop when [w·zx ≤ 0] = 0 for all of the last N iterations, be it across two epochs."""
        return Halt.NO_UPDATE if seen.quiet >= seen.n else None


@dataclass(frozen=True)
class Stochastic:
    """O2, stochastic variant 1: shuffle before every epoch."""

    seed: int = 0

    def epochs(self, n: int) -> Iterator[list[IntArray]]:
        """One example an iteration, in a new order in every epoch.

        ::

            Iterate over m = 1, 2, 3, …
                (i)  Randomly shuffle dataset
                (ii) Perform seq_epoch m
        """
        for m in count():
            yield batches(permutation(n, self.seed, m), 1)

    def halted(self, seen: Progress) -> Halt | None:
        """Until no change in w over 1 full epoch, from its shuffle to its end."""
        return Halt.NO_CHANGE if seen.epoch_ended and not seen.mistakes[-1] else None


@dataclass(frozen=True)
class Replacement:
    """O3, stochastic variant 2: draw one example with replacement. N draws are an epoch."""

    seed: int = 0
    tol: Rate = 0

    def __post_init__(self) -> None:
        not_negative("tol", self.tol)

    def epochs(self, n: int) -> Iterator[list[IntArray]]:
        """One example an iteration, any of them each time.

        ::

            Iterate over i = 0, 1, 2, …
                (i) Randomly pick a training data point (with replacement)
        """
        for m in count():
            yield batches(draws(n, n, self.seed, m), 1)

    def halted(self, seen: Progress) -> Halt | None:
        """When the norm of the update accumulated over an epoch is below tol."""
        return norm_below(seen, self.tol)


@dataclass(frozen=True)
class Batch:
    """O4, batch: all N at once, all judged with the same w. An iteration is an epoch."""

    def epochs(self, n: int) -> Iterator[list[IntArray]]:
        """All examples in one iteration.

        ::

            w(i+1) = w(i) + η(i) Σ_{n=1..N} [w·z_n x_n ≤ 0] z_n x_n
        """
        while True:
            yield [np.arange(n)]

    def halted(self, seen: Progress) -> Halt | None:
        """Stop when Σ_{n=1..N} [w·z_n x_n ≤ 0] z_n x_n = 0, be it that mistakes cancel out."""
        return None if seen.steps[-1].delta else Halt.ZERO_SUM


@dataclass(frozen=True)
class MinibatchRandom:
    """O5, mini-batch variant 1: draw M without replacement, one batch step, put them back.

    ⌈N/M⌉ steps are an epoch. With M = 1 this is O3, draw for draw.
    """

    size: int
    seed: int = 0
    tol: Rate = 0

    def __post_init__(self) -> None:
        not_negative("tol", self.tol)

    def epochs(self, n: int) -> Iterator[list[IntArray]]:
        """M different examples an iteration, any M each time.

        ::

            (i)   Pick M data points out of N points in the training set, at random
            (ii)  Perform batch GD on the M data points (1 iteration)
            (iii) Replace the data points to the training set
        """
        M = size_fits(self.size, n)
        B = -(-n // M)
        for m in count():
            yield [without_replacement(n, M, self.seed, m * B + b) for b in range(B)]

    def halted(self, seen: Progress) -> Halt | None:
        """When the norm of the update accumulated over an epoch is below tol."""
        return norm_below(seen, self.tol)


@dataclass(frozen=True)
class Minibatch:
    """O6, mini-batch variant 2: shuffle, cut into ⌈N/M⌉ batches of M, one step each.

    The last batch may be shorter. With M = 1 this is O2, with M = N it is O4.
    """

    size: int
    seed: int = 0
    shuffle: bool = True
    tol: Rate = 0

    def __post_init__(self) -> None:
        not_negative("tol", self.tol)

    def epochs(self, n: int) -> Iterator[list[IntArray]]:
        """M examples an iteration, every example once an epoch.

        ::

            (i)   Shuffle the data order (with labels attached). This is optional.
            (ii)  Partition the training data into B mini-batches, each of size M
            (iii) For b = 1, 2, …, B: Perform batch GD on mini-batch b (1 iteration)
        """
        M = size_fits(self.size, n)
        for m in count():
            order = permutation(n, self.seed, m) if self.shuffle else np.arange(n)
            yield batches(order, M)

    def halted(self, seen: Progress) -> Halt | None:
        """When the norm of the update accumulated over an epoch is below tol."""
        return norm_below(seen, self.tol)
