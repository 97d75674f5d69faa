# cython: language_level=3, freethreading_compatible=True
"""Sentence decoders: a frozen model that labels lists of strings, from any number of threads."""

from libc.stdint cimport int16_t, int32_t, int64_t, uint16_t
from libc.string cimport memset

from perceptron_nlp._core.model.labelparts cimport whole_label_scores
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

# Tokens to a batch: large enough to keep memory waits side by side, small enough that a batch's
# scores stay in the second-level cache.
BATCH_TOKENS = 2048
BATCH_BYTES = 1 << 20


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


cdef class SentenceDecoder(FrozenModel):
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
    cache_limit : types remembered by each thread, at least 1; None: as many as CACHE_BYTES hold
    narrow : use scores of 16 bits where group_starts shows that no sum can leave them; the labels
        are the same

    With PERCEPTRON_NLP_PORTABLE=1 in the environment, plain C takes the place of the processor's
    vector instructions; the labels are the same.

    Raises
    ------
    MemoryLimitError : no room for the model
    """

    def __cinit__(self, *made_of, **settings):
        self.idle = []

    cdef WorkerBox take(self):
        """A worker that no other thread has; give it back by appending it to `idle`."""
        cdef WorkerBox box
        cdef int k
        try:
            return self.idle.pop()
        except IndexError:
            box = WorkerBox()
            box.worker.cache.limit = self.cache_limit
            box.worker.cache.bounded_in_bytes = self.bounded_in_bytes
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
            while at < n:
                begin = at
                at = self._fill(&box.worker.batch, taken, begin)
                if kept is not None:
                    numbers = self._fill_kept(&box.worker.batch, kept, begin)
                self._run(&box.worker)
                give_lists(&box.worker.batch, labels, out, begin)
        finally:
            box.worker.kept.of = NULL
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

    @property
    def cache_counts(self):
        """(types entered, types held), summed over the workers that are idle."""
        cdef WorkerBox box
        misses = held = 0
        for box in self.idle:
            misses += box.worker.cache.misses
            held += box.worker.cache.n_types
        return misses, held

    cdef int _copy_scores(self, Worker *w, labels, scores) except -1:
        cdef uint16_t[::1] label_view = labels
        cdef int32_t[:, ::1] score_view = scores
        cdef int64_t i, at, stride = self.decoder.layout.stride
        cdef int32_t k, n = len(self.labels)
        cdef bint of_parts = self.parts is not None and not self.decoder.layout.spread.of_labels
        cdef int32_t *to
        cdef int32_t[::1] own
        cdef int32_t[::1] nodes = memoryview(bytearray(
            4 * (1 if self.parts is None else self.parts.parts.parts.n))).cast("i")
        if of_parts:
            n = self.table.n_labels
        own = memoryview(bytearray(4 * (n + 1))).cast("i")
        for i in range(w.n_tokens):
            label_view[i] = w.labels[i]
            to = &own[0] if of_parts else &score_view[i, 0]
            for k in range(n):
                at = i * stride + k
                to[k] = (<int16_t *>w.scores)[at] if self.decoder.layout.narrow \
                    else (<int32_t *>w.scores)[at]
            if of_parts:
                whole_label_scores(&self.parts.parts, to, &nodes[0], &score_view[i, 0])
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
            status = self.decoder.run(&self.decoder, w)
        if status < 0:
            cache_spoil(&w.cache)
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
        cdef list words = <list>sentence if type(sentence) is list else as_list(sentence, at)
        cdef Py_ssize_t i = 0
        cdef int status = take_words(&self.decoder, b, words, &i)
        if status < 0:
            self._refuse(status, words[i], at, i)
        return 0

    cdef int _fill_columns(self, Batch *b, sentence, Py_ssize_t at) except -1:
        cdef Py_ssize_t i
        cdef int32_t c
        cdef int status
        columns = [as_list(column, at) for column in sentence]
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


cdef list as_list(sentence, Py_ssize_t at):
    if isinstance(sentence, (str, bytes)):
        raise ArgumentTypeError(
            f"sentences[{at}]: a list of words is needed, not one {type(sentence).__name__};"
            " split the text first")
    try:
        return list(sentence)
    except TypeError:
        raise ArgumentTypeError(
            f"sentences[{at}]: a list of words is needed, not {type(sentence).__name__}") from None
