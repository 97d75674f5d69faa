# cython: language_level=3, freethreading_compatible=True
"""Weights that no longer change: averages, or weights as they stood."""

import numpy as np

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
