# cython: language_level=3, freethreading_compatible=True
"""Training sentences as numbers: what learners go over, epoch after epoch (Corpus in trainingset.pxd)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from perceptron_nlp._core.features.extract cimport (
    FeatureProgram, KeyBuffer, Program, WordScratch, TokenView, key_buffer_close, pad_values,
    token_key, type_slot_keys, type_values, word_scratch_close,
)
from perceptron_nlp._core.train.history cimport HistoryRows
from perceptron_nlp._core.table.weights cimport (
    Table, WeightTable, array_room, fetch_key, find, insert,
)
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

# Distinct strings, and tokens, between two looks at a bound on memory.
CHECKED = 4096
CHUNK = 1 << 15


cdef class TrainingSet:
    """Sentences of one training run: hashed once, then row numbers.

    Parameters
    ----------
    program : FeatureProgram
    table : WeightTable; every feature of a word, and of neighboring words, gets its row here
    strings : per column of the program, the distinct strings (list of bytes, UTF-8); the
        position of a string is its type number
    tokens : int32[n_tokens] per column; the type numbers of all sentences, one after the other
    lengths : int64[n_sentences]; tokens in each; where it is 0, there is nothing to learn
    gold : int32[n_tokens]; label numbers, -1 where there is none
    label_hashes : uint64[n_labels]
    forced : int32[number of forms]; the label that a form has without scoring, or -1
    min_count : a feature of the words seen less often than this is left out
    n_open : None, or a number of sentences: those after them bring no features of their own, and
        learn with those of the first ones; the strings of the first ones come first, too
    space : None for memory, or where arrays of all tokens lie: ``empty(n)`` returns an int32[n],
        and ``check()`` is called now and then and may raise

    Raises
    ------
    MemoryLimitError : there is no room for the features
    """

    def __cinit__(self, FeatureProgram program not None, WeightTable table not None, *, strings,
                  tokens, lengths, gold, label_hashes, forced, min_count=1, n_open=None,
                  space=None):
        self.program = program
        self.table = table
        self.alive = []
        self.n_sentences = len(lengths)
        self.longest = int(np.max(lengths, initial=0))
        offsets = np.cumsum([0, *(len(column) for column in strings)])
        self.offsets = offsets
        self.lengths = np.asarray(lengths, np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        self.space = space
        self.corpus.n_open = self.n_sentences if n_open is None else n_open
        if not 0 <= self.corpus.n_open <= self.n_sentences:
            raise ArgumentError(f"n_open: {n_open} is not between 0 and {self.n_sentences}")
        self.corpus.n_labels = len(label_hashes)
        self.corpus.label_hashes = self._uint64(label_hashes)
        n_types = offsets[-1] + 2 * program.program.reach * program.program.n_columns
        self.corpus.forced = self._int32(
            np.concatenate([forced, np.full(n_types - len(forced), -1)]))
        self._lay_out(tokens, gold)
        open_types = [len(column) for column in strings]
        if self.corpus.n_open < self.n_sentences:
            n_open_tokens = self.starts[self.corpus.n_open]
            open_types = [int(np.max(own[:n_open_tokens], initial=-1)) + 1 for own in tokens]
        starts, rows = self._make_slots(strings, int(n_types), open_types)
        static = self._make_static()
        if min_count > 1:
            self._leave_out_rare(self._counts(starts, rows, static) >= min_count, starts, rows,
                                 static)
        self._keep_rows(starts, rows)

    cdef HistoryRows history_rows(self):
        """What remembers the rows of its history templates."""
        if self.history is None:
            self.history = HistoryRows(
                self.program, self.table, self.corpus.n_labels, self.carried)
        return self.history

    cdef const int32_t *_int32(self, array) except NULL:
        """A pointer to the array, which lives as long as this object; some numbers come after."""
        whole = np.append(np.ascontiguousarray(array, np.int32), np.zeros(COPIED, np.int32))
        cdef int32_t[::1] view = whole
        self.alive.append(whole)
        return &view[0]

    cdef const int64_t *_int64(self, array) except NULL:
        whole = np.append(np.ascontiguousarray(array, np.int64), np.int64(0))
        cdef int64_t[::1] view = whole
        self.alive.append(whole)
        return &view[0]

    cdef const uint64_t *_uint64(self, array) except NULL:
        whole = np.append(np.ascontiguousarray(array, np.uint64).reshape(-1), np.uint64(0))
        cdef uint64_t[::1] view = whole
        self.alive.append(whole)
        return &view[0]

    cdef const int32_t *_pointer(self, whole) except NULL:
        """A pointer to an array, which lives as long as this object."""
        cdef const int32_t[::1] view = whole
        self.alive.append(whole)
        return &view[0]

    def _empty(self, n):
        """An int32[n + COPIED] for all tokens, of which the last numbers are 0."""
        whole = (np.empty(n + COPIED, np.int32) if self.space is None
                 else self.space.empty(n + COPIED))
        whole[n:] = 0
        return whole

    def _chunks(self):
        """The sentences from one number to before another, and their tokens, some at a time."""
        first = 0
        while first < self.n_sentences:
            begin = self.starts[first]
            last = int(np.searchsorted(self.starts, begin + CHUNK, "right")) - 1
            last = min(max(first + 1, last), self.n_sentences)
            yield first, last, begin, self.starts[last]
            if self.space is not None:
                self.space.check()
            first = last

    def _lay_out(self, tokens, gold):
        """Type numbers with pads on either side of each sentence; pads are types of their own.

        All columns share one count of types: the strings of each column, then for each column
        its left pads (distance 1, 2, …) and its right pads.
        """
        offsets, reach = self.offsets, self.program.program.reach
        n_columns = self.program.program.n_columns
        padded_starts = np.arange(self.n_sentences) * 2 * reach + reach + self.starts[:-1]
        n_padded = int(self.starts[-1]) + 2 * reach * self.n_sentences
        laid_out = [self._empty(n_padded) for _ in range(n_columns)]
        own_gold = self._empty(int(self.starts[-1]))
        for first, last, begin, end in self._chunks():
            own_gold[begin:end] = gold[begin:end]
            places, lengths = padded_starts[first:last], self.lengths[first:last]
            own = np.repeat(places - self.starts[first:last], lengths) + np.arange(begin, end)
            for c in range(n_columns):
                padded = laid_out[c]
                padded[own] = tokens[c][begin:end] + offsets[c]
                first_pad = offsets[-1] + 2 * reach * c
                for distance in range(1, reach + 1):
                    padded[places - distance] = first_pad + distance - 1
                    padded[places + lengths - 1 + distance] = first_pad + reach + distance - 1
        for c in range(n_columns):
            self.type_pointers[c] = self._pointer(laid_out[c])
        self.laid_out = laid_out
        self.corpus.gold = self._pointer(own_gold)
        self.corpus.types = self.type_pointers
        self.padded_starts = padded_starts
        self.corpus.padded_starts = self._int64(padded_starts)
        self.corpus.token_starts = self._int64(self.starts)

    cdef int64_t _row(self, uint64_t key, uint16_t group, bint is_open) except -2:
        """The row of a feature, made if it is new; -1 where it is and must not be made."""
        cdef int64_t row
        if not is_open:
            return find(&self.table.table, key)
        row = insert(&self.table.table, key, group)
        if row < 0:
            raise MemoryLimitError("no memory for the features")
        return row

    def _make_slots(self, strings, int64_t n_types, open_types):
        """Rows of every slot of every type, and the values that other templates need of it.

        Of each column, the strings after the first so many (open_types) make no rows.
        """
        cdef const Program *p = &self.program.program
        cdef WordScratch scratch
        cdef KeyBuffer buffer
        cdef int32_t s, v, distance
        cdef int64_t type_id = 0, row
        cdef size_t k
        cdef bint is_open
        cdef const unsigned char[::1] text
        carried = np.zeros((n_types, p.n_carried), np.uint64)
        cdef uint64_t[:, ::1] carried_view = carried
        cdef uint64_t[::1] values = np.zeros(p.n_values + 1, np.uint64)
        starts = np.zeros((p.n_slots, n_types + 1), np.int32)
        cdef int32_t[:, ::1] start_view = starts
        rows = [_Rows() for _ in range(p.n_slots)]
        memset(&scratch, 0, sizeof(scratch))
        memset(&buffer, 0, sizeof(buffer))
        try:
            for column, string, distance, is_open in _types(strings, open_types, p.reach):
                if self.space is not None and type_id % CHECKED == 0:
                    self.space.check()
                if string is None:
                    pad_values(p, distance, &values[0])
                else:
                    text = string + b"\0"
                    if type_values(p, &scratch, column, &text[0], text.shape[0] - 1,
                                   &values[0]) < 0:
                        raise MemoryLimitError(f"no memory for a word of {len(string)} bytes")
                for v in range(p.n_values):
                    if p.carried_at[v] >= 0 and p.value_column[v] == column:
                        carried_view[type_id, p.carried_at[v]] = values[v]
                for s in range(p.n_slots):
                    if p.slots[s].column == column:
                        buffer.n = 0
                        if type_slot_keys(p, &p.slots[s], &values[0],
                                          NULL if string is None else &scratch, &buffer) < 0:
                            raise MemoryLimitError("no memory for the features")
                        for k in range(buffer.n):
                            row = self._row(buffer.keys[k], buffer.groups[k], is_open)
                            if row >= 0:
                                (<_Rows>rows[s]).push(<int32_t>row)
                    start_view[s, type_id + 1] = (<_Rows>rows[s]).n
                type_id += 1
        finally:
            word_scratch_close(&scratch)
            key_buffer_close(&buffer)
        self.carried = carried
        self.corpus.carried = self._uint64(carried)
        return starts, [(<_Rows>r).array() for r in rows]

    def _keep_rows(self, starts, rows):
        """Keep the rows of all slots of a type together: whoever visits a token has just been at
        its neighbors, and looked at the rows of the same types.
        """
        cdef Py_ssize_t n_slots = len(rows), s
        counts = np.diff(starts)
        firsts = np.concatenate([[0], np.cumsum(counts.T.reshape(-1))])
        merged = np.empty(firsts[-1], np.int32)
        self.most_rows = self.program.program.n_static + self.program.program.n_history + COPIED
        for s in range(n_slots):
            moved = firsts[s:len(firsts) - 1:n_slots] - starts[s][:-1]
            merged[np.repeat(moved, counts[s]) + np.arange(len(rows[s]))] = rows[s]
            self.most_rows += int(np.max(counts[s], initial=0))
        self.corpus.slot_starts = self._int32(firsts)
        self.corpus.slot_rows = self._int32(merged)

    def _make_static(self):
        """Rows of the templates that look at several words, token by token."""
        cdef const Program *p = &self.program.program
        cdef Table *t = &self.table.table
        cdef Corpus *corpus = &self.corpus
        cdef int64_t sentence, i, begin, n, place, row = 0, one, end
        cdef int32_t k, c
        cdef uint16_t group
        cdef const int32_t *types[64]
        cdef TokenView view
        rows = self._empty(int(self.starts[-1]) * p.n_static)
        cdef int32_t[::1] row_view = rows
        cdef uint64_t[::1] keys = np.empty(self.longest * p.n_static + 1, np.uint64)
        view.types = types
        view.carried = corpus.carried
        view.past = NULL
        for first, last, _, _ in self._chunks() if p.n_static else ():
            one, end = first, last
            with nogil:
                for sentence in range(one, end):
                    begin = corpus.token_starts[sentence]
                    n = corpus.token_starts[sentence + 1] - begin
                    for i in range(n):
                        place = corpus.padded_starts[sentence] + i
                        for c in range(p.n_columns):
                            types[c] = corpus.types[c] + place
                        view.first = i == 0
                        view.last = i == n - 1
                        for k in range(p.n_static):
                            keys[i * p.n_static + k] = token_key(p, p.static_templates[k], &view)
                            fetch_key(t, keys[i * p.n_static + k])
                    # All keys first, so that one row's way is not waited for before the next is
                    # known.
                    for i in range(n * p.n_static):
                        group = <uint16_t>p.static_templates[i % p.n_static]
                        row = (insert(t, keys[i], group) if sentence < corpus.n_open
                               else find(t, keys[i]))
                        row_view[begin * p.n_static + i] = <int32_t>row
                        if row < 0:
                            corpus.is_thinned = True
                            if sentence < corpus.n_open:
                                break
                    if row < 0 and sentence < corpus.n_open:
                        break
            if row < 0 and sentence < corpus.n_open:
                raise MemoryLimitError("no memory for the features")
        self.corpus.static_rows = self._pointer(rows)
        return rows

    def _counts(self, starts, rows, static):
        """How often each row comes up: int64[n_rows]."""
        cdef const Program *p = &self.program.program
        counts = np.zeros(self.table.n_rows, np.int64)
        for s in range(p.n_slots):
            seen = np.zeros(starts.shape[1] - 1, np.int64)
            laid_out = self.laid_out[p.slots[s].column]
            for first, last, begin, end in self._chunks():
                lengths = self.lengths[first:last]
                own = np.repeat(self.padded_starts[first:last] - self.starts[first:last], lengths)
                own += np.arange(begin, end)
                is_first = np.zeros(len(own), bool)
                is_first[self.starts[first:last][lengths > 0] - begin] = True
                is_last = np.zeros(len(own), bool)
                is_last[self.starts[first + 1:last + 1][lengths > 0] - 1 - begin] = True
                chosen = {1: ~is_first, 2: is_first, 3: ~is_last, 4: is_last}.get(
                    p.slots[s].condition, slice(None))
                np.add.at(seen, laid_out[own[chosen] + p.slots[s].offset], 1)
            np.add.at(counts, rows[s], np.repeat(seen, np.diff(starts[s])))
        for _, _, begin, end in self._chunks():
            own = static[begin * p.n_static:end * p.n_static]
            np.add.at(counts, own[own >= 0], 1)
        return counts

    def _leave_out_rare(self, often, starts, rows, static):
        """Leave out of starts, rows and the static rows what is not often."""
        cdef const Program *p = &self.program.program
        for s in range(len(rows)):
            wanted = often[rows[s]]
            starts[s] = np.concatenate([[0], np.cumsum(wanted)])[starts[s]]
            rows[s] = rows[s][wanted]
        # What was left out before, -1, is so again.
        kept_rows = np.append(often, False)
        for _, _, begin, end in self._chunks():
            own = static[begin * p.n_static:end * p.n_static]
            own[~kept_rows[own]] = -1
            self.corpus.is_thinned |= bool(np.min(own, initial=0) < 0)


def _types(strings, open_types, reach):
    """Column, string, distance and whether it makes rows, of every type; pads have no string, and
    are beside every word that there is."""
    cdef bint are_words = any(open_types)
    for c, column in enumerate(strings):
        for number, string in enumerate(column):
            yield c, string, 0, number < open_types[c]
    for c in range(len(strings)):
        for sign in (-1, 1):
            for d in range(1, reach + 1):
                yield c, None, sign * d, are_words


cdef class _Rows:
    """A growing list of row numbers."""

    cdef int32_t *items
    cdef Py_ssize_t n
    cdef size_t room

    def __dealloc__(self):
        free(self.items)

    cdef int push(self, int32_t row) except -1:
        if array_room(&self.items, &self.room, self.n + 1, sizeof(int32_t)) < 0:
            raise MemoryLimitError("no memory for the features")
        self.items[self.n] = row
        self.n += 1
        return 0

    def array(self):
        """What was pushed, as int32[n]."""
        if self.n == 0:
            return np.empty(0, np.int32)
        return np.asarray(<int32_t[:self.n]> self.items).copy()
