"""The frozen tagger in numbers: strings in, labels out (decode.h, search.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.extract cimport FeatureProgram, Program
from perceptron_nlp._core.factored cimport LabelParts, Parts

cdef extern from "search.h" nogil:
    ctypedef struct Index:
        uint32_t n
    ctypedef struct FrozenCell:
        uint16_t label
        int16_t weight
    ctypedef struct FrozenTable:
        int32_t n_labels
        int fixed_bits
        int direct
        Index index
        uint32_t *starts
        FrozenCell *cells
    ctypedef struct VectorSlot:
        int32_t column
        int32_t offset
        int32_t condition
    ctypedef struct CacheLayout:
        const Program *program
        const FrozenTable *table
        int dense
        int32_t stride
        int32_t n_vectors
        VectorSlot *vectors
        int32_t *slot_vector
        int32_t *slot_correction
        int *slot_sign
        int32_t n_memos
        Index dictionary
        uint16_t *dictionary_labels
    ctypedef struct TypeCache:
        uint64_t secret[2]
        uint32_t limit
        uint32_t n_types
        int64_t hits
        int64_t misses
    ctypedef struct Decoder:
        CacheLayout layout
        const uint64_t *label_hashes
        int right_to_left
        int32_t beam
        const uint8_t *allowed
        const Parts *parts
        int32_t *tag_table
        int32_t *memo_templates
        int32_t n_open
        int32_t *open_templates
    ctypedef struct Worker:
        TypeCache cache
        size_t text_used
        int64_t n_tokens
        int64_t *starts
        int64_t n_sentences
        int keep_scores
        int32_t *scores
        uint16_t *labels
    const int DENSE_LABELS
    int index_open(Index *x, uint64_t multiplier, int bits) noexcept
    void index_close(Index *x) noexcept
    int64_t index_insert(Index *x, uint64_t key) noexcept
    int64_t frozen_find(const FrozenTable *t, uint64_t key) noexcept
    void frozen_add(const FrozenTable *t, int64_t row, int32_t *scores) noexcept
    void frozen_close(FrozenTable *t) noexcept
    void worker_close(Worker *w) noexcept
    void worker_reset(Worker *w) noexcept
    uint8_t *worker_text(Worker *w, size_t n) noexcept
    int worker_string(const Decoder *d, Worker *w, int32_t column, size_t n) noexcept
    int worker_end_sentence(Worker *w) noexcept
    int run_batch(const Decoder *d, Worker *w) noexcept
    const int MAX_BEAM


cdef class WorkerBox:
    cdef Worker worker


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
    cdef Py_ssize_t _fill(self, Worker *w, list sentences, Py_ssize_t at) except -1
    cdef int _fill_words(self, Worker *w, sentence, Py_ssize_t at) except -1
    cdef int _fill_columns(self, Worker *w, sentence, Py_ssize_t at) except -1
    cdef int _string(self, Worker *w, int32_t column, word, Py_ssize_t at, Py_ssize_t i) except -1
    cdef int _collect(self, Worker *w, list out) except -1
