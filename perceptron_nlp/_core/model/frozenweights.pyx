# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""What comes of a weight table: averages, or weights as they stand, which no longer change."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.table.table cimport (
    RowView, Table, mean_weight, row_label, table_n_rows, table_row, view_owed, view_weight,
)
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


cdef freeze(const Table *t, table_bits, bint averaged):
    """The weights of a table that are not 0, row by row: means, or as they stand.

    Before the first example every mean is 0.
    """
    cdef bint mean = averaged and t.done > 0
    cdef int64_t table_rows = table_n_rows(t) if mean or not averaged else 0
    cdef int64_t row, n, n_rows = 0, room = 4096, at = 0, end = 0
    cdef RowView v
    for row in range(table_rows):
        n_rows += table_row(t, row).span > 0
    keys = np.empty(n_rows, np.uint64)
    groups = np.zeros(n_rows, np.uint16)
    starts = np.zeros(n_rows + 1, np.int64)
    # One more than needed, so that the address of the end is inside even when nothing is there.
    labels = np.empty(room + 1, np.uint32)
    weights = np.empty(room + 1, np.float64)
    cdef uint64_t[::1] key_view = keys
    cdef uint16_t[::1] group_view = groups
    cdef int64_t[::1] start_view = starts
    cdef uint32_t[::1] label_view = labels
    cdef double[::1] weight_view = weights
    unsorted = []
    # One walk, since the table is far larger than what comes of it.
    for row in range(table_rows):
        v = table_row(t, row)
        if v.span == 0:
            continue
        if end + v.span > room:
            room = 2 * (end + v.span)
            label_view = labels = _longer(labels, end, room + 1)
            weight_view = weights = _longer(weights, end, room + 1)
        n = _row_cells(t, &v, mean, &label_view[end], &weight_view[end])
        if n == 0:
            continue
        if not v.ascending:
            unsorted.append(slice(end, end + n))
        key_view[at] = row if t.fixed_bits else t.index.keys[row]
        group_view[at] = 0 if t.fixed_bits else t.group[row]
        end += n
        at += 1
        start_view[at] = end
    for cells in unsorted:
        order = np.argsort(labels[cells])
        labels[cells] = labels[cells][order]
        weights[cells] = weights[cells][order]
    # Copies, so that no more is kept than what is there.
    return FrozenWeights(t.n_labels, keys[:at].copy(), groups[:at].copy(), starts[:at + 1].copy(),
                         labels[:end].copy(), weights[:end].copy(), table_bits=table_bits)


cdef _longer(array, int64_t used, int64_t length):
    longer = np.empty(length, array.dtype)
    longer[:used] = array[:used]
    return longer


cdef int64_t _row_cells(const Table *t, const RowView *v, bint mean, uint32_t *labels,
                        double *weights) noexcept nogil:
    """Write the non-zero weights of a row; how many there are.

    They come in order of label where the row's view says that they ascend.
    """
    cdef int64_t n = 0, i
    cdef uint32_t j
    cdef int32_t label
    cdef double w
    for j in range(v.span):
        label = row_label(t, v, j)
        if label < 0:
            continue
        w = view_weight(v, j)
        if mean:
            w = mean_weight(w, view_owed(v, j), <double>t.done)
        if w == 0:
            continue
        i = n
        while i > 0 and v.ascending and labels[i - 1] > <uint32_t>label:
            labels[i] = labels[i - 1]
            weights[i] = weights[i - 1]
            i -= 1
        labels[i] = <uint32_t>label
        weights[i] = w
        n += 1
    return n


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
