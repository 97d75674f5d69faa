# cython: language_level=3, freethreading_compatible=True
"""Sentence decoders: a frozen model that labels lists of strings, from any number of threads."""

import os

import numpy as np

from cpython.list cimport PyList_GET_ITEM, PyList_GET_SIZE, PyList_New, PyList_SET_ITEM
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.unicode cimport (
    PyUnicode_DATA, PyUnicode_GET_LENGTH, PyUnicode_KIND, PyUnicode_READ,
)
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy, memset

from perceptron_nlp._core.extract cimport ATOM_TAG, ATOM_VALUE, AtomSpec, no_label_hash, utf8_put
from perceptron_nlp._core.hashing import hash64, hash_words
from perceptron_nlp._core.factored cimport LabelParts, whole_label_scores
from perceptron_nlp._core.search import allowed_bytes
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

cdef extern from *:
    """
    #define ASCII_TEXT(s) (PyUnicode_IS_COMPACT_ASCII(s))
    enum { COND_ALWAYS, COND_NOT_FIRST, COND_FIRST, COND_NOT_LAST, COND_LAST };
    """
    bint ASCII_TEXT(object s)
    const int COND_ALWAYS
    const int COND_NOT_FIRST
    const int COND_FIRST
    const int COND_NOT_LAST
    const int COND_LAST

# Tokens to a batch: large enough to keep memory waits side by side, small enough that a batch's
# scores stay in the second-level cache.
BATCH_TOKENS = 2048
BATCH_BYTES = 1 << 20
DEFAULT_CACHE_LIMIT = 32768


cdef class WorkerBox:
    """The buffers and the cache of one thread at a time."""

    def __cinit__(self):
        memset(&self.worker, 0, sizeof(Worker))

    def __dealloc__(self):
        worker_close(&self.worker)


