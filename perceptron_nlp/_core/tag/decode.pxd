"""The frozen tagger in numbers: strings in, labels out (decode.h, search.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.features.extract cimport WordScratch
from perceptron_nlp._core.model.frozenmodel cimport (
    CacheLayout, CacheUse, Decoder, FrozenModel, N_SECRETS)

cdef extern from "tag/search.h" nogil:
    ctypedef struct TypeCache:
        uint64_t secrets[8]
        uint32_t n_types
        WordScratch words
        int64_t misses
    ctypedef struct Constraints:
        const int32_t *of
        const int64_t *starts
        const int32_t *labels
    ctypedef struct Batch:
        Constraints constraints
        size_t text_used
        int64_t n_tokens
        int64_t *starts
        int64_t n_sentences
        uint16_t *labels
    ctypedef struct Worker:
        Batch batch
        TypeCache cache
        Constraints constraints
        int64_t n_tokens
        int keep_scores
        char *scores
        uint16_t *labels
        Worker **agreeing
        int32_t *settled
        size_t settled_room
        int settles
        const Constraints *held
    const int UNKNOWN_LABEL
    size_t type_share(const CacheLayout *l) noexcept
    void cache_spoil(TypeCache *c) noexcept
    const uint8_t *seen_as(WordScratch *words, const CacheLayout *l, const uint8_t *text,
                           size_t *n) noexcept
    void worker_close(Worker *w) noexcept
    void batch_reset(Batch *b) noexcept
    int batch_room(const Decoder *d, Batch *b, int64_t more) noexcept
    int batch_end_sentence(Batch *b) noexcept
    int array_room(void *array, size_t *room, size_t n, size_t item) noexcept

cdef extern from "tag/settle.h" nogil:
    enum:
        MOST_BEFORE
        HELD
    ctypedef struct Settled:
        const uint32_t *keys
        const uint16_t *labels1
        uint32_t *starts
        int looks_first
        double lead
        int n_before
        const uint64_t **hashes
    int settled_open(Settled *s, uint32_t n) noexcept
    int32_t settled_label(const Settled *s, WordScratch *scratch, const uint8_t *text, size_t n,
                          int is_first, const uint64_t *before, int *by_ending) noexcept

cdef extern from "tag/agreement.h" nogil:
    enum:
        MAX_AGREEING
    ctypedef struct Agreement:
        int32_t n_columns
        const Decoder **decoders
        double *scales
        double *weights
        int32_t *n_labels
        int32_t n_prefixes
        const int32_t *prefix_of
        const uint16_t *prefix_label
        const int64_t *starts
        const uint16_t *last
        int32_t n_able
        const uint16_t *able
        const uint8_t *met
        const Settled **settled
        Constraints *met_with
    ctypedef struct Held:
        int32_t only
        const uint8_t *mask
        const void *parts
    int labels_met(const Agreement *a, const uint16_t *labels) noexcept
    void agree_within(const Agreement *a, Held *held, const int *firm, double **scores,
                      uint16_t *labels) noexcept

cdef extern from "tag/strings.h":
    ctypedef void *PyThread_type_lock
    PyThread_type_lock PyThread_allocate_lock() noexcept
    void PyThread_free_lock(PyThread_type_lock lock) noexcept
    void PyThread_release_lock(PyThread_type_lock lock) noexcept nogil
    void turn_take(PyThread_type_lock turn) noexcept nogil
    const int BAD_TEXT
    ctypedef struct WordBuffers:
        const uint8_t *data
        const int64_t *tokens
        const int64_t *sentences
        int64_t most_tokens
        size_t most_bytes
    int take_buffers(const Decoder *d, Batch *b, const WordBuffers *x, int64_t *begin,
                     int64_t end, int64_t *bad) noexcept nogil
    const int NOT_A_STRING
    int take_string(const Decoder *d, Batch *b, int32_t column, object s) noexcept
    int take_words(const Decoder *d, Batch *b, object words, Py_ssize_t *at) noexcept
    int give_lists(const Batch *b, object labels, object out, Py_ssize_t at) except -1


cdef class WorkerBox:
    cdef Worker worker
    cdef CacheUse use
    cdef int run(self, const Decoder *d, PyThread_type_lock turn) except -1
    cdef uint16_t *labels_of(self, int column) noexcept
    cdef int give_lemmas(self, list found, Py_ssize_t at) except -1


cdef class ListJob:
    cdef PyThread_type_lock turn
    cdef list sentences
    cdef Py_ssize_t next
    cdef bint over
    cdef readonly list found
    cdef readonly object unread


cdef class TokenConstraints:
    cdef list numbers
    cdef object start_array, label_array
    cdef int32_t n_sets


cdef class SettledTable:
    cdef Settled table
    cdef double lead
    cdef list alive
    cdef readonly tuple n_labels


cdef class SentenceDecoder(FrozenModel):
    cdef list idle
    cdef int lay(self, WorkerBox box, const uint64_t *secrets) except -1
    cdef WorkerBox take(self)
    cdef int _copy_scores(self, Worker *w, labels, scores) except -1
    cdef object _fill_constraints(self, Batch *b, TokenConstraints constraints, Py_ssize_t begin)
    cdef int label_job(self, WorkerBox box, tuple labels, ListJob job,
                       TokenConstraints constraints) except -1
    cdef int label_buffers(self, WorkerBox box, data, tokens, sentences, list outs,
                           int64_t begin, int64_t end) except -1
    cdef Py_ssize_t _fill(self, Batch *b, list sentences, Py_ssize_t at) except -1
    cdef int _fill_words(self, Batch *b, sentence, Py_ssize_t at) except -1
    cdef int _fill_columns(self, Batch *b, sentence, Py_ssize_t at) except -1
    cdef int _check_constraints(self, TokenConstraints constraints, Py_ssize_t n) except -1
    cdef int _refuse(self, int status, word, Py_ssize_t at, Py_ssize_t i) except -1


cdef class ColumnsDecoder:
    cdef Agreement agreement
    cdef readonly tuple decoders
    cdef readonly tuple labels
    cdef readonly list met_with
    cdef tuple arrays, settled
    cdef int _lay(self, prefixes, met_bits, staying) except -1
