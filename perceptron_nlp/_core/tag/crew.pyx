# cython: language_level=3, freethreading_compatible=True
"""Many sentences labelled by several threads at once, or out of plain buffers (crew.h, batch.h)."""

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int64_t, uint8_t, uint16_t

from perceptron_nlp._core.tag.agree cimport ColumnsDecoder, agreeing_batch
from perceptron_nlp._core.tag.decode cimport (
    Batch, KeptSets, SentenceDecoder, Worker, WorkerBox, as_list, give_lists,
)
from perceptron_nlp._core.tag.decode import BATCH_BYTES, BATCH_TOKENS
from perceptron_nlp._core.model.frozenmodel cimport Decoder
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "tag/crew.h" nogil:
    ctypedef struct CrewState "Crew":
        int n
        void (*help)(void *job, Worker *w) noexcept
        void *job
    int crew_open(CrewState *c, int n) noexcept
    void crew_close(CrewState *c) noexcept
    int crew_start(CrewState *c, int k, Worker *worker) noexcept
    void crew_end(CrewState *c) noexcept

cdef extern from "tag/crew.h":
    ctypedef void *PyThread_type_lock
    PyThread_type_lock PyThread_allocate_lock() noexcept
    void PyThread_free_lock(PyThread_type_lock lock) noexcept
    void PyThread_release_lock(PyThread_type_lock lock) noexcept nogil
    void turn_take(PyThread_type_lock turn) noexcept nogil
    int turn_label(PyThread_type_lock turn, const Decoder *d, Worker *w) noexcept nogil

cdef extern from "tag/crew.h" nogil:
    ctypedef struct BufferJob:
        CrewState *crew
        const Decoder *decoder
        const uint8_t *data
        const int64_t *tokens
        const int64_t *sentences
        int64_t n_sentences
        int64_t most_tokens
        int64_t most_bytes
        uint16_t **out
        int64_t next
        int64_t bad
        int no_memory
    int buffers_label_next(BufferJob *job, Worker *w) noexcept
    void buffers_help(void *job, Worker *w) noexcept


cdef class Crew:
    """One job of labelling, done by the thread that calls `lists` or `buffers` and by helpers.

    Parameters
    ----------
    decoder : SentenceDecoder, or ColumnsDecoder for several columns at once
    helpers : how many threads to start; 0 is allowed. Where the system gives fewer, fewer help

    Raises
    ------
    MemoryLimitError : no room for it
    """

    cdef CrewState state
    cdef SentenceDecoder decoder
    cdef ColumnsDecoder columns
    cdef list boxes  # of the caller, then of the helpers

    def __cinit__(self, decoder not None, int helpers):
        if isinstance(decoder, ColumnsDecoder):
            self.columns = decoder
            self.decoder = self.columns.first()
        else:
            self.decoder = decoder
        self.boxes = []
        if crew_open(&self.state, helpers) < 0:
            raise MemoryLimitError("no memory for these threads; use fewer")

    def __dealloc__(self):
        crew_close(&self.state)

    cdef WorkerBox _take(self):
        return self.decoder.take() if self.columns is None else self.columns.take()

    cdef WorkerBox _begin(self, void (*help)(void *, Worker *) noexcept nogil, void *job):
        """Start the helpers; the worker of the caller."""
        cdef WorkerBox box = self._take()
        cdef WorkerBox own = box
        cdef int k
        self.boxes.append(box)
        self.state.help = help
        self.state.job = job
        for k in range(self.state.n):
            box = self._take()
            self.boxes.append(box)
            if not crew_start(&self.state, k, &box.worker):
                break
        return own

    cdef int _give_back(self) except -1:
        """The workers, when all helpers have ended: that of the caller last, so that the next job
        takes it first, on the same processor as likely as not."""
        cdef list idle = self.decoder.idle if self.columns is None else self.columns.idle
        while self.boxes:
            idle.append(self.boxes.pop())
        return 0

    def lists(self, list sentences not None, KeptSets kept=None):
        """What SentenceDecoder.tag gives; of several columns, which take no `kept`, a list of it."""
        cdef _ListJob job = _ListJob(self.decoder, self.columns, sentences, kept)
        cdef WorkerBox box
        try:
            box = self._begin(_help_lists, <void *>job)
            job.work(&box.worker)
        finally:
            job.stop()
            with nogil:
                crew_end(&self.state)
            self._give_back()
        if job.error is not None:
            raise job.error
        if job.unread is not None:
            raise job.unread
        return job.outs[0] if self.columns is None else job.outs

    def buffers(self, data, tokens, sentences, out):
        """Label words that stand one after the other in a buffer.

        Parameters
        ----------
        data : uint8[n_bytes], the words' UTF-8
        tokens : int64[n_tokens + 1], where each word begins, and where the last one ends
        sentences : int64[n_sentences + 1], the first word of each sentence, and the end
        out : uint16[n_tokens], where the label numbers are written; of several columns, as many

        All offsets are in bounds and do not fall.

        Raises
        ------
        ArgumentError : a word that is not UTF-8
        """
        if self.decoder.program.program.n_columns != 1:
            raise ArgumentError("decoder: its templates look at other columns than the words")
        cdef const uint8_t[::1] bytes_of = data
        cdef const int64_t[::1] token_of = tokens, sentence_of = sentences
        cdef uint16_t[::1] label_of
        cdef BufferJob job
        cdef WorkerBox box
        cdef bint more = True
        cdef int c
        job.crew = &self.state
        job.decoder = &self.decoder.decoder
        job.data = &bytes_of[0] if bytes_of.shape[0] else NULL
        job.tokens = &token_of[0]
        job.sentences = &sentence_of[0]
        job.n_sentences = sentence_of.shape[0] - 1
        job.most_tokens = BATCH_TOKENS
        job.most_bytes = BATCH_BYTES
        for c, one in enumerate([out] if self.columns is None else out):
            label_of = one
            job.out[c] = &label_of[0] if label_of.shape[0] else NULL
        job.next = job.no_memory = 0
        job.bad = -1
        try:
            box = self._begin(buffers_help, &job)
            while more:
                with nogil:
                    more = buffers_label_next(&job, &box.worker)
                PyErr_CheckSignals()
        finally:
            with nogil:
                crew_end(&self.state)
            self._give_back()
        if job.bad >= 0:
            raise ArgumentError(
                f"data: token {job.bad} (bytes {tokens[job.bad]} to {tokens[job.bad + 1]}) is not"
                " UTF-8; decode it the way it was written, and encode it again")
        if job.no_memory:
            raise MemoryLimitError("no memory to label these sentences; give fewer at a time")