cdef class SentenceDecoder:
    """A frozen model ready to label sentences.

    Parameters
    ----------
    program : FeatureProgram
    keys, starts, cell_labels, weights : uint64[n_rows], int64[n_rows + 1], uint16[n_cells],
        int16[n_cells]; as in FrozenWeights, weights in units of the model's scale
    labels : sequence of str, by label number
    label_hashes : uint64[n_labels]
    table_bits : None or int; as in FrozenWeights
    right_to_left : bool
    dictionary : mapping from word (bytes) to the label number that it always gets
    beam : states kept in the search, 1 to 64; 1 is greedy
    allowed : None, or bool[n_labels + 1, n_labels + 1]: may the second label follow the first, in
        the order of reading; row n_labels is the start, column n_labels the end. Needs a beam
    parts : None, or what the labels are made of; then the cells' labels are numbers of parts, and
        beam is 1
    cache_limit : types remembered by each thread, at least 1

    Raises
    ------
    MemoryLimitError : no room for the model
    """

    def __cinit__(self, FeatureProgram program not None, *, keys, starts, cell_labels, weights,
                  labels, label_hashes, table_bits=None, right_to_left=False, dictionary=None,
                  beam=1, allowed=None, LabelParts parts=None, cache_limit=DEFAULT_CACHE_LIMIT):
        memset(&self.table, 0, sizeof(FrozenTable))
        memset(&self.decoder, 0, sizeof(Decoder))
        if not isinstance(cache_limit, int) or isinstance(cache_limit, bool):
            raise ArgumentTypeError(
                f"cache_limit: an int is needed, not {type(cache_limit).__name__}")
        if not 1 <= cache_limit <= 1 << 30:
            raise ArgumentError(f"cache_limit: {cache_limit} is not between 1 and {1 << 30}")
        self.program = program
        self.labels = tuple(labels)
        self.idle = []
        self.cache_limit = cache_limit
        self.parts = parts
        if parts is not None:
            if parts.parts.n_labels != len(labels):
                raise ArgumentError(
                    f"parts: of {parts.parts.n_labels} labels, but there are {len(labels)}")
            self.decoder.parts = &parts.parts
        self._table(keys, starts, cell_labels, weights,
                    len(labels) if parts is None else parts.parts.n_parts, table_bits or 0)
        hashes = np.append(np.asarray(label_hashes, np.uint64), np.uint64(no_label_hash()))
        cdef uint64_t[::1] hash_view = hashes
        self.label_hash_array = hashes
        self.decoder.label_hashes = &hash_view[0]
        self.decoder.right_to_left = right_to_left
        if not 1 <= beam <= MAX_BEAM:
            raise ArgumentError(f"beam: {beam} is not between 1 and {MAX_BEAM}")
        self.decoder.beam = beam
        cdef const uint8_t[::1] allowed_view
        if allowed is not None:
            self.allowed_array = allowed_bytes(allowed, len(labels))
            allowed_view = self.allowed_array
            self.decoder.allowed = &allowed_view[0]
        self._layout()
        self._dictionary(dictionary or {})
        self._history()

    def __dealloc__(self):
        frozen_close(&self.table)
        index_close(&self.decoder.layout.dictionary)
        free(self.decoder.layout.vectors)
        free(self.decoder.layout.slot_vector)
        free(self.decoder.layout.slot_correction)
        free(self.decoder.layout.slot_sign)
        free(self.decoder.layout.dictionary_labels)
        free(self.decoder.tag_table)
        free(self.decoder.memo_templates)
        free(self.decoder.open_templates)

    def _table(self, keys, starts, cell_labels, weights, int32_t n_labels, int bits):
        cdef FrozenTable *t = &self.table
        cdef const uint64_t[::1] key_view = np.append(np.asarray(keys, np.uint64), np.uint64(0))
        cdef const int64_t[::1] start_view = np.ascontiguousarray(starts, np.int64)
        cdef const uint16_t[::1] label_view = np.append(
            np.asarray(cell_labels, np.uint16), np.uint16(0))
        cdef const int16_t[::1] weight_view = np.append(
            np.asarray(weights, np.int16), np.int16(0))
        cdef int64_t n_rows = key_view.shape[0] - 1, n_cells = label_view.shape[0] - 1
        cdef int64_t i = 0, row = 0
        # A file of a few rows may claim a table of 2^30: memory follows the rows that are there.
        cdef bint direct = bits and <int64_t>1 << bits <= 8 * n_rows + 4096
        cdef int64_t table_rows = <int64_t>1 << bits if direct else n_rows
        cdef int size = 0
        t.n_labels = n_labels
        t.fixed_bits = bits
        t.direct = direct
        t.starts = <uint32_t *>calloc(table_rows + 2, sizeof(uint32_t))
        t.cells = <FrozenCell *>calloc(n_cells + 1, sizeof(FrozenCell))
        while not direct and (<int64_t>5 << size) < 8 * (n_rows + 1):
            size += 1
        if t.starts == NULL or t.cells == NULL or (not direct and index_open(
                &t.index, int.from_bytes(os.urandom(8), "little"), size) < 0):
            raise MemoryLimitError("no memory for the model's weights")
        with nogil:
            for i in range(n_cells):
                t.cells[i].label = label_view[i]
                t.cells[i].weight = weight_view[i]
            for i in range(n_rows):
                if direct:
                    row = <int64_t>key_view[i]
                    t.starts[row + 1] = <uint32_t>(start_view[i + 1] - start_view[i])
                else:
                    row = index_insert(&t.index, key_view[i])
                    t.starts[i + 1] = <uint32_t>start_view[i + 1]
                    if row != i:
                        break
            if direct:
                for i in range(table_rows):
                    t.starts[i + 1] += t.starts[i]
        if not direct and t.index.n != n_rows:
            if row < 0:
                raise MemoryLimitError("no memory for the model's index")
            raise ArgumentError(f"keys: row {row} and row {i} have the same key")

    def _layout(self):
        """Sum slots of one column and offset into one vector; conditions become corrections."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        cdef int32_t s, condition
        l.program = p
        l.table = &self.table
        l.dense = self.table.n_labels <= DENSE_LABELS
        l.stride = (self.table.n_labels + 7) // 8 * 8
        l.vectors = <VectorSlot *>calloc(2 * p.n_slots + 1, sizeof(VectorSlot))
        l.slot_vector = <int32_t *>malloc((p.n_slots + 1) * sizeof(int32_t))
        l.slot_correction = <int32_t *>malloc((p.n_slots + 1) * sizeof(int32_t))
        l.slot_sign = <int *>malloc((p.n_slots + 1) * sizeof(int))
        if (l.vectors == NULL or l.slot_vector == NULL or l.slot_correction == NULL
                or l.slot_sign == NULL):
            raise MemoryError
        numbers = {}
        for s in range(p.n_slots):
            condition = p.slots[s].condition
            place = (p.slots[s].column, p.slots[s].offset)
            plain = condition in (COND_ALWAYS, COND_NOT_FIRST, COND_NOT_LAST)
            l.slot_vector[s] = numbers.setdefault((*place, COND_ALWAYS), len(numbers)) \
                if plain else -1
            l.slot_correction[s] = -1
            l.slot_sign[s] = 1 if condition in (COND_FIRST, COND_LAST) else -1
            if condition != COND_ALWAYS:
                marked = COND_FIRST if condition in (COND_FIRST, COND_NOT_FIRST) else COND_LAST
                l.slot_correction[s] = numbers.setdefault((*place, marked), len(numbers))
        for (column, offset, condition), number in numbers.items():
            l.vectors[number].column = column
            l.vectors[number].offset = offset
            l.vectors[number].condition = condition
        l.n_vectors = len(numbers)

    def _dictionary(self, dictionary):
        cdef CacheLayout *l = &self.decoder.layout
        cdef const unsigned char[::1] view
        l.dictionary_labels = <uint16_t *>calloc(len(dictionary) + 1, sizeof(uint16_t))
        if l.dictionary_labels == NULL or index_open(
                &l.dictionary, int.from_bytes(os.urandom(8), "little"), 6) < 0:
            raise MemoryError
        for word, label in dictionary.items():
            row = index_insert(&l.dictionary, hash64(word))
            if row < 0:
                raise MemoryError
            l.dictionary_labels[row] = label

    def _history(self):
        """Sort the history templates by how they can be looked up, and sum those of tags alone."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        tags, memos, others = [], [], []
        for k in range(p.n_history):
            template = p.history_templates[k]
            if self.parts is not None:
                others.append(template)
            elif l.dense and self._only_tags(template, 2):
                tags.append(template)
            elif l.dense and self._word_and_tag(template):
                memos.append(template)
            else:
                others.append(template)
        l.n_memos = len(memos)
        self.decoder.n_open = len(others)
        self.decoder.memo_templates = <int32_t *>malloc((len(memos) + 1) * sizeof(int32_t))
        self.decoder.open_templates = <int32_t *>malloc((len(others) + 1) * sizeof(int32_t))
        if self.decoder.memo_templates == NULL or self.decoder.open_templates == NULL:
            raise MemoryError
        for k, template in enumerate(memos):
            self.decoder.memo_templates[k] = template
        for k, template in enumerate(others):
            self.decoder.open_templates[k] = template
        if tags:
            self._tag_table(tags)

    def _only_tags(self, int32_t template, int32_t deepest):
        cdef const Program *p = &self.program.program
        cdef int32_t a
        for a in range(p.atom_starts[template], p.atom_starts[template + 1]):
            if p.atoms[a].kind != ATOM_TAG or p.atoms[a].value > deepest:
                return False
        return True

    def _word_and_tag(self, int32_t template):
        """Is it made of tag[-1] and of values of the word itself, and nothing else?"""
        cdef const Program *p = &self.program.program
        cdef int32_t a
        cdef const AtomSpec *atom
        for a in range(p.atom_starts[template], p.atom_starts[template + 1]):
            atom = &p.atoms[a]
            if atom.kind == ATOM_TAG and atom.value == 1:
                continue
            if atom.kind != ATOM_VALUE or atom.offset or p.value_column[atom.value]:
                return False
        return True

    def _tag_table(self, templates):
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        cdef int64_t n = self.table.n_labels + 1, one, two, row
        cdef int32_t a
        self.decoder.tag_table = <int32_t *>calloc(n * n * l.stride, sizeof(int32_t))
        if self.decoder.tag_table == NULL:
            raise MemoryError
        for template in templates:
            steps = [p.atoms[a].value
                     for a in range(p.atom_starts[template], p.atom_starts[template + 1])]
            for one in range(n):
                for two in range(n):
                    past = (0, self.decoder.label_hashes[one], self.decoder.label_hashes[two])
                    key = hash_words([past[k] for k in steps], p.seeds[template])
                    row = frozen_find(&self.table, key)
                    if row >= 0:
                        frozen_add(&self.table, row,
                                   self.decoder.tag_table + (one * n + two) * l.stride)

    cdef WorkerBox take(self):
        """A worker that no other thread has; give it back by appending it to `idle`."""
        cdef WorkerBox box
        try:
            return self.idle.pop()
        except IndexError:
            box = WorkerBox()
            box.worker.cache.limit = self.cache_limit
            box.worker.cache.secret[0] = int.from_bytes(os.urandom(8), "little")
            box.worker.cache.secret[1] = int.from_bytes(os.urandom(8), "little")
            return box

    def tag(self, list sentences not None):
        """Label sentences.

        Parameters
        ----------
        sentences : list of sentences; each is a list or tuple of str, or, where the templates
            look at further columns, a tuple of one such list per column of the program

        Returns
        -------
        list of lists of str, one label a token
        """
        cdef WorkerBox box = self.take()
        cdef Py_ssize_t at = 0, n = len(sentences)
        out = []
        try:
            while at < n:
                at = self._fill(&box.worker, sentences, at)
                self._run(&box.worker)
                self._collect(&box.worker, out)
        finally:
            self.idle.append(box)
        return out

    def tag_with_scores(self, sentence):
        """Label one sentence; returns (label numbers uint16[n], scores int32[n, n_labels])."""
        cdef WorkerBox box = self.take()
        cdef Worker *w = &box.worker
        try:
            w.keep_scores = 1
            self._fill(w, [sentence], 0)
            self._run(w)
            labels = np.empty(w.n_tokens, np.uint16)
            scores = np.zeros((w.n_tokens, len(self.labels)), np.int32)
            self._copy_scores(w, labels, scores)
        finally:
            w.keep_scores = 0
            self.idle.append(box)
        return labels, scores

    def score(self, keys, values=None):
        """Scores of features given by their keys, in units of 1 / scale.

        Parameters
        ----------
        keys : uint64[n]
        values : float64[n], or None for 1 each

        Returns
        -------
        float64[n_labels]
        """
        cdef const uint64_t[::1] k = np.append(np.asarray(keys, np.uint64), np.uint64(0))
        cdef const double[::1] v = None
        cdef int64_t i, row, c
        cdef FrozenTable *t = &self.table
        out = np.zeros(t.n_labels)
        cdef double[::1] scores = out
        if values is not None:
            v = np.ascontiguousarray(values, np.float64)
        for i in range(k.shape[0] - 1):
            row = frozen_find(t, k[i])
            if row < 0:
                continue
            for c in range(t.starts[row], t.starts[row + 1]):
                scores[t.cells[c].label] += t.cells[c].weight * (1.0 if v is None else v[i])
        return out

    @property
    def cache_counts(self):
        """(hits, misses, types held) summed over the workers that are idle."""
        cdef WorkerBox box
        hits = misses = held = 0
        for box in self.idle:
            hits += box.worker.cache.hits
            misses += box.worker.cache.misses
            held += box.worker.cache.n_types
        return hits, misses, held

    cdef int _copy_scores(self, Worker *w, labels, scores) except -1:
        cdef uint16_t[::1] label_view = labels
        cdef int32_t[:, ::1] score_view = scores
        cdef int64_t i
        cdef int32_t k
        cdef int32_t *found
        cdef int32_t[::1] nodes = np.zeros(
            1 if self.parts is None else self.parts.parts.n_nodes, np.int32)
        for i in range(w.n_tokens):
            label_view[i] = w.labels[i]
            found = w.scores + i * self.decoder.layout.stride
            if self.parts is not None:
                whole_label_scores(&self.parts.parts, found, &nodes[0], &score_view[i, 0])
                continue
            for k in range(self.table.n_labels):
                score_view[i, k] = found[k]
        return 0

    cdef int _run(self, Worker *w) except -1:
        cdef int status
        with nogil:
            status = run_batch(&self.decoder, w)
        if status < 0:
            # What is cached may be half made; the next batch starts afresh.
            w.cache.n_types = w.cache.limit
            raise MemoryLimitError("no memory to label these sentences; give fewer at a time")
        return 0

    cdef Py_ssize_t _fill(self, Worker *w, list sentences, Py_ssize_t at) except -1:
        """Copy sentences from number `at` on into the batch; the number after the last."""
        cdef Py_ssize_t n = len(sentences)
        worker_reset(w)
        while at < n and w.n_tokens < BATCH_TOKENS and w.text_used < BATCH_BYTES:
            if self.program.program.n_columns == 1:
                self._fill_words(w, sentences[at], at)
            else:
                self._fill_columns(w, sentences[at], at)
            if worker_end_sentence(w) < 0:
                raise MemoryLimitError("no memory for these sentences; give fewer at a time")
            at += 1
        return at

    cdef int _fill_words(self, Worker *w, sentence, Py_ssize_t at) except -1:
        cdef list words
        if type(sentence) is list:
            words = <list>sentence
        elif isinstance(sentence, (str, bytes)):
            raise ArgumentTypeError(
                f"sentences[{at}]: a list of words is needed, not one {type(sentence).__name__};"
                " split the text first")
        else:
            words = _as_list(sentence, at)
        cdef Py_ssize_t i = 0
        while i < PyList_GET_SIZE(words):
            self._string(w, 0, <object>PyList_GET_ITEM(words, i), at, i)
            i += 1
        return 0

    cdef int _fill_columns(self, Worker *w, sentence, Py_ssize_t at) except -1:
        cdef Py_ssize_t i
        cdef int32_t c
        columns = [_as_list(column, at) for column in sentence]
        if len(columns) != self.program.program.n_columns:
            raise ArgumentError(
                f"sentences[{at}]: {self.program.program.n_columns} columns are needed,"
                f" not {len(columns)}")
        if len(set(map(len, columns))) > 1:
            raise ArgumentError(
                f"sentences[{at}]: its columns have {', '.join(str(len(c)) for c in columns)}"
                " values; all must have the same number")
        for i in range(len(columns[0])):
            for c in range(len(columns)):
                self._string(w, c, columns[c][i], at, i)
        return 0

    cdef int _string(self, Worker *w, int32_t column, word, Py_ssize_t at,
                     Py_ssize_t i) except -1:
        cdef Py_ssize_t n, k
        cdef uint8_t *out
        cdef uint8_t *start
        if not isinstance(word, str):
            raise ArgumentTypeError(
                f"sentences[{at}][{i}]: a str is needed, not {type(word).__name__}")
        n = PyUnicode_GET_LENGTH(word)
        out = worker_text(w, n if ASCII_TEXT(word) else 4 * n)
        if out == NULL:
            raise MemoryLimitError("no memory for these sentences; give fewer at a time")
        if ASCII_TEXT(word):
            memcpy(out, PyUnicode_DATA(word), n)
        else:
            start = out
            for k in range(n):
                out += utf8_put(out, PyUnicode_READ(PyUnicode_KIND(word), PyUnicode_DATA(word), k))
            n = out - start
        if worker_string(&self.decoder, w, column, n) < 0:
            raise MemoryLimitError("no memory for these sentences; give fewer at a time")
        return 0

    cdef int _collect(self, Worker *w, list out) except -1:
        cdef int64_t s, i
        cdef list tags
        cdef tuple labels = self.labels
        for s in range(w.n_sentences):
            tags = PyList_New(w.starts[s + 1] - w.starts[s])
            for i in range(w.starts[s], w.starts[s + 1]):
                label = labels[w.labels[i]]
                Py_INCREF(label)
                PyList_SET_ITEM(tags, i - w.starts[s], label)
            out.append(tags)
        return 0


cdef list _as_list(sentence, Py_ssize_t at):
    if isinstance(sentence, (str, bytes)):
        raise ArgumentTypeError(
            f"sentences[{at}]: a list of words is needed, not one {type(sentence).__name__};"
            " split the text first")
    try:
        return list(sentence)
    except TypeError:
        raise ArgumentTypeError(
            f"sentences[{at}]: a list of words is needed, not {type(sentence).__name__}") from None
