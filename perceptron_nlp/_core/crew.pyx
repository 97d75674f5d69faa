# cython: language_level=3, freethreading_compatible=True
"""Many sentences labelled by several threads at once, or out of plain buffers (crew.h)."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t
from libc.string cimport memcpy

from perceptron_nlp._core.decode cimport (
    Batch, KeptSets, SentenceDecoder, Worker, WorkerBox, batch_reset, give_lists,
)
from perceptron_nlp._core.decode import BATCH_BYTES, BATCH_TOKENS
from perceptron_nlp._core.frozenmodel cimport Decoder
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "crew.h" nogil:
    ctypedef struct Piece:
        Batch batch
        int status
    ctypedef struct CrewState "Crew":
        int64_t n_pieces
        int64_t filled
        int64_t emptied
    int crew_open(CrewState *c, const Decoder *d, int n_helpers) noexcept
    void crew_close(CrewState *c) noexcept
    void crew_help(CrewState *c, Worker *w) noexcept
    Piece *crew_free_piece(CrewState *c) noexcept
    void crew_publish(CrewState *c) noexcept
    bint crew_is_hungry(CrewState *c) noexcept
    Piece *crew_oldest_done(CrewState *c) noexcept
    void crew_emptied(CrewState *c) noexcept
    void crew_work_or_wait(CrewState *c, Worker *w) noexcept
    void crew_stop(CrewState *c) noexcept

cdef extern from "buffers.h" nogil:
    const int BAD_TEXT
    int take_sentence(const Decoder *d, Batch *b, const uint8_t *data, const int64_t *tokens,
                      int64_t begin, int64_t end, int64_t *bad) noexcept


cdef class Crew:
    """One job of labelling, shared by the thread that calls `lists` or `buffers` and by as many
    others as call `help`.

    Parameters
    ----------
    decoder : SentenceDecoder
    helpers : how many threads will call `help`; 0 is allowed

    Raises
    ------
    MemoryLimitError : no room for it
    """

    cdef CrewState state
    cdef SentenceDecoder decoder
    cdef _Job job  # where a job fails, helpers may still look at its arrays

    def __cinit__(self, SentenceDecoder decoder not None, int helpers):
        self.decoder = decoder
        if crew_open(&self.state, &decoder.decoder, helpers) < 0:
            raise MemoryLimitError("no memory for these threads; use fewer")

    def __dealloc__(self):
        crew_close(&self.state)

    def help(self):
        """Label what the caller of `lists` or `buffers` hands out, until `stop`."""
        cdef WorkerBox box = self.decoder.take()
        with nogil:
            crew_help(&self.state, &box.worker)
        self.decoder.idle.append(box)

    def stop(self):
        """Let all helpers end, each after the piece that it is at."""
        with nogil:
            crew_stop(&self.state)

    def lists(self, list sentences not None, KeptSets kept=None):
        """What SentenceDecoder.tag gives."""
        cdef _ListJob job = _ListJob(self.decoder, sentences, kept, self.state.n_pieces)
        self._run(job)
        return job.out

    def buffers(self, data, tokens, sentences, out):
        """Label words that stand one after the other in a buffer.

        Parameters
        ----------
        data : uint8[n_bytes], the words' UTF-8
        tokens : int64[n_tokens + 1], where each word begins, and where the last one ends
        sentences : int64[n_sentences + 1], the first word of each sentence, and the end
        out : uint16[n_tokens], where the label numbers are written

        All offsets are in bounds and do not fall.

        Raises
        ------
        ArgumentError : a word that is not UTF-8
        """
        self._run(_BufferJob(self.decoder, data, tokens, sentences, out))

    cdef int _run(self, _Job job) except -1:
        cdef WorkerBox box = self.decoder.take()
        cdef Piece *piece
        self.job = job
        try:
            while True:
                if job.has_more() and crew_is_hungry(&self.state):
                    piece = crew_free_piece(&self.state)
                    job.fill(&piece.batch, self.state.filled % self.state.n_pieces)
                    crew_publish(&self.state)
                    continue
                piece = crew_oldest_done(&self.state)
                if piece != NULL:
                    if piece.status < 0:
                        raise MemoryLimitError(
                            "no memory to label these sentences; give fewer at a time")
                    job.empty(&piece.batch)
                    crew_emptied(&self.state)
                elif self.state.emptied == self.state.filled and not job.has_more():
                    return 0
                else:
                    with nogil:
                        crew_work_or_wait(&self.state, &box.worker)
                    PyErr_CheckSignals()
        finally:
            with nogil:
                crew_stop(&self.state)
            self.decoder.idle.append(box)


cdef class _Job:
    """What batches are filled from, and where their labels go, both in order."""

    cdef bint has_more(self):
        return False

    cdef int fill(self, Batch *batch, int64_t slot) except -1:
        return 0

    cdef int empty(self, const Batch *batch) except -1:
        return 0


cdef class _ListJob(_Job):
    """Lists of strings in, lists of labels out."""

    cdef SentenceDecoder decoder
    cdef KeptSets kept
    cdef list sentences, out
    cdef Py_ssize_t taken, given
    cdef tuple labels
    cdef list alive

    def __cinit__(self, SentenceDecoder decoder, list sentences, KeptSets kept, slots):
        self.decoder = decoder
        self.kept = kept
        # Sentences that are added or removed by other threads meanwhile are left out of it.
        self.sentences = list(sentences)
        self.out = [None] * len(self.sentences)
        # One more than there are labels, for a label that is not known.
        self.labels = decoder.labels if kept is None else (*decoder.labels, None)
        # The kept labels of each piece, which live as long as it is at work.
        self.alive = [None] * slots
        if kept is not None:
            decoder._check_kept(kept, len(self.sentences))

    cdef bint has_more(self):
        return self.taken < len(self.sentences)

    cdef int fill(self, Batch *batch, int64_t slot) except -1:
        cdef Py_ssize_t begin = self.taken
        self.taken = self.decoder._fill(batch, self.sentences, begin)
        if self.kept is not None:
            self.alive[slot] = self.decoder._fill_kept(batch, self.kept, begin)
        return 0

    cdef int empty(self, const Batch *batch) except -1:
        give_lists(batch, self.labels, self.out, self.given)
        self.given += batch.n_sentences
        return 0


cdef class _BufferJob(_Job):
    """UTF-8 and offsets in, label numbers out."""

    cdef SentenceDecoder decoder
    cdef const uint8_t[::1] data
    cdef const int64_t[::1] tokens, sentences
    cdef uint16_t[::1] out
    cdef int64_t taken, given, most_tokens
    cdef size_t most_bytes

    def __cinit__(self, SentenceDecoder decoder, data, tokens, sentences, out):
        if decoder.program.program.n_columns != 1:
            raise ArgumentError("decoder: its templates look at other columns than the words")
        self.decoder = decoder
        self.data = data
        self.tokens = tokens
        self.sentences = sentences
        self.out = out
        self.most_tokens = BATCH_TOKENS
        self.most_bytes = BATCH_BYTES

    cdef bint has_more(self):
        return self.taken < self.sentences.shape[0] - 1

    cdef int fill(self, Batch *batch, int64_t slot) except -1:
        cdef int64_t bad = 0, n = self.sentences.shape[0] - 1
        cdef int status = 0
        cdef const uint8_t *data = &self.data[0] if self.data.shape[0] else NULL
        with nogil:
            batch_reset(batch)
            while (self.taken < n and status == 0 and batch.n_tokens < self.most_tokens
                    and batch.text_used < self.most_bytes):
                status = take_sentence(&self.decoder.decoder, batch, data, &self.tokens[0],
                                       self.sentences[self.taken], self.sentences[self.taken + 1],
                                       &bad)
                self.taken += 1
        if status == BAD_TEXT:
            raise ArgumentError(
                f"data: token {bad} (bytes {self.tokens[bad]} to {self.tokens[bad + 1]}) is not"
                " UTF-8; decode it the way it was written, and encode it again")
        if status < 0:
            raise MemoryLimitError("no memory for these sentences; give fewer at a time")
        return 0

    cdef int empty(self, const Batch *batch) except -1:
        if batch.n_tokens:
            memcpy(&self.out[self.given], batch.labels, batch.n_tokens * sizeof(uint16_t))
        self.given += batch.n_tokens
        return 0
