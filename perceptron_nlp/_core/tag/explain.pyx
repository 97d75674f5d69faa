# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""One sentence taken apart: each feature of each word by itself, with the row of its weights.

Nothing here uses what tagging keeps to be fast (sums of types and pairs, tables of labels, 16-bit
lanes): features are made one by one from words.h and program.h, and looked up one by one."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport realloc, free
from libc.string cimport memset

from perceptron_nlp._core.tag.decode cimport SentenceDecoder
from perceptron_nlp._core.features.extract cimport (
    ATOM_VALUE, KeyBuffer, MAX_COLUMNS, MAX_HISTORY, Program, SlotSpec, TokenView, WordScratch,
    is_many, key_buffer_close, pad_values, slot_applies, token_key, type_slot_keys, type_values,
    word_scratch_close,
)
from perceptron_nlp._core.model.frozenmodel cimport (
    FrozenCell, frozen_add, frozen_cells, frozen_find,
)
from perceptron_nlp._core.model.labelparts cimport whole_label_scores
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "features/words.h" nogil:
    ctypedef struct View:
        uint8_t *text
        uint32_t n
    ctypedef struct Seen "WordScratch":
        View *views
    const int N_VIEWS
    int word_views(Seen *s, const uint8_t *text, size_t n, uint32_t wanted) noexcept
    uint32_t view_at(const Seen *s, const View *v, uint32_t i) noexcept

ctypedef struct Found:
    int32_t template
    int32_t gram
    int64_t row
    uint64_t key

ctypedef struct FoundBuffer:
    Found *items
    size_t n
    size_t room


def views_of(text not None):
    """All views of one string, in the order of features.atoms.VIEWS.

    Parameters
    ----------
    text : bytes (UTF-8; a lone surrogate is three bytes)

    Returns
    -------
    list of bytes: the texts whose hashes stand for the string in features
    """
    cdef WordScratch scratch
    cdef Seen *seen = <Seen *><void *>&scratch
    cdef const unsigned char[::1] view = text + b"\0"
    cdef int32_t v
    memset(&scratch, 0, sizeof(scratch))
    try:
        if word_views(seen, &view[0], view.shape[0] - 1, <uint32_t>(1 << N_VIEWS) - 1) < 0:
            raise MemoryLimitError("no memory for this word")
        return [seen.views[v].text[:view_at(seen, &seen.views[v], seen.views[v].n)]
                for v in range(N_VIEWS)]
    finally:
        word_scratch_close(&scratch)


