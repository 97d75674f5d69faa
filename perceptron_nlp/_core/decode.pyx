# cython: language_level=3, freethreading_compatible=True
"""Sentence decoders: a frozen model that labels lists of strings, from any number of threads."""

import os

from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memset

from perceptron_nlp._core.extract cimport (
    ATOM_TAG, ATOM_VALUE, AtomSpec, is_many, no_label_hash,
)
from perceptron_nlp._core.labelparts cimport LabelParts, whole_label_scores
from perceptron_nlp._core.hashing cimport xxh64_words
from perceptron_nlp._core.hashing import hash64
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

cdef extern from *:
    """
    enum { COND_ALWAYS, COND_NOT_FIRST, COND_FIRST, COND_NOT_LAST, COND_LAST };
    """
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
WIDEST_BEAM = MAX_BEAM


def allowed_bytes(allowed, n_labels):
    """A transition matrix in the core's form.

    Parameters
    ----------
    allowed : n_labels + 1 rows of n_labels + 1 truth values; see SentenceDecoder

    Returns
    -------
    uint8[(n_labels + 1) ** 2]

    Raises
    ------
    ArgumentError : it has another shape
    """
    rows = [bytes(map(bool, row)) for row in allowed]
    if {len(rows), *map(len, rows)} != {n_labels + 1}:
        raise ArgumentError(
            f"allowed: a matrix of {n_labels + 1} by {n_labels + 1} is needed for {n_labels}"
            f" labels, not {len(rows)} rows of {', '.join(map(str, sorted({*map(len, rows)})))}")
    return memoryview(b"".join(rows))


cdef class WorkerBox:
    """The buffers and the cache of one thread at a time."""

    def __cinit__(self):
        memset(&self.worker, 0, sizeof(Worker))

    def __dealloc__(self):
        worker_close(&self.worker)


cdef class KeptSets:
    """Labels that words have already, each as the set of labels that it may stand for.

    Parameters
    ----------
    numbers : for each sentence, for each word: the number of a set; -1 where the word is to be
        labelled; -2 for a label that the model does not have, after which words are labelled as
        after none
    sets : for each set its label numbers, ascending, at least one

    Raises
    ------
    ArgumentError : a number of no set, or a set that is empty or not ascending
    """

    def __cinit__(self, numbers, sets):
        # Here, since plain tagging does without NumPy.
        import numpy as np

        self.numbers = [np.asarray(one, np.int32).reshape(-1) for one in numbers]
        self.n_sets = len(sets)
        for k, one in enumerate(sets):
            if not len(one) or any(b <= a for a, b in zip(one, one[1:])):
                raise ArgumentError(f"sets[{k}]: label numbers are needed, ascending")
        for k, one in enumerate(self.numbers):
            if len(one) and (one.min() < KEPT_UNKNOWN or one.max() >= self.n_sets):
                raise ArgumentError(
                    f"numbers[{k}]: a number is not between {KEPT_UNKNOWN} and {self.n_sets - 1}")
        self.start_array = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        self.label_array = np.array([n for one in sets for n in one] + [0], np.int32)


