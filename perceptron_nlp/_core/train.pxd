"""Training sentences as numbers, and the learning rules over them (greedy.h)."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.extract cimport FeatureProgram, Program
from perceptron_nlp._core.weights cimport Table, WeightTable

cdef extern from "greedy.h" nogil:
    ctypedef struct Rule:
        int kind
        double rate
        double margin
        double scale
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
    ctypedef struct HistoryMemo:
        int32_t n_past
        int32_t *past
        int32_t column
        int32_t offset
        uint32_t span
        const int32_t *values
        int32_t *row1
    ctypedef struct Greedy:
        const Program *program
        Table *table
        const Corpus *corpus
        const Rule *rule
        const HistoryMemo *memos
        int right_to_left
        int32_t *rows
        int32_t *next
        double *scores
    ctypedef struct Counts:
        int64_t examples
        int64_t mistakes
        int64_t updates
    const int COPIED
    void fetch_sentence(const Greedy *x, int64_t sentence) noexcept
    void fetch_first_starts(const Greedy *x, int64_t sentence) noexcept
    int learn_sentence(Greedy *x, int64_t sentence, Counts *counts) noexcept


cdef class TrainingSet:
    cdef FeatureProgram program
    cdef WeightTable table
    cdef Corpus corpus
    cdef const int32_t *type_pointers[64]
    cdef list kept
    cdef object placed, laid_out, offsets, lengths, stored, often
    cdef object carried
    cdef HistoryMemo *memos
    cdef list remembered
    cdef uint32_t rows_known
    cdef int _remember(self) except -1
    cdef int64_t n_sentences, longest, most_rows
    cdef const int32_t *_int32(self, array) except NULL
    cdef const int64_t *_int64(self, array) except NULL
    cdef const uint64_t *_uint64(self, array) except NULL
    cdef int64_t _row(self, uint64_t key, uint16_t group, bint is_open) except -2
