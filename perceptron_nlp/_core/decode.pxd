"""The frozen tagger in numbers: strings in, labels out (decode.h, search.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.extract cimport FeatureProgram, Program
from perceptron_nlp._core.labelparts cimport LabelParts, Parts

cdef extern from "search.h" nogil:
    ctypedef struct Index:
        uint32_t n
    ctypedef struct FrozenCell:
        uint16_t label
        int16_t weight
    ctypedef struct FrozenTable:
        int32_t n_labels
        int fixed_bits
    ctypedef struct VectorSlot:
        int32_t column
        int32_t offset
        int32_t condition
    ctypedef struct CacheLayout:
        const Program *program
        const FrozenTable *table
        int dense
        int narrow
        int32_t stride
        int32_t n_vectors
        int32_t n_always
        VectorSlot *vectors
        int32_t *slot_vector
        int32_t *slot_correction
        int *slot_sign
        int32_t n_memos
        int32_t *memo_templates
        Index dictionary
        uint16_t *dictionary_labels
        Index lexicon
        int32_t *lexicon_labels
        uint8_t *masks
        int32_t n_labels
        int forces
    ctypedef struct PairLayout:
        int32_t n_groups
        int32_t n_templates
        int32_t *offsets
        int32_t *templates
        int32_t *group_of
        int32_t *left
        int32_t *right
    ctypedef struct TypeCache:
        uint64_t secrets[8]
        uint32_t limit
        uint32_t n_types
        int64_t hits
        int64_t misses
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
        int32_t n_static
        int32_t *static_templates
        int32_t n_open
        int32_t *open_templates
    ctypedef struct KeptLabels:
        const int32_t *of
        const int64_t *starts
        const int32_t *labels
    ctypedef struct Batch:
        KeptLabels kept
        size_t text_used
        int64_t n_tokens
        int64_t *starts
        int64_t n_sentences
        uint16_t *labels
    ctypedef struct Worker:
        Batch batch
        TypeCache cache
        KeptLabels kept
        int64_t n_tokens
        int keep_scores
        char *scores
        uint16_t *labels
    const int DENSE_LABELS
    const int KEPT_UNKNOWN
    const int LANES
    const int N_SECRETS
    const int MAX_PAIR_GROUPS
    int index_open(Index *x, uint64_t multiplier, int bits) noexcept
    void index_close(Index *x) noexcept
    int64_t index_insert(Index *x, uint64_t key) noexcept
    int frozen_open(FrozenTable *t, int32_t n_labels, int fixed_bits, uint64_t multiplier,
                    uint64_t n_rows, uint64_t n_cells) noexcept
    int64_t frozen_fill(FrozenTable *t, const uint64_t *keys, const int64_t *starts,
                        const uint16_t *labels, const int16_t *weights, int64_t n_rows) noexcept
    int64_t frozen_find(const FrozenTable *t, uint64_t key) noexcept
    uint32_t frozen_cells(const FrozenTable *t, int64_t row, FrozenCell *cells) noexcept
    void frozen_add(const FrozenTable *t, int64_t row, int32_t *scores) noexcept
    void frozen_close(FrozenTable *t) noexcept
    void add_row(const CacheLayout *l, int64_t row, char *vector) noexcept
    int plan_open(CacheLayout *l) noexcept
    void plan_close(CacheLayout *l) noexcept
    int memo_plan_open(CacheLayout *l, const uint64_t *label_hashes) noexcept
    void memo_plan_close(CacheLayout *l) noexcept
    void choose_form(Decoder *d, int plain) noexcept
    void worker_close(Worker *w) noexcept
    void batch_reset(Batch *b) noexcept
    int batch_room(const Decoder *d, Batch *b, int64_t more) noexcept
    int batch_end_sentence(Batch *b) noexcept
    const int MAX_BEAM
    int run_batch(const Decoder *d, Worker *w) noexcept

cdef extern from "pystrings.h":
    const int NOT_A_STRING
    int take_string(const Decoder *d, Batch *b, int32_t column, object s) noexcept
    int take_words(const Decoder *d, Batch *b, object words, Py_ssize_t *at) noexcept
    int give_lists(const Batch *b, object labels, object out, Py_ssize_t at) except -1


cdef class WorkerBox:
    cdef Worker worker


cdef class KeptSets:
    cdef list numbers
    cdef object start_array, label_array
    cdef int32_t n_sets


cdef class SentenceDecoder:
    cdef FeatureProgram program
    cdef FrozenTable table
    cdef Decoder decoder
    cdef object label_hash_array, allowed_array
    cdef LabelParts parts
    cdef readonly tuple labels
    cdef list idle
    cdef uint32_t cache_limit
    cdef WorkerBox take(self)
    cdef int _copy_scores(self, Worker *w, labels, scores) except -1
    cdef int _run(self, Worker *w) except -1
    cdef object _fill_kept(self, Batch *b, KeptSets kept, Py_ssize_t begin)
    cdef Py_ssize_t _fill(self, Batch *b, list sentences, Py_ssize_t at) except -1
    cdef int _fill_words(self, Batch *b, sentence, Py_ssize_t at) except -1
    cdef int _fill_columns(self, Batch *b, sentence, Py_ssize_t at) except -1
    cdef int _check_kept(self, KeptSets kept, Py_ssize_t n) except -1
    cdef int _refuse(self, int status, word, Py_ssize_t at, Py_ssize_t i) except -1
