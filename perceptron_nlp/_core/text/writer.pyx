# cython: language_level=3, freethreading_compatible=True
"""Running text written as CoNLL-U or word/TAG: no Python object is made of a token (writer.h)."""

from array import array

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_FromStringAndSize, PyBytes_GET_SIZE
from cpython.exc cimport PyErr_CheckSignals
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.stddef cimport size_t
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from perceptron_nlp._core.tag.decode cimport (
    ColumnsDecoder, ListJob, PyThread_release_lock, PyThread_type_lock, SentenceDecoder, WorkerBox,
    turn_take)
from perceptron_nlp._core.text.cutter cimport Cut, CutText, TextWords, text_word_bytes
from perceptron_nlp._core.text.lemmatizer cimport LemmaDecoder, LemmaEntry, Lemmatizer, MOST_TAGS
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "text/writer.h" nogil:
    const size_t LEMMA_COST
    int64_t fill_batch(const FillModel *m, Fill *f, const Cut *cut, const TextWords *words,
                       const uint8_t *text, size_t begin) noexcept
    int put_batch(const FillModel *m, Fill *f, const Cut *cut, const TextWords *words,
                  const uint8_t *text, size_t begin, size_t end, uint64_t number) noexcept
    int put_tagged(const FillModel *m, Fill *f, const Cut *cut, const TextWords *words,
                   const uint8_t *text, size_t begin, size_t end) noexcept
    int fill_columns(const FillModel *m, Fill *f) noexcept
    void fill_close(Fill *f) noexcept
    int put_bytes(Fill *f, const uint8_t *text, size_t n) noexcept
    bint is_utf8(const uint8_t *p, size_t n) noexcept


def is_text(const uint8_t[::1] text not None):
    """Return True for UTF-8."""
    return not text.shape[0] or is_utf8(&text[0], text.shape[0])


# The bytes that white space is made of, and whether each byte is one; none stands above U+3000.
cdef frozenset GAPS = frozenset("".join(filter(str.isspace, map(chr, range(0x3001)))).encode())
cdef bytes GAP_BYTES = bytes([byte in GAPS for byte in range(256)])


def may_have_gap(const uint8_t[::1] text not None, Py_ssize_t least):
    """Return False if so many characters of white space, one at least, surely do not follow each other.

    Only every `least`-th byte is looked at, and what is about those that may be of white space.
    """
    cdef const uint8_t *is_gap = <const uint8_t *>PyBytes_AS_STRING(GAP_BYTES)
    cdef Py_ssize_t n = text.shape[0], at = least - 1, begin, end
    while at < n:
        begin = end = at
        while end < n and is_gap[text[end]]:
            end += 1
        while end > at and begin > 0 and is_gap[text[begin - 1]]:
            begin -= 1
        if end - begin >= least:
            return True
        at = end + least
    return False


