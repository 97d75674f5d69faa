# cython: language_level=3, freethreading_compatible=True
"""Frozen models: weights, templates and what words are held to, made ready for tagging."""

import os
# threading takes longer to import than much text to tag.
from _thread import allocate_lock

cimport cython
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from perceptron_nlp._core.features.extract cimport (
    FeatureProgram, Program, draw_secret, no_label_hash, xxh64_words)
from perceptron_nlp._core.model.labelparts cimport LabelParts
from perceptron_nlp._core.features.extract import hash64
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

cdef extern from *:
    """
    enum { COND_ALWAYS, COND_NOT_FIRST, COND_FIRST, COND_NOT_LAST, COND_LAST };
    static int looks_around(const Program *p) {
        for (int32_t s = 0; s < p->n_slots; s++)
            if (p->slots[s].condition > COND_FIRST) return 1;
        for (int32_t a = 0; a < p->atom_starts[p->n_templates]; a++)
            if (p->atoms[a].kind == ATOM_LAST) return 1;
        return p->reach || p->n_history;
    }
    """
    int looks_around(const Program *p)
    const int COND_ALWAYS
    const int COND_NOT_FIRST
    const int COND_FIRST
    const int COND_NOT_LAST
    const int COND_LAST

WIDEST_BEAM = MAX_BEAM


def allowed_bytes(allowed, n_labels):
    """A transition matrix, rows of truth values (see SentenceDecoder), as uint8[(n_labels + 1) ** 2];
    ArgumentError if it has another shape."""
    rows = [bytes(map(bool, row)) for row in allowed]
    if {len(rows), *map(len, rows)} != {n_labels + 1}:
        raise ArgumentError(
            f"allowed: a matrix of {n_labels + 1} by {n_labels + 1} is needed for {n_labels} labels")
    return memoryview(b"".join(rows))


@cython.no_gc
cdef class CacheMemory:
    """What the caches of a tagger may take together, of all columns, texts and threads.

    Every cache takes part with what one word costs it, and all hold as many words.

    Parameters
    ----------
    n_bytes : their bytes, at least 1
    """

    # With 48 MB the English model forgets the words of a text of 25,000 tokens before it is over:
    # tagged again in all columns, it took twice as long.
    def __cinit__(self, size_t n_bytes=64 << 20):
        self.share.bytes = n_bytes
        self.lock = allocate_lock()

    @property
    def n_bytes(self):
        """What all may take."""
        return self.share.bytes

    @property
    def n_words(self):
        """Words that each cache may hold now."""
        return shared_words(&self.share)

    cpdef CacheUse enter(self, size_t cost):
        """Take part with a cache to which a word costs so many bytes."""
        cdef CacheUse use = CacheUse()
        with self.lock:
            use.memory, use.cost = self, cost
            set_per_word(&self.share, self.share.per_word + cost)
        return use


@cython.no_gc
cdef class CacheUse:
    """A cache taking part in a CacheMemory, as long as this lives."""

    def __dealloc__(self):
        if self.memory is not None:
            with self.memory.lock:
                set_per_word(&self.memory.share, self.memory.share.per_word - self.cost)


