# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""Weight tables for Python: what weights.pxd says of weights, owned and checked."""

import os

import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from perceptron_nlp._core.features.extract cimport draw_secret
from perceptron_nlp._core.model.frozenweights cimport feature_keys, feature_values
from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

cdef extern from "table/sums.h" nogil:
    SumRows sum_rows(int plain) noexcept
    AddRow row_adder(int plain) noexcept

MAX_LABELS = 65_536
MAX_TABLE_BITS = 30
FIRST_INDEX_BITS = 12
FIRST_WORDS = 1024

cdef enum:
    FEW = 128  # cells that are put in order one by one
    AHEAD = 12  # rows whose keys are on their way while one is read


cdef int table_open(Table *t, int32_t n_labels, int fixed_bits, bint with_squares, bint plain,
                    uint64_t multiplier) noexcept:
    """An empty table; `plain` asks for sums in plain C, which are the same. -1: no memory."""
    cdef size_t places
    cdef uint32_t *first
    memset(t, 0, sizeof(Table))
    t.n_labels = n_labels
    t.stride = (<size_t>n_labels + GROUP - 1) // GROUP * GROUP
    t.width = 1 + <size_t>n_labels * (2 if with_squares else 1)
    t.chunk_bits = fixed_bits if fixed_bits else CHUNK_BITS
    t.fixed_bits = fixed_bits
    t.is_full = fixed_bits > 0 or n_labels <= MOST_ROW_LABELS
    t.with_squares = with_squares
    t.sums = sum_rows(plain)
    t.add = row_adder(plain)
    if fixed_bits:
        # Pages that are never written are not resident.
        places = <size_t>1 << fixed_bits
        t.weights = <double *>calloc(places, t.stride * sizeof(double))
        return -1 if t.weights == NULL or store_chunk(t) < 0 else 0
    first = <uint32_t *>calloc(1, sizeof(uint32_t))
    if first == NULL:
        return -1
    t.place = first + 1
    if index_open(&t.index, multiplier, FIRST_INDEX_BITS) < 0:
        return -1
    if t.is_full:
        # The first place is never given out: rows that have learned nothing are there.
        if store_reserve(t, 1) < 0:
            return -1
        store_take(t)
        return 0
    t.largest = LEAST_CELLS
    if words_reserve(t, FIRST_WORDS) < 0:
        return -1
    t.words_used = 1
    return 0


cdef void table_close(Table *t) noexcept:
    cdef size_t i
    index_close(&t.index)
    free(t.group)
    if t.place != NULL:
        free(t.place - 1)
    free(t.weights)
    for i in range(t.n_chunks):
        free(t.chunks[i])
    free(t.chunks)
    free(t.words)


cdef size_t table_bytes(const Table *t) noexcept:
    """Bytes asked of the system."""
    cdef size_t places = <size_t>1 << t.fixed_bits if t.fixed_bits else t.room
    cdef size_t full = (places * t.stride + (t.n_chunks << t.chunk_bits) * t.width) * sizeof(double)
    cdef size_t keys = t.rows_room * (sizeof(uint32_t) + sizeof(uint16_t)) + t.index.capacity * 8
    if t.fixed_bits:
        return full
    return keys + (<size_t>8 << t.index.bits) + (full if t.is_full else t.words_room * 8)


