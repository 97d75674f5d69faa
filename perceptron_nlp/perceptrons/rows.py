"""Matrices as users have them, checked and turned into rows of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.values import scores_of
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError

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
    if rows.count < 1:
        raise ArgumentError(
            f"X is empty: found array with 0 sample(s) (shape=({rows.count}, {rows.width})) "
            "while a minimum of 1 is required."
        )
    if rows.width < 1:
        raise ArgumentError(
            f"X has no features: found array with 0 feature(s) (shape=({rows.count}, 0)) "
            "while a minimum of 1 is required."
        )
    if width is not None and rows.width != width:
        raise ArgumentError(
            f"X has {rows.width} features, but {owner} is expecting {width} features as input"
        )
    _check_finite(rows)
    return rows


def _dense_rows(X: Any) -> Rows:
    try:
        array = np.asarray(X)
        _refuse_complex(array.dtype)
        array = np.ascontiguousarray(array, dtype=np.float64) if array.ndim else array
    except TypeError as problem:
        raise ArgumentTypeError(f"X must hold numbers: {problem}") from None
    except OverflowError:
        raise ArgumentError("X holds a number that is too large for a float") from None
    except ValueError as problem:
        if isinstance(problem, ArgumentError):
            raise
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
    count, width = csr.shape
    values = np.asarray(csr.data)
    _refuse_complex(values.dtype)
    return Rows(
        np.ascontiguousarray(values, dtype=np.float64),
        np.ascontiguousarray(csr.indices, dtype=np.int32),
        np.ascontiguousarray(csr.indptr, dtype=np.int64),
        count,
        width,
    )


def _refuse_complex(dtype: np.dtype[Any]) -> None:
    if dtype.kind == "c":
        raise ArgumentError(f"X is of type {dtype}. Complex data not supported")


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
