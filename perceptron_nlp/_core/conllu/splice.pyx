# cython: language_level=3, freethreading_compatible=True
"""Files tagged as bytes: no Python object is made of a word or of a label (filling.h)."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t
from libc.stdlib cimport free, malloc

from perceptron_nlp._core.tag.decode cimport SentenceDecoder, Worker, WorkerBox
from perceptron_nlp._core.tag.decode cimport batch_end_sentence, batch_reset
from perceptron_nlp._core.model.frozenmodel cimport Decoder
from perceptron_nlp._core.tag.decode import BATCH_TOKENS
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "conllu/filling.h" nogil:
    const int CONLLU_COLUMNS
    const int MAX_PLACES
    ctypedef struct ConlluSentence:
        pass
    ctypedef struct Gap:
        pass
    ctypedef struct GapText:
        pass
    const size_t GAP_SLACK
    GapText gap_text(const char *text, size_t length) noexcept
    char *write_filled(char *to, const char *text, size_t at, size_t end, const Gap *gaps,
                       const uint16_t *chosen, int64_t n, const GapText *texts) noexcept
    void sentence_open(ConlluSentence *s) noexcept
    bint skip_comments(const uint8_t **at, const uint8_t *end) noexcept
    const uint8_t *scan_sentence(const Decoder *d, Worker *w, ConlluSentence *s,
                                 const uint8_t *text, const uint8_t *at, const uint8_t *end,
                                 int column, Gap *gaps, int *status) noexcept
    bint is_utf8(const uint8_t *p, size_t n) noexcept

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
    cdef list idle  # fillings that no thread is at

    def __cinit__(self, SentenceDecoder decoder not None, int column, labels):
        if decoder.program.program.n_columns != 1:
            raise ArgumentError("decoder: its templates look at other columns than the words")
        if not 2 <= column < CONLLU_COLUMNS:
            raise ArgumentError(f"column: {column} is not between 2 and {CONLLU_COLUMNS - 1}")
        self.decoder = decoder
        self.column = column
        self.labels = list(labels)
        self.idle = []

    def fill(self, const uint8_t[::1] text not None):
        """The text with the column filled in; None where it must be read by the checked reader.

        Parameters
        ----------
        text : lines of whole sentences, each with its empty line

        Raises
        ------
        MemoryLimitError : no room for it
        """
        cdef bytearray memory = bytearray()
        cdef Py_ssize_t length = self.fill_into(text, memory)
        return None if length < 0 else PyByteArray_AS_STRING(memory)[:length]

    def fill_into(self, const uint8_t[::1] text not None, bytearray memory not None):
        """The same, written into memory that can be used again, and grows where it must; how many
        bytes, or -1 where the text must be read by the checked reader."""
        cdef WorkerBox box = self.decoder.take()
        cdef _Filling filling
        cdef Py_ssize_t length
        try:
            try:
                filling = self.idle.pop()
            except IndexError:
                filling = _Filling(self.labels)
            length = filling.run(self, &box.worker, text, memory)
            self.idle.append(filling)
            return length
        except MemoryError as error:
            raise MemoryLimitError(
                "no memory for these sentences; give fewer at a time") from error
        finally:
            self.decoder.idle.append(box)


cdef class _Filling:
    """One text after the other being filled in."""

    cdef ConlluSentence *sentence
    cdef Gap *gaps
    cdef GapText *texts  # of each label; the bytes are the filler's
    cdef size_t longest

    def __cinit__(self, list labels):
        cdef Py_ssize_t k
        cdef size_t length
        self.sentence = <ConlluSentence *>malloc(sizeof(ConlluSentence))
        self.gaps = <Gap *>malloc(GAPS_OF_A_BATCH(BATCH_TOKENS) * sizeof(Gap))
        self.texts = <GapText *>malloc((len(labels) + 1) * sizeof(GapText))
        if self.sentence == NULL or self.gaps == NULL or self.texts == NULL:
            raise MemoryError
        sentence_open(self.sentence)
        for k in range(len(labels)):
            length = PyBytes_GET_SIZE(labels[k])
            self.texts[k] = gap_text(PyBytes_AS_STRING(labels[k]), length)
            self.longest = max(self.longest, length)

    def __dealloc__(self):
        free(self.sentence)
        free(self.gaps)
        free(self.texts)

    cdef Py_ssize_t run(self, ConlluFiller filler, Worker *w, const uint8_t[::1] text,
                        bytearray memory) except -2:
        cdef Py_ssize_t n = text.shape[0]
        cdef const uint8_t *start = &text[0] if n else NULL
        cdef const uint8_t *at = start
        cdef const uint8_t *end = start + n
        cdef const uint8_t *written = start
        cdef int64_t most = BATCH_TOKENS
        cdef int column = filler.column, status = 0
        cdef bint usual = True
        cdef char *to
        cdef size_t used = 0
        if n == 0:
            return 0
        reserve(memory, n + n // 8 + 1024)
        with nogil:
            usual = is_utf8(start, n)
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
                reserve(memory, used + (at - written) + self.longest * <size_t>w.n_tokens
                        + GAP_SLACK)
                to = PyByteArray_AS_STRING(memory)
                with nogil:
                    used = write_filled(to + used, <const char *>start, written - start,
                                        at - start, self.gaps, w.labels, w.n_tokens,
                                        self.texts) - to
                written = at
        return used if usual else -1


cdef int reserve(bytearray memory, size_t room) except -1:
    """Make memory as long as that at least."""
    if <size_t>PyByteArray_GET_SIZE(memory) < room:
        PyByteArray_Resize(memory, room)
    return 0
