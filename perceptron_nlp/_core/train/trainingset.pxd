# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Training sentences as numbers, and the rows that the features of a token have."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.string cimport memcpy

from perceptron_nlp._core.features.extract cimport (
    FeatureProgram, Program, SlotSpec, TokenView, slot_applies,
)
from perceptron_nlp._core.table.weights cimport WeightTable
from perceptron_nlp._core.train.history cimport HistoryRows

cdef enum:
    COPIED = 8  # row numbers are copied so many at a time: there is room for so many more


cdef struct Corpus:  # all that does not change between epochs
    const int32_t *const *types   # per column: padded type numbers
    const int64_t *padded_starts  # sentence -> place of its first token in types
    const int64_t *token_starts   # sentence -> number of its first token; one more at the end
    const uint64_t *carried       # see TokenView
    const int32_t *slot_starts    # [type * n_slots + slot]: its first row, and so to the next
    const int32_t *slot_rows
    const int32_t *static_rows    # [token * n_static + i]; -1: left out
    bint is_thinned               # some of them are
    const int32_t *gold           # token -> label; -1: not labeled
    const int32_t *forced         # type -> label that needs no scores; -1: none
    int32_t n_labels
    const uint64_t *label_hashes
    int64_t n_open                # sentences from here on bring no features of their own


cdef inline size_t copy_rows(int32_t *to, const int32_t *rows, int32_t n) noexcept nogil:
    cdef int32_t i = 0
    while i < n:
        memcpy(to + i, rows + i, COPIED * sizeof(int32_t))
        i += COPIED
    return n


cdef inline size_t find_static(const Program *p, const Corpus *c, int64_t place, int64_t token,
                               bint first, bint last, int32_t *rows) noexcept nogil:
    """Write the rows of a token that do not hang on labels given; how many they are."""
    cdef size_t n = 0
    cdef int32_t s, i, row
    cdef const SlotSpec *slot
    cdef const int32_t *start
    for s in range(p.n_slots):
        slot = &p.slots[s]
        if slot_applies(slot.condition, first, last):
            start = (c.slot_starts
                     + <size_t>c.types[slot.column][place + slot.offset] * p.n_slots + s)
            n += copy_rows(rows + n, c.slot_rows + start[0], start[1] - start[0])
    if not c.is_thinned:
        return n + copy_rows(rows + n, c.static_rows + token * p.n_static, p.n_static)
    for i in range(p.n_static):
        row = c.static_rows[token * p.n_static + i]
        if row >= 0:
            rows[n] = row
            n += 1
    return n


cdef class TrainingSet:
    cdef FeatureProgram program
    cdef WeightTable table
    cdef Corpus corpus
    cdef const int32_t *type_pointers[64]
    cdef list alive
    cdef object laid_out, offsets, lengths, starts, padded_starts, space
    cdef object carried
    cdef HistoryRows history
    cdef int64_t n_sentences, longest, most_rows
    cdef HistoryRows history_rows(self)
    cdef const int32_t *_int32(self, array) except NULL
    cdef const int32_t *_pointer(self, whole) except NULL
    cdef const int64_t *_int64(self, array) except NULL
    cdef const uint64_t *_uint64(self, array) except NULL
    cdef int64_t _row(self, uint64_t key, uint16_t group, bint is_open) except -2
