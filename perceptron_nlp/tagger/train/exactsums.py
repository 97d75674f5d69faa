"""Linear algebra whose result is the same, bit for bit, on every machine.

A library for matrices adds numbers up in an order of its own, which changes with the processor and
the number of threads, and rounding makes the sums differ. Sums of whole numbers below 2**53 are
exact in double precision in any order. So matrices are rounded to whole numbers before they are
multiplied; all else is done element by element with operations that IEEE 754 rounds correctly
(+ - * / and square roots).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from perceptron_nlp.sampling import draws

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# Entries are rounded to whole numbers up to this before they are multiplied.
LARGEST = float(1 << 18)
# Rows of a sparse matrix that are made dense at a time.
BLOCK = 512
# Passes of the subspace iteration, and directions that it follows besides those wanted.
ROUNDS = 4
SPARE = 16


@dataclass(frozen=True, slots=True)
class SparseRows:
    """A matrix of few entries that are not 0, row by row.

    Attributes
    ----------
    starts : int64[n_rows + 1]; row r has the entries starts[r] to starts[r + 1]
    columns : int64[n_entries], distinct in a row
    values : float64[n_entries], whole numbers below 2**12
    n_columns : how wide the matrix is, below 2**16
    """

    starts: Ints
    columns: Ints
    values: Floats
    n_columns: int

    @property
    def n_rows(self) -> int:
        """How high the matrix is."""
        return len(self.starts) - 1

    def blocks(self, n_rows: int) -> Iterator[tuple[int, Floats]]:
        """The first rows, some hundreds at a time as a full matrix, with the first one's number."""
        for first in range(0, n_rows, BLOCK):
            last = min(first + BLOCK, n_rows)
            block = np.zeros((last - first, self.n_columns))
            at, end = self.starts[first], self.starts[last]
            rows = np.repeat(np.arange(last - first), np.diff(self.starts[first : last + 1]))
            block[rows, self.columns[at:end]] = self.values[at:end]
            yield first, block

    def times(self, right: Floats, n_rows: int) -> Floats:
        """The product of the first rows with a matrix of whole numbers up to LARGEST."""
        out = np.empty((n_rows, right.shape[1]))
        for first, block in self.blocks(n_rows):
            out[first : first + len(block)] = block @ right
        return out


def row_vectors(matrix: SparseRows, n_dimensions: int, n_rows: int) -> Floats:
    """The rows as points of few dimensions: U times the roots of the singular values.

    A randomised subspace iteration finds the right singular vectors of the first rows (Halko,
    Martinsson and Tropp, 2011, "Finding structure with randomness", algorithm 4.4). Singular
    vectors of close values may come out mixed with each other, which moves no point relative to
    others.

    Parameters
    ----------
    matrix : its first rows are the heaviest
    n_dimensions : how many, at least 1; fewer come back where the matrix has not so many rows
        or columns
    n_rows : the first rows that the directions are found with, fewer than 2**16

    Returns
    -------
    float64[matrix.n_rows, dimensions], of no particular scale
    """
    n_rows = min(n_rows, matrix.n_rows)
    width = min(n_dimensions + SPARE, n_rows, matrix.n_columns)
    signs = draws(2, matrix.n_columns * width, seed=1)
    basis = (2 * signs.reshape(matrix.n_columns, width) - 1).astype(np.float64)
    for _ in range(ROUNDS):
        head = whole(matrix.times(basis, n_rows))
        image = np.zeros_like(basis)
        for first, block in matrix.blocks(n_rows):
            image += block.T @ head[first : first + len(block)]
        basis = whole(_orthogonal(image))
    points = whole(matrix.times(basis[:, :n_dimensions], matrix.n_rows))
    lengths = np.sqrt((points[:n_rows] ** 2).sum(0))
    return points / np.sqrt(np.where(lengths > 0, lengths, 1.0))


def whole(matrix: Floats) -> Floats:
    """Scaled so that the largest entry is about LARGEST, and rounded to whole numbers."""
    most = float(np.abs(matrix).max(initial=0.0))
    rounded: Floats = np.rint(matrix * (LARGEST / most)) if most else matrix
    return rounded


def _orthogonal(matrix: Floats) -> Floats:
    """Columns of unit length that span what the columns do, at right angles to each other.

    By Cholesky's decomposition of the columns' products; a column that the ones before it span
    becomes 0.
    """
    columns = np.abs(matrix).max(0)
    matrix = np.rint(matrix * (LARGEST / np.where(columns > 0, columns, 1.0)))
    products = matrix.T @ matrix
    out = matrix.copy()
    for k, length in enumerate(np.diagonal(products).copy()):
        left = products[k, k]
        if left <= length * 1e-9:
            products[k, :] = products[:, k] = out[:, k] = 0.0
            continue
        row = products[k] / np.sqrt(left)
        row[:k] = 0.0
        out[:, k] /= row[k]
        out[:, k + 1 :] -= out[:, k, None] * row[k + 1 :]
        products -= row[:, None] * row
    return out
