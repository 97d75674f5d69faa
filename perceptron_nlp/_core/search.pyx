# cython: language_level=3
# cython: freethreading_compatible=True
"""Structured training: whole sentences searched and learnt from (structured.h holds the loop)."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from perceptron_nlp._core.frozenmodel import allowed_bytes
from perceptron_nlp._core.extract cimport Program, no_label_hash
from perceptron_nlp._core.train cimport Corpus, Counts, Rule, TrainingSet
from perceptron_nlp._core.train import BLOCK, RULES
from perceptron_nlp._core.weights cimport Table
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "structured.h" nogil:
    const int MAX_BEAM
    ctypedef struct Beam:
        int32_t width
        int32_t n_labels
        int32_t depth
        const uint8_t *allowed
    ctypedef struct Structured:
        const Program *program
        Table *table
        const Corpus *corpus
        const Rule *rule
        double cost
        int right_to_left
        const uint64_t *label_hashes
        Beam beam
        int32_t *rows
        double *fixed
        double *scores
        int32_t *gold
        int32_t *guess
        void *changes
    void beam_close(Beam *b) noexcept
    int learn_sequence(Structured *x, int64_t sentence, Counts *counts) noexcept


def learn_sequences(TrainingSet data not None, order, *, rule="perceptron", double rate=1.0,
                    int beam=4, double cost=0.0, bint right_to_left=False, allowed=None):
    """Go once over some sentences, searching each and learning from the worst violation.

    Parameters
    ----------
    data : TrainingSet; the table it was made with learns
    order : int64[n]; numbers of the sentences, in the order in which to take them
    rule : "perceptron" (also "margin": they differ by the cost alone) or "adagrad"
    rate : the step, or AdaGrad's rate
    beam : states kept, 1 to 64
    cost : what each wrong label gets on top of its score, >= 0
    right_to_left : read sentences from their end
    allowed : see SentenceDecoder

    Returns
    -------
    (examples, mistakes, updates) : ints; labelled words seen; words in which the sequences parted
        from differ from the gold ones, twice

    Raises
    ------
    ArgumentError : sentence numbers or beam out of range, a rule for single labels only
    MemoryLimitError : no memory for a new weight; what was learnt before that sentence stays
    """
    cdef const int64_t[::1] sentences = np.append(np.ascontiguousarray(order, np.int64),
                                                  np.int64(0))
    cdef int64_t n = sentences.shape[0] - 1, at, end, i
    cdef int status = 0
    cdef Rule r
    cdef Counts counts
    cdef Structured x
    cdef Table *t = &data.table.table
    cdef const uint8_t[::1] allowed_view
    cdef uint64_t[::1] hashes = np.append(
        np.asarray(<uint64_t[:t.n_labels]> data.corpus.label_hashes), np.uint64(no_label_hash()))
    if n and (np.min(order) < 0 or np.max(order) >= data.n_sentences):
        raise ArgumentError(f"order: sentence numbers run from 0 to {data.n_sentences - 1}")
    if not 1 <= beam <= MAX_BEAM:
        raise ArgumentError(f"beam: {beam} is not between 1 and {MAX_BEAM}")
    if rule not in ("perceptron", "margin", "adagrad"):
        raise ArgumentError(f"rule: {rule} learns from single labels, not from sequences")
    if rule == "adagrad" and not t.with_gradient:
        raise ArgumentError("rule: adagrad needs a table made with gradients=True")
    r.kind = RULES.index(rule)
    r.rate = rate
    r.margin = 0
    r.scale = 1
    memset(&counts, 0, sizeof(counts))
    memset(&x, 0, sizeof(x))
    x.program = &data.program.program
    x.table = t
    x.corpus = &data.corpus
    x.rule = &r
    x.cost = cost
    x.right_to_left = right_to_left
    x.label_hashes = &hashes[0]
    x.beam.width = beam
    x.beam.n_labels = t.n_labels
    x.beam.depth = data.program.program.depth
    if allowed is not None:
        allowed_view = allowed_bytes(allowed, t.n_labels)
        x.beam.allowed = &allowed_view[0]
    x.rows = <int32_t *>malloc((data.most_rows + 1) * sizeof(int32_t))
    x.fixed = <double *>malloc(t.n_labels * sizeof(double))
    x.scores = <double *>malloc(t.n_labels * sizeof(double))
    x.gold = <int32_t *>malloc((data.longest + 1) * sizeof(int32_t))
    x.guess = <int32_t *>malloc((data.longest + 1) * sizeof(int32_t))
    try:
        if (x.rows == NULL or x.fixed == NULL or x.scores == NULL or x.gold == NULL
                or x.guess == NULL):
            raise MemoryLimitError("no memory to train with")
        for at in range(0, n, BLOCK):
            end = min(at + <int64_t>BLOCK, n)
            with nogil:
                for i in range(at, end):
                    status = learn_sequence(&x, sentences[i], &counts)
                    if status < 0:
                        break
            if status < 0:
                raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
            PyErr_CheckSignals()
    finally:
        beam_close(&x.beam)
        free(x.rows)
        free(x.fixed)
        free(x.scores)
        free(x.gold)
        free(x.guess)
        free(x.changes)
    return counts.examples, counts.mistakes, counts.updates
