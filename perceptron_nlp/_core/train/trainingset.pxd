"""Training sentences as numbers."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t

from perceptron_nlp._core.features.extract cimport FeatureProgram
from perceptron_nlp._core.train.history cimport HistoryRows
from perceptron_nlp._core.table.weights cimport WeightTable

cdef extern from "train/greedy.h" nogil:
    ctypedef struct Corpus:
        const int32_t *const *types
        const int64_t *padded_starts
        const int64_t *token_starts
        const uint64_t *carried
        const int32_t *slot_starts
        const int32_t *slot_rows
        const int32_t *static_rows
        bint is_thinned
        const int32_t *gold
        const int32_t *forced
        const uint64_t *label_hashes
        int64_t n_open
    const int COPIED


cdef class TrainingSet:
    cdef FeatureProgram program
    cdef WeightTable table
    cdef Corpus corpus
    cdef const int32_t *type_pointers[64]
    cdef list kept
    cdef object placed, laid_out, offsets, lengths, stored, often
    cdef object carried
    cdef HistoryRows history
    cdef int64_t n_sentences, longest, most_rows
    cdef HistoryRows history_rows(self)
    cdef const int32_t *_int32(self, array) except NULL
    cdef const int64_t *_int64(self, array) except NULL
    cdef const uint64_t *_uint64(self, array) except NULL
    cdef int64_t _row(self, uint64_t key, uint16_t group, bint is_open) except -2
