# cython: language_level=3
# cython: freethreading_compatible=True
"""Greedy epochs over training sentences, whose loop greedy.h holds; and what all learners share.

search.pyx (whole sentences) and factored.pyx (labels made of parts) learn by learn_in_order, too.
"""

import numpy as np

from cpython.exc cimport PyErr_CheckSignals
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset

from perceptron_nlp._core.features.extract cimport Program
from perceptron_nlp._core.train.history cimport HistoryMemo, HistoryRows
from perceptron_nlp._core.table.table cimport Table, table_make_whole, table_width
from perceptron_nlp._core.train.trainingset cimport Corpus, TrainingSet
from perceptron_nlp.errors import ArgumentError, MemoryLimitError

cdef extern from "train/greedy.h" nogil:
    ctypedef struct Greedy:
        const Program *program
        Table *table
        const Corpus *corpus
        const Rule *rule
        const HistoryMemo *memos
        int right_to_left
        int32_t *rows
        int32_t *next
        double *scores
    void fetch_sentence(const Greedy *x, int64_t sentence) noexcept
    void fetch_first_starts(const Greedy *x, int64_t sentence) noexcept
    int learn_sentence(Greedy *x, int64_t sentence, Counts *counts) noexcept

cdef struct GreedyPass:
    Greedy greedy
    Rule rule
    const double *scales  # one a sentence, in the order in which they are taken

RULES = ("perceptron", "margin", "passive-aggressive", "adagrad")
# Sentences between two looks at the keyboard: some ten milliseconds of work.
BLOCK = 512


def learn(TrainingSet data not None, order, *, rule="perceptron", double rate=1.0,
          double margin=1.0, bint right_to_left=False, scales=None):
    """Go once over some sentences, labelling each and learning from its mistakes.

    Parameters
    ----------
    data : TrainingSet; the table it was made with learns
    order : int64[n]; numbers of the sentences, in the order in which to take them
    rule : one of RULES
    rate, margin : see Rule in greedy.h
    right_to_left : read sentences from their end
    scales : None, or float64[n]; what the loss is multiplied by in each of these sentences, >= 0:
        the step of a perceptron, the bound on a passive-aggressive one, AdaGrad's gradient

    Returns
    -------
    (examples, mistakes, updates) : ints; labelled tokens seen, wrongly labelled, learnt from

    Raises
    ------
    MemoryLimitError : no memory for a new weight
    """
    cdef const int64_t[::1] sentences = checked_order(data, order)
    cdef const double[::1] scale = _scales(scales, sentences.shape[0] - 1)
    cdef Table *t = &data.table.table
    cdef Scratch scratch = Scratch()
    cdef HistoryRows history
    cdef GreedyPass x
    x.rule = checked_rule(data, rule, rate, margin)
    x.scales = &scale[0]
    history = data.history_rows()
    history.begin()
    if rule in ("perceptron", "margin") and rate.is_integer() and scales is None:
        table_make_whole(t)
    x.greedy.program = &data.program.program
    x.greedy.table = t
    x.greedy.corpus = &data.corpus
    x.greedy.rule = &x.rule
    x.greedy.memos = history.memos
    x.greedy.right_to_left = right_to_left
    x.greedy.rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.greedy.next = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.greedy.scores = <double *>scratch.of(table_width(t) * sizeof(double))
    try:
        return learn_in_order(sentences, _learn_greedily, &x)
    finally:
        history.end()


cdef int _learn_greedily(void *learner, const int64_t *order, int64_t i, int64_t n,
                         Counts *counts) noexcept nogil:
    cdef GreedyPass *x = <GreedyPass *>learner
    x.rule.scale = x.scales[i]
    if i + 2 < n:
        fetch_sentence(&x.greedy, order[i + 2])
    if i + 1 < n:
        fetch_first_starts(&x.greedy, order[i + 1])
    return learn_sentence(&x.greedy, order[i], counts)


cdef _scales(scales, int64_t n):
    if scales is None:
        return np.ones(n + 1)
    array = np.ascontiguousarray(scales, np.float64)
    if array.shape != (n,) or not np.isfinite(array).all() or (array < 0).any():
        raise ArgumentError(f"scales: {n} finite numbers are needed, one a sentence, none below 0")
    return np.append(array, 1.0)


cdef const int64_t[::1] checked_order(TrainingSet data, order):
    """The numbers of sentences to go over, and one more, so that there is always one."""
    sentences = np.append(np.ascontiguousarray(order, np.int64), np.int64(0))
    if len(sentences) > 1 and (np.min(order) < 0 or np.max(order) >= data.n_sentences):
        raise ArgumentError(f"order: sentence numbers run from 0 to {data.n_sentences - 1}")
    return sentences


cdef Rule checked_rule(TrainingSet data, rule, double rate, double margin) except *:
    """One of RULES, in the core's form, if the table can learn by it."""
    cdef Rule found
    found.kind = RULES.index(rule)
    found.rate = rate
    found.margin = margin
    found.scale = 1
    if rule == "adagrad" and not data.table.table.with_gradient:
        raise ArgumentError("rule: adagrad needs a table made with gradients=True")
    return found


cdef tuple learn_in_order(const int64_t[::1] order, LearnSentence learn_one, void *learner):
    """Go once over sentences; how many examples, mistakes and updates there were.

    Ctrl-C is heard between blocks of them; what was learnt before it stays, as where there is no
    memory for a new weight.
    """
    cdef int64_t n = order.shape[0] - 1, at, end, i
    cdef const int64_t *numbers = &order[0]
    cdef int status = 0
    cdef Counts counts
    memset(&counts, 0, sizeof(counts))
    for at in range(0, n, BLOCK):
        end = min(at + <int64_t>BLOCK, n)
        with nogil:
            for i in range(at, end):
                status = learn_one(learner, numbers, i, n, &counts)
                if status < 0:
                    break
        if status < 0:
            raise MemoryLimitError("no memory for a new weight; use table_bits or less data")
        PyErr_CheckSignals()
    return counts.examples, counts.mistakes, counts.updates


cdef class Scratch:
    """Memory that a pass needs, given back with this object."""

    def __dealloc__(self):
        cdef int i
        for i in range(self.n):
            free(self.taken[i])

    cdef void *of(self, size_t n_bytes) except NULL:
        """Some of it."""
        cdef void *room = malloc(n_bytes)
        if room == NULL or self.n == MOST_TAKEN:
            free(room)
            raise MemoryLimitError("no memory to train with")
        self.taken[self.n] = room
        self.n += 1
        return room