cdef class _ListJob:
    """Lists of strings in, lists of labels out. Whoever has the turn may look at it."""

    cdef PyThread_type_lock turn
    cdef SentenceDecoder decoder
    cdef KeptSets kept
    cdef list sentences, outs
    cdef Py_ssize_t taken  # sentences that somebody labels, or has labelled
    cdef list labels
    cdef bint over
    cdef object error  # what ended the job too early
    cdef object unread  # what reading the sentence behind the last one raised

    def __cinit__(self, SentenceDecoder decoder, ColumnsDecoder columns, list sentences,
                  KeptSets kept):
        self.turn = PyThread_allocate_lock()
        if self.turn == NULL:
            raise MemoryLimitError("no memory for these threads; use fewer")
        self.decoder = decoder
        self.kept = kept
        # Sentences that are added or removed by other threads meanwhile are left out of it.
        self.sentences = list(sentences)
        # One more than there are labels, for a label that is not known.
        own = decoder.labels if kept is None else (*decoder.labels, None)
        self.labels = [own] if columns is None else list(columns.labels)
        self.outs = [[None] * len(self.sentences) for _ in self.labels]
        self._read_here()
        if kept is not None:
            decoder._check_kept(kept, len(self.outs[0]))

    def __dealloc__(self):
        if self.turn != NULL:
            PyThread_free_lock(self.turn)

    cdef int _read_here(self) except -1:
        """Lists in place of what runs code of its own when it is gone over: that may hold locks of
        the calling thread or belong to it."""
        cdef Py_ssize_t k = 0
        try:
            for k in range(len(self.sentences)):
                one = self.sentences[k]
                if type(one) is not list and type(one) is not tuple:
                    self.sentences[k] = as_list(one, k)
        except BaseException as error:
            # After what is wrong with those before it.
            self.unread = error
            del self.sentences[k:]
        return 0

    cdef void stop(self) noexcept:
        """Let nobody begin anything."""
        with nogil:
            turn_take(self.turn)
        self.over = True
        PyThread_release_lock(self.turn)

    cdef void work(self, Worker *w) noexcept:
        """Label what nobody has taken, until nothing is left or something is wrong.

        Sentences are read in order, and none after one that cannot be read; so what is wrong first
        is told, whatever the threads do.
        """
        cdef Py_ssize_t begin
        cdef int status, c
        cdef Batch done
        with nogil:
            turn_take(self.turn)
        try:
            while not self.over and self.taken < len(self.sentences):
                begin = self.taken
                self.taken = self.decoder._fill(&w.batch, self.sentences, begin)
                if self.kept is not None:
                    numbers = self.decoder._fill_kept(&w.batch, self.kept, begin)
                with nogil:
                    status = turn_label(self.turn, &self.decoder.decoder, w)
                if status < 0:
                    raise MemoryLimitError(
                        "no memory to label these sentences; give fewer at a time")
                for c in range(len(self.outs)):
                    done = agreeing_batch(w, c)
                    give_lists(&done, self.labels[c], self.outs[c], begin)
                PyErr_CheckSignals()
        except BaseException as error:
            self.over = True
            if self.error is None or not isinstance(error, Exception):
                self.error = error
        w.kept.of = NULL
        PyThread_release_lock(self.turn)


cdef void _help_lists(void *job, Worker *w) noexcept with gil:
    (<_ListJob>job).work(w)
