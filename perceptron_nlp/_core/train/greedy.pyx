# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""Learning to tag greedily: left to right or right to left, one label at a time, each from the
features of the words and of the labels just given.

A visit to a token adds about 27 rows of weights, and waiting for those that are not in the cache is
most of the time of training. So the rows of a token are found and fetched while the token before it
is labeled: also those that look at that label, which is taken to be the right one and mostly is;
where it is not, they are found again.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t

from perceptron_nlp._core.features.extract cimport (
    MAX_COLUMNS, MAX_HISTORY, Program, TokenView, no_label_hash,
)
from perceptron_nlp._core.table.weights cimport (
    Row, Table, fetch_history, fetch_rows, reserve, score_rows, touch, touch_too,
)
from perceptron_nlp._core.train.ahead cimport (
    Road, fetch_ahead, fetch_sentences, length_of, place_of,
)
from perceptron_nlp._core.train.driver cimport (
    Counts, Rule, Scratch, best_label, checked_order, checked_rule, learn_in_order, learn_step,
    rival_of,
)
from perceptron_nlp._core.train.history cimport HistoryRows, history_insert, history_row
from perceptron_nlp._core.train.trainingset cimport Corpus, TrainingSet, find_static
from perceptron_nlp.errors import ArgumentError


cdef struct Greedy:
    Road road
    Table *table
    Rule rule
    const double *scales  # one a sentence, in the order in which they are taken
    int32_t *rows         # of the token at hand
    int32_t *next_rows    # of the one after it
    double *scores


cdef struct Visit:  # a token, and what it looks like after the labels given
    int64_t token, place
    int32_t forced                # the label that it has without being scored, or -1
    const int32_t *types[MAX_COLUMNS]
    uint64_t past[MAX_HISTORY]    # hashes of the labels given, the last first
    int32_t given[MAX_HISTORY]    # their numbers; as many as there are labels for "none"
    TokenView view
    bint is_open                  # may it bring features of its own?
    size_t n_fixed, n             # rows: those of its words, and all


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
    cdef HistoryRows history = data.history_rows()
    cdef Greedy x
    x.rule = checked_rule(data, rule, rate, margin)
    x.scales = &scale[0]
    x.table = &data.table.table
    x.road.program = &data.program.program
    x.road.corpus = &data.corpus
    x.road.memos = history.memos
    x.road.right_to_left = right_to_left
    x.rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.next_rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.scores = <double *>scratch.of(x.table.stride * sizeof(double))
    history.begin()
    try:
        return learn_in_order(sentences, _learn_sentence, &x)
    finally:
        history.end()


cdef int _learn_sentence(void *learner, const int64_t *order, int64_t i, int64_t n_sentences,
                         Counts *counts) noexcept nogil:
    cdef Greedy *x = <Greedy *>learner
    cdef int64_t sentence = order[i], n = length_of(&x.road, sentence), step, updates
    cdef Visit visits[2]
    cdef Visit *now
    cdef Visit *then
    cdef int32_t label, expected
    x.rule.scale = x.scales[i]
    fetch_sentences(&x.road, order, i, n_sentences)
    if n:
        _begin(x, &visits[0])
        _visit(x, sentence, 0, &visits[0])
    for step in range(n):
        now, then = &visits[step & 1], &visits[(step + 1) & 1]
        x.rows, x.next_rows = x.next_rows, x.rows
        expected = now.forced if now.forced >= 0 else x.road.corpus.gold[now.token]
        fetch_ahead(&x.road, sentence, step, n)
        if step + 1 < n:
            _follow(x, now, max(expected, 0), then)
            _visit(x, sentence, step + 1, then)
        updates = counts.updates
        label = now.forced if now.forced >= 0 else _learn_token(x, now, counts)
        if label < 0:
            return -1
        # An update may have made rows that were not there.
        if step + 1 < n and (label != expected or counts.updates != updates):
            _follow(x, now, label, then)
            _find_history(x, then)
    return 0


