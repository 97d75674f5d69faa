# cython: language_level=3, freethreading_compatible=True
"""Weights that no longer change: averages, or weights as they stood; rounded, and summed."""

cimport cython

import numpy as np

from libc.math cimport rint
from libc.stdint cimport int16_t, int64_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError


class FrozenWeights:
    """Weights that no longer change, as arrays.

    Attributes
    ----------
    n_labels : int
    keys : uint64[n_rows]; the features' keys, or row numbers of a fixed table
    groups : uint16[n_rows]; the template that each row belongs to (0 in a fixed table)
    starts : int64[n_rows + 1]; row r has the cells starts[r] to starts[r + 1]
    labels : uint32[n_cells], ascending within a row
    weights : float64[n_cells], none of them 0
    table_bits : None (exact) or int (fixed)
    """

    __slots__ = ("_by_key", "groups", "keys", "labels", "n_labels", "starts", "table_bits",
                 "weights")

    def __init__(self, n_labels, keys, groups, starts, labels, weights, *, table_bits=None):
        self.n_labels = n_labels
        self.keys = keys
        self.groups = groups
        self.starts = starts
        self.labels = labels
        self.weights = weights
        self.table_bits = table_bits
        self._by_key = None

    def score(self, keys, values=None):
        """Scores of all labels for one example: float64[n_labels] (see WeightTable.score)."""
        keys = np.asarray(feature_keys(keys))
        values = np.asarray(feature_values(values, len(keys)))
        if self.table_bits is not None:
            keys = keys >> np.uint64(64 - self.table_bits)
        if self._by_key is None:
            self._by_key = np.argsort(self.keys, kind="stable")
        order = self._by_key
        scores = np.zeros(self.n_labels)
        at = np.searchsorted(self.keys, keys, sorter=order)
        for i in range(len(keys)):
            if at[i] < len(order) and self.keys[order[at[i]]] == keys[i]:
                row = order[at[i]]
                cells = slice(self.starts[row], self.starts[row + 1])
                scores[self.labels[cells]] += values[i] * self.weights[cells]
        return scores


@cython.boundscheck(False)
@cython.wraparound(False)
def bounds_by_group(frozen, n_groups):
    """The highest and the lowest weight of each group and label, 0 among them.

    Returns
    -------
    (high, low) : float64[n_groups, n_labels]
    """
    high, low = np.zeros((2, n_groups, frozen.n_labels))
    cdef double[:, ::1] highest = high
    cdef double[:, ::1] lowest = low
    cdef const uint16_t[::1] groups = np.ascontiguousarray(frozen.groups, np.uint16)
    cdef const int64_t[::1] starts = np.ascontiguousarray(frozen.starts, np.int64)
    cdef const uint32_t[::1] labels = np.ascontiguousarray(frozen.labels, np.uint32)
    cdef const double[::1] weights = np.ascontiguousarray(frozen.weights, np.float64)
    cdef int64_t row, cell
    for row in range(groups.shape[0]):
        for cell in range(starts[row], starts[row + 1]):
            highest[groups[row], labels[cell]] = max(highest[groups[row], labels[cell]],
                                                     weights[cell])
            lowest[groups[row], labels[cell]] = min(lowest[groups[row], labels[cell]],
                                                    weights[cell])
    return high, low


@cython.boundscheck(False)
@cython.wraparound(False)
def rounded(frozen, n_groups, double scale):
    """Weights in units of 1 / scale, those of 0 left out; rows by group, then by key.

    Parameters
    ----------
    frozen : FrozenWeights; every weight, times the scale, fits 16 bits

    Returns
    -------
    dict of arrays, as QuantizedWeights has them (tagger/model/weights.py)
    """
    cdef const uint16_t[::1] groups = np.ascontiguousarray(frozen.groups, np.uint16)
    cdef const int64_t[::1] starts = np.ascontiguousarray(frozen.starts, np.int64)
    cdef const uint32_t[::1] labels = np.ascontiguousarray(frozen.labels, np.uint32)
    cdef const double[::1] weights = np.ascontiguousarray(frozen.weights, np.float64)
    if len(frozen.groups) and int(frozen.groups.max()) >= n_groups:
        raise ArgumentError(f"n_groups: some rows are of groups beyond {n_groups}")
    counts = np.zeros(len(frozen.keys), np.int64)
    cdef int64_t[::1] count_of = counts
    group_starts = np.zeros(n_groups + 1, np.int64)
    cdef int64_t[::1] next_of = group_starts
    cdef int64_t row, cell, i, at, n_cells = 0
    for row in range(groups.shape[0]):
        for cell in range(starts[row], starts[row + 1]):
            count_of[row] += rint(weights[cell] * scale) != 0
        next_of[groups[row] + 1] += count_of[row] > 0
        n_cells += count_of[row]
    np.cumsum(group_starts, out=group_starts)
    next_of = group_starts[:n_groups].copy()
    cdef int64_t n_kept = group_starts[n_groups]
    # No key is there twice, so that this is one order; counting by group keeps it within each.
    cdef const int64_t[::1] by_key = np.argsort(frozen.keys)
    placed = np.empty(n_kept, np.int64)
    cdef int64_t[::1] row_at = placed
    for i in range(by_key.shape[0]):
        row = by_key[i]
        if count_of[row]:
            row_at[next_of[groups[row]]] = row
            next_of[groups[row]] += 1
    found = {
        "keys": frozen.keys[placed],
        "group_starts": group_starts,
        "starts": np.concatenate([[0], np.cumsum(counts[placed])]),
        "labels": np.empty(n_cells, np.uint16),
        "weights": np.empty(n_cells, np.int16),
    }
    cdef uint16_t[::1] new_labels = found["labels"]
    cdef int16_t[::1] new_weights = found["weights"]
    cdef double whole
    at = 0
    for i in range(n_kept):
        for cell in range(starts[row_at[i]], starts[row_at[i] + 1]):
            whole = rint(weights[cell] * scale)
            if whole != 0:
                new_labels[at] = <uint16_t>labels[cell]
                new_weights[at] = <int16_t><int64_t>whole
                at += 1
    return found


cdef feature_keys(keys):
    """The keys of an example, checked: uint64[n]."""
    array = np.ascontiguousarray(keys)
    if array.size == 0:
        return np.empty(0, np.uint64)
    if array.ndim != 1 or array.dtype != np.uint64:
        raise ArgumentTypeError(
            f"keys: a one-dimensional array of uint64 is needed, not {array.ndim} dimension(s)"
            f" of {array.dtype}")
    return array


cdef feature_values(values, Py_ssize_t n):
    """Its values, checked: float64[n]; 1 each for None."""
    if values is None:
        return np.ones(n)
    try:
        array = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentTypeError("values: numbers are needed, one a key") from None
    if array.shape != (n,):
        raise ArgumentError(f"values: {n} are needed, one a key, not shape {array.shape}")
    if not np.isfinite(array).all():
        raise ArgumentError("values: not all are finite numbers")
    return array
