# cython: language_level=3
# cython: freethreading_compatible=True
"""Files tagged as bytes: no Python object is made of a word or of a label (conllu.h)."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cpython.object cimport PyObject
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from perceptron_nlp._core.decode cimport SentenceDecoder, Worker, WorkerBox
from perceptron_nlp._core.decode cimport batch_end_sentence, batch_reset
from perceptron_nlp._core.frozenmodel cimport Decoder
from perceptron_nlp._core.decode import BATCH_TOKENS
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "conllu.h" nogil:
    const int CONLLU_COLUMNS
    const int MAX_PLACES
    ctypedef struct ConlluSentence:
        pass
    ctypedef struct Gap:
        size_t begin
        size_t end
    void sentence_open(ConlluSentence *s) noexcept
    bint skip_comments(const uint8_t **at, const uint8_t *end) noexcept
    const uint8_t *scan_sentence(const Decoder *d, Worker *w, ConlluSentence *s,
                                 const uint8_t *text, const uint8_t *at, const uint8_t *end,
                                 int column, Gap *gaps, int *status) noexcept
    bint is_utf8(const uint8_t *p, size_t n) noexcept

cdef extern from *:
    # As pointers, since a bytes object may change its size only while nobody else knows it.
    PyObject *PyBytes_FromStringAndSize(const char *text, Py_ssize_t n) except NULL
    int _PyBytes_Resize(PyObject **bytes, Py_ssize_t n) except -1
    char *bytes_of "PyBytes_AS_STRING"(PyObject *bytes) noexcept nogil
    void Py_CLEAR(PyObject *bytes)

cdef extern from *:
    """
    #define GAPS_OF_A_BATCH(tokens) ((size_t)(tokens) + MAX_PLACES)
    """
    size_t GAPS_OF_A_BATCH(int64_t tokens)


cdef class ConlluFiller:
    """Fills one column of CoNLL-U text in, everything else staying as it is.

    Parameters
    ----------
    decoder : SentenceDecoder over words alone
    column : 2 to 9; which of the ten columns, from 0
    labels : list of bytes, UTF-8; what to write for each label number
    """

    cdef SentenceDecoder decoder
    cdef int column
    cdef list labels

    def __cinit__(self, SentenceDecoder decoder not None, int column, labels):
        if decoder.program.program.n_columns != 1:
            raise ArgumentError("decoder: its templates look at other columns than the words")
        if not 2 <= column < CONLLU_COLUMNS:
            raise ArgumentError(f"column: {column} is not between 2 and {CONLLU_COLUMNS - 1}")
        self.decoder = decoder
        self.column = column
        self.labels = list(labels)

    def fill(self, bytes text not None):
        """The text with the column filled in; None where it must be read by the checked reader.

        Parameters
        ----------
        text : lines of whole sentences, each with its empty line

        Raises
        ------
        MemoryLimitError : no room for it
        """
        cdef WorkerBox box = self.decoder.take()
        cdef _Filling filling = _Filling()
        try:
            return filling.run(self, &box.worker, text)
        except MemoryError as error:
            raise MemoryLimitError(
                "no memory for these sentences; give fewer at a time") from error
        finally:
            self.decoder.idle.append(box)


cdef class _Filling:
    """One text being filled in."""

    cdef ConlluSentence *sentence
    cdef Gap *gaps
    cdef const char **label_texts
    cdef size_t *label_lengths
    cdef PyObject *out
    cdef size_t longest, used, room

    def __dealloc__(self):
        free(self.sentence)
        free(self.gaps)
        free(self.label_texts)
        free(self.label_lengths)
        Py_CLEAR(self.out)

    cdef run(self, ConlluFiller filler, Worker *w, bytes text):
        cdef const uint8_t *start = <const uint8_t *>PyBytes_AS_STRING(text)
        cdef const uint8_t *at = start
        cdef const uint8_t *end = start + PyBytes_GET_SIZE(text)
        cdef const uint8_t *written = start
        cdef int64_t most = BATCH_TOKENS
        cdef int column = filler.column, status = 0
        cdef bint usual = True
        self._make_room(filler.labels, text)
        with nogil:
            usual = is_utf8(start, end - start)
        while usual and at < end:
            with nogil:
                batch_reset(&w.batch)
                while at < end and w.n_tokens < most:
                    if not skip_comments(&at, end):
                        at = NULL
                    if at == NULL or at == end:
                        break
                    at = scan_sentence(&filler.decoder.decoder, w, self.sentence, start, at, end,
                                       column, self.gaps, &status)
                    if at == NULL:
                        break
                    if batch_end_sentence(&w.batch) < 0:
                        status = -1
                        break
            if status < 0:
                raise MemoryLimitError("no memory for these sentences; give fewer at a time")
            usual = at != NULL
            if usual:
                filler.decoder._run(w)
                self._reserve((at - written) + self.longest * <size_t>w.n_tokens)
                with nogil:
                    self._write(w, start, written, at)
                written = at
        if not usual:
            return None
        _PyBytes_Resize(&self.out, self.used)
        return <object>self.out

    cdef int _make_room(self, list labels, bytes text) except -1:
        cdef Py_ssize_t k
        self.sentence = <ConlluSentence *>malloc(sizeof(ConlluSentence))
        self.gaps = <Gap *>malloc(GAPS_OF_A_BATCH(BATCH_TOKENS) * sizeof(Gap))
        self.label_texts = <const char **>malloc((len(labels) + 1) * sizeof(char *))
        self.label_lengths = <size_t *>malloc((len(labels) + 1) * sizeof(size_t))
        self.room = PyBytes_GET_SIZE(text) + PyBytes_GET_SIZE(text) // 8 + 1024
        self.out = PyBytes_FromStringAndSize(NULL, self.room)
        if (self.sentence == NULL or self.gaps == NULL or self.label_texts == NULL
                or self.label_lengths == NULL):
            raise MemoryLimitError("no memory for these sentences; give fewer at a time")
        sentence_open(self.sentence)
        for k in range(len(labels)):
            self.label_texts[k] = PyBytes_AS_STRING(labels[k])
            self.label_lengths[k] = PyBytes_GET_SIZE(labels[k])
            self.longest = max(self.longest, self.label_lengths[k])
        return 0

    cdef int _reserve(self, size_t more) except -1:
        """Room for so many bytes more."""
        if self.used + more > self.room:
            self.room = 2 * (self.used + more)
            _PyBytes_Resize(&self.out, self.room)
        return 0

    cdef void _write(self, Worker *w, const uint8_t *start, const uint8_t *at,
                     const uint8_t *end) noexcept nogil:
        """Append the text from `at` to `end`, labels in place of the gaps; there is room."""
        cdef int64_t i
        cdef size_t before, length
        cdef char *to = bytes_of(self.out) + self.used
        for i in range(w.n_tokens):
            before = start + self.gaps[i].begin - at
            length = self.label_lengths[w.labels[i]]
            memcpy(to, at, before)
            memcpy(to + before, self.label_texts[w.labels[i]], length)
            to += before + length
            at = start + self.gaps[i].end
        memcpy(to, at, end - at)
        self.used = to + (end - at) - bytes_of(self.out)
