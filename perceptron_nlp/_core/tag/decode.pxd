"""The frozen tagger in numbers: strings in, labels out (decode.h, search.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.model.frozenmodel cimport Decoder, FrozenModel, N_SECRETS

cdef extern from "tag/search.h" nogil:
    ctypedef struct TypeCache:
        uint64_t secrets[8]
        uint32_t limit
        uint32_t n_types
        int bounded_in_bytes
        int64_t misses
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
        const void *agreement
        Worker **agreeing
    const int KEPT_UNKNOWN
    void cache_spoil(TypeCache *c) noexcept
    void worker_close(Worker *w) noexcept
    void batch_reset(Batch *b) noexcept
    int batch_room(const Decoder *d, Batch *b, int64_t more) noexcept
    int batch_end_sentence(Batch *b) noexcept

cdef extern from "tag/pystrings.h":
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


cdef class SentenceDecoder(FrozenModel):
    cdef list idle
    cdef WorkerBox take(self)
    cdef int _copy_scores(self, Worker *w, labels, scores) except -1
    cdef int _run(self, Worker *w) except -1
    cdef object _fill_kept(self, Batch *b, KeptSets kept, Py_ssize_t begin)
    cdef Py_ssize_t _fill(self, Batch *b, list sentences, Py_ssize_t at) except -1
    cdef int _fill_words(self, Batch *b, sentence, Py_ssize_t at) except -1
    cdef int _fill_columns(self, Batch *b, sentence, Py_ssize_t at) except -1
    cdef int _check_kept(self, KeptSets kept, Py_ssize_t n) except -1
    cdef int _refuse(self, int status, word, Py_ssize_t at, Py_ssize_t i) except -1


cdef list as_list(sentence, Py_ssize_t at)
