# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What all learners share: the rules, which say what to part and by what step, and the pass."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t

from perceptron_nlp._core.table.weights cimport Row, step, step_adagrad
from perceptron_nlp._core.train.trainingset cimport TrainingSet

cdef extern from "table/sums.h" nogil:
    double highest(const double *scores, int32_t n) noexcept

cdef enum:
    PERCEPTRON, MARGIN, PASSIVE_AGGRESSIVE, ADAGRAD
    MOST_TAKEN = 8


cdef struct Rule:
    int kind
    double rate    # perceptron, margin: the step; AdaGrad: its rate; PA: its aggressiveness
    double margin  # the gold label must lead by more than this (not the plain perceptron)
    double scale   # what the loss of the sentence at hand is multiplied by


cdef struct Counts:
    int64_t examples, mistakes, updates


cdef inline int32_t best_label(const double *scores, int32_t n, int32_t but) noexcept nogil:
    """The highest score of any label but one (-1: of all), of several the lowest label; -1 where
    there is no other."""
    cdef double best = max(highest(scores, but), highest(scores + but + 1, n - but - 1))
    cdef int32_t k = 0
    if n < 1 + (but >= 0):
        return -1
    while k == but or scores[k] < best:
        k += 1
    return k


cdef inline double passive_aggressive_step(double loss, double norm,
                                           double aggressiveness) noexcept nogil:
    """PA-I (Crammer et al., 2006): the step that mends a hinge loss, no longer than
    `aggressiveness`, where the update vector has squared length `norm`."""
    cdef double tau = loss / norm if norm > 0 else 0
    return min(tau, aggressiveness)


cdef inline int32_t rival_of(const Rule *rule, const double *scores, int32_t n_labels,
                             int32_t gold, int32_t guess, size_t n_features,
                             double *step) noexcept nogil:
    """The label that the gold one must be parted from, and by what step; -1: nothing to learn."""
    cdef int32_t rival
    cdef double lead
    step[0] = rule.rate * rule.scale
    if rule.kind == PERCEPTRON:
        return -1 if guess == gold else guess
    rival = best_label(scores, n_labels, gold) if guess == gold else guess
    if rival < 0:
        return -1
    lead = scores[gold] - scores[rival]
    if rule.kind == MARGIN:
        return rival if lead <= rule.margin else -1
    if rule.kind == PASSIVE_AGGRESSIVE:
        step[0] = passive_aggressive_step(
            rule.margin - lead, 2.0 * <double>n_features, rule.rate * rule.scale)
        return rival if lead < rule.margin else -1
    step[0] = rule.scale
    # With a margin of 0, nothing would ever be learned from the ties of the start.
    return rival if lead < rule.margin or guess != gold else -1


cdef inline void learn_step(const Rule *rule, Row *row, int64_t k, double by) noexcept nogil:
    """Move one weight of a settled row by the step of a rule."""
    if rule.kind == ADAGRAD:
        step_adagrad(row, k, by, rule.rate)
    else:
        step(row, k, by)


# Learns from sentence order[i] of n; -1: no memory for a new weight.
ctypedef int (*LearnSentence)(void *learner, const int64_t *order, int64_t i, int64_t n,
                              Counts *counts) noexcept nogil

cdef const int64_t[::1] checked_order(TrainingSet data, order)
cdef Rule checked_rule(TrainingSet data, rule, double rate, double margin) except *
cdef tuple learn_in_order(const int64_t[::1] order, LearnSentence learn_one, void *learner)


cdef class Scratch:
    cdef void *taken[MOST_TAKEN]
    cdef int n
    cdef void *of(self, size_t n_bytes) except NULL
