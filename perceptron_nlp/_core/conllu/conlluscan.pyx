# cython: language_level=3, freethreading_compatible=True
"""Sentences of CoNLL-U cut and checked as bytes, before Python objects are made of them."""

from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport calloc, free

from perceptron_nlp.errors import MemoryLimitError

cdef extern from *:
    """
    /* In pieces short enough for a byte to count, which compilers turn into vectors. */
    static size_t count_newlines_of(const uint8_t *p, size_t n) {
        size_t count = 0;
        while (n) {
            size_t piece = n < 4080 ? n : 4080;
            uint8_t some[16] = {0};
            size_t i = 0;
            for (; i + 16 <= piece; i += 16)
                for (int k = 0; k < 16; k++) some[k] = (uint8_t)(some[k] + (p[i + k] == 10));
            for (; i < piece; i++) count += p[i] == 10;
            for (int k = 0; k < 16; k++) count += some[k];
            p += piece;
            n -= piece;
        }
        return count;
    }
    """
    size_t count_newlines_of(const uint8_t *p, size_t n) nogil

cdef extern from "features/hashing.h":
    pass

cdef extern from "conllu/scan.h" nogil:
    const int CONLLU_COLUMNS
    const int MAX_PLACES
    const int C_FORM, C_UPOS, C_XPOS
    ctypedef struct Field:
        const uint8_t *text
        size_t length
    ctypedef struct ConlluSentence:
        uint32_t n_words
        uint32_t n_lines
    void sentence_open(ConlluSentence *s) noexcept
    void sentence_begin(ConlluSentence *s) noexcept
    const int NOT_WHOLE
    bint no_line(const uint8_t *at, const uint8_t *end) noexcept
    bint skip_comments(const uint8_t **at, const uint8_t *end) noexcept
    int next_word(ConlluSentence *s, const uint8_t **at, const uint8_t *end,
                  Field *fields) noexcept

cdef extern from *:
    """
    /* Python strings of UTF-8, equal ones one object as far as a table of fixed size goes. */
    #define SHARED_BITS 16
    #define SHARED_TRIES 4

    typedef struct {
        uint64_t hashes[1 << SHARED_BITS];
        PyObject *strings[1 << SHARED_BITS]; /* NULL: a free place */
    } SharedStrings;

    static inline int is_string_of(PyObject *s, const uint8_t *text, size_t n) {
        Py_ssize_t length = 0;
        const char *own = PyUnicode_AsUTF8AndSize(s, &length);
        if (!own) PyErr_Clear();
        return own && (size_t)length == n && !memcmp(own, text, n);
    }

    /* A new reference to the string; NULL: an exception is set. When all its places are taken by
     * others, one of them is no longer shared. */
    static inline PyObject *shared_string(SharedStrings *x, const uint8_t *text, size_t n) {
        uint64_t hash = xxh64(text, n, 0);
        size_t first = (size_t)(hash >> (64 - SHARED_BITS)), at = first;
        for (int tries = 0; tries < SHARED_TRIES; tries++) {
            size_t place = (first + (size_t)tries) & (((size_t)1 << SHARED_BITS) - 1);
            if (!x->strings[place]) {
                at = place;
                break;
            }
            if (x->hashes[place] == hash && is_string_of(x->strings[place], text, n)) {
                Py_INCREF(x->strings[place]);
                return x->strings[place];
            }
        }
        PyObject *s = PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)n, NULL);
        if (!s) return NULL;
        Py_INCREF(s);
        Py_XSETREF(x->strings[at], s);
        x->hashes[at] = hash;
        return s;
    }

    static inline void shared_strings_clear(SharedStrings *x) {
        for (size_t i = 0; i < (size_t)1 << SHARED_BITS; i++) Py_CLEAR(x->strings[i]);
    }

    enum { TAKEN_COLUMNS = 3 };
    typedef struct {
        ConlluSentence sentence;
        SharedStrings shared;
        Field fields[TAKEN_COLUMNS][MAX_PLACES];
        uint32_t rows[MAX_PLACES];
    } Scan;

    /* The text; NULL without an exception: it is not UTF-8. */
    static inline PyObject *decoded(const uint8_t *text, size_t n) {
        PyObject *s = PyUnicode_DecodeUTF8((const char *)text, (Py_ssize_t)n, NULL);
        if (!s && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) PyErr_Clear();
        return s;
    }

    /* Code points and line feeds of a text. */
    static inline void count_text(const uint8_t *at, const uint8_t *end, Py_ssize_t *points,
                                  Py_ssize_t *breaks) {
        *points = *breaks = 0;
        for (; at < end; at++) {
            *points += (*at & 0xC0) != 0x80;
            *breaks += *at == 10;
        }
    }
    """
    const int TAKEN_COLUMNS
    ctypedef struct SharedStrings:
        pass
    object shared_string(SharedStrings *x, const uint8_t *text, size_t n)
    void shared_strings_clear(SharedStrings *x) noexcept
    ctypedef struct Scan:
        ConlluSentence sentence
        SharedStrings shared
        Field fields[3][4096]
        uint32_t rows[4096]
    PyObject *decoded(const uint8_t *text, size_t n) except? NULL
    void count_text(const uint8_t *at, const uint8_t *end, Py_ssize_t *points,
                    Py_ssize_t *breaks) noexcept
    void Py_DECREF_POINTER "Py_DECREF"(PyObject *o) noexcept