cdef class SentenceFeatures:
    """The features of one sentence under a model.

    Parameters
    ----------
    decoder : the model
    columns : for each column of the decoder's program a sequence of bytes, one string a word

    Raises
    ------
    ArgumentError : another number of columns, or columns of unlike lengths
    """

    cdef SentenceDecoder decoder
    cdef const Program *program
    cdef int64_t n, padded
    cdef int32_t width, n_labels
    cdef list columns
    cdef object arrays, still
    cdef uint64_t[::1] values
    cdef uint64_t[::1] carried
    cdef int32_t[::1] types
    cdef const uint64_t[::1] label_hashes
    cdef uint8_t[::1] many
    cdef WordScratch scratch
    cdef KeyBuffer keys
    cdef FoundBuffer found
    cdef bint weightless

    def __cinit__(self, SentenceDecoder decoder not None, columns):
        memset(&self.scratch, 0, sizeof(self.scratch))
        memset(&self.keys, 0, sizeof(self.keys))
        memset(&self.found, 0, sizeof(self.found))
        self.decoder = decoder
        self.program = &decoder.program.program
        self.columns = [list(column) for column in columns]
        self.n_labels = len(decoder.labels)
        self.width = decoder.table.n_labels
        self.label_hashes = decoder.label_hash_array
        if len(self.columns) != self.program.n_columns:
            raise ArgumentError(
                f"columns: {self.program.n_columns} are needed, not {len(self.columns)}")
        if len(set(map(len, self.columns))) > 1:
            raise ArgumentError("columns: all must have the same number of values")
        self.n = len(self.columns[0])
        self.padded = self.n + 2 * self.program.reach
        self._see()

    def __dealloc__(self):
        word_scratch_close(&self.scratch)
        key_buffer_close(&self.keys)
        free(self.found.items)

    cdef int _see(self) except -1:
        """All values of all words and pads, laid out as program.h wants them."""
        cdef const Program *p = self.program
        cdef int64_t places = p.n_columns * self.padded, q, i
        cdef int32_t c, v, k, s
        self.values = np.zeros(places * p.n_values + 1, np.uint64)
        self.carried = np.zeros(places * p.n_carried + 1, np.uint64)
        self.types = np.arange(places + 1, dtype=np.int32)
        self.many = np.zeros(p.n_slots + 1, np.uint8)
        for c in range(p.n_columns):
            for i in range(self.n):
                self._see_word(c, i)
            for k in range(1, p.reach + 1):
                q = c * self.padded + p.reach
                pad_values(p, -k, &self.values[(q - k) * p.n_values])
                pad_values(p, k, &self.values[(q + self.n - 1 + k) * p.n_values])
        for q in range(places):
            for v in range(p.n_values):
                if p.carried_at[v] >= 0:
                    self.carried[q * p.n_carried + p.carried_at[v]] = \
                        self.values[q * p.n_values + v]
        for s in range(p.n_slots):
            for k in range(p.slots[s].n_templates):
                self.many[s] |= self._has_many(p.slots[s].templates[k])
        return 0

    cdef bint _has_many(self, int32_t template):
        cdef const Program *p = self.program
        cdef int32_t a
        for a in range(p.atom_starts[template], p.atom_starts[template + 1]):
            if p.atoms[a].kind == ATOM_VALUE and is_many(&p.values[p.atoms[a].value]):
                return True
        return False

    cdef int _see_word(self, int32_t column, int64_t i) except -1:
        """The values of a word into their place; its views stay in the scratch."""
        cdef const Program *p = self.program
        cdef bytes text = self.columns[column][i]
        cdef const unsigned char *start = text
        if type_values(p, &self.scratch, column, start, len(text),
                       &self.values[self._place(column, i) * p.n_values]) < 0:
            raise MemoryLimitError("no memory for this sentence")
        return 0

    cdef int64_t _place(self, int32_t column, int64_t i):
        return column * self.padded + self.program.reach + i

    cdef int _keep(self, int32_t template, int32_t gram, uint64_t key) except -1:
        """Take a feature up if the model has weights for it, or others are wanted, too."""
        cdef int64_t row = frozen_find(&self.decoder.table, key)
        cdef FoundBuffer *b = &self.found
        cdef Found *items
        if row < 0 and not self.weightless:
            return 0
        if b.n == b.room:
            items = <Found *>realloc(b.items, (2 * b.room + 256) * sizeof(Found))
            if items == NULL:
                raise MemoryLimitError("no memory for the features of this sentence")
            b.items = items
            b.room = 2 * b.room + 256
        b.items[b.n].template = template
        b.items[b.n].gram = gram
        b.items[b.n].row = row
        b.items[b.n].key = key
        b.n += 1
        return 0

    cdef int _view(self, int64_t i, const int32_t **types, TokenView *view) except -1:
        cdef int32_t c
        for c in range(self.program.n_columns):
            types[c] = &self.types[self._place(c, i)]
        view.types = types
        view.carried = &self.carried[0]
        view.first = i == 0
        view.last = i == self.n - 1
        return 0

    cdef int _keep_still(self, int64_t i) except -1:
        """The features of word i that no label takes part in."""
        cdef const Program *p = self.program
        cdef const SlotSpec *slot
        cdef const int32_t *types[MAX_COLUMNS]
        cdef TokenView view
        cdef int32_t s, gram
        cdef int64_t place
        cdef size_t k
        cdef bint is_pad
        self._view(i, types, &view)
        for s in range(p.n_slots):
            slot = &p.slots[s]
            if not slot_applies(slot.condition, view.first, view.last):
                continue
            place = i + slot.offset
            is_pad = place < 0 or place >= self.n
            if self.many[s] and not is_pad:
                self._see_word(slot.column, place)
            self.keys.n = 0
            if type_slot_keys(p, slot, &self.values[self._place(slot.column, place) * p.n_values],
                              NULL if is_pad else &self.scratch, &self.keys) < 0:
                raise MemoryLimitError("no memory for the features of this sentence")
            gram = 0
            for k in range(self.keys.n):
                gram = gram + 1 if k and self.keys.groups[k] == self.keys.groups[k - 1] else 0
                self._keep(self.keys.groups[k], gram, self.keys.keys[k])
        for s in range(p.n_static):
            self._keep(p.static_templates[s], 0, token_key(p, p.static_templates[s], &view))
        return 0

    cdef int _keep_history(self, int64_t i, const uint64_t *past) except -1:
        """The features of word i that the labels before it take part in."""
        cdef const Program *p = self.program
        cdef const int32_t *types[MAX_COLUMNS]
        cdef TokenView view
        cdef int32_t k
        self._view(i, types, &view)
        view.past = past
        for k in range(p.n_history):
            self._keep(p.history_templates[k], 0, token_key(p, p.history_templates[k], &view))
        return 0

    cdef void _add(self, size_t first, int32_t *sums):
        """The weights of the features from one on, added up."""
        cdef size_t k
        for k in range(first, self.found.n):
            if self.found.items[k].row >= 0:
                frozen_add(&self.decoder.table, self.found.items[k].row, sums)

    cdef object _whole(self, sums):
        """Scores of labels, where the sums may be those of their parts."""
        cdef int32_t[:, ::1] given, out
        cdef int32_t[::1] nodes
        cdef int64_t i
        if self.decoder.parts is None:
            return sums
        scores = np.zeros((len(sums), self.n_labels), np.int32)
        given, out = sums, scores
        nodes = np.zeros(self.decoder.parts.parts.parts.n + 1, np.int32)
        for i in range(given.shape[0]):
            whole_label_scores(&self.decoder.parts.parts, &given[i, 0], &nodes[0], &out[i, 0])
        return scores

    def fired(self, labels):
        """The features that the model has weights for, when the words are given these labels.

        Parameters
        ----------
        labels : int[n]: label numbers, in the order of the text; n_labels stands for none

        Returns
        -------
        (starts, templates, grams, rows, scores) : int64[n + 1], where each word's features begin;
            int32[m], the template of each; int32[m], which of the many values of its template it
            is (0 where there is one); int64[m], what `weights` takes; int32[n, n_labels], the sums
        """
        cdef int64_t i, k, before, step = 1 if self.decoder.decoder.right_to_left else -1
        cdef int64_t[::1] given = np.append(np.asarray(labels, np.int64), self.n_labels)
        cdef uint64_t past[MAX_HISTORY]
        cdef int32_t[:, ::1] sums
        cdef int64_t[::1] begins
        if given.shape[0] != self.n + 1:
            raise ArgumentError(f"labels: {given.shape[0] - 1} for {self.n} words")
        starts = np.zeros(self.n + 1, np.int64)
        scores = np.zeros((self.n, self.width + 1), np.int32)[:, :self.width].copy()
        begins, sums = starts, scores
        self.found.n = 0
        for i in range(self.n):
            for k in range(MAX_HISTORY):
                before = i + (k + 1) * step
                past[k] = self.label_hashes[
                    given[before] if 0 <= before < self.n else self.n_labels]
            self._keep_still(i)
            self._keep_history(i, past)
            self._add(<size_t>begins[i], &sums[i, 0])
            begins[i + 1] = <int64_t>self.found.n
        return (starts, *self._taken(), self._whole(scores))

    cdef object _taken(self):
        cdef size_t k
        cdef int32_t[::1] template, gram
        cdef int64_t[::1] row
        n = self.found.n
        templates, grams = np.empty(n, np.int32), np.empty(n, np.int32)
        rows = np.empty(n, np.int64)
        template, gram, row = templates, grams, rows
        for k in range(self.found.n):
            template[k] = self.found.items[k].template
            gram[k] = self.found.items[k].gram
            row[k] = self.found.items[k].row
        return templates, grams, rows

    def keyed(self, labels):
        """All features, with weights or without: starts, templates, grams as from `fired`, and
        uint64[m], their keys."""
        cdef size_t k
        self.weightless = True
        try:
            starts, templates, grams, _, _ = self.fired(labels)
        finally:
            self.weightless = False
        found = np.empty(self.found.n, np.uint64)
        cdef uint64_t[::1] out = found
        for k in range(self.found.n):
            out[k] = self.found.items[k].key
        return starts, templates, grams, found

    def weights(self, starts, rows, labels):
        """The weight of each feature for its word's label, of labels made of parts for all parts.

        Parameters
        ----------
        starts, rows : what `fired` gave
        labels : int[n]: label numbers; -1 for no label, for which all weights are 0

        Returns
        -------
        int32[m]
        """
        cdef const int64_t[::1] begins = starts, row_view = rows
        cdef const int64_t[::1] given = np.ascontiguousarray(labels, np.int64)
        cdef uint8_t[::1] wanted = np.zeros(self.width + 1, np.uint8)
        cdef FrozenCell[::1] cells = np.empty(
            self.decoder.table.n_labels, np.dtype([("label", np.uint16), ("weight", np.int16)]))
        cdef int64_t i, k
        cdef uint32_t c
        found = np.zeros(len(rows), np.int32)
        cdef int32_t[::1] out = found
        for i in range(self.n):
            if given[i] < 0:
                continue
            self._mark(given[i], &wanted[0], 1)
            for k in range(begins[i], begins[i + 1]):
                for c in range(frozen_cells(&self.decoder.table, row_view[k], &cells[0])):
                    if wanted[cells[c].label]:
                        out[k] += cells[c].weight
            self._mark(given[i], &wanted[0], 0)
        return found

    cdef void _mark(self, int64_t label, uint8_t *wanted, uint8_t value):
        cdef int32_t node
        if self.decoder.parts is None:
            wanted[label] = value
            return
        node = self.decoder.parts.parts.leaf[label]
        while node >= 0:
            wanted[self.decoder.parts.parts.parts.number[node]] = value
            node = self.decoder.parts.parts.parts.parent[node]

    def after(self, int64_t i, past):
        """What all labels score for a word after some labels.

        Parameters
        ----------
        i : the word, from 0
        past : numbers of labels, the last given first; none stands where it ends

        Returns
        -------
        int32[n_labels]
        """
        cdef uint64_t hashes[MAX_HISTORY]
        cdef int32_t k
        cdef int32_t[:, ::1] still
        cdef int32_t[::1] sums
        if not 0 <= i < self.n:
            raise ArgumentError(f"i: {i} is not a word of {self.n}")
        if self.still is None:
            self.still = np.zeros((self.n, self.width), np.int32)
            still = self.still
            for k in range(self.n):
                self.found.n = 0
                self._keep_still(k)
                self._add(0, &still[k, 0])
        for k in range(MAX_HISTORY):
            hashes[k] = self.label_hashes[past[k] if k < len(past) else self.n_labels]
        found = self.still[i].copy()
        sums = found
        self.found.n = 0
        self._keep_history(i, hashes)
        self._add(0, &sums[0])
        return self._whole(found[None])[0]