cdef class SentenceDecoder:
    """A frozen model ready to label sentences.

    Parameters
    ----------
    program : FeatureProgram
    keys, starts, cell_labels, weights : uint64[n_rows], int64[n_rows + 1], uint16[n_cells],
        int16[n_cells], arrays or memoryviews; as in FrozenWeights, weights in units of the
        model's scale
    group_starts : int64[n_templates + 1], the rows of each template; None if not known
    labels : sequence of str, by label number
    label_hashes : the hash of each label
    table_bits : None or int; as in FrozenWeights
    right_to_left : bool
    dictionary : mapping from word (bytes) to the label number that it always gets
    lexicon : mapping from form (bytes) to the numbers of the labels that it may get, one at least;
        a word that is not in it as it is written may be in it lower-cased, letter by letter. It
        goes before the dictionary, and before `allowed`
    beam : states kept in the search, 1 to 64; 1 is greedy
    allowed : None, or bool[n_labels + 1, n_labels + 1]: may the second label follow the first, in
        the order of reading; row n_labels is the start, column n_labels the end. Needs a beam
    parts : None, or what the labels are made of; then the cells' labels are numbers of parts, and
        beam is 1
    cache_limit : types remembered by each thread, at least 1
    narrow : use scores of 16 bits where group_starts shows that no sum can leave them, and there
        is no beam; the labels are the same

    With PERCEPTRON_NLP_PORTABLE=1 in the environment, plain C takes the place of the processor's
    vector instructions; the labels are the same.

    Raises
    ------
    MemoryLimitError : no room for the model
    """

    def __cinit__(self, FeatureProgram program not None, *, keys, starts, cell_labels, weights,
                  labels, label_hashes, group_starts=None, table_bits=None, right_to_left=False,
                  dictionary=None, lexicon=None, beam=1, allowed=None, LabelParts parts=None,
                  cache_limit=DEFAULT_CACHE_LIMIT, narrow=True):
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
        cdef int k
        for k in range(N_SECRETS):
            self.decoder.secrets[k] = int.from_bytes(os.urandom(8), "little")
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
        self._layout(
            narrow and beam == 1 and parts is None and group_starts is not None
            and self._sums_fit(group_starts, starts, cell_labels, weights))
        self._dictionary(dictionary or {})
        self._lexicon(lexicon or {})
        self.decoder.layout.forces = bool(dictionary) or bool(lexicon)
        self._pairs()
        self._history()
        choose_form(&self.decoder, os.environ.get("PERCEPTRON_NLP_PORTABLE") == "1")

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
        free(self.decoder.layout.memo_templates)
        memo_plan_close(&self.decoder.layout)
        free(self.decoder.pairs.templates)
        free(self.decoder.pairs.group_of)
        free(self.decoder.pairs.left)
        free(self.decoder.pairs.right)
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
        cdef int64_t n_rows = key_view.shape[0], repeated, earlier = 0
        if frozen_open(t, n_labels, bits, int.from_bytes(os.urandom(8), "little"), n_rows,
                       label_view.shape[0]) < 0:
            raise MemoryLimitError("no memory for the model's weights")
        # There is no address of the first of nothing.
        if not n_rows or not label_view.shape[0]:
            return
        with nogil:
            repeated = frozen_fill(t, &key_view[0], &start_view[0], &label_view[0],
                                   &weight_view[0], n_rows)
        if repeated >= 0:
            while key_view[earlier] != key_view[repeated]:
                earlier += 1
            raise ArgumentError(f"keys: row {earlier} and row {repeated} have the same key")

    def _sums_fit(self, group_starts, starts, cell_labels, weights):
        """Does no sum of one feature of each template leave 16 bits, whatever the words?

        In a fixed table every template may meet every row.
        """
        cdef const Program *p = &self.program.program
        cdef const int64_t[::1] row_starts = _buffer(starts, "int64")
        cdef const uint16_t[::1] label_view = _buffer(cell_labels, "uint16")
        cdef const int16_t[::1] weight_view = _buffer(weights, "int16")
        cdef int64_t i, k, begin, end, n_labels = self.table.n_labels, largest = 0
        if len(group_starts) != p.n_templates + 1:
            return False
        for k in range(p.n_templates):
            if self._has_many(k):
                return False
        if self.table.fixed_bits:
            for i in range(weight_view.shape[0]):
                largest = max(largest, abs(<int64_t>weight_view[i]))
            return p.n_templates * largest < 1 << 15
        # What the weights of each label are at least and at most, and the sums of these.
        cdef int32_t[::1] bounds = memoryview(bytearray(8 * n_labels)).cast("i")
        cdef int32_t[::1] low = bounds[:n_labels]
        cdef int32_t[::1] high = bounds[n_labels:]
        cdef int64_t[::1] sums = memoryview(bytearray(16 * n_labels)).cast("q")
        for k in range(p.n_templates):
            begin, end = row_starts[group_starts[k]], row_starts[group_starts[k + 1]]
            with nogil:
                bounds[:] = 0
                for i in range(begin, end):
                    low[label_view[i]] = min(low[label_view[i]], <int32_t>weight_view[i])
                    high[label_view[i]] = max(high[label_view[i]], <int32_t>weight_view[i])
                for i in range(2 * n_labels):
                    sums[i] += bounds[i]
        for i in range(2 * n_labels):
            largest = max(largest, abs(sums[i]))
        return largest < 1 << 15

    def _has_many(self, int32_t template):
        cdef const Program *p = &self.program.program
        cdef int32_t a
        for a in range(p.atom_starts[template], p.atom_starts[template + 1]):
            if (p.atoms[a].kind == ATOM_VALUE
                    and is_many(&p.values[p.atoms[a].value])):
                return True
        return False

    def _layout(self, narrow):
        """Sum slots of one column and offset into one vector; conditions become corrections."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        cdef int32_t s, condition
        l.program = p
        l.table = &self.table
        l.dense = self.table.n_labels <= DENSE_LABELS
        l.narrow = l.dense and narrow
        l.stride = (self.table.n_labels + LANES - 1) // LANES * LANES
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
                &l.dictionary, int.from_bytes(os.urandom(8), "little"), 6) < 0:
            raise MemoryError
        for word, label in dictionary.items():
            row = index_insert(&l.dictionary, hash64(word))
            if row < 0:
                raise MemoryError
            l.dictionary_labels[row] = label

    def _lexicon(self, lexicon):
        cdef CacheLayout *l = &self.decoder.layout
        cdef int32_t n = len(self.labels), label
        sets = {frozenset(labels): 0 for labels in lexicon.values() if len(set(labels)) > 1}
        sets = {labels: number for number, labels in enumerate(sets)}
        l.n_labels = n
        l.lexicon_labels = <int32_t *>calloc(len(lexicon) + 1, sizeof(int32_t))
        l.masks = <uint8_t *>calloc(len(sets) * n + 1, 1)
        if l.lexicon_labels == NULL or l.masks == NULL or index_open(
                &l.lexicon, int.from_bytes(os.urandom(8), "little"), 6) < 0:
            raise MemoryError
        for labels, number in sets.items():
            for label in labels:
                l.masks[number * n + label] = 1
        for form, labels in lexicon.items():
            if not labels or min(labels) < 0 or max(labels) >= n:
                raise ArgumentError(f"lexicon: {labels} are not numbers of the {n} labels")
            row = index_insert(&l.lexicon, hash64(form))
            if row < 0:
                raise MemoryError
            few = frozenset(labels)
            l.lexicon_labels[row] = min(few) if len(few) == 1 else -2 - sets[few]

    def _pairs(self):
        """Tell templates over two neighbouring words, which are remembered, from the others."""
        cdef CacheLayout *l = &self.decoder.layout
        cdef const Program *p = &self.program.program
        cdef PairLayout *pairs = &self.decoder.pairs
        cdef int32_t k, number
        groups, others = {}, []
        for k in range(p.n_static):
            offset = self._pair_offset(p.static_templates[k])
            groups.setdefault(offset, []).append(p.static_templates[k])
        others += groups.pop(None, [])
        kept = sorted(groups)[:MAX_PAIR_GROUPS] if l.dense else []
        count = sum(len(groups[offset]) for offset in kept)
        others += [k for offset in groups if offset not in kept for k in groups[offset]]
        self.decoder.static_templates = _numbers(others)
        self.decoder.n_static = len(others)
        pairs.templates = _numbers([k for offset in kept for k in groups[offset]])
        pairs.group_of = _numbers([g for g, offset in enumerate(kept) for _ in groups[offset]])
        singles = [self._single_values(k) for offset in kept for k in groups[offset]]
        pairs.left = _numbers([left for left, _ in singles])
        pairs.right = _numbers([right for _, right in singles])
        pairs.n_templates = count
        pairs.n_groups = len(kept)
        for number, offset in enumerate(kept):
            pairs.offsets[number] = offset

    def _pair_offset(self, int32_t template):
        """Where the left word of its pair stands; None where it is not over a pair of words."""
        cdef const Program *p = &self.program.program
        cdef int32_t a
        offsets = set()
        for a in range(p.atom_starts[template], p.atom_starts[template + 1]):
            if p.atoms[a].kind != ATOM_VALUE or p.value_column[p.atoms[a].value]:
                return None
            offsets.add(p.atoms[a].offset)
        left = min(offsets)
        return left if offsets == {left, left + 1} else None

    def _single_values(self, int32_t template):
        """The carried values of the left and of the right word of a pair, in this order in the
        template; (-1, -1) where there is more to it."""
        cdef const Program *p = &self.program.program
        cdef const AtomSpec *first = &p.atoms[p.atom_starts[template]]
        cdef const AtomSpec *second = first + 1
        if (p.atom_starts[template + 1] - p.atom_starts[template] != 2
                or first.offset > second.offset):
            return -1, -1
        return p.carried_at[first.value], p.carried_at[second.value]

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
        l.memo_templates = _numbers(memos)
        if memo_plan_open(l, self.decoder.label_hashes) < 0:
            raise MemoryError
        self.decoder.n_open = len(others)
        self.decoder.open_templates = _numbers(others)
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

    cdef WorkerBox take(self):
        """A worker that no other thread has; give it back by appending it to `idle`."""
        cdef WorkerBox box
        cdef int k
        try:
            return self.idle.pop()
        except IndexError:
            box = WorkerBox()
            box.worker.cache.limit = self.cache_limit
            for k in range(N_SECRETS):
                box.worker.cache.secrets[k] = self.decoder.secrets[k]
            return box

    def tag(self, list sentences not None, KeptSets kept=None):
        """Label sentences.

        Parameters
        ----------
        sentences : list of sentences; each is a list or tuple of str, or, where the templates
            look at further columns, a tuple of one such list per column of the program
        kept : None, or a KeptSets of these sentences

        Returns
        -------
        list of lists of str, one label a token; None where a label is kept that is not known
        """
        cdef WorkerBox box = self.take()
        # Sentences that are added or removed by other threads meanwhile are left out of it.
        cdef list taken = list(sentences)
        cdef Py_ssize_t at = 0, begin, n = len(taken)
        cdef list out = [None] * n
        # One more than there are labels, for a label that is not known.
        labels = self.labels if kept is None else (*self.labels, None)
        try:
            if kept is not None:
                self._check_kept(kept, n)
                box.worker.keep_scores = self.decoder.beam == 1 and self.parts is None
            while at < n:
                begin = at
                at = self._fill(&box.worker.batch, taken, begin)
                if kept is not None:
                    numbers = self._fill_kept(&box.worker.batch, kept, begin)
                self._run(&box.worker)
                give_lists(&box.worker.batch, labels, out, begin)
        finally:
            box.worker.kept.of = NULL
            box.worker.keep_scores = 0
            self.idle.append(box)
        return out

    def tag_with_scores(self, sentence):
        """Label one sentence; returns (label numbers uint16[n], scores int32[n, n_labels])."""
        return self.tag_scored([sentence])

    def tag_scored(self, list sentences not None, KeptSets kept=None):
        """Label sentences and tell what their labels scored.

        Parameters
        ----------
        sentences, kept : as for `tag`

        Returns
        -------
        (label numbers uint16[n], scores int32[n, n_labels]) of the tokens of all sentences, one
        after the other; the number of a kept label that is not known is n_labels. The scores of
        kept tokens, and of those that have one label by the dictionary, mean nothing
        """
        # Here, since plain tagging does without NumPy.
        import numpy as np

        cdef WorkerBox box = self.take()
        cdef Worker *w = &box.worker
        cdef Py_ssize_t at = 0, begin
        cdef list taken = list(sentences)
        labels, scores = [np.empty(0, np.uint16)], [np.empty((0, len(self.labels)), np.int32)]
        try:
            if kept is not None:
                self._check_kept(kept, len(taken))
            w.keep_scores = 1
            while at < len(taken):
                begin = at
                at = self._fill(&w.batch, taken, begin)
                if kept is not None:
                    numbers = self._fill_kept(&w.batch, kept, begin)
                self._run(w)
                labels.append(np.empty(w.n_tokens, np.uint16))
                scores.append(np.zeros((w.n_tokens, len(self.labels)), np.int32))
                self._copy_scores(w, labels[-1], scores[-1])
        finally:
            w.kept.of = NULL
            w.keep_scores = 0
            self.idle.append(box)
        return np.concatenate(labels), np.concatenate(scores)

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
    def narrow(self):
        """Are scores kept in 16 bits?"""
        return bool(self.decoder.layout.narrow)

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
        cdef int64_t i, at, stride = self.decoder.layout.stride
        cdef int32_t k
        cdef int32_t[::1] nodes = memoryview(bytearray(
            4 * (1 if self.parts is None else self.parts.parts.parts.n))).cast("i")
        for i in range(w.n_tokens):
            label_view[i] = w.labels[i]
            if self.parts is not None:
                whole_label_scores(&self.parts.parts, <int32_t *>w.scores + i * stride, &nodes[0],
                                   &score_view[i, 0])
                continue
            for k in range(self.table.n_labels):
                at = i * stride + k
                score_view[i, k] = (<int16_t *>w.scores)[at] if self.decoder.layout.narrow \
                    else (<int32_t *>w.scores)[at]
        return 0

    cdef int _check_kept(self, KeptSets kept, Py_ssize_t n) except -1:
        if len(kept.numbers) != n:
            raise ArgumentError(f"kept: of {len(kept.numbers)} sentences, but there are {n}")
        if kept.label_array.min() < 0 or kept.label_array.max() >= len(self.labels):
            raise ArgumentError(f"kept: labels beyond the {len(self.labels)} that there are")
        return 0

    cdef object _fill_kept(self, Batch *b, KeptSets kept, Py_ssize_t begin):
        """Point the batch, of sentences from number `begin` on, at its kept labels.

        What is returned must live as long as the batch.
        """
        # Here, since plain tagging does without NumPy.
        import numpy as np

        cdef int64_t s
        cdef int32_t[::1] numbers
        cdef int64_t[::1] starts = kept.start_array
        cdef int32_t[::1] labels = kept.label_array
        for s in range(b.n_sentences):
            given = len(kept.numbers[begin + s])
            if given != b.starts[s + 1] - b.starts[s]:
                raise ArgumentError(
                    f"sentences[{begin + s}]: {given} kept labels for"
                    f" {b.starts[s + 1] - b.starts[s]} words")
        joined = np.concatenate([*kept.numbers[begin:begin + b.n_sentences],
                                 np.full(1, -1, np.int32)])
        numbers = joined
        b.kept.of = &numbers[0]
        b.kept.starts = &starts[0]
        b.kept.labels = &labels[0]
        return joined

    cdef int _run(self, Worker *w) except -1:
        cdef int status
        with nogil:
            status = run_batch(&self.decoder, w)
        if status < 0:
            # What is cached may be half made; the next batch starts afresh.
            w.cache.n_types = w.cache.limit
            raise MemoryLimitError("no memory to label these sentences; give fewer at a time")
        return 0

    cdef Py_ssize_t _fill(self, Batch *b, list sentences, Py_ssize_t at) except -1:
        """Copy sentences from number `at` on into the batch; the number after the last."""
        cdef Py_ssize_t n = len(sentences)
        batch_reset(b)
        while at < n and b.n_tokens < BATCH_TOKENS and b.text_used < BATCH_BYTES:
            if self.program.program.n_columns == 1:
                self._fill_words(b, sentences[at], at)
            else:
                self._fill_columns(b, sentences[at], at)
            if batch_end_sentence(b) < 0:
                raise MemoryLimitError("no memory for these sentences; give fewer at a time")
            at += 1
        return at

    cdef int _fill_words(self, Batch *b, sentence, Py_ssize_t at) except -1:
        cdef list words = <list>sentence if type(sentence) is list else _as_list(sentence, at)
        cdef Py_ssize_t i = 0
        cdef int status = take_words(&self.decoder, b, words, &i)
        if status < 0:
            self._refuse(status, words[i], at, i)
        return 0

    cdef int _fill_columns(self, Batch *b, sentence, Py_ssize_t at) except -1:
        cdef Py_ssize_t i
        cdef int32_t c
        cdef int status
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
            status = batch_room(&self.decoder, b, 1)
            for c in range(len(columns)):
                if status == 0:
                    status = take_string(&self.decoder, b, c, columns[c][i])
                if status < 0:
                    self._refuse(status, columns[c][i], at, i)
        return 0

    cdef int _refuse(self, int status, word, Py_ssize_t at, Py_ssize_t i) except -1:
        if status == NOT_A_STRING:
            raise ArgumentTypeError(
                f"sentences[{at}][{i}]: a str is needed, not {type(word).__name__}")
        raise MemoryLimitError("no memory for these sentences; give fewer at a time")


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
