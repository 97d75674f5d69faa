# cython: language_level=3, freethreading_compatible=True
"""Sentences of CoNLL-U cut and checked as bytes, before Python objects are made of them."""

from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
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
    enum { TAKEN_COLUMNS = 3 };
    typedef struct {
        ConlluSentence sentence;
        Field fields[TAKEN_COLUMNS][MAX_PLACES];
        uint32_t rows[MAX_PLACES];
    } Scan;

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
    ctypedef struct Scan:
        ConlluSentence sentence
        Field fields[3][4096]
        uint32_t rows[4096]
    void count_text(const uint8_t *at, const uint8_t *end, Py_ssize_t *points,
                    Py_ssize_t *breaks) noexcept

# Sentences given at a time: few enough for a long text not to stand in memory as objects.
cdef enum: MOST_SENTENCES = 128
# Strings of which equal ones are one object.
cdef enum: MOST_SHARED = 65536


cdef class ConlluScanner:
    """Takes the usual sentences at the front of texts; equal words and tags become one object."""

    cdef Scan *scan
    cdef dict shared

    def __cinit__(self):
        self.shared = {}
        self.scan = <Scan *>calloc(1, sizeof(Scan))
        if self.scan == NULL:
            raise MemoryLimitError("no memory to read CoNLL-U")
        sentence_open(&self.scan.sentence)

    def __dealloc__(self):
        if self.scan != NULL:
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
            try:
                whole = PyUnicode_DecodeUTF8(<const char *>start, at - start, NULL)
            except UnicodeDecodeError:
                break
            count_text(start, body, &points, &breaks)
            line += breaks
            taken.append((whole, points, line, x.sentence.n_lines, _rows(x),
                          self._column(0), self._column(1), self._column(2)))
            line += x.sentence.n_lines + 1
            start = at
        return taken, start - begin, line - first_line, scanned == NOT_WHOLE

    cdef tuple _column(self, int column):
        cdef uint32_t i, n = self.scan.sentence.n_words
        cdef tuple strings = PyTuple_New(n)
        cdef Field *fields = self.scan.fields[column]
        if len(self.shared) > MOST_SHARED:
            self.shared.clear()
        for i in range(n):
            string = PyUnicode_DecodeUTF8(<const char *>fields[i].text, fields[i].length, NULL)
            string = self.shared.setdefault(string, string)
            Py_INCREF(string)
            PyTuple_SET_ITEM(strings, i, string)
        return strings


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


cdef _rows(Scan *x):
    cdef uint32_t i
    if x.sentence.n_words == x.sentence.n_lines:
        return None
    return tuple([x.rows[i] for i in range(x.sentence.n_words)])


def count_newlines(const uint8_t[::1] text not None):
    """How many line feeds are in some bytes."""
    return count_newlines_of(&text[0], text.shape[0]) if text.shape[0] else 0
