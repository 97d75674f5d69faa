# cython: language_level=3, freethreading_compatible=True
"""Decoders: frozen models that label lists of strings, or words in buffers, in any number of
threads; of one column, or of several whose labels agree (agreement.h)."""

from array import array
from itertools import accumulate, chain

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from perceptron_nlp._core.features.extract cimport WordScratch, word_scratch_close
from perceptron_nlp._core.model.frozenmodel cimport N_SECRETS
from perceptron_nlp._core.model.labelparts cimport whole_label_scores
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

# Tokens to a batch: large enough to keep memory waits side by side, small enough that a batch's
# scores stay in the second-level cache.
BATCH_TOKENS = 2048
BATCH_BYTES = 1 << 20
HELD_TO = HELD
NOTHING_MET = array("q", [0]), array("i", [0])  # where no token is held to anything


cdef class WorkerBox:
    """The buffers and the cache of one thread at a time."""

    def __cinit__(self):
        memset(&self.worker, 0, sizeof(Worker))

    def __dealloc__(self):
        worker_close(&self.worker)

    cdef int run(self, const Decoder *d, PyThread_type_lock turn) except -1:
        """Label the worker's batch; other threads have the turn meanwhile."""
        cdef int status
        with nogil:
            if turn != NULL:
                PyThread_release_lock(turn)
            status = d.run(d, &self.worker)
            if turn != NULL:
                turn_take(turn)
        if status < 0:
            cache_spoil(&self.worker.cache)
            raise MemoryLimitError("no memory to label these sentences; give fewer at a time")
        return 0

    cdef uint16_t *labels_of(self, int column) noexcept:
        """The labels of the batch in a column."""
        return self.worker.labels

    cdef int give_lemmas(self, list found, Py_ssize_t at) except -1:
        """Put the lemmas of the batch behind the columns that were found, where it gives any."""
        return 0


cdef class ListJob:
    """Lists of strings to be labeled by one thread or several, which take turns at them.

    Sentences with code of their own are read here, by the calling thread: that code may hold locks
    of the thread, or belong to it. Sentences that are added or removed by other threads meanwhile
    are left out.

    Parameters
    ----------
    sentences : as for SentenceDecoder.tag
    n_columns : columns that are labeled

    Attributes
    ----------
    found : for each column a list of lists of labels, one a sentence
    unread : what reading the sentence behind the last one raised, or None

    Raises
    ------
    MemoryLimitError : no room for it
    """

    def __cinit__(self, list sentences not None, int n_columns=1):
        cdef Py_ssize_t k = 0
        self.turn = PyThread_allocate_lock()
        if self.turn == NULL:
            raise MemoryLimitError("no memory for these threads; use fewer")
        self.sentences = list(sentences)
        try:
            for k in range(len(self.sentences)):
                one = self.sentences[k]
                if type(one) is not list and type(one) is not tuple:
                    self.sentences[k] = as_list(one, k)
        except BaseException as error:
            # After what is wrong with those before it.
            self.unread = error
            del self.sentences[k:]
        self.found = [[None] * len(self.sentences) for _ in range(n_columns)]

    def __dealloc__(self):
        if self.turn != NULL:
            PyThread_free_lock(self.turn)