cdef inline void _begin(const Greedy *x, Visit *v) noexcept nogil:
    """Come to the first token: no label was given."""
    cdef int k
    for k in range(MAX_HISTORY):
        v.past[k] = no_label_hash()
        v.given[k] = x.table.n_labels


cdef inline void _follow(const Greedy *x, const Visit *before, int32_t label,
                         Visit *v) noexcept nogil:
    """Come after a token that was given this label."""
    cdef int k
    for k in range(MAX_HISTORY - 1):
        v.past[k + 1] = before.past[k]
        v.given[k + 1] = before.given[k]
    v.past[0] = x.road.corpus.label_hashes[label]
    v.given[0] = label


cdef inline void _visit(const Greedy *x, int64_t sentence, int64_t step, Visit *v) noexcept nogil:
    """Find a token and its rows, and fetch these."""
    cdef const Corpus *c = x.road.corpus
    cdef int32_t k
    cdef int64_t i
    v.place = place_of(&x.road, sentence, step)
    i = v.place - c.padded_starts[sentence]
    v.token = c.token_starts[sentence] + i
    for k in range(x.road.program.n_columns):
        v.types[k] = c.types[k] + v.place
    v.view.types = v.types
    v.view.carried = c.carried
    v.view.past = v.past
    v.view.first = i == 0
    v.view.last = i == length_of(&x.road, sentence) - 1
    v.forced = c.forced[v.types[0][0]]
    v.is_open = sentence < c.n_open
    v.n_fixed = 0
    if v.forced < 0:
        v.n_fixed = find_static(
            x.road.program, c, v.place, v.token, v.view.first, v.view.last, x.next_rows)
    _find_history(x, v)
    fetch_rows(x.table, x.next_rows, v.n)


cdef inline void _find_history(const Greedy *x, Visit *v) noexcept nogil:
    """Find the rows that hang on the labels given."""
    cdef const Program *p = x.road.program
    cdef int64_t row
    cdef int32_t h
    v.n = v.n_fixed
    if v.forced >= 0:
        return
    for h in range(p.n_history):
        row = history_row(p, x.table, &x.road.memos[h], p.history_templates[h], &v.view, v.given)
        if row >= 0 or v.is_open:
            x.next_rows[v.n] = <int32_t>row
            v.n += 1


cdef inline int32_t _learn_token(Greedy *x, const Visit *v, Counts *counts) noexcept nogil:
    """Label a token and learn from it; the label given, or -1 when there is no memory."""
    cdef Table *t = x.table
    cdef int32_t gold = x.road.corpus.gold[v.token], guess, rival
    cdef double step
    score_rows(t, x.rows, v.n, x.scores)
    guess = best_label(x.scores, t.n_labels)
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
    cdef const Program *p = x.road.program
    cdef int32_t *row
    cdef int32_t h
    cdef size_t i
    cdef Row cells
    if reserve(x.table, v.n, <uint32_t>p.n_history) < 0:
        return -1
    fetch_history(x.table, x.rows, v.n, gold, rival)
    for h in range(p.n_history if v.is_open else 0):
        row = &x.rows[v.n_fixed + h]
        if row[0] < 0:
            row[0] = <int32_t>history_insert(
                p, x.table, &x.road.memos[h], p.history_templates[h], &v.view, v.given)
    for i in range(v.n):
        learn_step(&x.rule, &cells, touch(x.table, x.rows[i], gold, &cells), step)
        learn_step(&x.rule, &cells, touch_too(x.table, x.rows[i], rival, &cells), -step)
    return 0


def _scales(scales, int64_t n):
    if scales is None:
        return np.ones(n + 1)
    array = np.ascontiguousarray(scales, np.float64)
    if array.shape != (n,) or not np.isfinite(array).all() or (array < 0).any():
        raise ArgumentError(f"scales: {n} finite numbers are needed, one a sentence, none below 0")
    return np.append(array, 1.0)
