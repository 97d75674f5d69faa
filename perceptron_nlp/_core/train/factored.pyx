# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""Greedy learning of labels made of parts: as greedy.pyx, but weights belong to parts (parts.h),
and an update touches only the parts in which the gold label and its rival differ."""

from libc.stdint cimport int32_t, int64_t

from perceptron_nlp._core.model.labelparts cimport (
    LabelParts, PartWalk, Parts, best_but, next_difference, parts_differing, parts_scratch,
)
from perceptron_nlp._core.table.weights cimport (
    Row, Table, fetch_totals, make_cell, score_rows, touch,
)
from perceptron_nlp._core.train.driver cimport (
    Counts, Rule, Scratch, best_label, checked_order, checked_rule, learn_step, rival_of,
)
from perceptron_nlp._core.train.trainingset cimport TrainingSet
from perceptron_nlp._core.train.walk cimport (
    Visit, Walk, insert_history, walk_in_order, walk_of, walk_sentence,
)
from perceptron_nlp.errors import ArgumentError


cdef struct Factored:
    Walk walk            # the labels of its table are the parts
    Rule rule
    const Parts *parts
    double *part_scores
    double *sums
    int32_t *differing   # the parts of an update
    double *steps        # of each of them


def learn_factored(TrainingSet data not None, LabelParts labels not None, order, *,
                   rule="perceptron", double rate=1.0, double margin=1.0,
                   bint right_to_left=False):
    """Go once over some sentences, labeling each and learning from its mistakes.

    Parameters
    ----------
    data : TrainingSet; its table has as many labels as there are parts
    labels : what the labels of `data` are made of
    order, rule, rate, margin, right_to_left : as for greedy.learn; the rule is not
        "passive-aggressive"

    Returns
    -------
    (examples, mistakes, updates) : as for greedy.learn

    Raises
    ------
    ArgumentError : numbers out of range, or a rule that parts are not learned by
    MemoryLimitError : no memory for a new weight
    """
    cdef const int64_t[::1] sentences = checked_order(data, order)
    cdef Scratch scratch = Scratch()
    cdef Factored x
    cdef int32_t n_parts = data.table.table.n_labels
    if rule not in ("perceptron", "margin", "adagrad"):
        raise ArgumentError(f"rule: {rule} does not learn labels made of parts")
    if n_parts != labels.parts.n_parts:
        raise ArgumentError(f"labels: {labels.parts.n_parts} parts, but the table has {n_parts}")
    x.rule = checked_rule(data, rule, rate, margin)
    x.walk = walk_of(data, scratch, right_to_left)
    x.parts = &labels.parts
    x.part_scores = <double *>scratch.of(data.table.table.stride * sizeof(double))
    x.sums = <double *>scratch.of(parts_scratch(&labels.parts) * sizeof(double))
    x.differing = <int32_t *>scratch.of((n_parts + 1) * sizeof(int32_t))
    x.steps = <double *>scratch.of((n_parts + 1) * sizeof(double))
    return walk_in_order(data, sentences, _learn_sentence, &x)


cdef int _learn_sentence(void *learner, const int64_t *order, int64_t i, int64_t n_sentences,
                         Counts *counts) noexcept nogil:
    cdef Factored *x = <Factored *>learner
    return walk_sentence(&x.walk, order, i, n_sentences, _learn_token, x, counts)


cdef inline int32_t _learn_token(void *learner, const Visit *v, Counts *counts) noexcept nogil:
    """See LearnToken."""
    cdef const Factored *x = <const Factored *>learner
    cdef int32_t gold = x.walk.road.corpus.gold[v.token]
    score_rows(x.walk.table, x.walk.rows, v.n, x.part_scores)
    if gold < 0:
        return best_but(x.parts, x.part_scores, -1, x.sums)
    return _learn_scored(x, v, gold, counts)


cdef inline int32_t _learn_scored(const Factored *x, const Visit *v, int32_t gold,
                                  Counts *counts) noexcept nogil:
    """Learn from a token whose parts are scored; the label given, or -1: no memory."""
    cdef int32_t rival = best_but(x.parts, x.part_scores, gold, x.sums), best, guess
    cdef int32_t n_labels = 2 if rival >= 0 else 1
    # The rule compares two labels, in the order of their numbers, which decides ties.
    cdef bint after = 0 <= rival < gold
    cdef double scores[2]
    cdef double step
    scores[after] = x.sums[x.parts.leaf[gold]]
    if rival >= 0:
        scores[not after] = x.sums[x.parts.leaf[rival]]
    best = best_label(scores, n_labels, -1)
    guess = gold if best == after else rival
    counts.examples += 1
    counts.mistakes += guess != gold
    if rival_of(&x.rule, scores, n_labels, after, best, v.n, &step) >= 0:
        counts.updates += 1
        if _part(x, v, gold, rival, step) < 0:
            return -1
    x.walk.table.done += 1
    return guess


cdef int _part(const Factored *x, const Visit *v, int32_t gold, int32_t rival,
               double step) noexcept nogil:
    """Part the gold label from its rival; -1: no memory, no weight changed."""
    cdef Table *t = x.walk.table
    cdef const int32_t *rows = x.walk.rows
    cdef PartWalk walk = parts_differing(x.parts, gold, rival)
    cdef int32_t n_differing = 0, k
    cdef int side
    cdef size_t i
    cdef Row cells
    if insert_history(&x.walk, v) < 0:
        return -1
    while next_difference(x.parts, &walk, &x.differing[n_differing], &side):
        x.steps[n_differing] = -step if side else step
        n_differing += 1
    # All cells first: then no step can fail.
    for i in range(v.n):
        for k in range(n_differing):
            if make_cell(t, rows[i], x.differing[k], &cells) < 0:
                return -1
        fetch_totals(&cells)
    for i in range(v.n):
        for k in range(n_differing):
            learn_step(&x.rule, &cells, touch(t, rows[i], x.differing[k], &cells), x.steps[k])
    return 0
