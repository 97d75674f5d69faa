# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Weight tables: multiclass weights of hashed features with exact lazy averages."""

import os

import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

MAX_TABLE_BITS = 30


cdef class WeightTable:
    """Weights of (feature, label) that learn, each with what its average needs.

    Parameters
    ----------
    n_labels : int, 1 to 65,536
    table_bits : None for the exact table, which grows and keeps 64-bit keys; an int from 1 to
        30 for the fixed one of 2**table_bits rows, whose memory is laid out here and now
    gradients : bool; True gives each weight the sum of squares that AdaGrad needs

    Raises
    ------
    ArgumentError : a number out of its range
    MemoryLimitError : the fixed table does not fit into memory
    """

    def __cinit__(self, n_labels, *, table_bits=None, gradients=False):
        if not isinstance(n_labels, int) or isinstance(n_labels, bool):
            raise ArgumentTypeError(f"n_labels: an int is needed, not {type(n_labels).__name__}")
        if not 1 <= n_labels <= MAX_LABELS:
            raise ArgumentError(f"n_labels: {n_labels} is not between 1 and {MAX_LABELS}")
        cdef int bits = 0
        if table_bits is not None:
            if not isinstance(table_bits, int) or isinstance(table_bits, bool):
                raise ArgumentTypeError(
                    f"table_bits: an int is needed, not {type(table_bits).__name__}")
            if not 1 <= table_bits <= MAX_TABLE_BITS:
                raise ArgumentError(
                    f"table_bits: {table_bits} is not between 1 and {MAX_TABLE_BITS}")
            bits = table_bits
        self.table_bits = table_bits
        cdef uint64_t multiplier = int.from_bytes(os.urandom(8), "little")
        if table_open(&self.table, n_labels, bits, bool(gradients), multiplier,
                      os.environ.get("PERCEPTRON_NLP_PORTABLE") == "1") < 0:
            raise MemoryLimitError(
                f"table_bits: {1 << bits} rows of {n_labels} labels need"
                f" {((1 << bits) * n_labels * 16) >> 20} MiB, which is not to be had;"
                " lower table_bits")

    def __dealloc__(self):
        table_close(&self.table)

    @property
    def n_labels(self):
        """Number of labels."""
        return self.table.n_labels

    @property
    def n_rows(self):
        """Rows in use (exact) or laid out (fixed)."""
        return 1 << self.table.fixed_bits if self.table.fixed_bits else self.table.index.n

    @property
    def done(self):
        """Examples finished so far: the N of the averages."""
        return self.table.done

    @property
    def bytes_used(self):
        """Bytes of memory that the table has asked for."""
        return table_bytes(&self.table)

    @property
    def rows_learnt(self):
        """Rows that hold weights; None where that is not known: many labels, or a fixed table."""
        return self.table.store.n_rows - 1 if self.table.dense else None

    def advance(self, int64_t examples=1):
        """Say that `examples` more examples are finished (>= 0)."""
        if examples < 0 or self.table.done > (<int64_t>1 << 62) - examples:
            raise ArgumentError(f"examples: {examples} cannot be added to {self.table.done}")
        self.table.done += examples

    def score(self, keys, values=None):
        """Scores of all labels for one example.

        Parameters
        ----------
        keys : uint64[n], the features' keys
        values : float64[n], or None for 1 each

        Returns
        -------
        float64[n_labels]
        """
        cdef const uint64_t[::1] k = _keys(keys)
        cdef const double[::1] v = _values(values, k.shape[0])
        out = np.zeros(self.table.n_labels)
        cdef double[::1] scores = out
        cdef Py_ssize_t i
        cdef int64_t row
        for i in range(k.shape[0]):
            row = table_find(&self.table, k[i])
            if row >= 0:
                table_score(&self.table, row, v[i], &scores[0])
        return out

    def update(self, keys, label, double step, values=None, group=0):
        """Add step * value to the weights of `label` for each feature of an example.

        Raises
        ------
        ArgumentError : label out of range, a step or value that is not finite
        MemoryLimitError : no memory for a new weight; no weight has changed
        """
        cdef const uint64_t[::1] k = _keys(keys)
        cdef const double[::1] v = _values(values, k.shape[0])
        cdef int32_t y = _label(label, self.table.n_labels)
        cdef uint16_t made_by = group
        cdef Py_ssize_t i
        cdef int64_t row
        if not isfinite(step):
            raise ArgumentError(f"step: {step} is not a finite number")
        self._reserve(k.shape[0])
        for i in range(k.shape[0]):
            row = table_insert(&self.table, k[i], made_by)
            if row < 0 or table_add(&self.table, row, y, step * v[i]) < 0:
                raise MemoryLimitError("no memory for a new weight; use table_bits or less data")

    def update_adagrad(self, keys, label, double sign, double rate, values=None, group=0):
        """Take AdaGrad's step of `rate` along sign * value for each feature of an example.

        Raises
        ------
        ArgumentError : the table was made without gradients, a label out of range, or a sign,
            rate or value that is not finite
        MemoryLimitError : no memory for a new weight; no weight has changed
        """
        cdef const uint64_t[::1] k = _keys(keys)
        cdef const double[::1] v = _values(values, k.shape[0])
        cdef int32_t y = _label(label, self.table.n_labels)
        cdef uint16_t made_by = group
        cdef Py_ssize_t i
        cdef int64_t row
        if not self.table.with_gradient:
            raise ArgumentError("gradients: this table was made without them")
        if not isfinite(sign) or not isfinite(rate):
            raise ArgumentError(f"sign, rate: {sign}, {rate} are not both finite numbers")
        self._reserve(k.shape[0])
        for i in range(k.shape[0]):
            if v[i] == 0:
                continue
            row = table_insert(&self.table, k[i], made_by)
            if row < 0 or table_add_adagrad(&self.table, row, y, sign * v[i], rate) < 0:
                raise MemoryLimitError("no memory for a new weight; use table_bits or less data")

    cdef int _reserve(self, Py_ssize_t n) except -1:
        """Room for an update of n features, so that it happens whole or not at all."""
        if table_reserve(&self.table, n, n) < 0:
            raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
        return 0

    def average(self):
        """The mean of the weights after each finished example, as a new frozen model.

        Training can go on afterwards as if this had not been called.

        Returns
        -------
        FrozenWeights; before the first example all its weights are 0
        """
        return _freeze(self, True)

    def last(self):
        """The weights as they stand, not averaged, as a new frozen model."""
        return _freeze(self, False)

    def to_arrays(self):
        """Everything that was learnt, so that learning can go on elsewhere (from_arrays).

        Returns
        -------
        dict of arrays: ``keys`` uint64[n_rows] (row numbers of a fixed table), ``groups``
        uint16[n_rows], ``counts`` uint32[n_rows] (weights in each row), and for each weight
        ``labels`` uint32, ``w`` and ``owed`` float64 (kernels.h), and ``g`` float64 in a table
        with gradients. What has learnt nothing is left out. ``done`` is not among them.
        """
        return _state(self)

    def from_arrays(self, arrays, int64_t done):
        """Take up what to_arrays gave, in a table that has learnt nothing yet.

        Raises
        ------
        ArgumentError : this table has learnt already, or the arrays are not of one such as this
        MemoryLimitError : no memory for them
        """
        _take_up(self, arrays, done)

    def clear(self):
        """Forget all that was learnt, as if no example had been seen.

        Rows stay, so that a TrainingSet which was made with this table can go on from another
        state (from_arrays).
        """
        cdef int64_t row
        for row in range(self.n_rows):
            table_clear_row(&self.table, row)
        self.table.done = 0
        self.table.mixed = False


