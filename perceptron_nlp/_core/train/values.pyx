# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True, freethreading_compatible=True
"""Perceptrons over samples of numbers: rows of weights.pxd, moved by values.

A feature is a column of the samples. It has a row of the table, one behind its number, with a weight
for each class, or one weight where there are two classes; the first row is that of the intercept,
the weight of a feature that is always 1. The samples of a step are judged by the same weights, then
all its mistakes are added: one by one, in batches, or all at once, as the caller's steps are long.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memset

from perceptron_nlp._core.table.weights cimport (
    Row, Table, WeightTable, insert, make_cell, reserve, row_of, score, settle, step, touch,
    touch_too)
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef int32_t NO_RIVAL = -1


cdef class Learner:
    """One vector of weights (two classes) or one a class, trained on samples in steps.

    Parameters
    ----------
    table : a new one, with a label for each vector
    samples : (values, columns, starts), as of a CSR matrix; dense ones have None for the last two
    width : features
    gold : int32[n_samples], the class of each
    class_rates : float64[n_classes], the factor of the rate for samples of a class
    margin, strict, intercept : see PerceptronClassifier
    """

    cdef readonly WeightTable table
    cdef Table *t
    cdef const double[::1] _values
    cdef const int32_t[::1] _columns
    cdef const int64_t[::1] _starts
    cdef const int32_t[::1] _gold
    cdef const double[::1] _class_rates
    cdef double[::1] _scores, _amounts
    cdef int32_t[::1] _rivals, _wrong
    cdef int64_t[::1] _times
    cdef int64_t _width
    cdef int32_t _n_vectors
    cdef bint _is_dense, _strict, _intercept, _averaged, _logs
    cdef double _margin
    cdef Py_ssize_t _n_logged
    cdef readonly int64_t quiet, updates, mistakes

    def __init__(self, WeightTable table not None, samples not None, int64_t width,
                 const int32_t[::1] gold not None, const double[::1] class_rates not None, *,
                 double margin, bint strict, bint intercept, bint averaged, bint logs):
        cdef int64_t key
        self.table, self.t = table, &table.table
        self._values, self._is_dense = samples[0], samples[1] is None
        if not self._is_dense:
            self._columns, self._starts = samples[1], samples[2]
        self._width, self._n_vectors = width, table.n_labels
        n_classes = max(self._n_vectors, 2)
        n_samples = gold.shape[0]
        if (class_rates.shape[0] != n_classes
                or n_samples and not 0 <= np.min(gold) <= np.max(gold) < n_classes):
            raise ArgumentError(f"gold: classes must lie in 0 … {n_classes - 1}, each with a rate")
        self._gold, self._class_rates = gold, class_rates
        self._margin, self._strict, self._intercept = margin, strict or margin > 0, intercept
        self._averaged, self._logs = averaged, logs
        self._scores = np.empty(self._n_vectors)
        for key in range(width + 1):
            if insert(self.t, <uint64_t>key, 0) < 0:
                raise MemoryLimitError("no memory for the weights of all features")

    def take_up(self, const double[:, ::1] weights not None, const double[:, ::1] totals not None,
                int64_t done):
        """Begin where a training ended: float64[1 + width, n_vectors] each, `done` examples ago."""
        cdef int64_t row
        cdef int32_t label
        cdef int64_t k
        cdef Row r
        self.t.done = done
        for row in range(self._width + 1):
            for label in range(self._n_vectors):
                if weights[row, label] == 0 and totals[row, label] == 0:
                    continue
                k = make_cell(self.t, row, label, &r)
                if k < 0:
                    raise MemoryLimitError("no memory for the weights of all features")
                r.weight[k], r.total[k] = weights[row, label], totals[row, label]
                r.last_update[0] = done

    def state(self):
        """Return weights and totals up to now: float64[1 + width, n_vectors] each."""
        weights = np.zeros((self._width + 1, self._n_vectors))
        totals = np.zeros((self._width + 1, self._n_vectors))
        cdef double[:, ::1] w = weights, total = totals
        cdef int64_t row
        cdef int32_t k, label
        cdef Row r
        for row in range(self._width + 1):
            r = row_of(self.t, row)
            if r.n and self._averaged:
                settle(self.t, &r)
            for k in range(r.n):
                label = k if r.label == NULL else <int32_t>r.label[k]
                w[row, label], total[row, label] = r.weight[k], r.total[k]
        return weights, totals

    def train(self, const int64_t[::1] order not None, int64_t size, double rate,
              const double[::1] rates=None, int64_t patience=-1):
        """Train on the samples of `order`, `size` at a time; return how many were taken.

        `rates` has one rate a step and stands before `rate`. Ends early once `patience` samples in
        a row, of this call and those before, brought no update.

        Raises MemoryLimitError if there is no memory for new weights.
        """
        cdef int64_t n = order.shape[0], done = 0, begin
        if n == 0:
            return 0
        if not 0 <= np.min(order) <= np.max(order) < self._gold.shape[0]:
            raise ArgumentError("order: must hold numbers of samples")
        if size < 1 or (rates is not None and rates.shape[0] < (n + size - 1) // size):
            raise ArgumentError("size: must be 1 or more, with a rate for each step")
        self._rivals = np.empty(min(size, n), np.int32)
        self._n_logged = 0
        if self._logs:
            self._amounts, self._times = np.empty(n), np.empty(n, np.int64)
            self._wrong = np.empty(2 * n, np.int32)
        with nogil:
            begin = 0
            while begin < n:
                if rates is not None:
                    rate = rates[begin // size]
                done = self._step(&order[begin], min(size, n - begin), rate)
                if done < 0:
                    break
                begin += done
                if 0 <= patience <= self.quiet:
                    break
        if done < 0:
            raise MemoryLimitError("no memory for new weights; use fewer features")
        return begin

    def logged(self):
        """Return the updates of the last call of `train`.

        Returns
        -------
        (seen, amount, sample, rival): int64, float64, int32 and int32 each; the samples before its
        step, what was added to the gold class, and which class it was taken from
        """
        cdef Py_ssize_t n = self._n_logged
        wrong = np.asarray(self._wrong)[:2 * n].reshape(-1, 2)
        return (np.asarray(self._times)[:n].copy(), np.asarray(self._amounts)[:n].copy(),
                wrong[:, 0].copy(), wrong[:, 1].copy())

    cdef int64_t _step(self, const int64_t *order, int64_t n, double rate) noexcept nogil:
        """Judge samples by the same weights and add those mistaken; -1: no memory."""
        cdef int64_t i, before = self.mistakes
        for i in range(n):
            self._rivals[i] = self._judge(order[i])
        for i in range(n):
            if self._rivals[i] != NO_RIVAL and self._correct(order[i], self._rivals[i], rate) < 0:
                return -1
        self.t.done += n
        self.quiet = self.quiet + n if self.mistakes == before else 0
        self.updates += self.mistakes != before
        return n

    cdef inline int64_t _begin(self, int64_t j) noexcept nogil:
        return j * self._width if self._is_dense else self._starts[j]

    cdef inline int64_t _row(self, int64_t i, int64_t begin) noexcept nogil:
        return 1 + (i - begin if self._is_dense else <int64_t>self._columns[i])

    cdef int32_t _judge(self, int64_t j) noexcept nogil:
        """The class that a sample is mistaken for, or NO_RIVAL."""
        cdef int64_t i, begin = self._begin(j)
        cdef int32_t gold = self._gold[j], rival
        cdef double *s = &self._scores[0]
        memset(s, 0, self._n_vectors * sizeof(double))
        if self._intercept:
            score(self.t, 0, 1.0, s)
        if self.t.is_full:
            self._score_full(begin, self._begin(j + 1), s)
        else:
            for i in range(begin, self._begin(j + 1)):
                score(self.t, self._row(i, begin), self._values[i], s)
        if self._n_vectors == 1:
            return 1 - gold if (2 * gold - 1) * s[0] <= self._margin else NO_RIVAL
        if self._strict:
            rival = best(s, self._n_vectors, gold)
            return rival if s[gold] - s[rival] <= self._margin else NO_RIVAL
        rival = best(s, self._n_vectors, NO_RIVAL)
        return NO_RIVAL if rival == gold else rival

    cdef void _score_full(self, int64_t begin, int64_t end, double *scores) noexcept nogil:
        """The same as `score` of each, of full rows; those at place 0 have learned nothing."""
        cdef const double *values = &self._values[0]
        cdef const double *weights = self.t.weights
        cdef const double *weight
        cdef const int32_t *columns = NULL if self._is_dense else &self._columns[0]
        cdef const uint32_t *place = self.t.place + 1
        cdef size_t stride = self.t.stride
        cdef int32_t n = self._n_vectors, k
        cdef double total = scores[0]
        cdef int64_t i, row
        if n == 1:
            for i in range(begin, end):
                row = i - begin if columns == NULL else <int64_t>columns[i]
                total += values[i] * weights[place[row] * stride]
            scores[0] = total
            return
        for i in range(begin, end):
            weight = weights + place[i - begin if columns == NULL else <int64_t>columns[i]] * stride
            for k in range(n):
                scores[k] += values[i] * weight[k]

    cdef int _correct(self, int64_t j, int32_t rival, double rate) noexcept nogil:
        cdef int64_t i, begin = self._begin(j), end = self._begin(j + 1)
        cdef int32_t gold = self._gold[j]
        cdef double by = rate * self._class_rates[gold]
        if reserve(self.t, end - begin + 1, 0) < 0:
            return -1
        if self._n_vectors == 1:
            by *= 2 * gold - 1
        if self._intercept:
            self._move(0, gold, rival, by)
        for i in range(begin, end):
            if self._values[i] != 0:
                self._move(self._row(i, begin), gold, rival, by * self._values[i])
        if self._logs:
            self._times[self._n_logged], self._amounts[self._n_logged] = self.t.done, by
            self._wrong[2 * self._n_logged] = <int32_t>j
            self._wrong[2 * self._n_logged + 1] = rival
            self._n_logged += 1
        self.mistakes += 1
        return 0

    cdef inline void _move(self, int64_t row, int32_t gold, int32_t rival,
                           double by) noexcept nogil:
        """Add to the weight of the gold class and take from that of the rival; there is room."""
        cdef Row r
        cdef int64_t k
        cdef int32_t label = 0 if self._n_vectors == 1 else gold
        k = (touch(self.t, row, label, &r) if self._averaged
             else make_cell(self.t, row, label, &r))
        step(&r, k, by)
        if self._n_vectors > 1:
            step(&r, touch_too(self.t, row, rival, &r), -by)


cdef inline int32_t best(const double *scores, int32_t n, int32_t but) noexcept nogil:
    """The class of the highest score, the lowest among equals, other than class `but`."""
    cdef int32_t found = 1 if but == 0 else 0, k
    for k in range(found + 1, n):
        if k != but and scores[k] > scores[found]:
            found = k
    return found


def scores_of(samples not None, Py_ssize_t count, const double[:, ::1] weights not None,
              const double[::1] bias not None):
    """Return the scores of samples: float64[count, n_vectors].

    Parameters
    ----------
    samples : as for Learner
    weights : float64[width, n_vectors]
    bias : float64[n_vectors]
    """
    cdef const double[::1] values = samples[0]
    cdef const int32_t[::1] columns = samples[1]
    cdef const int64_t[::1] starts = samples[2]
    cdef bint is_dense = columns is None
    cdef Py_ssize_t n = bias.shape[0], k
    cdef int64_t j, i, begin, end, width = weights.shape[0], column
    out = np.empty((count, n))
    out[:] = bias
    cdef double[:, ::1] scores = out
    with nogil:
        for j in range(count):
            begin = j * width if is_dense else starts[j]
            end = begin + width if is_dense else starts[j + 1]
            for i in range(begin, end):
                column = i - begin if is_dense else columns[i]
                for k in range(n):
                    scores[j, k] += values[i] * weights[column, k]
    return out


def walk_votes(const double[:, ::1] products not None, updates not None, double[:, ::1] scores,
               double[:, ::1] tally):
    """Add to `tally` the votes of the vectors after each update.

    Parameters
    ----------
    products : float64[points, kept], of each point with each sample that was ever mistaken
    updates : (kept, gold, rival: int32[n]; amount, votes: float64[n]): which sample, its classes,
        what was added, and how many votes the vectors after it have
    scores : float64[points, n_vectors], before the updates; left as after them
    tally : float64[points, n_classes]
    """
    cdef const int32_t[::1] kept = updates[0], gold = updates[1], rival = updates[2]
    cdef const double[::1] amount = updates[3], votes = updates[4]
    cdef Py_ssize_t j, e, n = kept.shape[0]
    cdef int32_t n_vectors = <int32_t>scores.shape[1]
    cdef double change
    with nogil:
        for j in range(scores.shape[0]):
            for e in range(n):
                change = amount[e] * products[j, kept[e]]
                if n_vectors == 1:
                    scores[j, 0] += change
                    tally[j, scores[j, 0] > 0] += votes[e]
                    continue
                scores[j, gold[e]] += change
                scores[j, rival[e]] -= change
                if votes[e] != 0:
                    tally[j, best(&scores[j, 0], n_vectors, NO_RIVAL)] += votes[e]
