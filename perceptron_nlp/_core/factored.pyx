# cython: language_level=3
# cython: freethreading_compatible=True
"""Greedy training of the weights of the parts that labels are made of (factored.h)."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from perceptron_nlp._core.extract cimport Program
from perceptron_nlp._core.labelparts cimport LabelParts, Parts, parts_scratch
from perceptron_nlp._core.train cimport Corpus, Counts, Rule, TrainingSet
from perceptron_nlp._core.train import BLOCK, RULES
from perceptron_nlp._core.weights cimport Table
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "factored.h" nogil:
    ctypedef struct PartRows:
        int64_t done
    ctypedef struct Factored:
        const Program *program
        Table *table
        PartRows *copies
        const Corpus *corpus
        const Rule *rule
        const Parts *parts
        int right_to_left
        int32_t *rows
        uint64_t *new_keys
        double *part_scores
        double *scratch
        int32_t *differing
        double *steps
    void partrows_begin(PartRows *x, const Table *t) noexcept
    void partrows_clear(PartRows *x) noexcept
    int learn_parts_of_sentence(const Factored *x, int64_t sentence, Counts *counts) noexcept


cdef class CopiedRows:
    """Copies of the rows that most time goes into, kept from one piece of training to the next
    (partrows.h)."""

    cdef PartRows rows

    def __cinit__(self):
        memset(&self.rows, 0, sizeof(PartRows))

    def __dealloc__(self):
        partrows_clear(&self.rows)


def learn_factored(TrainingSet data not None, LabelParts labels not None, order, *,
                   rule="perceptron", double rate=1.0, double margin=1.0,
                   bint right_to_left=False, CopiedRows copies=None):
    """Go once over some sentences, labelling each and learning from its mistakes.

    Parameters
    ----------
    data : TrainingSet; its table has as many labels as there are parts
    labels : what the labels of `data` are made of
    order, rule, rate, margin, right_to_left : as for train.learn; the rule is not
        "passive-aggressive"
    copies : None, or what earlier calls with the same table were given, and no other call: it
        changes nothing but the time that training takes

    Returns
    -------
    (examples, mistakes, updates) : as for train.learn

    Raises
    ------
    ArgumentError : numbers out of range, or a rule that parts are not learnt by
    MemoryLimitError : no memory for a new weight
    """
    cdef const int64_t[::1] sentences = np.append(np.ascontiguousarray(order, np.int64),
                                                  np.int64(0))
    cdef int64_t n = sentences.shape[0] - 1, at, end, i
    cdef int status = 0
    cdef Rule r
    cdef Counts counts
    cdef Factored x
    cdef CopiedRows copied = CopiedRows() if copies is None else copies
    cdef Table *t = &data.table.table
    if n and (np.min(order) < 0 or np.max(order) >= data.n_sentences):
        raise ArgumentError(f"order: sentence numbers run from 0 to {data.n_sentences - 1}")
    if rule not in ("perceptron", "margin", "adagrad"):
        raise ArgumentError(f"rule: {rule} does not learn labels made of parts")
    if rule == "adagrad" and not t.with_gradient:
        raise ArgumentError("rule: adagrad needs a table made with gradients=True")
    if t.n_labels != labels.parts.n_parts:
        raise ArgumentError(
            f"labels: {labels.parts.n_parts} parts, but the table has {t.n_labels}")
    r.kind = RULES.index(rule)
    r.rate = rate
    r.margin = margin
    r.scale = 1
    memset(&counts, 0, sizeof(counts))
    x.program = &data.program.program
    x.table = t
    x.copies = &copied.rows
    x.corpus = &data.corpus
    x.rule = &r
    x.parts = &labels.parts
    x.right_to_left = right_to_left
    x.rows = <int32_t *>malloc((data.most_rows + 1) * sizeof(int32_t))
    x.new_keys = <uint64_t *>malloc((x.program.n_history + 1) * sizeof(uint64_t))
    x.part_scores = <double *>malloc(t.n_labels * sizeof(double))
    x.scratch = <double *>malloc(parts_scratch(&labels.parts) * sizeof(double))
    x.differing = <int32_t *>malloc((t.n_labels + 1) * sizeof(int32_t))
    x.steps = <double *>malloc((t.n_labels + 1) * sizeof(double))
    try:
        if (x.rows == NULL or x.new_keys == NULL or x.part_scores == NULL or x.scratch == NULL
                or x.differing == NULL or x.steps == NULL):
            raise MemoryLimitError("no memory to train with")
        partrows_begin(x.copies, t)
        for at in range(0, n, BLOCK):
            end = min(at + <int64_t>BLOCK, n)
            with nogil:
                for i in range(at, end):
                    status = learn_parts_of_sentence(&x, sentences[i], &counts)
                    if status < 0:
                        break
            if status < 0:
                raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
            x.copies.done = t.done
            PyErr_CheckSignals()
    finally:
        free(x.rows)
        free(x.new_keys)
        free(x.part_scores)
        free(x.scratch)
        free(x.differing)
        free(x.steps)
    return counts.examples, counts.mistakes, counts.updates
