"""What the textbook learners ask of their input, said before they start."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.perceptrons.textbook.stream import Array


def not_negative(name: str, value: Any) -> None:
    """Raise unless `value` is a finite number, 0 or more."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise ArgumentTypeError(f"{name} must be a number, got {quote(repr(value))}")
    if not math.isfinite(value) or value < 0:
        raise ArgumentError(f"{name} must be finite and 0 or more, got {value}")


def margin_checked(margin: Any) -> None:
    """Raise unless `margin` can be a margin b ≥ 0."""
    not_negative("margin", margin)


def at_least(name: str, value: Any, low: int) -> int:
    """`value` as an integer that is `low` or more."""
    try:
        number: int = operator.index(value)
    except TypeError:
        raise ArgumentTypeError(f"{name} must be an integer, got {quote(repr(value))}") from None
    if number < low:
        raise ArgumentError(f"{name} must be {low} or more, got {number}")
    return number


def classes_checked(classes: Any) -> None:
    """Raise unless there are two classes or more to choose from."""
    at_least("classes", classes, 2)


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
        finite = np.array([math.isfinite(value) for value in table.flat]).reshape(table.shape)
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
