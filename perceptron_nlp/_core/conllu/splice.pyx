# cython: language_level=3, freethreading_compatible=True
"""Files tagged as bytes: no Python object is made of a word or of a label (splice.h)."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t
from libc.stdlib cimport free, malloc

from perceptron_nlp._core.tag.decode cimport (
    ColumnsDecoder, SentenceDecoder, Worker, WorkerBox, agreeing_worker, batch_end_sentence,
    batch_reset, cache_spoil, run_worker,
)
from perceptron_nlp._core.model.frozenmodel cimport Decoder
from perceptron_nlp._core.tag.decode import BATCH_TOKENS
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "conllu/splice.h" nogil:
    const int CONLLU_COLUMNS
    const int MAX_PLACES
    ctypedef struct ConlluSentence:
        pass
    ctypedef struct Gap:
        pass
    ctypedef struct GapText:
        pass
    ctypedef struct FilledColumns:
        int n
        int of[10]
    const size_t GAP_SLACK
    GapText gap_text(const char *text, size_t length) noexcept
    char *write_filled(char *to, const char *text, size_t at, size_t end, const Gap *gaps,
                       const uint32_t *chosen, int64_t n, const GapText *texts) noexcept
    void sentence_open(ConlluSentence *s) noexcept
    bint skip_comments(const uint8_t **at, const uint8_t *end) noexcept
    const uint8_t *scan_sentence(const Decoder *d, Worker *w, ConlluSentence *s,
                                 const uint8_t *text, const uint8_t *at, const uint8_t *end,
                                 const FilledColumns *columns, Gap *gaps, int *status) noexcept
    bint is_utf8(const uint8_t *p, size_t n) noexcept

cdef extern from *:
    """
    #define GAPS_OF_A_BATCH(tokens) ((size_t)(tokens) + MAX_PLACES)
    """
    size_t GAPS_OF_A_BATCH(int64_t tokens)


cdef class ConlluFiller:
    """Fills columns of CoNLL-U text in, everything else staying as it is.

    Parameters
    ----------
    decoder : SentenceDecoder over words alone; or ColumnsDecoder, to fill several columns
    columns : 2 to 9, each once; which of the ten columns, from 0, is filled by which
    labels : for each column a list of bytes, UTF-8; what to write for each label number
    """

    cdef SentenceDecoder decoder
    cdef ColumnsDecoder together
    cdef FilledColumns columns
    cdef int[10] column_of  # of the decoder, of each column that is filled
    cdef list labels
    cdef list idle  # fillings that no thread is at

    def __cinit__(self, decoder not None, columns, labels):
        if isinstance(decoder, ColumnsDecoder):
            self.together = decoder
            self.decoder = self.together.decoders[0]
        else:
            self.decoder = decoder
        n = 1 if self.together is None else len(self.together.labels)
        if self.decoder.program.program.n_columns != 1:
            raise ArgumentError("decoder: its templates look at other columns than the words")
        if not len(columns) == len(set(columns)) == len(labels) == n:
            raise ArgumentError(f"columns: {n} are needed, and labels for each")
        if not 2 <= min(columns) <= max(columns) < CONLLU_COLUMNS:
            raise ArgumentError(f"columns: {columns} are not between 2 and {CONLLU_COLUMNS - 1}")
        order = sorted(range(n), key=columns.__getitem__)
        self.columns.n = n
        for place, k in enumerate(order):
            self.columns.of[place] = columns[k]
            self.column_of[place] = k
        self.labels = [list(labels[k]) for k in order]
        self.idle = []

    def fill(self, const uint8_t[::1] text not None):
        """The text with the columns filled in; None where it must be read by the checked reader.

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
        cdef WorkerBox box = self.decoder.take() if self.together is None else self.together.take()
        cdef list boxes = self.decoder.idle if self.together is None else self.together.idle
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
            boxes.append(box)


cdef class _Filling:
    """One text after the other being filled in."""

    cdef ConlluSentence *sentence
    cdef Gap *gaps
    cdef uint32_t *chosen
    cdef GapText *texts  # of each label, column by column; the bytes are the filler's
    cdef uint32_t[10] first  # of the texts of each column
    cdef size_t longest  # what a token's labels take at most

    def __cinit__(self, list labels):
        cdef uint32_t k = 0
        cdef size_t length, longest, most = GAPS_OF_A_BATCH(BATCH_TOKENS) * <size_t>len(labels)
        self.sentence = <ConlluSentence *>malloc(sizeof(ConlluSentence))
        self.gaps = <Gap *>malloc(most * sizeof(Gap))
        self.chosen = <uint32_t *>malloc(most * sizeof(uint32_t))
        self.texts = <GapText *>malloc((sum(map(len, labels)) + 1) * sizeof(GapText))
        if self.sentence == NULL or self.gaps == NULL or self.chosen == NULL or self.texts == NULL:
            raise MemoryError
        sentence_open(self.sentence)
        for column, own in enumerate(labels):
            self.first[<int>column] = k
            longest = 0
            for label in own:
                length = PyBytes_GET_SIZE(label)
                self.texts[k] = gap_text(PyBytes_AS_STRING(label), length)
                longest = max(longest, length)
                k += 1
            self.longest += longest

    def __dealloc__(self):
        free(self.sentence)
        free(self.gaps)
        free(self.chosen)
        free(self.texts)

    cdef void _choose(self, ConlluFiller filler, Worker *w) noexcept nogil:
        """The text of each gap, token by token."""
        cdef int c, n = filler.columns.n
        cdef int64_t i
        cdef uint16_t *labels
        for c in range(n):
            labels = agreeing_worker(w, filler.column_of[c]).labels
            for i in range(w.n_tokens):
                self.chosen[i * n + c] = self.first[c] + labels[i]

    cdef Py_ssize_t run(self, ConlluFiller filler, Worker *w, const uint8_t[::1] text,
                        bytearray memory) except -2:
        cdef Py_ssize_t n = text.shape[0]
        cdef const uint8_t *start = &text[0] if n else NULL
        cdef const uint8_t *at = start
        cdef const uint8_t *end = start + n
        cdef const uint8_t *written = start
        cdef int64_t most = BATCH_TOKENS
        cdef int status = 0
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
                                       &filler.columns, self.gaps, &status)
                    if at == NULL:
                        break
                    if batch_end_sentence(&w.batch) < 0:
                        status = -1
                        break
            if status < 0:
                raise MemoryLimitError("no memory for these sentences; give fewer at a time")
            usual = at != NULL
            if usual:
                with nogil:
                    status = run_worker(&filler.decoder.decoder, w)
                if status < 0:
                    cache_spoil(&w.cache)
                    raise MemoryLimitError("no memory for these sentences; give fewer at a time")
                reserve(memory, used + (at - written) + self.longest * <size_t>w.n_tokens
                        + GAP_SLACK)
                to = PyByteArray_AS_STRING(memory)
                with nogil:
                    self._choose(filler, w)
                    used = write_filled(to + used, <const char *>start, written - start,
                                        at - start, self.gaps, self.chosen,
                                        w.n_tokens * filler.columns.n, self.texts) - to
                written = at
        return used if usual else -1


cdef int reserve(bytearray memory, size_t room) except -1:
    """Make memory as long as that at least."""
    if <size_t>PyByteArray_GET_SIZE(memory) < room:
        PyByteArray_Resize(memory, room)
    return 0