# Sentences given at a time: few enough for a long text not to stand in memory as objects.
cdef enum: MOST_SENTENCES = 128


cdef class ConlluScanner:
    """Takes the usual sentences at the front of texts; equal words and tags become one object."""

    cdef Scan *scan

    def __cinit__(self):
        self.scan = <Scan *>calloc(1, sizeof(Scan))
        if self.scan == NULL:
            raise MemoryLimitError("no memory to read CoNLL-U")
        sentence_open(&self.scan.sentence)

    def __dealloc__(self):
        if self.scan != NULL:
            shared_strings_clear(&self.scan.shared)
            free(self.scan)

    def take(self, const uint8_t[::1] text not None, Py_ssize_t line):
        """Some sentences at the front, before the first that the checked reader must read.

        Parameters
        ----------
        text : lines of ten columns, cut anywhere
        line : the number of its first line

        Returns
        -------
        (sentences, length, lines, wanting) : for each sentence its text, where in it its first line
        after the comments begins, the number of that line, how many lines there are, the rows of
        its words among them (None: all), and its forms, UPOS and XPOS as tuples; how many bytes
        and lines that is; and whether the text ended before the next sentence did
        """
        cdef Scan *x = self.scan
        cdef const uint8_t *begin
        cdef const uint8_t *start
        cdef const uint8_t *end
        cdef const uint8_t *body
        cdef const uint8_t *at
        cdef PyObject *whole
        cdef Py_ssize_t points, breaks, first_line = line
        cdef list taken = []
        cdef int scanned = NOT_WHOLE
        if text.shape[0] == 0:
            return taken, 0, 0, True
        start = begin = &text[0]
        end = begin + text.shape[0]
        while len(taken) < MOST_SENTENCES:
            at = start
            scanned = _scan_comments(&at, end)
            if scanned < 0:
                break
            body = at
            scanned = _scan_words(x, &at, end)
            if scanned < 0:
                break
            whole = decoded(start, at - start)
            if whole == NULL:
                break
            kept = <object>whole
            Py_DECREF_POINTER(whole)
            count_text(start, body, &points, &breaks)
            line += breaks
            taken.append((kept, points, line, x.sentence.n_lines, _rows(x),
                          _column(x, 0), _column(x, 1), _column(x, 2)))
            line += x.sentence.n_lines + 1
            start = at
        return taken, start - begin, line - first_line, scanned == NOT_WHOLE


cdef int _scan_comments(const uint8_t **at, const uint8_t *end) noexcept:
    """Moves behind comments and empty lines; below 0: unusual, or no line follows."""
    if skip_comments(at, end) and at[0] != end:
        return 0
    return NOT_WHOLE if no_line(at[0], end) else -1


cdef int _scan_words(Scan *x, const uint8_t **at, const uint8_t *end) noexcept:
    """Moves behind the empty line of a sentence; below 0: unusual, or not whole."""
    cdef Field fields[10]
    cdef uint32_t word
    cdef int more
    sentence_begin(&x.sentence)
    while True:
        more = next_word(&x.sentence, at, end, fields)
        if more <= 0:
            break
        word = x.sentence.n_words - 1
        x.rows[word] = x.sentence.n_lines - 1
        x.fields[0][word] = fields[C_FORM]
        x.fields[1][word] = fields[C_UPOS]
        x.fields[2][word] = fields[C_XPOS]
    at[0] += 1
    return more if x.sentence.n_words else -1


cdef tuple _column(Scan *x, int column):
    cdef uint32_t i, n = x.sentence.n_words
    cdef tuple strings = PyTuple_New(n)
    cdef Field *fields = x.fields[column]
    for i in range(n):
        string = shared_string(&x.shared, fields[i].text, fields[i].length)
        Py_INCREF(string)
        PyTuple_SET_ITEM(strings, i, string)
    return strings


cdef _rows(Scan *x):
    cdef uint32_t i
    if x.sentence.n_words == x.sentence.n_lines:
        return None
    return tuple([x.rows[i] for i in range(x.sentence.n_words)])


def count_newlines(const uint8_t[::1] text not None):
    """How many line feeds are in some bytes."""
    return count_newlines_of(&text[0], text.shape[0]) if text.shape[0] else 0