cdef class TokenConstraints:
    """Labels that words have already, each as the set of labels that it may stand for.

    Parameters
    ----------
    numbers : for each sentence, for each word: the number of a set; -1 where the word is to be
        labeled; -2 for a label that the model does not have, after which words are labeled as
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
            if len(one) and (one.min() < UNKNOWN_LABEL or one.max() >= self.n_sets):
                raise ArgumentError(
                    f"numbers[{k}]: a number is not between {UNKNOWN_LABEL} and {self.n_sets - 1}")
        self.start_array = np.cumsum([0, *map(len, sets)], dtype=np.int64)
        self.label_array = np.array([n for one in sets for n in one] + [0], np.int32)


cdef class SettledTable:
    """Labels that words and the labels before them settle (settle.h).

    Parameters
    ----------
    keys : uint32[n], ascending
    labels : whole numbers, n of them: of each key its label + 1, or 0 where it is open
    looks_first : endings of the first word of a sentence stand for themselves
    n_before : columns before, at most three
    hashes : for each of them the hashes of its labels, by number; none if only `find` is called
    lead : of the label in the first of them, in scores, with which this holds
    """

    def __cinit__(self, keys, labels, bint looks_first, int n_before, hashes=(), double lead=0):
        cdef const uint32_t[::1] key_view = keys
        cdef const uint16_t[::1] label_view = array("H", [*labels, 0])
        cdef const uint64_t[::1] hash_view
        memset(&self.table, 0, sizeof(self.table))
        if not 0 <= n_before <= MOST_BEFORE or len(hashes) not in (0, n_before):
            raise ArgumentError(f"hashes: of {len(hashes)} columns of {n_before}")
        self.lead, self.alive = lead, [keys, label_view]
        self.table.keys = &key_view[0] if key_view.shape[0] else NULL
        self.table.labels1 = &label_view[0]
        self.table.looks_first, self.table.n_before = looks_first, n_before
        self.n_labels = tuple(map(len, hashes))
        for c, own in enumerate(hashes):
            hash_view = array("Q", [*own, 0])
            self.alive.append(hash_view)
            self.table.hashes[c] = &hash_view[0]
        if settled_open(&self.table, key_view.shape[0]) < 0:
            raise MemoryLimitError("no memory for the labels that words settle")

    def find(self, bytes word not None, bint is_first, before):
        """Return what settles a word, in UTF-8: a label's number, and if an ending does it; or None.
        `is_first`: it is the first of its sentence; `before`: hashes of its labels before.
        """
        cdef WordScratch scratch
        cdef uint64_t[MOST_BEFORE] hashes
        cdef int by_ending = 0, c
        for c in range(self.table.n_before):
            hashes[c] = before[c]
        memset(&scratch, 0, sizeof(scratch))
        label = settled_label(&self.table, &scratch, word, len(word), is_first, hashes, &by_ending)
        word_scratch_close(&scratch)
        return None if label < 0 else (label, bool(by_ending))

    def __dealloc__(self):
        free(self.table.starts)


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
    beam : states held in the search, 1 to 64; 1 is greedy
    allowed : None, or bool[n_labels + 1, n_labels + 1]: may the second label follow the first, in
        the order of reading; row n_labels is the start, column n_labels the end. Needs a beam
    parts : None, or what the labels are made of; then the cells' labels are numbers of parts, and
        beam is 1
    memory : None, or the CacheMemory that the caches of all threads share with others
    narrow : use scores of 16 bits where group_starts shows that no sum can leave them; the labels
        are the same
    as_written : see marks that are not known as they are, not as others that are (values.h): the
        lemma of a mark is the mark

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
        try:
            return self.idle.pop()
        except IndexError:
            box = WorkerBox()
            self.lay(box, self.decoder.secrets)
            return box

    cdef int lay(self, WorkerBox box, const uint64_t *secrets) except -1:
        """Make a worker this decoder's; the secrets are those by which what it reads is hashed."""
        cdef int k
        box.use = self.memory.enter(type_share(&self.decoder.layout))
        for k in range(N_SECRETS):
            box.worker.cache.secrets[k] = secrets[k]
        return 0

    def tag(self, list sentences not None, TokenConstraints constraints=None):
        """Label sentences.

        Parameters
        ----------
        sentences : list of sentences; each is a list or tuple of str, or, where the templates
            look at further columns, a tuple of one such list per column of the program
        constraints : None, or a TokenConstraints of these sentences

        Returns
        -------
        list of lists of str, one label a token; None where a label is asked for that is not known
        """
        cdef ListJob job = ListJob(sentences)
        self.share(job, constraints)
        if job.unread is not None:
            raise job.unread
        return job.found[0]

    def share(self, ListJob job not None, TokenConstraints constraints=None):
        """Label what no other thread labels of a job, until nothing is left; as in `tag`."""
        cdef WorkerBox box = self.take()
        # One more than there are labels, for a label that is not known.
        labels = self.labels if constraints is None else (*self.labels, None)
        try:
            self.label_job(box, (labels,), job, constraints)
        finally:
            box.worker.constraints.of = NULL
            self.idle.append(box)

    def seen_as(self, str word not None):
        """A word of the first column as features see it: marks that are not known as others (values.h)."""
        cdef WorkerBox box = self.take()
        cdef bytes own = word.encode("utf-8", "surrogatepass")
        cdef size_t n = len(own)
        cdef const uint8_t *text = own
        try:
            text = seen_as(&box.worker.cache.words, &self.decoder.layout, text, &n)
            return (<const char *>text)[:n].decode("utf-8", "surrogatepass")
        finally:
            self.idle.append(box)

    def tag_scored(self, list sentences not None, TokenConstraints constraints=None, settled=None,
                   met_with=NOTHING_MET):
        """Label sentences and tell what their labels scored.

        Parameters
        ----------
        sentences, constraints : as for `tag`
        settled : None, or int32[n], of all tokens the numbers of labels that they get unscored, or
            -1, or HELD_TO - k, for the best of those met with label k of another column
        met_with : if `settled` has any of these, what ColumnsDecoder has of the column

        Returns
        -------
        (label numbers uint16[n], scores int32[n, n_labels]) of the tokens of all sentences, one
        after the other; the number of a label that is asked for and not known is n_labels. The
        scores of constrained tokens, and of those that have one label by the dictionary, mean
        nothing
        """
        # Here, since plain tagging does without NumPy.
        import numpy as np

        cdef WorkerBox box = self.take()
        cdef Worker *w = &box.worker
        cdef Py_ssize_t at = 0, begin
        cdef list taken = list(sentences)
        cdef int32_t[::1] settled_view
        cdef int64_t k, done = 0
        cdef const int64_t[::1] starts = met_with[0]
        cdef const int32_t[::1] met = met_with[1]
        cdef Constraints held = Constraints(NULL, &starts[0], &met[0])
        labels, scores = [np.empty(0, np.uint16)], [np.empty((0, len(self.labels)), np.int32)]
        try:
            if constraints is not None:
                self._check_constraints(constraints, len(taken))
            w.keep_scores, w.held = 1, &held
            while at < len(taken):
                begin = at
                at = self._fill(&w.batch, taken, begin)
                if constraints is not None:
                    numbers = self._fill_constraints(&w.batch, constraints, begin)
                if settled is not None:
                    settled_view = settled[done:done + w.n_tokens]
                    if array_room(&w.settled, &w.settled_room, w.n_tokens, sizeof(int32_t)) < 0:
                        raise MemoryLimitError("no memory to label these sentences")
                    if settled_view.shape[0] != w.n_tokens:
                        raise ArgumentError("settled: fewer numbers than tokens")
                    for k in range(w.n_tokens):
                        w.settled[k] = settled_view[k] if settled_view[k] < len(self.labels) else -1
                    done, w.settles = done + w.n_tokens, 1
                box.run(&self.decoder, NULL)
                labels.append(np.empty(w.n_tokens, np.uint16))
                scores.append(np.zeros((w.n_tokens, len(self.labels)), np.int32))
                self._copy_scores(w, labels[-1], scores[-1])
        finally:
            w.constraints.of = NULL
            w.keep_scores, w.settles, w.held = 0, 0, NULL
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

    cdef int label_job(self, WorkerBox box, tuple labels, ListJob job,
                       TokenConstraints constraints) except -1:
        """Label a job in each of the columns that the worker is for; `labels` are theirs.

        Sentences are read in order, and none after one that cannot be read; so what is wrong first
        is reported, whatever the threads do.
        """
        cdef Py_ssize_t first
        cdef Batch done
        cdef int32_t c
        if constraints is not None:
            self._check_constraints(
                constraints,
                len(job.sentences) if job.unread is None else len(constraints.numbers))
        with nogil:
            turn_take(job.turn)
        try:
            while not job.over and job.next < len(job.sentences):
                first = job.next
                job.next = self._fill(&box.worker.batch, job.sentences, first)
                if constraints is not None:
                    numbers = self._fill_constraints(&box.worker.batch, constraints, first)
                box.run(&self.decoder, job.turn)
                done = box.worker.batch
                for c in range(len(labels)):
                    done.labels = box.labels_of(c)
                    give_lists(&done, labels[c], job.found[c], first)
                box.give_lemmas(job.found, first)
                PyErr_CheckSignals()
        except BaseException:
            job.over = True
            raise
        finally:
            PyThread_release_lock(job.turn)
        return 0

    cdef int label_buffers(self, WorkerBox box, data, tokens, sentences, list outs, int64_t begin,
                           int64_t end) except -1:
        cdef const uint8_t[::1] bytes_of = data
        cdef const int64_t[::1] token_of = tokens, sentence_of = sentences
        cdef uint16_t[::1] label_of
        cdef WordBuffers words
        cdef int64_t first, bad = -1
        cdef int status, c
        if self.program.program.n_columns != 1:
            raise ArgumentError("decoder: its templates look at other columns than the words")
        words.data = &bytes_of[0] if bytes_of.shape[0] else NULL
        words.tokens = &token_of[0]
        words.sentences = &sentence_of[0]
        words.most_tokens = BATCH_TOKENS
        words.most_bytes = BATCH_BYTES
        while begin < end:
            first = sentence_of[begin] - sentence_of[0]
            with nogil:
                status = take_buffers(&self.decoder, &box.worker.batch, &words, &begin, end, &bad)
            if status == BAD_TEXT:
                raise ArgumentError(
                    f"data: token {bad} (bytes {tokens[bad]} to {tokens[bad + 1]}) is not UTF-8;"
                    " decode it the way it was written, and encode it again")
            if status < 0:
                raise MemoryLimitError("no memory to label these sentences; give fewer at a time")
            box.run(&self.decoder, NULL)
            for c, out in enumerate(outs):
                label_of = out[first:first + box.worker.n_tokens]
                if box.worker.n_tokens:
                    memcpy(&label_of[0], box.labels_of(c), label_of.nbytes)
            box.give_lemmas(None, 0)
            PyErr_CheckSignals()
        return 0

    cdef int _copy_scores(self, Worker *w, labels, scores) except -1:
        cdef uint16_t[::1] label_view = labels
        cdef int32_t[:, ::1] score_view = scores
        cdef int64_t i, at, stride = self.decoder.layout.stride
        cdef int32_t k, n = len(self.labels)
        cdef bint of_parts = self.decoder.parts != NULL
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

    cdef int _check_constraints(self, TokenConstraints constraints, Py_ssize_t n) except -1:
        if len(constraints.numbers) != n:
            raise ArgumentError(
                f"constraints: of {len(constraints.numbers)} sentences, but there are {n}")
        if constraints.label_array.min() < 0 or constraints.label_array.max() >= len(self.labels):
            raise ArgumentError(f"constraints: labels beyond the {len(self.labels)} that there are")
        return 0

    cdef object _fill_constraints(self, Batch *b, TokenConstraints constraints, Py_ssize_t begin):
        """Point the batch, of sentences from number `begin` on, at its constrained labels.

        What is returned must live as long as the batch.
        """
        # Here, since plain tagging does without NumPy.
        import numpy as np

        cdef int64_t s
        cdef int32_t[::1] numbers
        cdef int64_t[::1] starts = constraints.start_array
        cdef int32_t[::1] labels = constraints.label_array
        for s in range(b.n_sentences):
            given = len(constraints.numbers[begin + s])
            if given != b.starts[s + 1] - b.starts[s]:
                raise ArgumentError(
                    f"sentences[{begin + s}]: {given} labels asked for"
                    f" {b.starts[s + 1] - b.starts[s]} words")
        joined = np.concatenate([*constraints.numbers[begin:begin + b.n_sentences],
                                 np.full(1, -1, np.int32)])
        numbers = joined
        b.constraints.of = &numbers[0]
        b.constraints.starts = &starts[0]
        b.constraints.labels = &labels[0]
        return joined

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


