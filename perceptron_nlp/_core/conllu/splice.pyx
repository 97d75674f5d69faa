# cython: language_level=3, freethreading_compatible=True
"""Files tagged as bytes: no Python object is made of a word or of a label (splice.h)."""

from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_GET_SIZE, PyByteArray_Resize
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint32_t
from libc.stdlib cimport free, malloc

from perceptron_nlp._core.model.frozenmodel cimport Decoder
from perceptron_nlp._core.tag.decode cimport Worker, batch_end_sentence, batch_reset
from perceptron_nlp._core.tag.decode import BATCH_TOKENS
from perceptron_nlp._core.text.lemmatizer cimport LemmaEntry
from perceptron_nlp._core.text.writer cimport Fill, Filling, LabelText, TextFiller
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
    """Fills columns of CoNLL-U text in, everything else staying as it is; for any number of threads.

    Parameters
    ----------
    filler : what labels them, some of which are written

    Raises
    ------
    ArgumentError : none is
    MemoryLimitError : by its methods: no room for a text
    """

    cdef TextFiller filler
    cdef FilledColumns columns
    cdef int[10] column_of  # of the filler, of each column that is filled
    cdef list idle  # fillings that no thread is at

    def __cinit__(self, TextFiller filler not None):
        cdef int field
        self.filler, self.idle = filler, []
        for field in range(CONLLU_COLUMNS):
            if filler.model.column_of[field] >= 0:
                self.columns.of[self.columns.n] = field
                self.column_of[self.columns.n] = filler.model.column_of[field]
                self.columns.n += 1
        if self.columns.n == 0:
            raise ArgumentError("filler: no column of it is written")

    def __call__(self, const uint8_t[::1] text not None):
        """The text with the columns filled in; None where it must be read by the checked reader.

        Parameters
        ----------
        text : lines of whole sentences, each with its empty line
        """
        cdef bytearray memory = bytearray()
        length = self.into(text, memory)
        return None if length is None else PyByteArray_AS_STRING(memory)[:<Py_ssize_t>length]

    def into(self, const uint8_t[::1] text not None, bytearray memory not None):
        """The same, written into memory that can be used again, and grows where it must; how many
        bytes, or None."""
        cdef Filling filling = self.filler.taken()
        cdef _Splicing splicing
        cdef Py_ssize_t length
        try:
            try:
                splicing = self.idle.pop()
            except IndexError:
                splicing = _Splicing(self)
            length = splicing.run(self, filling, text, memory)
        except MemoryError as error:
            raise MemoryLimitError(
                "no memory for these sentences; give fewer at a time") from error
        finally:
            # What it knows of words is of use for the next file, too.
            self.filler.idle.append(filling)
        self.idle.append(splicing)
        return None if length < 0 else length


cdef class _Splicing:
    """One text after the other being filled in."""

    cdef ConlluSentence *sentence
    cdef Gap *gaps
    cdef uint32_t *chosen
    cdef GapText *texts  # of each label, column by column; then of each lemma of a batch
    cdef uint32_t[10] first  # of the texts of each column
    cdef size_t longest  # what a token's labels take at most

    def __cinit__(self, ConlluFiller filler not None):
        cdef int c, own, k
        cdef uint32_t n = 0
        cdef size_t longest, tokens = GAPS_OF_A_BATCH(BATCH_TOKENS)
        cdef const LabelText *label
        counts = [len(labels) for labels in filler.filler.labels]
        self.sentence = <ConlluSentence *>malloc(sizeof(ConlluSentence))
        self.gaps = <Gap *>malloc(tokens * filler.columns.n * sizeof(Gap))
        self.chosen = <uint32_t *>malloc(tokens * filler.columns.n * sizeof(uint32_t))
        self.texts = <GapText *>malloc((sum(counts) + tokens) * sizeof(GapText))
        if self.sentence == NULL or self.gaps == NULL or self.chosen == NULL or self.texts == NULL:
            raise MemoryError
        sentence_open(self.sentence)
        for c in range(filler.columns.n):
            own, longest = filler.column_of[c], 0
            if own == filler.filler.model.n_columns:
                self.first[c] = sum(counts)
                continue
            self.first[c] = n
            for k in range(counts[own]):
                label = &filler.filler.model.labels[own][k]
                self.texts[n] = gap_text(<const char *>label.text, label.length)
                longest = max(longest, label.length)
                n += 1
            self.longest += longest

    def __dealloc__(self):
        free(self.sentence)
        free(self.gaps)
        free(self.chosen)
        free(self.texts)

    cdef size_t _choose(self, ConlluFiller filler, const Fill *fill,
                        int64_t n_tokens) noexcept nogil:
        """Choose the text of each gap, token by token; the bytes that all take at most."""
        cdef int c, own, n = filler.columns.n
        cdef int64_t i
        cdef size_t room = self.longest * <size_t>n_tokens
        cdef const LemmaEntry *lemma
        for c in range(n):
            own = filler.column_of[c]
            for i in range(n_tokens):
                if own < filler.filler.model.n_columns:
                    self.chosen[i * n + c] = self.first[c] + fill.workers[own].labels[i]
                    continue
                lemma = &fill.lemmas.entries[fill.lemma_of[i]]
                self.texts[self.first[c] + i] = gap_text(
                    <const char *>fill.lemmas.text + lemma.lemma, lemma.length)
                self.chosen[i * n + c] = self.first[c] + <uint32_t>i
                room += lemma.length
        return room

    cdef Py_ssize_t run(self, ConlluFiller filler, Filling filling, const uint8_t[::1] text,
                        bytearray memory) except -2:
        cdef Py_ssize_t n = text.shape[0]
        cdef const uint8_t *start = &text[0] if n else NULL
        cdef const uint8_t *at = start
        cdef const uint8_t *end = start + n
        cdef const uint8_t *written = start
        cdef int first = filler.filler.model.order[0], status = 0
        cdef const Decoder *d = filler.filler.model.decoders[first]
        cdef Worker *w = filling.fill.workers[first]
        cdef int64_t most = BATCH_TOKENS
        cdef bint usual = True
        cdef char *to
        cdef size_t room, used = 0
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
                    at = scan_sentence(d, w, self.sentence, start, at, end, &filler.columns,
                                       self.gaps, &status)
                    status = status if at == NULL else batch_end_sentence(&w.batch)
                    if at == NULL or status < 0:
                        break
            if status < 0:
                raise MemoryLimitError("no memory for these sentences; give fewer at a time")
            usual = at != NULL
            if usual:
                filling.run(d, NULL)
                with nogil:
                    room = self._choose(filler, &filling.fill, w.n_tokens)
                reserve(memory, used + (at - written) + room + GAP_SLACK)
                to = PyByteArray_AS_STRING(memory)
                with nogil:
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
