# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""Learning to tag greedily: left to right or right to left, one label at a time, each from the
features of the words and of the labels just given. How they are gone over is in walk.pxd.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t

from perceptron_nlp._core.table.weights cimport (
    Row, Table, fetch_history, reserve, score_rows, touch, touch_too,
)
from perceptron_nlp._core.train.driver cimport (
    Counts, Rule, Scratch, best_label, checked_order, checked_rule, learn_step, rival_of,
)
from perceptron_nlp._core.train.trainingset cimport TrainingSet
from perceptron_nlp._core.train.walk cimport (
    Visit, Walk, insert_history, walk_in_order, walk_of, walk_sentence,
)
from perceptron_nlp.errors import ArgumentError


cdef struct Greedy:
    Walk walk
    Rule rule
    const double *scales  # one a sentence, in the order in which they are taken
    double *scores


def learn(TrainingSet data not None, order, *, rule="perceptron", double rate=1.0,
          double margin=1.0, bint right_to_left=False, scales=None):
    """Go once over some sentences, labeling each and learning from its mistakes.

    Parameters
    ----------
    data : TrainingSet; the table it was made with learns
    order : int64[n]; numbers of the sentences, in the order in which to take them
    rule : one of driver.RULES
    rate, margin : see Rule in driver.pxd
    right_to_left : read sentences from their end
    scales : None, or float64[n]; what the loss is multiplied by in each of these sentences, >= 0:
        the step of a perceptron, the bound on a passive-aggressive one, AdaGrad's gradient

    Returns
    -------
    (examples, mistakes, updates) : ints; labeled tokens seen, wrongly labeled, learned from

    Raises
    ------
    MemoryLimitError : no memory for a new weight
    """
    cdef const int64_t[::1] sentences = checked_order(data, order)
    cdef const double[::1] scale = _scales(scales, sentences.shape[0] - 1)
    cdef Scratch scratch = Scratch()
    cdef Greedy x
    x.rule = checked_rule(data, rule, rate, margin)
    x.scales = &scale[0]
    x.walk = walk_of(data, scratch, right_to_left)
    x.scores = <double *>scratch.of(x.walk.table.stride * sizeof(double))
    return walk_in_order(data, sentences, _learn_sentence, &x)


cdef int _learn_sentence(void *learner, const int64_t *order, int64_t i, int64_t n_sentences,
                         Counts *counts) noexcept nogil:
    cdef Greedy *x = <Greedy *>learner
    x.rule.scale = x.scales[i]
    return walk_sentence(&x.walk, order, i, n_sentences, _learn_token, x, counts)


cdef inline int32_t _learn_token(void *learner, const Visit *v, Counts *counts) noexcept nogil:
    """See LearnToken."""
    cdef Greedy *x = <Greedy *>learner
    cdef Table *t = x.walk.table
    cdef int32_t gold = x.walk.road.corpus.gold[v.token], guess, rival
    cdef double step
    score_rows(t, x.walk.rows, v.n, x.scores)
    guess = best_label(x.scores, t.n_labels, -1)
    if gold < 0:
        return guess
    rival = rival_of(&x.rule, x.scores, t.n_labels, gold, guess, v.n, &step)
    counts.examples += 1
    counts.mistakes += guess != gold
    if rival >= 0:
        if _part(x, v, gold, rival, step) < 0:
            return -1
        counts.updates += 1
    t.done += 1
    return guess


cdef int _part(Greedy *x, const Visit *v, int32_t gold, int32_t rival, double step) noexcept nogil:
    """Part the gold label from its rival; -1: no memory, and no weight has changed."""
    cdef Table *t = x.walk.table
    cdef const int32_t *rows = x.walk.rows
    cdef size_t i
    cdef Row cells
    if reserve(t, v.n, <uint32_t>x.walk.road.program.n_history) < 0:
        return -1
    fetch_history(t, rows, v.n, gold, rival)
    if insert_history(&x.walk, v) < 0:
        return -1
    for i in range(v.n):
        learn_step(&x.rule, &cells, touch(t, rows[i], gold, &cells), step)
        learn_step(&x.rule, &cells, touch_too(t, rows[i], rival, &cells), -step)
    return 0


def _scales(scales, int64_t n):
    if scales is None:
        return np.ones(n + 1)
    array = np.ascontiguousarray(scales, np.float64)
    if array.shape != (n,) or not np.isfinite(array).all() or (array < 0).any():
        raise ArgumentError(f"scales: {n} finite numbers are needed, one a sentence, none below 0")
    return np.append(array, 1.0)