_STATE = {"keys": np.uint64, "groups": np.uint16, "counts": np.uint32, "labels": np.uint32,
          "w": np.float64, "owed": np.float64, "g": np.float64}


cdef _state(WeightTable owner):
    cdef Table *t = &owner.table
    cdef int64_t row, rows = owner.n_rows, n_rows = 0, n_cells = 0, n
    for row in range(rows):
        n = _state_cells(t, row, NULL, NULL, NULL, NULL)
        n_rows += n > 0
        n_cells += n
    sizes = dict.fromkeys(_STATE, n_cells) | dict.fromkeys(("keys", "groups", "counts"), n_rows)
    # One more than needed, so that the address of the end is inside even when nothing is there.
    whole = {name: np.zeros(sizes[name] + 1, dtype) for name, dtype in _STATE.items()}
    cdef uint64_t[::1] keys = whole["keys"]
    cdef uint16_t[::1] groups = whole["groups"]
    cdef uint32_t[::1] counts = whole["counts"]
    cdef uint32_t[::1] labels = whole["labels"]
    cdef double[::1] w = whole["w"]
    cdef double[::1] owed = whole["owed"]
    cdef double[::1] g = whole["g"]
    cdef int64_t at = 0, end = 0
    for row in range(rows):
        n = _state_cells(t, row, &labels[end], &w[end], &owed[end], &g[end])
        if n:
            keys[at] = row if t.fixed_bits else t.index.keys[row]
            groups[at] = 0 if t.fixed_bits else t.group[row]
            counts[at] = <uint32_t>n
            at += 1
            end += n
    if not t.with_gradient:
        del whole["g"]
    return {name: array[:len(array) - 1] for name, array in whole.items()}


