# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, freethreading_compatible=True
"""Training and scoring on dense and sparse rows: the border over the vector_*.h kernels.

Arguments are checked here, before the kernels run without the interpreter's lock; the
kernels themselves cannot fail.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t

from perceptron_nlp.errors import ArgumentError


cdef extern from "train/vectors.h" nogil:
    ctypedef struct rows_t:
        const double *values
        const int32_t *columns
        const int64_t *starts
        int64_t width
    void score_row(const rows_t *, int64_t, const double *, const double *, int64_t, double *)


cdef extern from "train/vectors.h" nogil:
    ctypedef struct update_t:
        pass
    ctypedef struct learner_t:
        rows_t rows
        const int32_t *gold
        int64_t classes
        double *w
        double *bias
        double *owed_w
        double *owed_bias
        const double *class_rate
        double margin
        int strict
        int intercept
        int64_t seen
        int64_t quiet
        int64_t updates
        int64_t mistakes
        double *scores
        int32_t *rivals
        update_t *log
        int64_t logged
        int n_debts
    int64_t train(learner_t *, const int64_t *, int64_t, int64_t, const double *, double, int64_t)
    void mean_of_owed(const double *, double *, double, int64_t)
    void owed_of_mean(const double *, const double *, double, int64_t, double *)


cdef extern from "train/vectors.h" nogil:
    void products_by_column(const rows_t *, int64_t, const int64_t *, const int32_t *,
                            const double *, int64_t, int64_t, double *)
    void products_dense(const rows_t *, int64_t, const rows_t *, int64_t, double *)
    void walk_votes(const double *, double, const int32_t *, const int32_t *, const int32_t *,
                    const double *, const double *, int64_t, int64_t, double *, double *)


UPDATE = np.dtype([("seen", np.int64), ("amount", np.float64), ("row", np.int32),
                   ("rival", np.int32)])
cdef int64_t _INT32_MAX = 2**31 - 1


cdef class Rows:
    """Rows of float64, dense (`columns` and `starts` None) or CSR; checked once, then read only."""

    cdef rows_t c
    cdef const double[::1] _values
    cdef const int32_t[::1] _columns
    cdef const int64_t[::1] _starts
    cdef readonly Py_ssize_t count
    cdef readonly Py_ssize_t width
    cdef readonly object values, columns, starts

    def __init__(self, values, columns, starts, Py_ssize_t count, Py_ssize_t width):
        if count > _INT32_MAX or width > _INT32_MAX:
            raise ArgumentError(f"X has shape ({count}, {width}); the limit is 2**31 - 1 each way")
        self.count, self.width = count, width
        self.values, self.columns, self.starts = values, columns, starts
        self._values = values
        self.c.values = &self._values[0] if self._values.shape[0] else NULL
        self.c.width = width
        if starts is None:
            if self._values.shape[0] != count * width:
                raise ArgumentError(f"X has {len(values)} values for shape ({count}, {width})")
            self.c.columns, self.c.starts = NULL, NULL
            return
        self._columns, self._starts = columns, starts
        if self._starts.shape[0] != count + 1 or self._columns.shape[0] != self._values.shape[0]:
            raise ArgumentError("X has index arrays whose lengths do not fit its shape")
        self._check_sparse()
        self.c.starts = &self._starts[0]
        # NULL would mean dense rows: rows without a single non-zero point at the starts instead.
        self.c.columns = (&self._columns[0] if self._columns.shape[0]
                          else <const int32_t *> self.c.starts)

    def __reduce__(self):
        return Rows, (self.values, self.columns, self.starts, self.count, self.width)

    cdef _check_sparse(self):
        cdef int64_t i, last = self._columns.shape[0], width = self.width
        cdef bint good = self._starts[0] == 0 and self._starts[self.count] == last
        for i in range(self.count):
            good &= self._starts[i] <= self._starts[i + 1]
        if not good:
            raise ArgumentError("X.indptr must rise from 0 to the number of stored values")
        with nogil:
            for i in range(last):
                good &= 0 <= self._columns[i] < width
        if not good:
            raise ArgumentError(f"X.indices must lie in 0 … {width - 1}")

    @property
    def is_sparse(self):
        return self.starts is not None

    def scores(self, const double[::1] weights, const double[::1] bias):
        """weights . row + bias for each row: float64[count, classes]."""
        cdef int64_t j, classes = bias.shape[0]
        if weights.shape[0] != classes * self.width:
            raise ArgumentError(f"weights has length {weights.shape[0]}, "
                                f"not {classes} * {self.width}")
        result = np.empty((self.count, classes))
        cdef double[:, ::1] out = result
        cdef const double *w = &weights[0] if weights.shape[0] else NULL
        with nogil:
            for j in range(self.count):
                score_row(&self.c, j, w, &bias[0], classes, &out[j, 0])
        return result


cdef class Learner:
    """One vector of weights (two classes) or one a class, trained on rows in steps.

    `weights` is float64[classes * width], class by class for dense rows and feature by
    feature for sparse ones; `weights` and `bias` are changed in place.
    """

    cdef learner_t c
    cdef Rows _rows
    cdef const int32_t[::1] _gold
    cdef double[::1] _weights, _bias, _scores, _owed, _owed_bias
    cdef const double[::1] _class_rates
    cdef int32_t[::1] _rivals
    cdef object _log
    cdef uint8_t[::1] _log_bytes

    def __init__(self, Rows rows not None, const int32_t[::1] gold not None,
                 double[::1] weights not None, double[::1] bias not None,
                 const double[::1] class_rates not None,
                 *, double margin, bint strict, bint intercept):
        cdef int64_t classes = bias.shape[0], n_ids = class_rates.shape[0]
        if gold.shape[0] != rows.count or weights.shape[0] != classes * rows.width:
            raise ArgumentError("gold and weights must fit the rows")
        if n_ids != max(classes, 2) or (gold.shape[0] and not
                                        0 <= np.min(gold) <= np.max(gold) < n_ids):
            raise ArgumentError(f"class ids must lie in 0 … {n_ids - 1}")
        self._rows, self._gold, self._weights, self._bias = rows, gold, weights, bias
        self._class_rates = class_rates
        self._scores = np.empty(classes)
        self.c.rows = rows.c
        self.c.gold = &gold[0] if gold.shape[0] else NULL
        self.c.classes = classes
        self.c.w = &weights[0] if weights.shape[0] else NULL
        self.c.bias = &bias[0]
        self.c.class_rate = &class_rates[0]
        self.c.scores = &self._scores[0]
        self.c.margin, self.c.strict, self.c.intercept = margin, strict or margin > 0, intercept
        self.c.owed_w = self.c.owed_bias = NULL
        self.c.rivals = NULL
        self.c.log = NULL
        self.c.n_debts = 0
        self.c.seen = self.c.quiet = self.c.updates = self.c.mistakes = self.c.logged = 0

    def keep_average(self, double[::1] owed not None, double[::1] owed_bias not None,
                     int64_t seen):
        """Also add to `owed` each update times the examples before it; `seen` there were."""
        if owed.shape[0] != self._weights.shape[0] or owed_bias.shape[0] != self.c.classes:
            raise ArgumentError("owed must have the shape of the weights")
        self._owed, self._owed_bias = owed, owed_bias
        self.c.owed_w = &owed[0] if owed.shape[0] else NULL
        self.c.owed_bias = &owed_bias[0]
        self.c.seen = seen

    def keep_updates(self, Py_ssize_t room):
        """Also hand out each update; `room` is the most examples of one call of `train`."""
        self._log = np.empty(room, dtype=UPDATE)
        self._log_bytes = self._log.view(np.uint8)
        self.c.log = <update_t *> &self._log_bytes[0]

    def train(self, const int64_t[::1] order not None, int64_t step, double rate,
              const double[::1] rates=None, int64_t patience=-1):
        """Train on the rows of `order`, `step` at a time; returns how many were taken.

        `rates` has one rate a step and stands before `rate`. Ends early once `patience`
        examples in a row, of this call and those before, brought no update.
        """
        cdef int64_t n = order.shape[0], done = 0
        if n == 0:
            return 0
        if not 0 <= np.min(order) <= np.max(order) < self._rows.count:
            raise ArgumentError("order must hold row numbers")
        if step < 1 or (rates is not None and rates.shape[0] < (n + step - 1) // step):
            raise ArgumentError("step must be 1 or more, with a rate for each")
        if self._log is not None and n > len(self._log):
            raise ArgumentError(f"order has {n} rows, room was kept for {len(self._log)}")
        if self._rivals is None or self._rivals.shape[0] < min(step, n):
            self._rivals = np.empty(min(step, n), dtype=np.int32)
            self.c.rivals = &self._rivals[0]
        self.c.logged = 0
        cdef const double *per_step = &rates[0] if rates is not None else NULL
        with nogil:
            done = train(&self.c, &order[0], n, step, per_step, rate, patience)
        return done

    def logged(self):
        """The updates of the last call of `train`: an array of `UPDATE`."""
        return self._log[:self.c.logged].copy()

    @property
    def seen(self):
        return self.c.seen

    @property
    def quiet(self):
        return self.c.quiet

    @property
    def updates(self):
        return self.c.updates

    @property
    def mistakes(self):
        return self.c.mistakes


def owed_to_mean(const double[::1] weights not None, double[::1] owed not None, int64_t seen):
    """Turn `owed` into the mean after each example, (seen * weights - owed) / seen, in place."""
    cdef int64_t size = weights.shape[0]
    if owed.shape[0] != size or seen < 1:
        raise ArgumentError("owed must be as long as weights, and seen at least 1")
    if size:
        with nogil:
            mean_of_owed(&weights[0], &owed[0], seen, size)


def mean_to_owed(const double[::1] weights not None, const double[::1] mean not None,
                 int64_t seen):
    """What `owed_to_mean` made a mean of: exact where the sums were integers below 2**51."""
    cdef int64_t size = weights.shape[0]
    if mean.shape[0] != size:
        raise ArgumentError("mean must be as long as weights")
    result = np.empty(size)
    cdef double[::1] owed = result
    if size:
        with nogil:
            owed_of_mean(&weights[0], &mean[0], seen, size, &owed[0])
    return result


def tally_votes(Rows points not None, Rows kept not None, updates not None, scores not None,
                tally not None, *, double one):
    """Add to `tally` the votes of the vectors after each update, for each point.

    Parameters
    ----------
    points : dense, or sparse where `kept` is sparse
    kept : the rows the updates speak of; if sparse, transposed: row f of it is feature f,
        and its columns are the rows
    updates : (row, gold, rival int32[n]; amount, votes float64[n])
    scores : float64[points, classes], the scores before the updates; left as after them
    tally : float64[points, max(classes, 2)]
    one : 1 with an intercept, else 0
    """
    cdef const int32_t[::1] row = updates[0], gold = updates[1], rival = updates[2]
    cdef const double[::1] amount = updates[3], votes = updates[4]
    cdef double[:, ::1] s = scores
    cdef double[:, ::1] out = tally
    cdef int64_t j, n = row.shape[0], classes = s.shape[1]
    cdef int64_t n_kept = kept.width if kept.is_sparse else kept.count
    if points.is_sparse != kept.is_sparse or (not kept.is_sparse and points.width != kept.width):
        raise ArgumentError("points and kept rows must be of one kind")
    if not (len(gold) == len(rival) == len(amount) == len(votes) == n and len(s) == points.count
            and out.shape[0] == points.count and out.shape[1] == max(classes, 2)):
        raise ArgumentError("updates, scores and tally must fit each other")
    if n == 0 or points.count == 0:
        return
    if not (0 <= np.min(row) <= np.max(row) < n_kept and 0 <= np.min(gold) and 0 <= np.min(rival)
            and max(np.max(gold), np.max(rival)) < out.shape[1]):
        raise ArgumentError("updates must name rows and classes that are there")
    cdef double[::1] products = np.empty(n_kept)
    with nogil:
        for j in range(points.count):
            if kept.c.columns != NULL:
                products_by_column(&points.c, j, kept.c.starts, kept.c.columns, kept.c.values,
                                   kept.count, n_kept, &products[0])
            else:
                products_dense(&points.c, j, &kept.c, n_kept, &products[0])
            walk_votes(&products[0], one, &row[0], &gold[0], &rival[0], &amount[0], &votes[0],
                       n, classes, &s[j, 0], &out[j, 0])