cdef class TextFiller:
    """Labels the words of texts, and writes these; for any number of threads.

    Parameters
    ----------
    columns : for each column but that of lemmas: its number in CoNLL-U, from 2 to 9 (which texts
        have no labels in), or -1 if it is not written; its decoder of words alone, and what to
        give for each label
    lemmas : None, or (beside columns) the number of the column, the numbers of those of `columns`
        that lemmas depend on, and what gives them
    agreement : None, or what has columns agree, and the numbers of those of `columns` that it is of

    Raises
    ------
    ArgumentError : the columns do not fit
    MemoryLimitError : no room for the labels; or, by its methods, for a text
    """

    def __cinit__(self, columns, lemmas, agreement=None):
        cdef SentenceDecoder decoder
        cdef LabelText *texts
        cdef bytes label
        cdef int c, field, k
        self.decoders, self.labels, self.idle, self.given = [], [], [], []
        if len(columns) > MOST_FILLED or (lemmas is not None and not columns):
            raise ArgumentError(f"columns: {len(columns)} are too many, or too few for lemmas")
        for field in range(CONLLU_FIELDS):
            self.model.column_of[field] = -1
        for c, (field, decoder, labels) in enumerate(columns):
            if (field != -1 and not 2 <= field < CONLLU_FIELDS
                    or decoder.program.program.n_columns != 1):
                raise ArgumentError("columns: decoders of words alone are needed, for LEMMA to MISC")
            texts = <LabelText *>malloc((len(labels) + 1) * sizeof(LabelText))
            if texts == NULL:
                raise MemoryLimitError("no memory for the labels")
            self.model.labels[c] = texts
            self.model.n_columns = c + 1
            self.model.decoders[c] = &decoder.decoder
            if field >= 0:
                self.model.column_of[field] = c
            self.decoders.append(decoder)
            self.given.append(tuple(labels))
            self.labels.append([own.encode("utf-8", "surrogatepass") for own in labels])
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
        order = [] if agreement is None else list(places)
        for k, c in enumerate(order + [c for c in range(len(columns)) if c not in order]):
            self.model.order[k] = c
        if lemmas is None:
            return
        field, tags, self.lemmas = lemmas
        if not -1 <= field < CONLLU_FIELDS or field in (0, 1) or len(tags) > MOST_TAGS or not all(
                0 <= k < len(columns) and len(self.labels[k]) == len(own)
                for k, own in zip(tags, self.lemmas.tags, strict=True)):
            raise ArgumentError("lemmas: depend on too many columns, or on others than there are")
        if field >= 0:
            self.model.column_of[field] = self.model.n_columns
        self.model.has_lemmas = True
        self.model.n_tags = len(tags)
        for k in range(len(tags)):
            self.model.tags[k] = tags[k]

    def __dealloc__(self):
        cdef int c
        for c in range(self.model.n_columns):
            free(<void *>self.model.labels[c])

    def share(self, ListJob job not None):
        """Label what no other thread labels of a job of lists, in all columns, lemmas last."""
        cdef Filling filling = self.taken()
        cdef SentenceDecoder first = self.decoders[self.model.order[0]]
        try:
            first.label_job(filling, tuple(self.given), job, None)
        finally:
            self.idle.append(filling)

    def tag_buffers(self, data, tokens, sentences, list outs not None, int64_t begin, int64_t end):
        """Label words that stand one after the other in a buffer.

        Parameters
        ----------
        data : uint8[n_bytes], the words' UTF-8
        tokens : int64[n_tokens + 1], where each word begins, and where the last one ends
        sentences : int64[n_sentences + 1], the first word of each sentence, and the end
        outs : of each column but that of lemmas a uint16[n_tokens], where the label numbers are
            written
        begin, end : which sentences are labeled

        All offsets are in bounds and do not fall.

        Returns
        -------
        None, or their lemmas: where each ends (uint32) in their UTF-8, and this; both in bytes

        Raises
        ------
        ArgumentError : a word that is not UTF-8
        """
        cdef Filling filling = self.taken()
        cdef SentenceDecoder first = self.decoders[self.model.order[0]]
        filling.fill.used, filling.ends = 0, array("I")
        try:
            first.label_buffers(filling, data, tokens, sentences, outs, begin, end)
            return None if self.lemmas is None else (filling.ends.tobytes(), filling.written())
        finally:
            self.idle.append(filling)

    cdef Filling taken(self):
        try:
            return self.idle.pop()
        except IndexError:
            return Filling(self)

    def conllu(self, CutText found not None, uint64_t number):
        """Return the sentences of a text as CoNLL-U, in bytes.

        Parameters
        ----------
        found : the text
        number : that of the first sentence, for ``# sent_id``
        """
        cdef Filling filling = self.taken()
        written = filling.write(self, found, number, False)
        self.idle.append(filling)
        return written

    def tagged(self, CutText found not None):
        """Return the sentences of a text as ``word/TAG`` lines, in bytes; of words without a column.

        Spaces within words become no-break spaces.

        Raises
        ------
        ArgumentError : there are several columns
        MemoryLimitError : no room for it
        """
        if self.model.n_columns > 1 or self.model.has_lemmas:
            raise ArgumentError("columns: word/TAG has room for one, and not for lemmas")
        cdef Filling filling = self.taken()
        written = filling.write(self, found, 0, True)
        self.idle.append(filling)
        return written

    def labeled(self, CutText found not None):
        """Return a text in buffers.

        Returns
        -------
        (sentences, places, first, form_ends, forms, labels, lemmas): of each sentence its first
        token, and the number of all (uint32); of each token where it begins and ends, in characters
        (uint32 pairs), and its first word, and the number of all (uint32); of each word where it
        ends in forms (uint32), and forms in UTF-8; by column the label numbers of all words
        (uint16); None, or lemmas as ends and UTF-8 like the forms. All in bytes
        """
        cdef Filling filling = self.taken()
        taken = filling.labeled(self, found)
        self.idle.append(filling)
        return taken


