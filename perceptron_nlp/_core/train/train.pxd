"""What all that learns from training sentences shares: the rules, and the pass over sentences."""

from libc.stddef cimport size_t
from libc.stdint cimport int64_t

from perceptron_nlp._core.train.trainingset cimport TrainingSet

cdef extern from "train/greedy.h" nogil:
    ctypedef struct Rule:
        int kind
        double rate
        double margin
        double scale
    ctypedef struct Counts:
        int64_t examples
        int64_t mistakes
        int64_t updates

# Learns from sentence order[i] of n; -1: no memory for a new weight.
ctypedef int (*LearnSentence)(void *learner, const int64_t *order, int64_t i, int64_t n,
                              Counts *counts) noexcept nogil

cdef const int64_t[::1] checked_order(TrainingSet data, order)
cdef Rule checked_rule(TrainingSet data, rule, double rate, double margin) except *
cdef tuple learn_in_order(const int64_t[::1] order, LearnSentence learn_one, void *learner)

cdef enum:
    MOST_TAKEN = 8

cdef class Scratch:
    cdef void *taken[MOST_TAKEN]
    cdef int n
    cdef void *of(self, size_t n_bytes) except NULL
