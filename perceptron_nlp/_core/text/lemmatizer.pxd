"""Lemmas by edit scripts (lemmas.h, lemmatize.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t

from perceptron_nlp._core.features.extract cimport draw_secret
from perceptron_nlp._core.model.frozenmodel cimport Decoder
from perceptron_nlp._core.tag.decode cimport (
    SentenceDecoder, Settled, SettledTable, Worker, WorkerBox)

cdef extern from "text/lemmatize.h" nogil:
    ctypedef struct WordRef:
        size_t length
    ctypedef struct LemmaEntry:
        WordRef form
        uint64_t tags
        uint32_t lemma
        uint32_t length
    ctypedef struct LemmaCache:
        LemmaEntry *entries
        size_t n
        size_t n_done
        uint64_t times_emptied
        uint8_t *text
    ctypedef struct Letter:
        uint32_t read
        uint32_t low
        uint32_t high
        uint32_t bare
        uint32_t accented
        uint32_t flags
    ctypedef struct Letters:
        const Letter **pages
        int32_t missing
    ctypedef struct LemmaScript:
        char kind
        int32_t drop_front
        int32_t drop_back
        int32_t acute
        uint32_t n_front
        uint32_t n_back
        const uint32_t *front
        const uint32_t *back
        const uint8_t *literal
        uint32_t literal_bytes
    ctypedef struct KnownScript:
        const LemmaScript *script
        uint32_t number
        uint64_t front_hash
        uint64_t back_hash
    ctypedef struct KnownLemma:
        uint32_t at
        uint32_t n
        int32_t upos
        uint32_t only
    ctypedef struct LemmaModel:
        const LemmaScript *scripts
        uint32_t n_scripts
        const KnownLemma *lemmas
        const uint32_t *letters
        uint64_t base
        uint64_t *slots
        uint64_t *stems
    ctypedef struct LemmaWord:
        uint64_t base
        uint32_t n
    ctypedef struct LabelRef:
        WordRef ref
        const uint8_t *text
    ctypedef struct LemmaTagger:
        const Decoder *decoder
        LemmaModel model
        int n_tags
        const LabelRef **labels
        int upos
        const int32_t *upos_of
        int *columns
        const Settled *settled
    ctypedef struct Lemmatizing:
        Worker *worker
        Letters letters
        LemmaWord word
    const int KNOWN_COLUMN
    const int MOST_TAGS
    uint32_t utf8_decode(const uint8_t *p, size_t n, uint32_t *points) noexcept
    WordRef word_ref(const uint8_t *text, size_t n, const uint64_t *secrets) noexcept
    uint64_t letters_hash(const uint32_t *letters, size_t n, uint64_t base) noexcept
    int known_lemmas_open(LemmaModel *m, uint32_t n) noexcept
    int known_scripts_open(LemmaModel *m, KnownScript *known, uint32_t n,
                           uint32_t n_lemmas) noexcept
    void lemma_word_close(LemmaWord *w) noexcept
    int lemmatize_new(const LemmaTagger *m, Lemmatizing *x, LemmaCache *c) noexcept


cdef class LemmaDecoder:
    cdef LemmaTagger tagger
    cdef SentenceDecoder decoder
    cdef list alive
    cdef object letter_page
    cdef readonly tuple tags
    cdef LemmaScript *scripts
    cdef KnownScript *known
    cdef KnownLemma *lemmas
    cdef uint32_t *letters
    cdef uint32_t *script_letters
    cdef size_t n_letters
    cdef LabelRef *refs[3]
    cdef int _script(self, LemmaScript *own, script) except -1
    cdef const uint32_t *_letters(self, str text) noexcept


cdef class Lemmatizer:
    cdef LemmaDecoder decoder
    cdef Lemmatizing state
    cdef WorkerBox box
    cdef list pages
    cdef int fill(self, LemmaCache *cache) except -1
