"""X as users have it, checked and turned into rows of numbers."""

from __future__ import annotations

import math
import warnings
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.values import scores_of
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote

MOST = 2**31 - 1
"""Samples and features at most."""
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """Samples as rows of numbers, dense (`columns` and `starts` None) or CSR, checked once.

    values : float64[nnz]; of dense rows row after row
    columns : int32[nnz]
    starts : int64[count + 1]
    count, width : samples and features
    """

    values: Floats
    columns: NDArray[np.int32] | None
    starts: NDArray[np.int64] | None
    count: int
    width: int

    def __post_init__(self) -> None:
        if max(self.count, self.width) > MOST:
            raise ArgumentError(
                f"X has shape ({self.count}, {self.width}); the limit is {MOST} each way"
            )
        columns, starts = self.columns, self.starts
        if columns is None or starts is None:
            return
        if len(starts) != self.count + 1 or len(columns) != len(self.values):
            raise ArgumentError("X has index arrays whose lengths do not fit its shape")
        if starts[0] != 0 or starts[-1] != len(columns) or (np.diff(starts) < 0).any():
            raise ArgumentError("X.indptr must rise from 0 to the number of values")
        if len(columns) and not 0 <= columns.min() <= columns.max() < self.width:
            raise ArgumentError(f"X.indices must lie in 0 … {self.width - 1}")

    @property
    def parts(self) -> tuple[Floats, NDArray[np.int32] | None, NDArray[np.int64] | None]:
        """What the core reads."""
        return self.values, self.columns, self.starts

    def scores(self, weights: Floats, bias: Floats) -> Floats:
        """Return float64[count, vectors] for weights [width, vectors] and as many biases."""
        weights, bias = (np.ascontiguousarray(own, np.float64) for own in (weights, bias))
        return scores_of(self.parts, self.count, weights, bias)

    def chosen(self, numbers: NDArray[Any]) -> Rows:
        """Return some of the rows."""
        if self.columns is None or self.starts is None:
            values = self.values.reshape(self.count, self.width)[numbers].reshape(-1)
            return Rows(values, None, None, len(numbers), self.width)
        lengths = np.diff(self.starts)[numbers]
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        places = np.repeat(self.starts[:-1][numbers] - starts[:-1], lengths) + np.arange(starts[-1])
        values, columns = self.values[places], self.columns[places]
        return Rows(values, columns, starts, len(numbers), self.width)

    def dense(self, part: slice) -> Floats:
        """Return consecutive rows as a table."""
        if self.columns is None or self.starts is None:
            return self.values.reshape(self.count, self.width)[part]
        starts = self.starts[part.start : part.stop + 1]
        table = np.zeros((len(starts) - 1, self.width))
        row = np.repeat(np.arange(len(table)), np.diff(starts))
        at = slice(int(starts[0]), int(starts[-1]))
        np.add.at(table, (row, self.columns[at]), self.values[at])
        return table


def is_sparse(X: Any) -> bool:
    """Return True for a sparse matrix, told by what it can do: SciPy is not imported."""
    return hasattr(X, "tocsr") or all(hasattr(X, part) for part in ("indptr", "indices", "data"))


def rows_of_matrix(X: Any, owner: str, width: int | None = None) -> Rows:
    """Return a dense or sparse matrix as checked rows of float64, of `width` features if given.

    Raises ArgumentError, ArgumentTypeError if X is empty, not two-dimensional, of another width, or
    holds NaN, infinity or something that is no real number.
    """
    rows = _sparse_rows(X) if is_sparse(X) else _dense_rows(X)
    if not (rows.count and rows.width):
        what, thing = ("has no features", "feature") if rows.count else ("is empty", "sample")
        raise ArgumentError(
            f"X {what}: found array with 0 {thing}(s) (shape=({rows.count}, {rows.width})) while a"
            " minimum of 1 is required."
        )
    if width is not None and rows.width != width:
        raise ArgumentError(
            f"X has {rows.width} features, but {owner} is expecting {width} features as input"
        )
    _check_finite(rows)
    return rows


