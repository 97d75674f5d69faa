"""A model frozen for tagging, and how its templates are looked up (decode.h, program.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.features.extract cimport FeatureProgram, Program
from perceptron_nlp._core.model.labelparts cimport LabelParts, Parts

cdef extern from "tag/search.h" nogil:
    ctypedef struct Index:
        uint32_t n
    ctypedef struct FrozenCell:
        uint16_t label
        int16_t weight
    ctypedef struct FrozenTable:
        int32_t n_labels
        int fixed_bits
        int direct
    ctypedef struct VectorSlot:
        int32_t column
        int32_t offset
        int32_t condition
    ctypedef struct KeyFilter:
        uint64_t *words
        int shift
    ctypedef struct CacheShare:
        size_t bytes
        size_t per_word
    ctypedef struct CacheLayout:
        const Program *program
        const FrozenTable *table
        int dense
        int as_written
        int narrow
        int32_t stride
        int32_t n_vectors
        int32_t n_always
        VectorSlot *vectors
        int32_t *slot_vector
        int32_t *slot_correction
        int *slot_sign
        int32_t n_transitions
        int32_t *transition_templates
        int transitions_planned
        int32_t n_halves
        KeyFilter transition_filter
        Index dictionary
        uint16_t *dictionary_labels
        Index lexicon
        int32_t *lexicon_labels
        uint8_t *masks
        int32_t n_labels
        int forces
        const CacheShare *share
        uint32_t most_types
    ctypedef struct PairLayout:
        int32_t n_groups
        int32_t n_templates
        int32_t *offsets
        int32_t *templates
        int32_t *group_of
        int32_t *value_at
        KeyFilter filter
    ctypedef struct Decoder:
        CacheLayout layout
        PairLayout pairs
        const uint64_t *label_hashes
        uint64_t secrets[8]
        int right_to_left
        int32_t beam
        const uint8_t *allowed
        const Parts *parts
        void *start
        void *tag_table
        int (*run)(const Decoder *d, void *worker) noexcept nogil
        int32_t n_static
        int32_t *static_templates
        int32_t n_open
        int32_t *open_templates
        KeyFilter open_filter
    const int DENSE_LABELS
    size_t shared_words(const CacheShare *s) noexcept
    void set_per_word(CacheShare *s, size_t per_word) noexcept
    const uint32_t MOST_TYPES
    const int LANES
    const int N_SECRETS
    const int MAX_PAIR_GROUPS
    const int MAX_BEAM
    int index_open(Index *x, uint64_t multiplier, int bits) noexcept
    void index_close(Index *x) noexcept
    int64_t index_insert(Index *x, uint64_t key) noexcept
    int frozen_open(FrozenTable *t, int32_t n_labels, int fixed_bits, uint64_t n_rows,
                    uint64_t n_cells) noexcept
    int64_t frozen_fill(FrozenTable *t, uint64_t secret, const uint64_t *keys,
                        const int64_t *starts, const uint16_t *labels, const int16_t *weights,
                        int64_t n_rows) noexcept
    int64_t frozen_find(const FrozenTable *t, uint64_t key) noexcept
    int filter_add(KeyFilter *f, const FrozenTable *t, uint64_t all, const uint64_t *keys,
                   int64_t n) noexcept
    uint32_t frozen_cells(const FrozenTable *t, int64_t row, FrozenCell *cells) noexcept
    void frozen_add(const FrozenTable *t, int64_t row, int32_t *scores) noexcept
    void frozen_close(FrozenTable *t) noexcept
    void add_row(const CacheLayout *l, int64_t row, char *vector) noexcept
    int plan_open(CacheLayout *l) noexcept
    void plan_close(CacheLayout *l) noexcept
    int transition_plan_open(CacheLayout *l, const uint64_t *label_hashes) noexcept
    void transition_plan_close(CacheLayout *l) noexcept
    int pair_halves_open(PairLayout *p, CacheLayout *l) noexcept
    void choose_kernels(Decoder *d, int plain) noexcept

cdef extern from "features/program.h" nogil:
    bint is_pair(const Program *p, int32_t template_id, int32_t *left) noexcept
    bint is_of_tags(const Program *p, int32_t template_id, int32_t deepest) noexcept
    bint is_of_word_and_tag(const Program *p, int32_t template_id) noexcept


cdef class CacheMemory:
    cdef CacheShare share
    cdef object lock
    cpdef CacheUse enter(self, size_t cost)


cdef class CacheUse:
    cdef CacheMemory memory
    cdef size_t cost


cdef class FrozenModel:
    cdef FeatureProgram program
    cdef FrozenTable table
    cdef Decoder decoder
    cdef object label_hash_array, allowed_array
    cdef LabelParts parts
    cdef KeyFilter filters[3]
    cdef int n_filters
    cdef KeyFilter _filter(self, keys, list spans) except *
    cdef readonly tuple labels
    cdef readonly CacheMemory memory