cdef int64_t _state_cells(const Table *t, int64_t row, uint32_t *labels, double *w, double *owed,
                          double *g) noexcept nogil:
    """Count the weights of a row that have learnt something; write them where pointers are."""
    cdef RowView v = table_row(t, row)
    cdef int64_t n = 0
    cdef uint32_t j
    cdef int32_t label
    for j in range(v.span):
        label = row_label(t, &v, j)
        if label < 0:
            continue
        if labels != NULL:
            labels[n] = <uint32_t>label
            w[n] = view_weight(&v, j)
            owed[n] = view_owed(&v, j)
            if t.with_gradient:
                g[n] = view_gradient(t, &v, j)
        n += 1
    return n


cdef _take_up(WeightTable owner, arrays, int64_t done):
    cdef Table *t = &owner.table
    cdef int64_t i, row, at = 0, end = 0
    cdef Cell cell
    wanted = {name for name in _STATE if name != "g" or t.with_gradient}
    if t.done or done < 0 or set(arrays) != wanted:
        raise ArgumentError("arrays: they are not of such a table, or it has learnt already")
    whole = {name: np.append(np.asarray(arrays[name], _STATE[name]), _STATE[name](0))
             for name in wanted}
    if not t.with_gradient:
        whole["g"] = whole["w"]
    cdef uint64_t[::1] keys = whole["keys"]
    cdef uint16_t[::1] groups = whole["groups"]
    cdef uint32_t[::1] counts = whole["counts"]
    cdef uint32_t[::1] labels = whole["labels"]
    cdef double[::1] w = whole["w"]
    cdef double[::1] owed = whole["owed"]
    cdef double[::1] g = whole["g"]
    cdef int64_t n_rows = keys.shape[0] - 1, n_cells = w.shape[0] - 1
    if (len({len(whole[name]) for name in ("keys", "groups", "counts")}) > 1
            or len({len(whole[name]) for name in ("labels", "w", "owed", "g")}) > 1
            or int(np.sum(whole["counts"], dtype=np.uint64)) != n_cells
            or (t.fixed_bits and n_rows and int(whole["keys"].max()) >> t.fixed_bits)
            or (n_cells and int(whole["labels"].max()) >= t.n_labels)
            or not all(np.isfinite(whole[name]).all() for name in ("w", "owed"))
            or (t.with_gradient and not (whole["g"] >= 0).all())):
        raise ArgumentError("arrays: their sizes or values do not fit together")
    for i in range(n_rows):
        row = <int64_t>keys[i] if t.fixed_bits else table_insert(t, keys[i], groups[i])
        if row < 0:
            raise MemoryLimitError("no memory for the weights learnt so far")
        end += counts[i]
        while at < end:
            cell = table_cell(t, row, <int32_t>labels[at])
            if cell.w == NULL:
                raise MemoryLimitError("no memory for the weights learnt so far")
            cell.w[0] = w[at]
            if AVERAGED:
                cell.owed[0] = owed[at]
            if t.with_gradient:
                cell.g[0] = g[at]
            at += 1
    t.done = done
    # Whether all of these are whole numbers is for those to see who learn by whole steps.
    t.mixed = False


cdef int32_t _label(label, int32_t n_labels) except -1:
    if not isinstance(label, (int, np.integer)):
        raise ArgumentTypeError(f"label: an int is needed, not {type(label).__name__}")
    if not 0 <= label < n_labels:
        raise ArgumentError(f"label: {label} is not between 0 and {n_labels - 1}")
    return label


cdef _freeze(WeightTable owner, bint averaged):
    """The weights that are not 0, row by row. Before the first example every mean is 0."""
    cdef Table *t = &owner.table
    cdef bint mean = averaged and t.done > 0
    cdef int64_t table_rows = owner.n_rows if mean or not averaged else 0
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
                         labels[:end].copy(), weights[:end].copy(), table_bits=owner.table_bits)


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
        keys = np.asarray(_keys(keys))
        values = np.asarray(_values(values, len(keys)))
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


cdef _keys(keys):
    array = np.ascontiguousarray(keys)
    if array.size == 0:
        return np.empty(0, np.uint64)
    if array.ndim != 1 or array.dtype != np.uint64:
        raise ArgumentTypeError(
            f"keys: a one-dimensional array of uint64 is needed, not {array.ndim} dimension(s)"
            f" of {array.dtype}")
    return array


cdef _values(values, Py_ssize_t n):
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