cdef class FrozenModel:
    """A frozen model as the core tags with it: its weights laid out, its templates sorted by how
    they are looked up. What it is made of is what SentenceDecoder says, which is made of the same.

    Raises
    ------
    MemoryLimitError : no room for the model
    """

    def __cinit__(self, FeatureProgram program not None, *, keys, starts, cell_labels, weights,
                  labels, label_hashes, group_starts=None, table_bits=None, right_to_left=False,
                  dictionary=None, lexicon=None, beam=1, allowed=None, LabelParts parts=None,
                  CacheMemory memory=None, narrow=True, as_written=False):
        memset(&self.table, 0, sizeof(FrozenTable))
        memset(&self.decoder, 0, sizeof(Decoder))
        self.program = program
        self.labels = tuple(labels)
        self.memory = CacheMemory() if memory is None else memory
        self.decoder.layout.share = &self.memory.share
        self.decoder.layout.most_types = MOST_TYPES
        self.decoder.layout.as_written = as_written
        self.parts = parts
        if parts is not None:
            if parts.parts.n_labels != len(labels):
                raise ArgumentError(
                    f"parts: of {parts.parts.n_labels} labels, but there are {len(labels)}")
            self.decoder.parts = &parts.parts
        self._table(keys, starts, cell_labels, weights,
                    len(labels) if parts is None else parts.parts.n_parts, table_bits or 0)
        cdef int k
        for k in range(N_SECRETS):
            self.decoder.secrets[k] = draw_secret()
        cdef uint64_t[::1] hash_view = memoryview(bytearray(8 * (len(label_hashes) + 1))).cast("Q")
        for k in range(len(label_hashes)):
            hash_view[k] = label_hashes[k]
        hash_view[len(label_hashes)] = no_label_hash()
        self.label_hash_array = hash_view
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
        self._layout(narrow and group_starts is not None,
                     (group_starts, starts, cell_labels, weights))
        self._dictionary(dictionary or {})
        self._lexicon(lexicon or {})
        self.decoder.layout.forces = bool(dictionary) or bool(lexicon)
        self._pairs()
        self._history()
        if group_starts is not None and not self.table.direct:
            self._filters(keys, group_starts)
        choose_kernels(&self.decoder, os.environ.get("PERCEPTRON_NLP_PORTABLE") == "1")

    def __dealloc__(self):
        frozen_close(&self.table)
        index_close(&self.decoder.layout.dictionary)
        plan_close(&self.decoder.layout)
        free(self.decoder.layout.vectors)
        free(self.decoder.layout.slot_vector)
        free(self.decoder.layout.slot_correction)
        free(self.decoder.layout.slot_sign)
        free(self.decoder.layout.dictionary_labels)
        index_close(&self.decoder.layout.lexicon)
        free(self.decoder.layout.lexicon_labels)
        free(self.decoder.layout.masks)
        free(self.decoder.layout.transition_templates)
        transition_plan_close(&self.decoder.layout)
        free(self.decoder.pairs.templates)
        free(self.decoder.pairs.group_of)
        free(self.decoder.pairs.value_at)
        for filter in self.filters:
            free(filter.words)
        free(self.decoder.start)
        free(self.decoder.tag_table)
        free(self.decoder.static_templates)
        free(self.decoder.open_templates)

    def _table(self, keys, starts, cell_labels, weights, int32_t n_labels, int bits):
        cdef FrozenTable *t = &self.table
        cdef const uint64_t[::1] key_view = _buffer(keys, "uint64")
        cdef const int64_t[::1] start_view = _buffer(starts, "int64")
        cdef const uint16_t[::1] label_view = _buffer(cell_labels, "uint16")
        cdef const int16_t[::1] weight_view = _buffer(weights, "int16")
        cdef int64_t n_rows = key_view.shape[0], wrong, earlier = 0
        cdef uint64_t secret = draw_secret()
        if frozen_open(t, n_labels, bits, n_rows, label_view.shape[0]) < 0:
            raise MemoryLimitError("no memory for the model's weights")
        # There is no address of the first of nothing.
        if not n_rows or not label_view.shape[0]:
            return
        with nogil:
            wrong = frozen_fill(t, secret, &key_view[0], &start_view[0], &label_view[0],
                                &weight_view[0], n_rows)
        if wrong < 0:
            return
        while key_view[earlier] != key_view[wrong]:
            earlier += 1
        if earlier < wrong:
            raise ArgumentError(f"keys: row {earlier} and row {wrong} have the same key")
        raise ArgumentError(f"cell_labels: those of row {wrong} do not ascend within the {n_labels}"
                            " labels; sort the cells of each row, each label once")

    def _sums_fit(self, group_starts, starts, cell_labels, weights):
        """Does no sum of the features of all templates leave 16 bits, whatever the words?

        In a fixed table every template may meet every row.
        """
        cdef const Program *p = &self.program.program
        cdef const int64_t[::1] row_starts = _buffer(starts, "int64")
        cdef const uint16_t[::1] label_view = _buffer(cell_labels, "uint16")
        cdef const int16_t[::1] weight_view = _buffer(weights, "int16")
        cdef int64_t i, begin, end, times, n_labels = self.table.n_labels
        cdef const uint16_t *label
        cdef const int16_t *weight
        most = self.program.most_features
        groups = list(zip(group_starts, group_starts[1:], most))
        if len(group_starts) != p.n_templates + 1 or not all(most):
            return False
        if not label_view.shape[0]:
            return True
        label, weight = &label_view[0], &weight_view[0]
        # Weights of compressed models are so light that it does not matter which labels they are of.
        if sum(most) * heaviest(weight, weight_view.shape[0]) < 1 << 15:
            return True
        if self.table.fixed_bits:
            groups = [(0, row_starts.shape[0] - 1, sum(most))]
        # What the weights of each label are at least and at most, and the sums of these.
        cdef int32_t[::1] bounds = memoryview(bytearray(8 * n_labels)).cast("i")
        cdef int32_t *low = &bounds[0]
        cdef int32_t *high = low + n_labels
        cdef int64_t[::1] sums = memoryview(bytearray(16 * n_labels)).cast("q")
        for first_row, end_row, times in groups:
            begin, end = row_starts[first_row], row_starts[end_row]
            if not 0 <= begin <= end <= label_view.shape[0]:
                raise ArgumentError("group_starts, starts: they lead out of the cells")
            with nogil:
                memset(low, 0, 2 * n_labels * sizeof(int32_t))
                for i in range(begin, end):
                    if label[i] >= n_labels:
                        continue
                    if weight[i] < low[label[i]]:
                        low[label[i]] = weight[i]
                    if weight[i] > high[label[i]]:
                        high[label[i]] = weight[i]
                for i in range(2 * n_labels):
                    sums[i] += times * low[i]
        return max(max(sums), -min(sums)) < 1 << 15

    def _layout(self, narrow, rows):
        """Sum slots of one column and offset into one vector; conditions become corrections."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        cdef int32_t s, condition
        l.program = p
        l.table = &self.table
        l.dense = self.table.n_labels <= DENSE_LABELS
        l.stride = (self.table.n_labels + LANES - 1) // LANES * LANES
        l.narrow = narrow and l.dense and self.parts is None and self._sums_fit(*rows)
        l.vectors = <VectorSlot *>calloc(2 * p.n_slots + 1, sizeof(VectorSlot))
        l.slot_vector = <int32_t *>malloc((p.n_slots + 1) * sizeof(int32_t))
        l.slot_correction = <int32_t *>malloc((p.n_slots + 1) * sizeof(int32_t))
        l.slot_sign = <int *>malloc((p.n_slots + 1) * sizeof(int))
        if (l.vectors == NULL or l.slot_vector == NULL or l.slot_correction == NULL
                or l.slot_sign == NULL):
            raise MemoryError
        plain, marked = {}, {}
        for s in range(p.n_slots):
            condition = p.slots[s].condition
            place = (p.slots[s].column, p.slots[s].offset)
            if condition in (COND_ALWAYS, COND_NOT_FIRST, COND_NOT_LAST):
                plain.setdefault((*place, COND_ALWAYS), len(plain))
            if condition != COND_ALWAYS:
                marked.setdefault((*place, _mark_of(condition)), len(marked))
        numbers = plain | {place: len(plain) + number for place, number in marked.items()}
        for (column, offset, condition), number in numbers.items():
            l.vectors[number].column = column
            l.vectors[number].offset = offset
            l.vectors[number].condition = condition
        l.n_vectors = len(numbers)
        l.n_always = len(plain)
        for s in range(p.n_slots):
            condition = p.slots[s].condition
            place = (p.slots[s].column, p.slots[s].offset)
            l.slot_vector[s] = -1 if condition in (COND_FIRST, COND_LAST) else \
                numbers[(*place, COND_ALWAYS)]
            l.slot_correction[s] = -1 if condition == COND_ALWAYS else \
                numbers[(*place, _mark_of(condition))]
            l.slot_sign[s] = 1 if condition in (COND_FIRST, COND_LAST) else -1
        if plan_open(l) < 0:
            raise MemoryError
        self._start()

    def _start(self):
        """Labels start at 0; the pads after them are what no score can be below."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef int32_t k
        self.decoder.start = calloc(l.stride, sizeof(int32_t))
        if self.decoder.start == NULL:
            raise MemoryError
        for k in range(self.table.n_labels, l.stride if l.narrow else 0):
            (<int16_t *>self.decoder.start)[k] = -32768

    def _dictionary(self, dictionary):
        cdef CacheLayout *l = &self.decoder.layout
        cdef const unsigned char[::1] view
        l.dictionary_labels = <uint16_t *>calloc(len(dictionary) + 1, sizeof(uint16_t))
        if l.dictionary_labels == NULL or index_open(
                &l.dictionary, draw_secret(), 6) < 0:
            raise MemoryError
        for word, label in dictionary.items():
            row = index_insert(&l.dictionary, hash64(word))
            if row < 0:
                raise MemoryError
            l.dictionary_labels[row] = label

    def _lexicon(self, lexicon):
        cdef CacheLayout *l = &self.decoder.layout
        cdef int32_t n = len(self.labels), label
        # Found by strings, whose hash has a key; that of sets of numbers has none.
        sets = {}
        for labels in lexicon.values():
            if len(set(labels)) > 1:
                sets.setdefault(str(sorted(set(labels))), (len(sets), labels))
        l.n_labels = n
        l.lexicon_labels = <int32_t *>calloc(len(lexicon) + 1, sizeof(int32_t))
        l.masks = <uint8_t *>calloc(len(sets) * n + 1, 1)
        if l.lexicon_labels == NULL or l.masks == NULL or index_open(
                &l.lexicon, draw_secret(), 6) < 0:
            raise MemoryError
        for number, labels in sets.values():
            for label in labels:
                l.masks[number * n + label] = 1
        for form, labels in lexicon.items():
            if not labels or min(labels) < 0 or max(labels) >= n:
                raise ArgumentError(f"lexicon: {labels} are not numbers of the {n} labels")
            row = index_insert(&l.lexicon, hash64(form))
            if row < 0:
                raise MemoryError
            few = sorted(set(labels))
            l.lexicon_labels[row] = few[0] if len(few) == 1 else -2 - sets[str(few)][0]

    def _pairs(self):
        """Tell templates over two neighboring words from the others."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        cdef PairLayout *pairs = &self.decoder.pairs
        cdef int32_t k, number, left
        groups, others = {}, []
        for k in range(p.n_static):
            offset = None
            if is_pair(p, p.static_templates[k], &left):
                offset = left
            groups.setdefault(offset, []).append(p.static_templates[k])
        others += groups.pop(None, [])
        paired = sorted(groups)[:MAX_PAIR_GROUPS]
        count = sum(len(groups[offset]) for offset in paired)
        others += [k for offset in groups if offset not in paired for k in groups[offset]]
        self.decoder.static_templates = _numbers(others)
        self.decoder.n_static = len(others)
        pairs.templates = _numbers([k for offset in paired for k in groups[offset]])
        pairs.group_of = _numbers([g for g, offset in enumerate(paired) for _ in groups[offset]])
        pairs.n_templates = count
        pairs.n_groups = len(paired)
        for number, offset in enumerate(paired):
            pairs.offsets[number] = offset
        if pair_halves_open(pairs, l) < 0:
            raise MemoryError

    def _history(self):
        """Sort the history templates by how they can be looked up, and sum those of tags alone."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        tags, transitions, others = [], [], []
        for k in range(p.n_history):
            template = p.history_templates[k]
            if self.parts is not None:
                others.append(template)
            elif l.dense and is_of_tags(p, template, 2):
                tags.append(template)
            elif l.dense and is_of_word_and_tag(p, template):
                transitions.append(template)
            else:
                others.append(template)
        l.n_transitions = len(transitions)
        l.transition_templates = _numbers(transitions)
        if transition_plan_open(l, self.decoder.label_hashes) < 0:
            raise MemoryError
        self.decoder.n_open = len(others)
        self.decoder.open_templates = _numbers(others)
        if tags:
            self._tag_table(tags)

    def _filters(self, keys, group_starts):
        """Filters of the keys of templates over pairs, and over labels before; in a fixed table, whose
        rows are of no template, one of all keys."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef PairLayout *pairs = &self.decoder.pairs
        n = len(keys)
        spans = [(0, n)] * l.program.n_templates
        if not self.table.fixed_bits:
            spans = list(zip(group_starts, group_starts[1:]))
            if len(spans) != l.program.n_templates:
                return
            if any(not 0 <= a <= b <= n for a, b in spans):
                raise ArgumentError("group_starts: they lead out of the rows")
        pairs.filter = self._filter(keys, [spans[pairs.templates[k]]
                                           for k in range(pairs.n_templates)])
        if l.transitions_planned:
            l.transition_filter = self._filter(keys, [spans[l.transition_templates[k]]
                                                      for k in range(l.n_transitions)])
        self.decoder.open_filter = self._filter(keys, [spans[self.decoder.open_templates[k]]
                                                       for k in range(self.decoder.n_open)])

    cdef KeyFilter _filter(self, keys, list spans) except *:
        """A filter of some spans of the keys; that of a fixed table is made once."""
        cdef KeyFilter *filter = &self.filters[self.n_filters]
        cdef const uint64_t[::1] key_view = _buffer(keys, "uint64")
        cdef int64_t begin, end
        if self.n_filters and self.table.fixed_bits:
            return self.filters[0]
        spans = spans[:1] if self.table.fixed_bits else spans
        for begin, end in spans:
            if filter_add(filter, &self.table, sum(b - a for a, b in spans),
                          &key_view[begin] if begin < end else NULL, end - begin) < 0:
                raise MemoryError
        self.n_filters += 1
        return filter[0]

    def _tag_table(self, templates):
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        cdef int64_t n = self.table.n_labels + 1, one, two, row
        cdef int32_t a, number, n_steps
        cdef uint64_t past[8]
        cdef size_t vector = l.stride * (2 if l.narrow else 4)
        self.decoder.tag_table = calloc(n * n, vector)
        if self.decoder.tag_table == NULL:
            raise MemoryError
        for template in templates:
            number = template
            n_steps = p.atom_starts[number + 1] - p.atom_starts[number]
            for one in range(n):
                for two in range(n):
                    for a in range(n_steps):
                        past[a] = self.decoder.label_hashes[
                            one if p.atoms[p.atom_starts[number] + a].value == 1 else two]
                    row = frozen_find(&self.table, xxh64_words(past, n_steps, p.seeds[number]))
                    if row >= 0:
                        add_row(l, row,
                                <char *>self.decoder.tag_table + (one * n + two) * vector)

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
        # Here, since plain tagging does without NumPy.
        import numpy as np

        cdef const uint64_t[::1] k = np.append(np.asarray(keys, np.uint64), np.uint64(0))
        cdef const double[::1] v = None
        cdef int64_t i, row, c
        cdef FrozenTable *t = &self.table
        cells = np.empty(t.n_labels, np.dtype([("label", np.uint16), ("weight", np.int16)]))
        cdef FrozenCell[::1] r = cells
        out = np.zeros(t.n_labels)
        cdef double[::1] scores = out
        if values is not None:
            v = np.ascontiguousarray(values, np.float64)
        for i in range(k.shape[0] - 1):
            row = frozen_find(t, k[i])
            if row < 0:
                continue
            for c in range(frozen_cells(t, row, &r[0])):
                scores[r[c].label] += r[c].weight * (1.0 if v is None else v[i])
        return out

    @property
    def looks_around(self):
        """Do its templates look at other words, at labels, or for the end of a sentence?"""
        return bool(looks_around(&self.program.program))

    @property
    def narrow(self):
        """Are scores held in 16 bits?"""
        return bool(self.decoder.layout.narrow)

    @property
    def has_filters(self):
        """Is it known of most keys of pairs, and of words after labels, that no row has them?"""
        return (self.decoder.pairs.filter.words != NULL
                and self.decoder.layout.transition_filter.words != NULL)

    @property
    def has_halves(self):
        """Are keys of pairs put together of what either word has?"""
        return self.decoder.layout.n_halves > 0


cdef int64_t heaviest(const int16_t *weights, int64_t n) noexcept:
    """The weight that is furthest from 0, without its sign."""
    cdef int64_t i, most = 0
    for i in range(n):
        most = max(most, <int64_t>weights[i], -<int64_t>weights[i])
    return most


cdef int32_t _mark_of(int32_t condition):
    """FIRST for what depends on being first, LAST for what depends on being last."""
    return COND_FIRST if condition in (COND_FIRST, COND_NOT_FIRST) else COND_LAST


cdef _buffer(numbers, dtype):
    """Numbers as a buffer of this type, which a memoryview is already."""
    if isinstance(numbers, memoryview):
        return numbers
    # Here, since plain tagging does without NumPy.
    import numpy as np

    return np.ascontiguousarray(numbers, dtype)


cdef int32_t *_numbers(list numbers) except NULL:
    """A C array of the numbers, to be freed by the caller."""
    cdef Py_ssize_t i
    cdef int32_t *out = <int32_t *>malloc((len(numbers) + 1) * sizeof(int32_t))
    if out == NULL:
        raise MemoryError
    for i in range(len(numbers)):
        out[i] = numbers[i]
    return out