cdef class ColumnsDecoder:
    """Decoders whose labels agree; TextFiller has those of words alone label together.

    Parameters
    ----------
    decoders : 2 or 3 SentenceDecoders
    labels : for each a str a label number: what is given
    scales : float, one a column; scores are divided by it before they are summed
    weights : float, one a column; what scores are then multiplied by
    combinations : of label numbers, as tagger.model.agreement.Combinations has them; at least one
    settled : of each column None, or the SettledTable of its labels by those of the columns before;
        then the first decoder is of whole labels, and has vectors

    Attributes
    ----------
    decoders : the decoders
    labels : what is given in each column, by label number
    met_with : of each column after the first, of each label of the first where those met with it
        begin (int64[n_labels + 1]), and these (int32), ascending

    Raises
    ------
    ArgumentError : they do not fit together
    """

    def __cinit__(self, decoders, labels, scales, weights, combinations, settled=()):
        self.decoders = tuple(decoders)
        self.labels = tuple([tuple(own) for own in labels])
        cdef int32_t c, n = len(self.decoders)
        cdef SentenceDecoder decoder
        if not 2 <= n <= MAX_AGREEING:
            raise ArgumentError(f"decoders: {n} are not between 2 and {MAX_AGREEING}")
        if [len(own) for own in self.labels] != [len(one.labels) for one in self.decoders]:
            raise ArgumentError("labels: one is needed for each of the decoders' labels")
        memset(&self.agreement, 0, sizeof(self.agreement))
        self.agreement.n_columns = n
        for c in range(n):
            decoder = self.decoders[c]
            self.agreement.decoders[c] = &decoder.decoder
            self.agreement.scales[c] = scales[c]
            self.agreement.weights[c] = weights[c]
            self.agreement.n_labels[c] = len(decoder.labels)
        cdef SettledTable table
        self.settled = tuple(settled)
        for c, table in enumerate(self.settled):
            if table is None:
                continue
            decoder = self.decoders[0]
            if (not 0 < c < n or table.n_labels != tuple(map(len, self.labels[:c]))
                    or decoder.parts is not None or not decoder.decoder.layout.dense):
                raise ArgumentError("settled: by other columns than those before, or by many labels")
            table.table.lead = table.lead * self.agreement.scales[0]
            self.agreement.settled[c] = &table.table
        prefixes, met_bits, staying = combinations
        self._lay(prefixes, met_bits, staying)

    cdef int _lay(self, prefixes, met_bits, staying) except -1:
        """Have the combinations in the core's form."""
        cdef int32_t n_last = len(self.labels[-1]), p, k
        cdef Py_ssize_t at, size = 1, width = n_last // 8 + 1
        for own in self.labels[:-1]:
            size *= len(own)
        cdef int32_t[::1] prefix_of = memoryview(bytearray(b"\xff" * (4 * size))).cast("i")
        cdef uint16_t[::1] prefix_label = _shorts([k for prefix in prefixes for k in prefix])
        cdef int64_t[::1] starts = memoryview(bytearray(8 * (len(prefixes) + 1))).cast("q")
        cdef const uint8_t[::1] met = b"".join(staying) or bytes(width)
        cdef const uint8_t[::1] own_bits
        cdef bytearray is_able = bytearray(n_last)
        last_labels = array("H")
        met_with = [[set() for _ in self.labels[0]] for _ in self.labels]
        for p, (prefix, bits) in enumerate(zip(prefixes, met_bits, strict=True)):
            if (len(prefix) != len(self.labels) - 1 or len(bits) != width
                    or len(staying[p]) != width
                    or not all([0 <= k < len(own) for k, own in zip(prefix, self.labels)])):
                raise ArgumentError(f"combinations: {prefix} is none of labels of the decoders")
            at = 0
            for k, own in zip(prefix, self.labels):
                at = at * len(own) + k
            prefix_of[at] = p
            own_bits = bits
            for k in range(n_last):
                if own_bits[k // 8] >> k % 8 & 1:
                    last_labels.append(k)
                    is_able[k] = 1
            starts[p + 1] = len(last_labels)
            for own, k in zip(met_with, prefix):
                own[prefix[0]].add(k)
            met_with[-1][prefix[0]].update(last_labels[starts[p]:])
        able_labels = [k for k in range(n_last) if is_able[k]]
        last_labels.append(0)
        cdef uint16_t[::1] last = last_labels
        cdef uint16_t[::1] able = _shorts(able_labels)
        self.arrays = (prefix_of, prefix_label, starts, last, able, met)
        self.met_with = []
        cdef const int64_t[::1] set_starts
        cdef const int32_t[::1] set_labels
        for k, sets in enumerate(met_with):
            set_starts = array("q", [0, *accumulate(map(len, sets))])
            set_labels = array("i", [*chain.from_iterable(map(sorted, sets)), 0])
            self.met_with.append((set_starts, set_labels))
            self.agreement.met_with[k] = Constraints(NULL, &set_starts[0], &set_labels[0])
        self.agreement.n_prefixes = len(prefixes)
        self.agreement.prefix_of = &prefix_of[0]
        self.agreement.prefix_label = &prefix_label[0]
        self.agreement.starts = &starts[0]
        self.agreement.last = &last[0]
        self.agreement.n_able = len(able_labels)
        self.agreement.able = &able[0]
        self.agreement.met = &met[0]
        return 0

    def agree(self, list numbers not None, list scores not None, held):
        """Make labels that were found column by column agree, where they were never met together.

        Parameters
        ----------
        numbers : of each column an int64[n_tokens], the labels found, n_labels for one that the
            column does not have; those that agree are written there
        scores : of each column a float64[n_tokens, n_labels]
        held : called with the number of a token, gives for each column the labels that it is held
            to, ascending, or None for all; and whether these stay even where no combination has
            them
        """
        cdef int32_t c, n = self.agreement.n_columns
        cdef Py_ssize_t at
        cdef uint16_t found[MAX_AGREEING]
        cdef Held within[MAX_AGREEING]
        cdef int firm[MAX_AGREEING]
        cdef double *scored[MAX_AGREEING]
        cdef double[::1] row
        cdef uint8_t[::1] mask
        for at, labels in enumerate(zip(*[own.tolist() for own in numbers], strict=True)):
            for c in range(n):
                found[c] = labels[c]
            if labels_met(&self.agreement, found):
                continue
            alive = []
            for c, (allowed, stays) in enumerate(held(at)):
                row = scores[c][at] * self.agreement.weights[c]
                mask = bytearray(len(self.labels[c]))
                for k in allowed or ():
                    mask[k] = 1
                alive.append((row, mask))
                scored[c], firm[c] = &row[0], stays
                within[c].only = allowed[0] if allowed is not None and len(allowed) == 1 else -1
                within[c].mask = &mask[0] if allowed is not None else NULL
                within[c].parts = NULL
            agree_within(&self.agreement, within, firm, scored, found)
            for c in range(n):
                numbers[c][at] = found[c]


cdef uint16_t[::1] _shorts(list numbers):
    """Numbers, and one more, so that there is a first."""
    return array("H", [*numbers, 0])


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
