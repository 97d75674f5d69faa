"""Compiled templates at work: strings in, feature keys out (values.h, program.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

cdef extern from "features/hashing.h" nogil:
    uint64_t xxh64(const uint8_t *p, size_t n, uint64_t seed) noexcept
    uint64_t xxh64_words(const uint64_t *words, int n, uint64_t seed) noexcept

cdef extern from "features/values.h" nogil:
    ctypedef struct ValueSpec:
        int32_t view
        int32_t affix
        int32_t low
        int32_t high
    const int N_VIEWS
    ctypedef struct View:
        uint8_t *text
        uint32_t n
    ctypedef struct WordScratch:
        View *views
        uint64_t *grams
        uint32_t n_grams
    int word_views(WordScratch *s, const uint8_t *text, size_t n, uint32_t wanted) noexcept
    uint32_t view_at(const WordScratch *s, const View *v, uint32_t i) noexcept
    uint32_t utf8_put(uint8_t *p, uint32_t c) noexcept
    bint is_many(const ValueSpec *spec) noexcept
    int word_many(WordScratch *s, const ValueSpec *spec) noexcept
    void word_scratch_close(WordScratch *s) noexcept

cdef extern from "features/program.h" nogil:
    const int ATOM_VALUE
    const int ATOM_TAG
    const int MAX_REACH
    enum:
        MAX_ATOMS
        MAX_COLUMNS
        MAX_HISTORY
    ctypedef struct AtomSpec:
        int32_t kind
        int32_t value
        int32_t offset
    ctypedef struct SlotSpec:
        int32_t column
        int32_t offset
        int32_t condition
        int32_t n_templates
        const int32_t *templates
    ctypedef struct Program:
        int32_t n_columns
        int32_t n_values
        int32_t n_templates
        int32_t n_slots
        int32_t n_static
        int32_t n_history
        int32_t reach
        int32_t depth
        int32_t n_carried
        ValueSpec *values
        int32_t *value_column
        int32_t *carried_at
        uint32_t *wanted
        uint64_t *seeds
        int32_t *atom_starts
        AtomSpec *atoms
        SlotSpec *slots
        int32_t *slot_templates
        int32_t *static_templates
        int32_t *history_templates
    ctypedef struct KeyBuffer:
        uint64_t *keys
        uint16_t *groups
        size_t n
    ctypedef struct TokenView:
        const int32_t *const *types
        const uint64_t *carried
        const uint64_t *past
        int first
        int last
    uint64_t no_label_hash() noexcept
    int32_t most_features(const Program *p, int32_t template_id) noexcept
    void key_buffer_close(KeyBuffer *b) noexcept
    int type_values(const Program *p, WordScratch *s, int32_t column, const uint8_t *text,
                    size_t n, uint64_t *out) noexcept
    void pad_values(const Program *p, int32_t distance, uint64_t *out) noexcept
    int type_slot_keys(const Program *p, const SlotSpec *slot, const uint64_t *values,
                       WordScratch *s, KeyBuffer *out) noexcept
    int slot_applies(int32_t condition, int first, int last) noexcept
    uint64_t token_key(const Program *p, int32_t template_id, const TokenView *token) noexcept


cdef uint64_t draw_secret() except? 0


cdef class FeatureProgram:
    cdef Program program
    cdef int own(self, compiled) except -1