cdef class WeightTable:
    """Weights of (feature, label) that learn, and their totals, from which averages come.

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
        if table_open(&self.table, n_labels, bits, bool(gradients),
                      os.environ.get("PERCEPTRON_NLP_PORTABLE") == "1", multiplier) < 0:
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
        return n_rows(&self.table)

    @property
    def done(self):
        """Examples finished so far: "now"."""
        return self.table.done

    @property
    def bytes_used(self):
        """Bytes of memory that the table has asked for."""
        return table_bytes(&self.table)

    @property
    def rows_learnt(self):
        """Rows that hold weights; None where that is not known: many labels, or a fixed table."""
        if self.table.fixed_bits or not self.table.is_full:
            return None
        return self.table.n_stored - 1

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
            row = find(&self.table, k[i])
            if row >= 0:
                score(&self.table, row, v[i], &scores[0])
        return out

    def update(self, keys, label, double step, values=None, group=0, rate=None):
        """Add step * value to the weights of `label` for each feature of an example; with a rate,
        take AdaGrad's step of `rate` along step * value.

        Raises
        ------
        ArgumentError : label out of range; a step, rate or value that is not finite; a rate, and the
            table was made without gradients
        MemoryLimitError : no memory for a new weight; no weight has changed
        """
        cdef const uint64_t[::1] k = feature_keys(keys)
        cdef const double[::1] v = feature_values(values, k.shape[0])
        cdef int32_t y = _label(label, self.table.n_labels)
        cdef uint16_t made_by = group
        cdef bint adapts = rate is not None
        cdef double own_rate = rate if adapts else 0
        cdef Py_ssize_t i
        cdef int64_t at
        cdef Row row
        if adapts and not self.table.with_squares:
            raise ArgumentError("gradients: this table was made without them")
        if not isfinite(step):
            raise ArgumentError(f"step: {step} is not a finite number")
        if not isfinite(own_rate):
            raise ArgumentError(f"rate: {rate} is not a finite number")
        if reserve(&self.table, k.shape[0], k.shape[0]) < 0:
            raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
        for i in range(k.shape[0]):
            if adapts and v[i] == 0:
                continue
            at = touch(&self.table, insert(&self.table, k[i], made_by), y, &row)
            if adapts:
                step_adagrad(&row, at, step * v[i], own_rate)
            else:
                row.weight[at] += step * v[i]

    def average(self):
        """The mean of the weights after each finished example, as a new frozen model.

        Training can go on afterwards as if this had not been called.

        Returns
        -------
        FrozenWeights; before the first example all its weights are 0
        """
        return _frozen(&self.table, self.table_bits, True)

    def last(self):
        """The weights as they stand, not averaged, as a new frozen model."""
        return _frozen(&self.table, self.table_bits, False)

    def to_arrays(self):
        """Everything that was learned, so that learning can go on elsewhere (from_arrays).

        Returns
        -------
        dict of arrays: ``keys`` uint64[n_rows] (row numbers of a fixed table), ``groups``
        uint16[n_rows], ``counts`` uint32[n_rows] (weights in each row), ``last_update``
        int64[n_rows] (examples finished when the row was last settled), and for each weight
        ``labels`` uint32, ``weight`` and ``total`` float64 (the sum of the weight over the examples
        up to the row's ``last_update``), and ``squares`` float64 in a table with gradients. What
        has learned nothing is left out. ``done`` is not among them.
        """
        return _state(self)

    def from_arrays(self, arrays, int64_t done):
        """Take up what to_arrays gave, in a table that has learned nothing yet.

        Raises
        ------
        ArgumentError : this table has learned already, or the arrays are not of one such as this
        MemoryLimitError : no memory for them
        """
        _take_up(self, arrays, done)

    def clear(self):
        """Forget all that was learned, as if no example had been seen.

        Rows stay, so that a TrainingSet which was made with this table can go on from another
        state (from_arrays).
        """
        cdef Table *t = &self.table
        cdef int64_t row, chunk
        cdef Row r
        t.done = 0
        if t.is_full and not t.fixed_bits:
            # Its memory stays, and full rows are given out again from its start.
            memset(t.place, 0, t.index.n * sizeof(uint32_t))
            for chunk in range(<int64_t>t.n_chunks):
                memset(t.chunks[chunk], 0, (t.width << t.chunk_bits) * sizeof(double))
            t.n_stored = 1
            return
        for row in range(n_rows(t)):
            r = row_of(t, row)
            if r.n == 0:
                continue
            memset(r.total, 0, r.n * sizeof(double))
            r.last_update[0] = 0
            memset(r.weight, 0, r.n * sizeof(double))
            if r.squares != NULL:
                memset(r.squares, 0, r.n * sizeof(double))


cdef _frozen(const Table *t, table_bits, bint averaged):
    """The weights of a table that are not 0, row by row: means, or as they stand.

    Before the first example every mean is 0.
    """
    cdef bint mean = averaged and t.done > 0
    cdef int64_t i, row, n, room = 4096, at = 0, end = 0
    cdef Row r
    cdef const uint32_t[::1] walk = _stored_rows(t, mean or not averaged)
    cdef int64_t n_kept = walk.shape[0] - AHEAD
    keys = np.empty(n_kept, np.uint64)
    groups = np.zeros(n_kept, np.uint16)
    starts = np.zeros(n_kept + 1, np.int64)
    # One more than needed, so that the address of the end is inside even when nothing is there.
    labels = np.empty(room + 1, np.uint32)
    weights = np.empty(room + 1, np.float64)
    cdef uint64_t[::1] key_view = keys
    cdef uint16_t[::1] group_view = groups
    cdef int64_t[::1] start_view = starts
    cdef uint32_t[::1] label_view = labels
    cdef double[::1] weight_view = weights
    unsorted = np.empty(n_kept, np.int64)
    cdef int64_t[::1] unsorted_view = unsorted
    cdef int64_t n_unsorted = 0
    # One walk, since the table is far larger than what comes of it.
    with nogil:
        for i in range(n_kept):
            row = walk[i]
            if not t.fixed_bits:
                fetch(&t.index.keys[walk[i + AHEAD]])
                fetch(&t.group[walk[i + AHEAD]])
            r = row_of(t, row)
            if end + r.n > room:
                room = 2 * (end + r.n)
                with gil:
                    more = room + 1 - end
                    label_view = labels = np.append(labels[:end], np.empty(more, np.uint32))
                    weight_view = weights = np.append(weights[:end], np.empty(more))
            n = _row_cells(t, &r, mean, &label_view[end], &weight_view[end])
            if n == 0:
                continue
            if r.label != NULL and r.n > FEW:
                unsorted_view[n_unsorted] = at
                n_unsorted += 1
            key_view[at] = row if t.fixed_bits else t.index.keys[row]
            group_view[at] = 0 if t.fixed_bits else t.group[row]
            end += n
            at += 1
            start_view[at] = end
    _sort_cells(unsorted[:n_unsorted], starts, labels, weights)
    # Copies, so that no more is kept than what is there.
    return FrozenWeights(t.n_labels, keys[:at].copy(), groups[:at].copy(), starts[:at + 1].copy(),
                         labels[:end].copy(), weights[:end].copy(), table_bits=table_bits)


def _sort_cells(rows, starts, labels, weights):
    """Sort the cells of some rows by their labels."""
    lengths = starts[rows + 1] - starts[rows]
    number = np.repeat(np.arange(len(rows)), lengths)
    cells = (starts[rows] - np.cumsum(lengths) + lengths)[number] + np.arange(len(number))
    order = cells[np.argsort(number << 32 | labels[cells])]
    labels[cells], weights[cells] = labels[order], weights[order]


cdef _stored_rows(const Table *t, bint is_any):
    """The rows that have learned something, uint32[n + AHEAD], the last AHEAD of them 0.

    Full rows come in the order in which they are stored, so that the walk over them is one over
    memory. Without `is_any` there is none.
    """
    cdef int64_t row, n = 0, table_rows = n_rows(t) if is_any else 0
    cdef bint by_place = t.is_full and not t.fixed_bits
    rows = np.zeros((t.n_stored if by_place and is_any else table_rows) + AHEAD, np.uint32)
    cdef uint32_t[::1] view = rows
    for row in range(table_rows):
        if t.fixed_bits or t.place[row]:
            view[t.place[row] - 1 if by_place else n] = <uint32_t>row
            n += 1
    return rows[:n + AHEAD]


cdef int64_t _row_cells(const Table *t, const Row *r, bint mean, uint32_t *labels,
                        double *weights) noexcept nogil:
    """Write the non-zero weights of a row; how many there are.

    Those of a row of few places come in order of label.
    """
    cdef int64_t n = 0, i, label
    cdef int32_t k
    cdef double w
    if r.label == NULL and r.n <= MOST_ROW_LABELS:
        return _full_row_cells(t, r, mean, labels, weights)
    for k in range(r.n):
        label = label_at(r, k)
        if label < 0:
            continue
        w = average(t, r, k) if mean else r.weight[k]
        if w == 0:
            continue
        i = n
        while i > 0 and r.n <= FEW and labels[i - 1] > <uint32_t>label:
            labels[i] = labels[i - 1]
            weights[i] = weights[i - 1]
            i -= 1
        labels[i] = <uint32_t>label
        weights[i] = w
        n += 1
    return n


cdef int64_t _full_row_cells(const Table *t, const Row *r, bint mean, uint32_t *labels,
                             double *weights) noexcept nogil:
    """The same of a full row. Every cell is written to the next place, and the place moves on where
    it counts: which cells do cannot be foreseen, so nothing branches on it."""
    cdef double values[MOST_ROW_LABELS]
    cdef double quiet = <double>(t.done - r.last_update[0]), done = <double>t.done
    cdef int64_t n = 0
    cdef int32_t k
    if mean:
        for k in range(r.n):
            values[k] = (r.total[k] + quiet * r.weight[k]) / done
    else:
        memcpy(values, r.weight, r.n * sizeof(double))
    for k in range(r.n):
        labels[n] = <uint32_t>k
        weights[n] = values[k]
        n += values[k] != 0
    return n


_BY_ROW = {"keys": np.uint64, "groups": np.uint16, "counts": np.uint32, "last_update": np.int64}
_BY_CELL = {"labels": np.uint32, "weight": np.float64, "total": np.float64, "squares": np.float64}


cdef _state(WeightTable owner):
    cdef const Table *t = &owner.table
    cdef int64_t row, n_learnt = 0, n_cells = 0, at = 0, end = 0, label, count
    cdef int32_t k
    cdef Row r
    for row in range(owner.n_rows):
        r = row_of(t, row)
        count = 0
        for k in range(r.n):
            count += label_at(&r, k) >= 0
        n_learnt += count > 0
        n_cells += count
    whole = {name: np.zeros(n_learnt, dtype) for name, dtype in _BY_ROW.items()}
    whole |= {name: np.zeros(n_cells, dtype) for name, dtype in _BY_CELL.items()}
    cdef uint64_t[::1] keys = whole["keys"]
    cdef uint16_t[::1] groups = whole["groups"]
    cdef uint32_t[::1] counts = whole["counts"]
    cdef int64_t[::1] last_update = whole["last_update"]
    cdef uint32_t[::1] labels = whole["labels"]
    cdef double[::1] weight = whole["weight"]
    cdef double[::1] total = whole["total"]
    cdef double[::1] squares = whole["squares"]
    for row in range(owner.n_rows):
        r = row_of(t, row)
        count = 0
        for k in range(r.n):
            label = label_at(&r, k)
            if label < 0:
                continue
            labels[end] = <uint32_t>label
            weight[end] = r.weight[k]
            total[end] = r.total[k]
            if t.with_squares:
                squares[end] = r.squares[k]
            end += 1
            count += 1
        if count:
            keys[at] = row if t.fixed_bits else t.index.keys[row]
            groups[at] = 0 if t.fixed_bits else t.group[row]
            counts[at] = <uint32_t>count
            last_update[at] = r.last_update[0]
            at += 1
    if not t.with_squares:
        del whole["squares"]
    return whole


cdef _take_up(WeightTable owner, arrays, int64_t done):
    cdef Table *t = &owner.table
    cdef int64_t i, row, at = 0, k
    cdef uint32_t j
    cdef Row r
    wanted = {**_BY_ROW, **_BY_CELL}
    if not t.with_squares:
        del wanted["squares"]
    if t.done or done < 0 or set(arrays) != set(wanted):
        raise ArgumentError("arrays: they are not of such a table, or it has learned already")
    whole = {name: np.ascontiguousarray(arrays[name], dtype) for name, dtype in wanted.items()}
    cdef const uint64_t[::1] keys = whole["keys"]
    cdef const uint16_t[::1] groups = whole["groups"]
    cdef const uint32_t[::1] counts = whole["counts"]
    cdef const int64_t[::1] last_update = whole["last_update"]
    cdef const uint32_t[::1] labels = whole["labels"]
    cdef const double[::1] weight = whole["weight"]
    cdef const double[::1] total = whole["total"]
    cdef const double[::1] squares = whole["squares" if t.with_squares else "weight"]
    cdef int64_t n_learnt = keys.shape[0], n_cells = weight.shape[0]
    if (any(len(whole[name]) != n_learnt for name in _BY_ROW)
            or any(len(whole[name]) != n_cells for name in _BY_CELL if name in whole)
            or int(np.sum(whole["counts"], dtype=np.uint64)) != n_cells
            or (t.fixed_bits and n_learnt and int(whole["keys"].max()) >> t.fixed_bits)
            or (n_cells and int(whole["labels"].max()) >= t.n_labels)
            or (n_learnt and not 0 <= whole["last_update"].min() <= whole["last_update"].max()
                <= done)
            or not all(np.isfinite(whole[name]).all() for name in ("weight", "total"))
            or (t.with_squares and not (whole["squares"] >= 0).all())):
        raise ArgumentError("arrays: their sizes or values do not fit together")
    for i in range(n_learnt):
        row = <int64_t>keys[i] if t.fixed_bits else insert(t, keys[i], groups[i])
        for j in range(counts[i]):
            k = -1 if row < 0 else make_cell(t, row, <int32_t>labels[at], &r)
            if k < 0:
                raise MemoryLimitError("no memory for the weights learned so far")
            r.weight[k] = weight[at]
            r.total[k] = total[at]
            if t.with_squares:
                r.squares[k] = squares[at]
            r.last_update[0] = last_update[i]
            at += 1
    t.done = done


cdef int32_t _label(label, int32_t n_labels) except -1:
    if not isinstance(label, (int, np.integer)):
        raise ArgumentTypeError(f"label: an int is needed, not {type(label).__name__}")
    if not 0 <= label < n_labels:
        raise ArgumentError(f"label: {label} is not between 0 and {n_labels - 1}")
    return label
