# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""Greedy learning of labels made of parts: as greedy.pyx, but weights belong to parts (parts.h),
and an update touches only the parts in which the gold label and its rival differ."""

from libc.stdint cimport int32_t, int64_t, uint16_t, uint64_t
from libc.string cimport memset

from perceptron_nlp._core.features.extract cimport (
    MAX_COLUMNS, MAX_HISTORY, Program, TokenView, no_label_hash, token_key,
)
from perceptron_nlp._core.model.labelparts cimport (
    LabelParts, PartWalk, Parts, best_but, next_difference, parts_differing, parts_scratch,
)
from perceptron_nlp._core.table.weights cimport (
    Row, Table, fetch_rows, find, insert, make_cell, score, touch,
)
from perceptron_nlp._core.train.driver cimport (
    Counts, Rule, Scratch, best_label, checked_order, checked_rule, learn_in_order, learn_step,
    rival_of,
)
from perceptron_nlp._core.train.trainingset cimport Corpus, TrainingSet, find_static
from perceptron_nlp.errors import ArgumentError


cdef struct Factored:
    const Program *program
    Table *table        # its labels are the parts
    const Corpus *corpus
    Rule rule
    const Parts *parts
    bint right_to_left
    int32_t *rows       # of the token at hand; -1 where a history feature is new
    uint64_t *new_keys  # keys of its history features, in order
    double *part_scores
    double *sums
    int32_t *differing  # the parts of an update
    double *steps       # of each of them


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
    x.program = &data.program.program
    x.table = &data.table.table
    x.corpus = &data.corpus
    x.parts = &labels.parts
    x.right_to_left = right_to_left
    x.rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.new_keys = <uint64_t *>scratch.of((x.program.n_history + 1) * sizeof(uint64_t))
    x.part_scores = <double *>scratch.of(n_parts * sizeof(double))
    x.sums = <double *>scratch.of(parts_scratch(&labels.parts) * sizeof(double))
    x.differing = <int32_t *>scratch.of((n_parts + 1) * sizeof(int32_t))
    x.steps = <double *>scratch.of((n_parts + 1) * sizeof(double))
    return learn_in_order(sentences, _learn_sentence, &x)


cdef int _learn_sentence(void *learner, const int64_t *order, int64_t number, int64_t n_sentences,
                         Counts *counts) noexcept nogil:
    cdef const Factored *x = <const Factored *>learner
    cdef const Corpus *c = x.corpus
    cdef int64_t sentence = order[number], begin = c.token_starts[sentence]
    cdef int64_t n = c.token_starts[sentence + 1] - begin, step, i
    cdef const int32_t *types[MAX_COLUMNS]
    cdef uint64_t past[MAX_HISTORY]
    cdef TokenView view
    cdef int32_t k, label
    for k in range(MAX_HISTORY):
        past[k] = no_label_hash()
    view.types, view.carried, view.past = types, c.carried, past
    for step in range(n):
        i = n - 1 - step if x.right_to_left else step
        for k in range(x.program.n_columns):
            types[k] = c.types[k] + c.padded_starts[sentence] + i
        view.first, view.last = i == 0, i == n - 1
        label = c.forced[types[0][0]]
        if label < 0:
            label = _learn_token(x, &view, c.padded_starts[sentence] + i, begin + i, counts)
        if label < 0:
            return -1
        for k in range(MAX_HISTORY - 1, 0, -1):
            past[k] = past[k - 1]
        past[0] = c.label_hashes[label]
    return 0


cdef inline int32_t _learn_token(const Factored *x, const TokenView *view, int64_t place,
                                 int64_t token, Counts *counts) noexcept nogil:
    """Label one token and learn from it; the label given, or -1 when there is no memory."""
    cdef const Program *p = x.program
    cdef Table *t = x.table
    cdef int32_t gold = x.corpus.gold[token], h
    cdef size_t i, n, n_fixed
    n_fixed = n = find_static(p, x.corpus, place, token, view.first, view.last, x.rows)
    fetch_rows(t, x.rows, n)
    for h in range(p.n_history):
        x.new_keys[h] = token_key(p, p.history_templates[h], view)
        x.rows[n] = <int32_t>find(t, x.new_keys[h])
        n += 1
    memset(x.part_scores, 0, t.n_labels * sizeof(double))
    for i in range(n):
        if x.rows[i] >= 0:
            score(t, x.rows[i], 1, x.part_scores)
    if gold < 0:
        return best_but(x.parts, x.part_scores, -1, x.sums)
    return _learn_scored(x, n_fixed, n, gold, counts)


cdef inline int32_t _learn_scored(const Factored *x, size_t n_fixed, size_t n, int32_t gold,
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
    best = best_label(scores, n_labels)
    guess = gold if best == after else rival
    counts.examples += 1
    counts.mistakes += guess != gold
    if rival_of(&x.rule, scores, n_labels, after, best, n, &step) >= 0:
        counts.updates += 1
        if _part(x, n_fixed, n, gold, rival, step) < 0:
            return -1
    x.table.done += 1
    return guess


cdef int _part(const Factored *x, size_t n_fixed, size_t n, int32_t gold, int32_t rival,
               double step) noexcept nogil:
    """Part the gold label from its rival; -1: no memory, no weight changed.

    Of n features, n_fixed are of words.
    """
    cdef const Program *p = x.program
    cdef Table *t = x.table
    cdef PartWalk walk = parts_differing(x.parts, gold, rival)
    cdef int32_t n_differing = 0, h, k
    cdef int side
    cdef size_t i
    cdef int32_t *row
    cdef Row cells
    for h in range(p.n_history):
        row = &x.rows[n_fixed + h]
        if row[0] < 0:
            row[0] = <int32_t>insert(t, x.new_keys[h], <uint16_t>p.history_templates[h])
        if row[0] < 0:
            return -1
    while next_difference(x.parts, &walk, &x.differing[n_differing], &side):
        x.steps[n_differing] = -step if side else step
        n_differing += 1
    # All cells first: then no step can fail.
    for i in range(n):
        for k in range(n_differing):
            if make_cell(t, x.rows[i], x.differing[k], &cells) < 0:
                return -1
    for i in range(n):
        for k in range(n_differing):
            learn_step(&x.rule, &cells, touch(t, x.rows[i], x.differing[k], &cells), x.steps[k])
    return 0
