"""Running text cut into sentences, tokens and words, in UTF-8 (atoms.h, cut.h, words.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t

from cpython.object cimport PyObject

from perceptron_nlp._core.features.extract cimport draw_secret
from perceptron_nlp._core.model.frozenmodel cimport CacheUse, Decoder
from perceptron_nlp._core.tag.decode cimport SentenceDecoder, Worker, WorkerBox

cdef extern from *:
    void PyObject_GC_UnTrack(PyObject *of) noexcept

cdef extern from "text/words.h" nogil:
    ctypedef struct Characters:
        const uint8_t **pages
    ctypedef struct Places:
        pass
    ctypedef struct Atom:
        uint32_t begin
        uint32_t end
        uint8_t gap
        int8_t label
    ctypedef struct AtomList:
        Atom *atoms
        size_t n
        int32_t missing
    ctypedef struct Chunk:
        const uint8_t *text
        const Atom *atoms
        int64_t n
        int64_t at
        int64_t end
    ctypedef struct Match:
        pass
    ctypedef struct CutModel:
        Places certain
        Places words
        Places small
        Places entries
        Places abbreviations
        int has_matches
        int has_abbreviations
        int is_parted
        int is_uncapitalized
        int is_wrapped
        int8_t word_labels[4]
        int8_t goes_on
        int8_t token
        int8_t sentence
        uint32_t window_characters
        uint64_t held
        int32_t lead
    ctypedef struct CutToken:
        uint32_t begin
        uint32_t end
        uint32_t char_begin
        uint32_t char_end
    ctypedef struct CutSums:
        pass
    ctypedef struct Line:
        pass
    ctypedef struct Cut:
        CutSums *sums
        AtomList list
        CutToken *tokens
        size_t n_tokens
        uint32_t *sentences
        size_t n_sentences
        size_t n_before
        size_t n_labeled
        size_t kept
        size_t kept_before
        size_t kept_labels
        uint32_t taken
        uint32_t taken_chars
        Line line
        int (*poll)() except -1
    ctypedef struct TextWord:
        uint32_t length
    ctypedef struct SplitScript:
        uint32_t n_words
        uint32_t dropped
        uint32_t *pieces
        const uint8_t *text
        uint32_t added
        const uint32_t *lengths
    ctypedef struct Stems:
        Places known
        uint32_t[2] *cuts
        uint32_t n_cuts
    ctypedef struct TextWords:
        TextWord *words
        size_t n_words
        uint32_t *first
    const int CHARACTER_PAGES
    const int CUT_LABELS
    const int CUT_COLUMNS
    const int LONGEST_MATCH
    const int MATCH_BYTES
    void add_entry(Places *words, const uint8_t *word, size_t n, uint32_t *n_nodes) noexcept
    void find_matches(const Places *words, const uint8_t *text, const Atom *atoms, size_t n,
                      Match *found) noexcept
    void show_match(const Atom *atoms, size_t n, const Match *found, size_t i,
                    uint8_t *shown) noexcept
    const int CUT_MOST_TYPES
    const size_t SUM_COST
    const uint32_t LOOK_CLASSES
    const int GAP_NOTHING
    const int GAP_PARAGRAPH
    const int PATTERN_ORDINAL
    const int PATTERN_COUNT
    int list_atoms(AtomList *x, const Characters *known, const uint8_t *text, size_t n) noexcept
    int next_pattern(Chunk *c, int64_t *begin, int64_t *end) noexcept
    int settle_kind(int kind, const uint8_t *text, Atom *atoms, size_t n) noexcept
    int places_open(Places *x, size_t n, uint64_t secret) noexcept
    void places_close(Places *x) noexcept
    void places_add(Places *x, uint64_t key, uint32_t value) noexcept
    uint64_t place_key(uint32_t last, uint8_t gap, uint32_t first) noexcept
    uint64_t word_key(uint64_t hash, uint32_t look) noexcept
    int cut_model_open(CutModel *m, const Decoder *d, int knows_straight) noexcept
    void places_close(Places *x) noexcept
    void cut_model_close(CutModel *m) noexcept
    void sums_close(CutSums *sums) noexcept
    void cut_close(Cut *x) noexcept
    int cut_text(const CutModel *m, Cut *x, Worker *w, const Characters *known,
                 const uint8_t *text, size_t n, int at_end,
                 const uint8_t *labels) except? -1
    void text_words_close(TextWords *x) noexcept
    const uint8_t *text_word_bytes(const TextWords *x, const uint8_t *text,
                                   TextWord word) noexcept
    int words_of_tokens(TextWords *x, const Cut *cut, const uint8_t *text) noexcept
    int split_words(TextWords *x, Cut *cut, const uint8_t *text, const Decoder *d,
                    Worker *w, const SplitScript *scripts, const Stems *stems) except? -1

cdef extern from "text/reading.h" nogil:
    ctypedef struct Accent:
        uint32_t plain
        uint32_t accented
    ctypedef struct TextReading:
        Accent *accents
        uint32_t *vocabulary
        size_t n_words
        bint turkic
    ctypedef struct Hand:
        int64_t n_letters
    const int LONGEST_READ
    int reading_open(TextReading *r, size_t n_accents, size_t n_words) noexcept
    void reading_ready(TextReading *r, size_t n_accents, size_t n_words, uint32_t least) noexcept
    void reading_close(TextReading *r) noexcept
    void look_at(const TextReading *r, Hand *h, const uint8_t *text, uint32_t n) noexcept
    int hand_of(const TextReading *r, const Hand *h) noexcept
    uint32_t read_as(const TextReading *r, int hand, const uint8_t *text, uint32_t n,
                     uint8_t *to) noexcept
    int read_words(const TextReading *r, TextWords *x, const Cut *cut, const uint8_t *text) noexcept


cdef class CharacterPages:
    cdef Characters *known
    cdef list pages
    cdef object page_of
    cdef int learn(self, int page) except -1


cdef class TextCutter:
    cdef SentenceDecoder cut, splits
    cdef CutModel model
    cdef TextReading reading
    cdef SplitScript *scripts
    cdef Stems stems
    cdef list kept_alive, idle, free
    cdef object page_of
    cdef int _script(self, SplitScript *own, script) except -1
    cdef int _read_by(self, accents, const uint32_t[::1] vocabulary, uint32_t least,
                      bint turkic) except -1


cdef class CutText:
    cdef list _words_of(self, size_t token, list into)
    cdef bytes text
    cdef Cut found
    cdef TextWords words


cdef class Cutting:
    cdef TextCutter cutter
    cdef WorkerBox cut_box, split_box
    cdef CharacterPages pages
    cdef CutSums sums
    cdef CacheUse use
    cdef int cut(self, CutText into, bytes text, bint at_end, bytes labels,
                 size_t n_before) except -1
