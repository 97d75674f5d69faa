# cython: language_level=3, freethreading_compatible=True
"""Running text written as CoNLL-U: no Python object is made of a token (fill.h)."""

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from perceptron_nlp._core.tag.agree cimport Agreement, ColumnsDecoder
from perceptron_nlp._core.tag.decode cimport SentenceDecoder, Worker, WorkerBox
from perceptron_nlp._core.model.frozenmodel cimport Decoder
from perceptron_nlp._core.text.cutter cimport Cut, CutText, TextWords
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "text/fill.h" nogil:
    ctypedef struct WordRef:
        size_t length
    ctypedef struct LemmaEntry:
        WordRef form
        uint64_t tags
    ctypedef struct LemmaCache:
        LemmaEntry *entries
        size_t n
        size_t n_done
        const uint8_t *text
    ctypedef struct LabelText:
        const uint8_t *text
        uint32_t length
    ctypedef struct FillModel:
        const Decoder **decoders
        const LabelText **labels
        int n_columns
        int *column_of
        int has_lemmas
        int *tags
        int n_tags
        const Agreement *agreement
        int *agreeing
    ctypedef struct Fill:
        Worker **workers
        LemmaCache lemmas
        const uint8_t *out
        size_t used
    const int CONLLU_FIELDS
    const int MOST_FILLED
    const int MOST_TAGS
    const int WORD_SMALL
    const uint8_t *word_bytes(const WordRef *w, const uint8_t *texts, uint8_t *small) noexcept
    int lemma_set(LemmaCache *c, const uint8_t *text, size_t n) noexcept
    int64_t fill_batch(const FillModel *m, Fill *f, const Cut *cut, const TextWords *words,
                       const uint8_t *text, size_t begin) noexcept
    int put_batch(const FillModel *m, Fill *f, const Cut *cut, const TextWords *words,
                  const uint8_t *text, size_t begin, size_t end, uint64_t number) noexcept
    void fill_close(Fill *f) noexcept
    bint is_utf8(const uint8_t *p, size_t n) noexcept


def is_text(const uint8_t[::1] text not None):
    """Return True for UTF-8."""
    return not text.shape[0] or is_utf8(&text[0], text.shape[0])


cdef class TextFiller:
    """Labels the words of texts, and writes them as CoNLL-U; for any number of threads.

    Parameters
    ----------
    columns : for each column but that of lemmas, one at least: its number in CoNLL-U, from 2 to 8,
        its decoder of words alone, and what to write for each label, in UTF-8
    lemmas : None, or the number of the column, the numbers of those of `columns` that lemmas depend
        on, at most 3, and what gives lemmas: from words, whether each is the first of its sentence,
        and for each the numbers of its labels in these columns
    agreement : None, or what has columns agree, and the numbers of those of `columns` that it is of

    Raises
    ------
    ArgumentError : the columns do not fit
    """

    cdef FillModel model
    cdef list decoders, labels, idle
    cdef object give_lemmas
    cdef ColumnsDecoder agreement

    def __cinit__(self, columns, lemmas, agreement=None):
        cdef SentenceDecoder decoder
        cdef LabelText *texts
        cdef bytes label
        cdef int c, field, k
        self.decoders, self.labels, self.idle = [], [], []
        if not 0 < len(columns) <= MOST_FILLED:
            raise ArgumentError(f"columns: {len(columns)} are not between 1 and {MOST_FILLED}")
        for field in range(CONLLU_FIELDS):
            self.model.column_of[field] = -1
        for c, (field, decoder, labels) in enumerate(columns):
            if not 2 <= field < CONLLU_FIELDS - 1 or decoder.program.program.n_columns != 1:
                raise ArgumentError("columns: decoders of words alone are needed, for LEMMA to DEPS")
            texts = <LabelText *>malloc((len(labels) + 1) * sizeof(LabelText))
            if texts == NULL:
                raise MemoryLimitError("no memory for the labels")
            self.model.labels[c] = texts
            self.model.n_columns = c + 1
            self.model.decoders[c] = &decoder.decoder
            self.model.column_of[field] = c
            self.decoders.append(decoder)
            self.labels.append(list(labels))
            for k, label in enumerate(self.labels[c]):
                texts[k].text = <const uint8_t *>PyBytes_AS_STRING(label)
                texts[k].length = PyBytes_GET_SIZE(label)
        if agreement is not None:
            self.agreement, places = agreement
            if [self.decoders[k] for k in places] != list(self.agreement.decoders):
                raise ArgumentError("agreement: of other columns")
            self.model.agreement = &self.agreement.agreement
            for k in range(len(places)):
                self.model.agreeing[k] = places[k]
        if lemmas is None:
            return
        field, tags, self.give_lemmas = lemmas
        if not 2 <= field < CONLLU_FIELDS - 1 or len(tags) > MOST_TAGS or not all(
                0 <= k < len(columns) for k in tags):
            raise ArgumentError("lemmas: depend on too many columns, or on others than there are")
        self.model.column_of[field] = self.model.n_columns
        self.model.has_lemmas = True
        self.model.n_tags = len(tags)
        for k in range(len(tags)):
            self.model.tags[k] = tags[k]

    def __dealloc__(self):
        cdef int c
        for c in range(self.model.n_columns):
            free(<void *>self.model.labels[c])

    def conllu(self, CutText found not None, uint64_t number):
        """Return the sentences of a text as CoNLL-U, in bytes.

        Parameters
        ----------
        found : the text
        number : that of the first sentence, for ``# sent_id``

        Raises
        ------
        MemoryLimitError : no room for it
        """
        cdef _Filling filling
        try:
            filling = self.idle.pop()
        except IndexError:
            filling = _Filling(self)
        written = filling.write(self, found, number)
        self.idle.append(filling)
        return written


