# cython: language_level=3
# cython: freethreading_compatible=True
"""Labels made of parts, and greedy training of the weights of their parts (factored.h)."""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from perceptron_nlp._core.extract cimport Program
from perceptron_nlp._core.train cimport Corpus, Counts, Rule, TrainingSet
from perceptron_nlp._core.train import BLOCK, RULES
from perceptron_nlp._core.weights cimport Table
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "factored.h" nogil:
    ctypedef struct Factored:
        const Program *program
        Table *table
        const Corpus *corpus
        const Rule *rule
        const Parts *parts
        int right_to_left
        int64_t *rows
        uint64_t *new_keys
        double *part_scores
        double *nodes
        double *scores
    int learn_parts_of_sentence(const Factored *x, int64_t sentence, Counts *counts) noexcept


cdef class LabelParts:
    """The parts of every label, as a tree.

    Parameters
    ----------
    parts : for each label a list of part numbers, ascending, not empty; 0 to n_parts - 1
    n_parts : int

    Raises
    ------
    ArgumentError : a label has no parts, or they do not ascend or are out of range
    """

    def __cinit__(self, parts, int n_parts):
        nodes, parent, part, leaf = {}, [], [], []
        for label, numbers in enumerate(parts):
            at = -1
            before = -1
            if not len(numbers):
                raise ArgumentError(f"parts[{label}]: a label needs at least one part")
            for number in numbers:
                if not before < number < n_parts:
                    raise ArgumentError(
                        f"parts[{label}]: numbers from 0 to {n_parts - 1} are needed, ascending")
                before = number
                if (at, number) not in nodes:
                    nodes[at, number] = len(part)
                    parent.append(at)
                    part.append(number)
                at = nodes[at, number]
            leaf.append(at)
        self.arrays = [np.array(a, np.int32) for a in (parent, part, leaf)]
        cdef const int32_t[::1] parents = self.arrays[0]
        cdef const int32_t[::1] numbers_of = self.arrays[1]
        cdef const int32_t[::1] leaves = self.arrays[2]
        if not leaf:
            raise ArgumentError("parts: there are no labels")
        self.parts.n_labels = len(leaf)
        self.parts.n_parts = n_parts
        self.parts.n_nodes = len(part)
        self.parts.parent = &parents[0]
        self.parts.part = &numbers_of[0]
        self.parts.leaf = &leaves[0]

    @property
    def n_labels(self):
        """Number of labels."""
        return self.parts.n_labels

    @property
    def n_parts(self):
        """Number of parts that there may be."""
        return self.parts.n_parts


def learn_factored(TrainingSet data not None, LabelParts labels not None, order, *,
                   rule="perceptron", double rate=1.0, double margin=1.0,
                   bint right_to_left=False):
    """Go once over some sentences, labelling each and learning from its mistakes.

    Parameters
    ----------
    data : TrainingSet; its table has as many labels as there are parts
    labels : what the labels of `data` are made of
    order, rule, rate, margin, right_to_left : as for train.learn; the rule is not
        "passive-aggressive"

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
    memset(&counts, 0, sizeof(counts))
    x.program = &data.program.program
    x.table = t
    x.corpus = &data.corpus
    x.rule = &r
    x.parts = &labels.parts
    x.right_to_left = right_to_left
    x.rows = <int64_t *>malloc((data.most_rows + 1) * sizeof(int64_t))
    x.new_keys = <uint64_t *>malloc((x.program.n_history + 1) * sizeof(uint64_t))
    x.part_scores = <double *>malloc(t.n_labels * sizeof(double))
    x.nodes = <double *>malloc(labels.parts.n_nodes * sizeof(double))
    x.scores = <double *>malloc(labels.parts.n_labels * sizeof(double))
    try:
        if (x.rows == NULL or x.new_keys == NULL or x.part_scores == NULL or x.nodes == NULL
                or x.scores == NULL):
            raise MemoryLimitError("no memory to train with")
        for at in range(0, n, BLOCK):
            end = min(at + <int64_t>BLOCK, n)
            with nogil:
                for i in range(at, end):
                    status = learn_parts_of_sentence(&x, sentences[i], &counts)
                    if status < 0:
                        break
            if status < 0:
                raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
            PyErr_CheckSignals()
    finally:
        free(x.rows)
        free(x.new_keys)
        free(x.part_scores)
        free(x.nodes)
        free(x.scores)
    return counts.examples, counts.mistakes, counts.updates