def _dense_rows(X: Any) -> Rows:
    try:
        array = _numbers(X)
    except TypeError as problem:
        raise ArgumentTypeError(f"X must hold numbers: {problem}") from None
    except OverflowError:
        raise ArgumentError("X holds a number that is too large for a float") from None
    except ArgumentError:
        raise
    except ValueError as problem:
        raise ArgumentError(f"X must be a rectangle of numbers: {problem}") from None
    if array.ndim != 2:
        raise ArgumentError(
            f"X must have two dimensions. Expected 2D array, got {array.ndim}D array instead. "
            "Reshape your data: X.reshape(-1, 1) for one feature, X.reshape(1, -1) for one sample."
        )
    return Rows(array.reshape(-1), None, None, *array.shape)


def _sparse_rows(X: Any) -> Rows:
    csr = X.tocsr() if hasattr(X, "tocsr") else X
    if len(csr.shape) != 2:
        raise ArgumentError(f"X must have two dimensions, but is sparse with {len(csr.shape)}")
    columns = np.ascontiguousarray(csr.indices, dtype=np.int32)
    starts = np.ascontiguousarray(csr.indptr, dtype=np.int64)
    return Rows(_numbers(csr.data), columns, starts, *csr.shape)


def _numbers(values: Any) -> NDArray[Any]:
    array = np.asarray(values)
    if array.dtype.kind == "c":
        raise ArgumentError(f"X is of type {array.dtype}. Complex data not supported")
    return np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array


def _check_finite(rows: Rows) -> None:
    # Zero times a number is zero unless the number is NaN or infinite: one product, no copy.
    with np.errstate(invalid="ignore", over="ignore"):
        if np.isfinite(rows.values.sum()):
            return
        bad = ~np.isfinite(rows.values)
    if not bad.any():
        return
    place = int(np.argmax(bad))
    if rows.starts is None or rows.columns is None:
        row, column = divmod(place, rows.width)
    else:
        row = int(np.searchsorted(rows.starts, place, side="right")) - 1
        column = int(rows.columns[place])
    what = "NaN" if np.isnan(rows.values[place]) else "infinity"
    raise ArgumentError(
        f"Input X contains {what}, first at row {row}, column {column}; replace or drop such values"
    )


def is_feature_samples(X: Any) -> bool:
    """Return True for a list of feature dictionaries or of lists of strings."""
    if isinstance(X, np.ndarray) and X.dtype == object and X.ndim == 1:
        X = X.tolist()
    if not isinstance(X, list | tuple) or not X:
        return False
    first = next((sample for sample in X if not hasattr(sample, "__len__") or len(sample)), X[0])
    if isinstance(first, Mapping | str | set | frozenset):
        return True
    return isinstance(first, list | tuple) and bool(first) and isinstance(first[0], str)


def encoded(
    samples: Sequence[Any] | NDArray[Any], index: dict[str, int], *, grow: bool, width: int = MOST
) -> tuple[Floats, NDArray[np.int32], NDArray[np.int64]]:
    """Return feature samples as CSR arrays: values, columns, starts.

    Parameters
    ----------
    samples : dictionaries (name -> str, number or bool) or collections of strings
    index : the column of each name, in order of first appearance
    grow : give new names a column; else leave them out
    width : leave out names with a column from here on

    Raises ArgumentError, ArgumentTypeError if a name or a value is of another type, or no finite
    number.
    """
    values, columns, starts = array("d"), array("i"), array("q", [0])
    for number, sample in enumerate(samples):
        for name, value in _features(sample, number):
            if value == 0:
                continue
            column = index.setdefault(name, len(index)) if grow else index.get(name, width)
            if column < width:
                values.append(value)
                columns.append(column)
        starts.append(len(values))
    return (np.array(values, np.float64), np.array(columns, np.int32), np.array(starts, np.int64))