cdef class _Filling:
    """One text after the other being written."""

    cdef Fill fill
    cdef list boxes

    def __cinit__(self, TextFiller filler not None):
        cdef WorkerBox box
        cdef SentenceDecoder decoder
        cdef int c
        memset(&self.fill, 0, sizeof(Fill))
        self.boxes = []
        for c, decoder in enumerate(filler.decoders):
            box = decoder.take()
            self.boxes.append(box)
            self.fill.workers[c] = &box.worker

    def __dealloc__(self):
        fill_close(&self.fill)

    cdef write(self, TextFiller filler, CutText found, uint64_t number):
        cdef const uint8_t *text = <const uint8_t *>PyBytes_AS_STRING(found.text)
        cdef size_t begin = 0
        cdef int64_t end
        cdef int status = 0
        self.fill.used = 0
        while begin < found.found.n_sentences:
            with nogil:
                end = fill_batch(&filler.model, &self.fill, &found.found, &found.words, text, begin)
            if end >= 0 and filler.model.has_lemmas:
                if self.fill.lemmas.n_done < self.fill.lemmas.n:
                    self._lemmas(filler)
            if end >= 0:
                with nogil:
                    status = put_batch(&filler.model, &self.fill, &found.found, &found.words, text,
                                       begin, end, number)
            if end < 0 or status < 0:
                raise MemoryLimitError("no memory to label this text; give less at a time")
            number += end - begin
            begin = end
        return PyBytes_FromStringAndSize(<const char *>self.fill.out, self.fill.used)

    cdef int _lemmas(self, TextFiller filler) except -1:
        """Have the lemmas of the entries that are new."""
        cdef LemmaCache *cache = &self.fill.lemmas
        cdef size_t k
        cdef uint64_t own
        cdef int t
        cdef uint8_t[16] small
        cdef bytes lemma
        cdef int n_tags = filler.model.n_tags
        words, firsts, tags = [], [], []
        for k in range(cache.n_done, cache.n):
            words.append(PyUnicode_DecodeUTF8(
                <const char *>word_bytes(&cache.entries[k].form, cache.text, small),
                cache.entries[k].form.length, "surrogatepass"))
            own = cache.entries[k].tags
            firsts.append(own >> (16 * n_tags) != 0)
            tags.append(tuple([(own >> (16 * (n_tags - 1 - t))) & 0xFFFF for t in range(n_tags)]))
        for found in filler.give_lemmas(words, firsts, tags):
            lemma = found.encode("utf-8", "surrogatepass")
            if lemma_set(cache, <const uint8_t *>PyBytes_AS_STRING(lemma),
                         PyBytes_GET_SIZE(lemma)) < 0:
                raise MemoryLimitError("no memory to label this text; give less at a time")
        return 0
