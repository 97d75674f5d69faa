# cython: language_level=3, freethreading_compatible=True
"""CoNLL-U files as numbers: no Python object is made of a word (numbering.h)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memchr

from perceptron_nlp._core.features.extract cimport draw_secret
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "conllu/numbering.h" nogil:
    const int CONLLU_COLUMNS
    const int N_SECRETS
    ctypedef struct Field:
        const uint8_t *text
        size_t length
    ctypedef struct Numbering:
        uint64_t *secrets
        Field *strings
        uint32_t n
        int32_t *tokens
    ctypedef struct Gathering:
        int32_t n_columns
        int32_t *columns
        Numbering *numberings
        int64_t n_tokens
    bint skip_comments(const uint8_t **at, const uint8_t *end) noexcept
    const uint8_t *number_sentence(Gathering *g, const uint8_t *at, const uint8_t *end,
                                   int *status) noexcept
    bint is_utf8(const uint8_t *p, size_t n) noexcept
    uint8_t *write_joined(const Numbering *x, int64_t first, int64_t last, int32_t none,
                          uint8_t *to) noexcept
    void numbering_close(Numbering *x) noexcept

# Words whose part of the digest is put together at a time.
PIECE = 8192


def number_conllu(texts, columns, *, bint underscore_is_none, digest):
    """The sentences of CoNLL-U texts as numbers.

    Parameters
    ----------
    texts : list of bytes or bytearray, each a whole text of ten columns
    columns : which of the ten columns to take, from 1 to 9; the last is that of the labels
    underscore_is_none : does an underscore in the last column mean that there is no label
    digest : its ``update`` is given, sentence by sentence, the strings of each column with tabs
        between them and a line feed behind (two behind the last column, and a line feed for each
        label that there is not)

    Returns
    -------
    (strings, tokens, lengths) : for each column the distinct strings (list of bytes) in order of
        appearance, int32[n_columns, n_words], and int64[n_sentences] without empty sentences;
        None where the checked reader must read it, right or wrong

    Raises
    ------
    MemoryLimitError : no room for it
    """
    return _Run(columns).run(texts, underscore_is_none, digest)


cdef class _Run:
    """Numbers of some texts, and the memory that they are gathered in."""

    cdef Gathering *g

    def __cinit__(self, columns):
        if not 1 <= len(columns) <= CONLLU_COLUMNS or not all(
                1 <= column < CONLLU_COLUMNS for column in columns):
            raise ArgumentError(f"columns: some of 1 to {CONLLU_COLUMNS - 1} are needed")
        self.g = <Gathering *>calloc(1, sizeof(Gathering))
        if self.g == NULL:
            raise MemoryLimitError("no memory for the training text")
        self.g.n_columns = len(columns)
        for c, column in enumerate(columns):
            self.g.columns[<int>c] = column
            for k in range(N_SECRETS):
                self.g.numberings[<int>c].secrets[<int>k] = draw_secret()

    def __dealloc__(self):
        if self.g != NULL:
            for c in range(self.g.n_columns):
                numbering_close(&self.g.numberings[c])
            free(self.g)

    def run(self, texts, bint underscore_is_none, digest):
        """See number_conllu."""
        cdef int32_t c
        cdef int64_t n_tokens
        cdef int32_t[:, ::1] token_view
        most = sum(_count_lines(text) for text in texts)
        # One more than needed, so that there is an address where nothing is.
        tokens = np.empty((self.g.n_columns, most + 1), np.int32)
        token_view = tokens
        for c in range(self.g.n_columns):
            self.g.numberings[c].tokens = &token_view[c, 0]
        ends = [0]
        for text in texts:
            if not self._scan(text, ends):
                return None
        n_tokens = self.g.n_tokens
        lengths = np.diff(np.array(ends, np.int64))
        strings = [self._strings(c) for c in range(self.g.n_columns)]
        none = -1
        if underscore_is_none and b"_" in strings[-1]:
            none = strings[-1].index(b"_")
        self._digest(ends, none, digest)
        return strings, tokens[:, :n_tokens].copy(), lengths

    cdef _scan(self, text, list ends):
        cdef const uint8_t[::1] view = text
        cdef const uint8_t *at
        cdef const uint8_t *end
        cdef int status = 0
        cdef int64_t before
        if view.shape[0] == 0:
            return True
        at = &view[0]
        end = at + view.shape[0]
        if not is_utf8(at, end - at):
            return False
        while True:
            if not skip_comments(&at, end):
                return False
            if at == end:
                break
            before = self.g.n_tokens
            at = number_sentence(self.g, at, end, &status)
            if at == NULL:
                break
            if self.g.n_tokens > before:
                ends.append(self.g.n_tokens)
        if status < 0:
            raise MemoryLimitError("no memory for the training text")
        return at != NULL

    cdef _strings(self, int32_t c):
        cdef Numbering *x = &self.g.numberings[c]
        cdef uint32_t i
        return [(<const char *>x.strings[i].text)[:x.strings[i].length] for i in range(x.n)]

    cdef _digest(self, list ends, int32_t none, digest):
        cdef int32_t c, last = self.g.n_columns - 1
        cdef int64_t first = 0, end, k, begin
        cdef size_t room
        cdef uint8_t *buffer
        cdef uint8_t *to
        cdef Py_ssize_t at = 0, stop, s, n = len(ends)
        cdef Numbering *x
        at = 1
        while at < n:
            stop = at
            begin = ends[at - 1]
            while stop < n and (stop == at or ends[stop] - begin <= PIECE):
                stop += 1
            room = 0
            for c in range(last + 1):
                x = &self.g.numberings[c]
                for k in range(begin, <int64_t>ends[stop - 1]):
                    room += x.strings[x.tokens[k]].length + 1
            buffer = <uint8_t *>malloc(room + <size_t>(stop - at) * <size_t>(last + 2) + 1)
            if buffer == NULL:
                raise MemoryLimitError("no memory for the training text")
            try:
                to = buffer
                for s in range(at, stop):
                    first, end = ends[s - 1], ends[s]
                    for c in range(last + 1):
                        to = write_joined(&self.g.numberings[c], first, end,
                                          none if c == last else -1, to)
                        to[0] = 10
                        to += 1
                    to[0] = 10
                    to += 1
                digest.update((<const char *>buffer)[:to - buffer])
            finally:
                free(buffer)
            at = stop


cdef int64_t _count_lines(const uint8_t[::1] text):
    cdef int64_t n = 0
    cdef const uint8_t *at
    cdef const uint8_t *end
    if text.shape[0] == 0:
        return 0
    at = &text[0]
    end = at + text.shape[0]
    while at < end:
        at = <const uint8_t *>memchr(at, 10, end - at)
        if at == NULL:
            break
        at += 1
        n += 1
    return n