def _features(sample: Any, number: int) -> Iterator[tuple[str, float]]:
    """Yield the names and values of one sample; a string value is part of the name."""
    if isinstance(sample, str | bytes):
        raise ArgumentTypeError(
            f"X[{number}] is a single string; a sample is a dictionary or a list of strings: "
            "X[i].split() may be what is meant"
        )
    try:
        # A set has the order of the day's hashes; columns would be in it.
        names = sorted(sample, key=str) if isinstance(sample, set | frozenset) else iter(sample)
    except TypeError:
        raise ArgumentTypeError(
            f"X[{number}] is {quote(repr(sample))}; a sample is a dictionary or a list of strings"
        ) from None
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"X[{number}] has the feature {quote(repr(name))}, but a feature is named by a"
                " string"
            )
        value = sample[name] if isinstance(sample, Mapping) else True
        if isinstance(value, str):
            yield f"{name}={value}", 1.0
        else:
            yield str(name), _number(name, value, number)


def _number(name: str, value: Any, number: int) -> float:
    if not isinstance(value, Real | np.bool_):
        raise ArgumentTypeError(
            f"X[{number}] has {quote(repr(value))} for {quote(name)}; "
            "a value is a string, a number or a bool"
        )
    try:
        found = float(value)
    except OverflowError:
        found = math.inf
    if not math.isfinite(found):
        raise ArgumentError(
            f"Input X contains {quote(value)} for {quote(name)} in X[{number}]; "
            "a value must be finite"
        )
    return found


@dataclass
class Samples:
    """The way from a classifier's samples to rows.

    owner : the classifier's name, for messages
    width : features so far; columns of the index from here on are not trained yet
    index : the columns of feature names; None where X is a matrix
    names : the columns' names where X was a data frame
    """

    owner: str
    width: int | None = None
    index: dict[str, int] | None = None
    names: NDArray[Any] | None = None

    @classmethod
    def of(cls, X: Any, owner: str) -> Samples:
        """For samples of the kind of X."""
        if is_feature_samples(X):
            return cls(owner, index={})
        return cls(owner, names=column_names(X))

    def rows(self, X: Any, *, grow: bool = False) -> Rows:
        """X as rows of the `width` known features; to `grow` by its new ones, before training."""
        if self.index is None:
            if is_feature_samples(X):
                raise ArgumentTypeError("X holds feature dictionaries, but was a matrix before")
            if self.width is not None:
                _check_names(self.names, column_names(X), self.owner)
            return rows_of_matrix(X, self.owner, self.width)
        if not isinstance(X, list | tuple | np.ndarray):
            raise ArgumentTypeError("X must be a list of feature dictionaries, as it was before")
        if not len(X):
            raise ArgumentError("X is empty")
        known = None if grow else self.width
        arrays = encoded(X, self.index, grow=known is None, width=known or MOST)
        if not self.index:
            raise ArgumentError("X has no features: every dictionary or list in it is empty")
        return Rows(*arrays, len(X), known or len(self.index))


def column_names(X: Any) -> NDArray[Any] | None:
    """The column names of a data frame, if all are strings."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "shape"):
        return None
    names = list(columns)
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return np.array(names, dtype=object)


def _check_names(known: NDArray[Any] | None, given: NDArray[Any] | None, owner: str) -> None:
    if known is None or given is None:
        has = (
            f"X does not have valid feature names, but {owner} was fitted with"
            if given is None
            else f"X has feature names, but {owner} was fitted without"
        )
        if known is not given:
            warnings.warn(f"{has} feature names", UserWarning, stacklevel=6)
        return
    if np.array_equal(known, given):
        return
    message = "The feature names should match those that were passed during fit.\n"
    unseen, missing = sorted(set(given) - set(known)), sorted(set(known) - set(given))
    cases = ("unseen at fit time", unseen), ("seen at fit time, yet now missing", missing)
    for title, names in cases:
        if names:
            shown = [f"- {name}\n" for name in names[:5]] + ["- ...\n"] * (len(names) > 5)
            message += f"Feature names {title}:\n" + "".join(shown)
    if not unseen and not missing:
        message += "Feature names must be in the same order as they were in fit.\n"
    raise ArgumentError(message)
