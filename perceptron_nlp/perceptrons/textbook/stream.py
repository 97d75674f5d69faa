"""The updates (t, Δ) of a learner, from which every average is made, and checks of its input.

Huang's chapter and Johansson's lecture rest on one observation: the weight vector is the sum of its
updates. So a learner is written once, as a stream of updates, and the voted and averaged algorithms
read that stream.

Examples seen are numbered t = 1 … N over all epochs; w_t is the vector after example t and w_0 the
start. Arithmetic stays in the numbers that come in: with ``dtype=object`` and Python integers or
fractions everything is exact.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote

Array = NDArray[Any]


@dataclass(frozen=True)
class Delta:
    """An update Δ, kept by its non-zeros: Huang's d_Δ numbers instead of d.

    ``index`` are places in the flattened weights, each at most once; ``value`` is added there.
    """

    index: NDArray[np.int64]
    value: Array

    @classmethod
    def of(cls, dense: Array) -> Delta:
        """The update that adds `dense`."""
        flat = dense.reshape(-1)
        index = np.flatnonzero(flat)
        return cls(index, flat[index])

    @classmethod
    def of_rows(cls, rows: Mapping[int, Array]) -> Delta:
        """The update that adds each vector to the row (the class) that it is named for."""
        parts = [(row * len(x), cls.of(x)) for row, x in rows.items()]
        return cls(
            np.concatenate([first + part.index for first, part in parts]),
            np.concatenate([part.value for _, part in parts]),
        )

    def __len__(self) -> int:
        return len(self.index)

    def times(self, eta: Any) -> Delta:
        """The update η·Δ."""
        return Delta(self.index, eta * self.value)

    def add_to(self, w: Array, c: Any = 1) -> None:
        """w ← w + c·Δ, in place, in O(d_Δ).

        Raises ArgumentTypeError if w holds integers and the update does not, so that it would be
        cut off.
        """
        change = c * self.value
        if not np.can_cast(change.dtype, w.dtype, "same_kind"):
            raise ArgumentTypeError(
                f"weights of dtype {w.dtype} cannot take an update of dtype {change.dtype}; "
                "begin with a start of that dtype"
            )
        w.reshape(-1)[self.index] += change


@dataclass(frozen=True)
class Step:
    """One iteration: one example, or one batch that is judged with one w.

    Attributes
    ----------
    t : number of its first example, from 1
    examples : how many examples it has; the weights after it count this many times
    mistakes : at how many of them the learner's condition for an update held
    delta : what was added to w, or None where the condition never held
    """

    t: int
    examples: int
    mistakes: int
    delta: Delta | None


@dataclass(frozen=True)
class Stream:
    """A start and the steps from it. Every vector that there was can be made again."""

    start: Array
    steps: Sequence[Step]

    @property
    def N(self) -> int:
        """The number of examples seen, over all epochs."""
        return sum(step.examples for step in self.steps)

    @property
    def deltas(self) -> list[tuple[int, Delta]]:
        """The updates (t, Δ), in the order of time."""
        return [(step.t, step.delta) for step in self.steps if step.delta]

    def trace(self) -> list[Array]:
        """w_0 and then the weights after each step, copied."""
        vectors = [self.start.copy()]
        for step in self.steps:
            w = vectors[-1].copy()
            if step.delta:
                step.delta.add_to(w)
            vectors.append(w)
        return vectors


def divided(w: Any, n: int) -> Any:
    """w / n: exact fractions for exact numbers (``dtype=object``), floats otherwise."""
    exact = not isinstance(w, np.ndarray | np.generic) or w.dtype == object
    return w * Fraction(1, n) if exact else w / n


def at_least(name: str, value: Any, low: int) -> int:
    """`value` as an integer that is `low` or more."""
    try:
        number: int = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be an integer, got {quote(repr(value))}") from None
    if number < low:
        raise ArgumentError(f"{name} must be {low} or more, got {number}")
    return number


def size_fits(size: Any, n: int) -> int:
    """The size of a batch, at most the n examples there are."""
    M = at_least("size", size, 1)
    if n < M:
        raise ArgumentError(f"size is {M}, but there are only {n} examples")
    return M


def vectors(X: ArrayLike) -> Array:
    """X as a table of finite numbers [n, d]: int64, float64, or exact (object)."""
    try:
        table = np.asarray(X)
    except ValueError:
        raise ArgumentError("X must be a table: its rows differ in length") from None
    if table.ndim != 2 or table.size == 0:
        raise ArgumentError(f"X must be a table with rows and columns, got shape {table.shape}")
    if table.dtype == object:
        if not all(isinstance(value, Real) for value in table.flat):
            raise ArgumentTypeError("X of dtype object must hold real numbers only")
        numbers = [isinstance(value, Rational) or math.isfinite(value) for value in table.flat]
        finite = np.array(numbers).reshape(table.shape)
    elif table.dtype.kind in "iufb":
        finite = np.isfinite(table)
    else:
        raise ArgumentTypeError(f"X must hold numbers, got dtype {table.dtype}")
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        raise ArgumentError(f"X[{row}, {column}] is {table[row, column]}; it must be finite")
    if table.dtype == object:
        return table
    return table.astype(np.float64 if table.dtype.kind == "f" else np.int64)


def gold(y: ArrayLike, n: int, labels: NDArray[np.int64]) -> list[int]:
    """y as n labels, each one of `labels`."""
    row = np.asarray(y)
    if row.dtype.kind not in "iufbO":
        raise ArgumentTypeError(f"y must hold labels that are numbers, got dtype {row.dtype}")
    if row.shape != (n,):
        raise ArgumentError(f"y must have one label for each of the {n} rows of X, got {row.shape}")
    wrong = np.flatnonzero(~np.isin(row, labels))
    if len(wrong):
        known = ", ".join(str(label) for label in labels)
        raise ArgumentError(f"y[{wrong[0]}] is {quote(row[wrong[0]])}, not one of {known}")
    return [int(label) for label in row]