cdef class Filling(WorkerBox):
    """One text after the other being written, by the worker of the first column and others."""

    def __cinit__(self, TextFiller filler not None):
        cdef WorkerBox box
        cdef SentenceDecoder decoder
        cdef int c
        memset(&self.fill, 0, sizeof(Fill))
        if filler.lemmas is not None:
            self.lemmatizer = Lemmatizer(filler.lemmas)
            self.lemma_use = (<SentenceDecoder>filler.decoders[0]).memory.enter(LEMMA_COST)
        self.model, self.boxes, self.strings = &filler.model, [], []
        for c, decoder in enumerate(filler.decoders):
            box = self if c == filler.model.order[0] else WorkerBox()
            # All read one batch, which the first hashes.
            decoder.lay(box, filler.model.decoders[filler.model.order[0]].secrets)
            self.boxes.append(None if box is self else box)
            self.fill.workers[c] = &box.worker

    def __dealloc__(self):
        fill_close(&self.fill)

    cdef int run(self, const Decoder *d, PyThread_type_lock turn) except -1:
        cdef int status
        with nogil:
            if turn != NULL:
                PyThread_release_lock(turn)
            status = fill_columns(self.model, &self.fill)
        try:
            if status == 0 and self.lemmatizer is not None:
                self.lemmatizer.fill(&self.fill.lemmas)
        finally:
            with nogil:
                if turn != NULL:
                    turn_take(turn)
        if status < 0:
            raise MemoryLimitError("no memory to label these sentences; give fewer at a time")
        return 0

    cdef uint16_t *labels_of(self, int column) noexcept:
        return self.fill.workers[column].labels

    cdef int give_lemmas(self, list found, Py_ssize_t at) except -1:
        """Put them behind what was found; or, if that is None, write them behind those before."""
        cdef int64_t s, k
        cdef size_t n = self.fill.lemmas.n
        cdef const LemmaEntry *lemma
        cdef list strings = self.strings
        if self.lemmatizer is None:
            return 0
        if found is None:
            for k in range(self.worker.n_tokens):
                self.ends.append(self.put_lemma(k))
            return 0
        if self.strings_of != self.fill.lemmas.times_emptied:
            strings.clear()
            self.strings_of = self.fill.lemmas.times_emptied
        for k in range(len(strings), n):
            lemma = &self.fill.lemmas.entries[k]
            strings.append(PyUnicode_DecodeUTF8(
                <const char *>self.fill.lemmas.text + lemma.lemma, lemma.length, "surrogatepass"))
        for s in range(self.worker.batch.n_sentences):
            found[self.model.n_columns][at + s] = [
                strings[self.fill.lemma_of[k]]
                for k in range(self.worker.batch.starts[s], self.worker.batch.starts[s + 1])]
        return 0

    cdef uint32_t put_lemma(self, size_t k) except? 0:
        """Write the lemma of a word of the batch; where it ends."""
        cdef const LemmaEntry *lemma = &self.fill.lemmas.entries[self.fill.lemma_of[k]]
        if put_bytes(&self.fill, self.fill.lemmas.text + lemma.lemma, lemma.length) < 0:
            raise MemoryLimitError("no memory to label this text; give less at a time")
        return self.fill.used

    cdef bytes written(self):
        return PyBytes_FromStringAndSize(<const char *>self.fill.out, self.fill.used)

    cdef write(self, TextFiller filler, CutText found, uint64_t number, bint tagged):
        cdef const uint8_t *text = <const uint8_t *>PyBytes_AS_STRING(found.text)
        cdef size_t begin = 0
        cdef int64_t end
        cdef int status = 0
        self.fill.used = 0
        while begin < found.found.n_sentences:
            PyErr_CheckSignals()
            with nogil:
                end = fill_batch(&filler.model, &self.fill, &found.found, &found.words, text, begin)
            if end >= 0 and self.lemmatizer is not None:
                self.lemmatizer.fill(&self.fill.lemmas)
            if end >= 0:
                with nogil:
                    if tagged:
                        status = put_tagged(&filler.model, &self.fill, &found.found, &found.words,
                                            text, begin, end)
                    else:
                        status = put_batch(&filler.model, &self.fill, &found.found, &found.words,
                                           text, begin, end, number)
            if end < 0 or status < 0:
                raise MemoryLimitError("no memory to label this text; give less at a time")
            number += end - begin
            begin = end
        return self.written()

    cdef labeled(self, TextFiller filler, CutText found):
        cdef const uint8_t *text = <const uint8_t *>PyBytes_AS_STRING(found.text)
        cdef size_t n_tokens = found.found.n_tokens, n_words = found.words.n_words
        cdef size_t n_sentences = found.found.n_sentences, k, begin = 0, first
        cdef int64_t end
        cdef int c, n = filler.model.n_columns
        cdef bint has_lemmas = filler.model.has_lemmas
        cdef uint32_t *places
        cdef uint32_t *ends
        cdef uint32_t *lemma_ends
        cdef uint16_t *labels[MOST_FILLED]
        cdef uint32_t at = 0
        found_places = _room(8 * n_tokens, <void **>&places)
        found_ends = _room(4 * n_words, <void **>&ends)
        found_lemma_ends = _room(4 * n_words if has_lemmas else 0, <void **>&lemma_ends)
        found_labels = [_room(2 * n_words, <void **>&labels[c]) for c in range(n)]
        for k in range(n_tokens):
            places[2 * k] = found.found.tokens[k].char_begin
            places[2 * k + 1] = found.found.tokens[k].char_end
        for k in range(n_words):
            at += found.words.words[k].length
            ends[k] = at
        cdef uint8_t *form
        forms = _room(at, <void **>&form)
        for k in range(n_words):
            memcpy(form, text_word_bytes(&found.words, text, found.words.words[k]),
                   found.words.words[k].length)
            form += found.words.words[k].length
        self.fill.used = 0
        while begin < n_sentences:
            PyErr_CheckSignals()
            with nogil:
                end = fill_batch(&filler.model, &self.fill, &found.found, &found.words, text, begin)
            if end < 0:
                raise MemoryLimitError("no memory to label this text; give less at a time")
            if self.lemmatizer is not None:
                self.lemmatizer.fill(&self.fill.lemmas)
            first = found.words.first[found.found.sentences[begin]]
            k = found.words.first[found.found.sentences[end]] - first
            for c in range(n):
                memcpy(labels[c] + first, self.fill.workers[c].labels, k * sizeof(uint16_t))
            for k in range(first, first + k if has_lemmas else first):
                lemma_ends[k] = self.put_lemma(k - first)
            begin = end
        lemmas = None
        if has_lemmas:
            lemmas = found_lemma_ends, self.written()
        return (_copied(found.found.sentences, n_sentences + 1), found_places,
                _copied(found.words.first, n_tokens + 1), found_ends, forms, found_labels, lemmas)


cdef bytes _room(size_t n, void **to):
    """Bytes that are still to be written, and where."""
    cdef bytes room = PyBytes_FromStringAndSize(NULL, n)
    to[0] = PyBytes_AS_STRING(room)
    return room


cdef bytes _copied(const uint32_t *numbers, size_t n):
    return PyBytes_FromStringAndSize(<const char *>numbers, 4 * n)
