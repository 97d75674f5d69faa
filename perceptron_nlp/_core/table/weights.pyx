# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Weight tables: multiclass weights of hashed features with exact lazy averages (table.h)."""

import os

import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.features.hashing cimport draw_secret
from perceptron_nlp._core.model.frozenweights cimport feature_keys, feature_values, freeze
from perceptron_nlp._core.table.table cimport (
    AVERAGED, Cell, MAX_LABELS, RowView, Table, row_label, table_add, table_add_adagrad,
    table_bytes, table_cell, table_clear_row, table_close, table_find, table_insert, table_n_rows,
    table_open, table_reserve, table_row, table_score, view_gradient, view_owed, view_weight,
)
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
        cdef uint64_t multiplier = draw_secret()
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
        return table_n_rows(&self.table)

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
        cdef const uint64_t[::1] k = feature_keys(keys)
        cdef const double[::1] v = feature_values(values, k.shape[0])
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
        cdef const uint64_t[::1] k = feature_keys(keys)
        cdef const double[::1] v = feature_values(values, k.shape[0])
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
        cdef const uint64_t[::1] k = feature_keys(keys)
        cdef const double[::1] v = feature_values(values, k.shape[0])
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
        return freeze(&self.table, self.table_bits, True)

    def last(self):
        """The weights as they stand, not averaged, as a new frozen model."""
        return freeze(&self.table, self.table_bits, False)

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
