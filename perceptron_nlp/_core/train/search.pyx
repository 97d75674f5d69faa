# cython: language_level=3
# cython: freethreading_compatible=True
"""Structured training: whole sentences searched and learnt from (structured.h holds the loop)."""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memset

from perceptron_nlp._core.model.frozenmodel import allowed_bytes
from perceptron_nlp._core.features.extract cimport Program, no_label_hash
from perceptron_nlp._core.table.table cimport Table
from perceptron_nlp._core.train.train cimport (
    Counts, Rule, Scratch, checked_order, checked_rule, learn_in_order,
)
from perceptron_nlp._core.train.trainingset cimport Corpus, TrainingSet
from perceptron_nlp.errors import ArgumentError

cdef extern from "train/structured.h" nogil:
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
    cdef const int64_t[::1] sentences = checked_order(data, order)
    cdef Rule r
    cdef Scratch scratch = Scratch()
    cdef Structured x
    cdef Table *t = &data.table.table
    cdef const uint8_t[::1] allowed_view
    cdef uint64_t[::1] hashes = np.append(
        np.asarray(<uint64_t[:t.n_labels]> data.corpus.label_hashes), np.uint64(no_label_hash()))
    if not 1 <= beam <= MAX_BEAM:
        raise ArgumentError(f"beam: {beam} is not between 1 and {MAX_BEAM}")
    if rule not in ("perceptron", "margin", "adagrad"):
        raise ArgumentError(f"rule: {rule} learns from single labels, not from sequences")
    r = checked_rule(data, rule, rate, 0)
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
    x.rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.fixed = <double *>scratch.of(t.n_labels * sizeof(double))
    x.scores = <double *>scratch.of(t.n_labels * sizeof(double))
    x.gold = <int32_t *>scratch.of((data.longest + 1) * sizeof(int32_t))
    x.guess = <int32_t *>scratch.of((data.longest + 1) * sizeof(int32_t))
    try:
        return learn_in_order(sentences, _search, &x)
    finally:
        beam_close(&x.beam)
        free(x.changes)


cdef int _search(void *learner, const int64_t *order, int64_t i, int64_t n,
                 Counts *counts) noexcept nogil:
    return learn_sequence(<Structured *>learner, order[i], counts)
