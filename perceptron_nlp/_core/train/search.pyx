# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""Learning to tag whole sentences: search as in tagging, then part the gold sequence from the
sequence found (Collins, 2002, "Discriminative training methods for hidden Markov models").

Two things make it work. The search may lose the gold sequence, so the update is made at the prefix
where the beam's best beats it by most ("max-violation": Huang, Fayong and Guo, 2012, "Structured
perceptron with inexact search"). And each wrong label gets `cost` on top of its score while
training, so that the gold sequence must win by as much as there are wrong labels (Taskar, Guestrin
and Koller, 2003, in the form of Tsochantaridis et al., 2004).

The example of the averages is the sentence, weighted by its words: time moves on by the number of
words that were learned from, so averages weigh text evenly, as greedy training does.
"""

import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memcpy, memset

from perceptron_nlp._core.features.extract cimport (
    MAX_COLUMNS, MAX_HISTORY, Program, TokenView, no_label_hash, token_key,
)
from perceptron_nlp._core.model.frozenmodel import allowed_bytes
from perceptron_nlp._core.table.weights cimport (
    Row, Table, add_row, array_room, fetch_rows, find, insert, make_cell, touch,
)
from perceptron_nlp._core.train.driver cimport (
    ADAGRAD, Counts, Rule, Scratch, checked_order, checked_rule, learn_in_order, learn_step,
)
from perceptron_nlp._core.train.trainingset cimport Corpus, TrainingSet, find_static
from perceptron_nlp.errors import ArgumentError

cdef extern from "train/beam.h" nogil:
    const int MAX_BEAM
    ctypedef struct State:
        double score
        int32_t *past
    ctypedef struct Beam:
        int32_t width, n_labels, depth, n_states
        const uint8_t *allowed
        State *states
    void beam_close(Beam *b) noexcept
    int beam_begin(Beam *b, int64_t n) noexcept
    double *beam_local(const Beam *b, int32_t state) noexcept
    void beam_step(Beam *b, int64_t step, int32_t only, int last) noexcept
    void beam_trace(const Beam *b, int64_t steps, int32_t *labels) noexcept


cdef struct Change:  # one weight that an update is going to move
    int64_t row
    int32_t label
    double step


cdef struct Structured:
    const Program *program
    Table *table
    const Corpus *corpus
    Rule rule
    double cost
    bint right_to_left
    const uint64_t *label_hashes  # one more than labels: the last is for "none"
    Beam beam
    int32_t *rows     # of one token; then those of the templates of each state
    double *fixed     # [label]: what the words of one token say
    double *scores    # [label]: scratch
    int32_t *gold     # [step]: the gold sequence, as it is read
    int32_t *guess    # [step]: the one found
    bint is_partly    # some words of the sentence have no label
    Change *changes   # of the sentence at hand
    size_t n_changes, changes_room


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
    (examples, mistakes, updates) : ints; labeled words seen; words in which the sequences parted
        from differ from the gold ones, twice

    Raises
    ------
    ArgumentError : sentence numbers or beam out of range, a rule for single labels only
    MemoryLimitError : no memory for a new weight; what was learned before that sentence stays
    """
    cdef const int64_t[::1] sentences = checked_order(data, order)
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
    memset(&x, 0, sizeof(x))
    x.rule = checked_rule(data, rule, rate, 0)
    x.program = &data.program.program
    x.table = t
    x.corpus = &data.corpus
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
        return learn_in_order(sentences, _learn_sentence, &x)
    finally:
        beam_close(&x.beam)
        free(x.changes)


cdef int _learn_sentence(void *learner, const int64_t *order, int64_t number, int64_t n_sentences,
                         Counts *counts) noexcept nogil:
    """One sentence; -1: no memory, and no weight or average has changed (cells of zero may be new).

    Mistakes are counted in the sequence parted from, so its cost is in them.
    """
    cdef Structured *x = <Structured *>learner
    cdef const Corpus *c = x.corpus
    cdef int64_t sentence = order[number], wrong = 0, labeled, prefix, step, token
    cdef int64_t n = c.token_starts[sentence + 1] - c.token_starts[sentence]
    cdef int64_t k
    cdef size_t i
    cdef Row row
    labeled = _set_gold(x, sentence, n)
    if labeled <= 0:
        return <int>labeled
    prefix = _find_violation(x, sentence, n)
    if prefix < 0:
        return -1
    x.n_changes = 0
    for step in range(prefix):
        token = _token_of(x, sentence, step)
        if _forced_label(x, sentence, token) < 0:
            wrong += c.gold[token] >= 0 and x.gold[step] != x.guess[step]
            if _part_step(x, sentence, step) < 0:
                return -1
    # Their cells are there, so none can fail.
    for i in range(x.n_changes):
        k = touch(x.table, x.changes[i].row, x.changes[i].label, &row)
        learn_step(&x.rule, &row, k, x.changes[i].step)
    counts.mistakes += wrong
    counts.updates += wrong
    counts.examples += labeled
    x.table.done += labeled
    return 0


cdef inline int64_t _token_of(const Structured *x, int64_t sentence, int64_t step) noexcept nogil:
    cdef const int64_t *starts = x.corpus.token_starts + sentence
    return starts[1] - 1 - step if x.right_to_left else starts[0] + step


cdef inline int64_t _place_of(const Structured *x, int64_t sentence, int64_t token) noexcept nogil:
    return x.corpus.padded_starts[sentence] + token - x.corpus.token_starts[sentence]


cdef inline void _view(const Structured *x, int64_t sentence, int64_t token, const int32_t *past,
                       const int32_t **types, uint64_t *hashes, TokenView *view) noexcept nogil:
    """What a token looks like after the labels in `past` (numbers, the last first)."""
    cdef const Corpus *c = x.corpus
    cdef int32_t k
    for k in range(x.program.n_columns):
        types[k] = c.types[k] + _place_of(x, sentence, token)
    for k in range(x.program.depth):
        hashes[k] = x.label_hashes[past[k]]
    view.types, view.carried, view.past = types, c.carried, hashes
    view.first = token == c.token_starts[sentence]
    view.last = token == c.token_starts[sentence + 1] - 1


cdef inline int32_t _forced_label(const Structured *x, int64_t sentence,
                                  int64_t token) noexcept nogil:
    """The label that a token has without being scored, or -1."""
    return x.corpus.forced[x.corpus.types[0][_place_of(x, sentence, token)]]


cdef inline void _past_of(const int32_t *labels, int64_t step, int32_t none,
                          int32_t *past) noexcept nogil:
    cdef int k
    for k in range(MAX_HISTORY):
        past[k] = labels[step - 1 - k] if step - 1 - k >= 0 else none


cdef inline size_t _static_rows(const Structured *x, int64_t sentence, int64_t token) noexcept nogil:
    """Find and fetch the rows of a token that do not hang on labels."""
    cdef const Corpus *c = x.corpus
    cdef size_t n = find_static(
        x.program, c, _place_of(x, sentence, token), token, token == c.token_starts[sentence],
        token == c.token_starts[sentence + 1] - 1, x.rows)
    fetch_rows(x.table, x.rows, n)
    return n


cdef void _score_history(const Structured *x, int64_t sentence, int64_t token, const int32_t *past,
                         double *scores) noexcept nogil:
    """Add what the history templates say after `past` to scores[label]."""
    cdef const Program *p = x.program
    cdef const int32_t *types[MAX_COLUMNS]
    cdef uint64_t hashes[MAX_HISTORY]
    cdef TokenView view
    cdef int32_t h
    _view(x, sentence, token, past, types, hashes, &view)
    for h in range(p.n_history):
        x.rows[h] = <int32_t>find(x.table, token_key(p, p.history_templates[h], &view))
    fetch_rows(x.table, x.rows, p.n_history)
    for h in range(p.n_history):
        if x.rows[h] >= 0:
            add_row(x.table, x.rows[h], scores)


cdef int32_t _score_states(Structured *x, int64_t sentence, int64_t token) noexcept nogil:
    """Fill the beam's local scores for one token; the words' own part stays in x.fixed.

    It returns the label that the token has without being scored, which then gains nothing, or -1.
    """
    cdef size_t size = x.table.n_labels * sizeof(double), n, k
    cdef int32_t s, forced = _forced_label(x, sentence, token)
    if forced >= 0:
        for s in range(x.beam.n_states):
            beam_local(&x.beam, s)[forced] = 0
        return forced
    n = _static_rows(x, sentence, token)
    memset(x.fixed, 0, size)
    for k in range(n):
        add_row(x.table, x.rows[k], x.fixed)
    for s in range(x.beam.n_states):
        memcpy(beam_local(&x.beam, s), x.fixed, size)
        _score_history(x, sentence, token, x.beam.states[s].past, beam_local(&x.beam, s))
    return -1


cdef double _gold_score(const Structured *x, int64_t sentence, int64_t token,
                        int64_t step) noexcept nogil:
    """What the gold label scores at a step of the gold sequence."""
    cdef int32_t past[MAX_HISTORY]
    cdef int32_t s
    _past_of(x.gold, step, x.table.n_labels, past)
    for s in range(x.beam.n_states):
        if not memcmp(past, x.beam.states[s].past, x.program.depth * sizeof(int32_t)):
            return beam_local(&x.beam, s)[x.gold[step]]
    memcpy(x.scores, x.fixed, x.table.n_labels * sizeof(double))
    _score_history(x, sentence, token, past, x.scores)
    return x.scores[x.gold[step]]


cdef int64_t _set_gold(Structured *x, int64_t sentence, int64_t n) noexcept nogil:
    """Set the gold sequence as it is read; the words learned from, or -1: no memory.

    Where words have no label, the best sequence that agrees with those that there are takes their
    place.
    """
    cdef int64_t labeled = 0, step, token
    cdef int32_t forced
    x.is_partly = False
    for step in range(n):
        token = _token_of(x, sentence, step)
        forced = _forced_label(x, sentence, token)
        x.gold[step] = forced if forced >= 0 else x.corpus.gold[token]
        x.is_partly = x.is_partly or x.gold[step] < 0
        labeled += forced < 0 and x.gold[step] >= 0
    if not x.is_partly or not labeled:
        return labeled
    if beam_begin(&x.beam, n) < 0:
        return -1
    for step in range(n):
        _score_states(x, sentence, _token_of(x, sentence, step))
        beam_step(&x.beam, step, x.gold[step], step == n - 1)
    beam_trace(&x.beam, n, x.gold)
    return labeled


cdef bint _is_mistaken(const Structured *x, int64_t sentence, int64_t steps) noexcept nogil:
    """Does the best way to give the first labels differ from the gold sequence in a word that has a
    label? Other differences are no mistakes: nobody has said what is right there. It leaves that
    way in x.guess."""
    cdef int64_t step
    beam_trace(&x.beam, steps, x.guess)
    for step in range(steps):
        if (x.gold[step] != x.guess[step]
                and x.corpus.gold[_token_of(x, sentence, step)] >= 0):
            return True
    return False


cdef int64_t _find_violation(Structured *x, int64_t sentence, int64_t n) noexcept nogil:
    """Search; the length of the prefix to learn from, whose rival is left in x.guess; 0 where the
    gold sequence leads, -1: no memory."""
    cdef Beam *b = &x.beam
    cdef double gold_sum = 0, worst = 0, right
    cdef double *local
    cdef int64_t prefix = 0, step, token
    cdef int32_t gold, forced, s, k
    if beam_begin(b, n) < 0:
        return -1
    for step in range(n):
        token = _token_of(x, sentence, step)
        gold = x.gold[step]
        forced = _score_states(x, sentence, token)
        if forced < 0:
            gold_sum += _gold_score(x, sentence, token, step)
            for s in range(b.n_states if x.corpus.gold[token] >= 0 else 0):
                local = beam_local(b, s)
                right = local[gold]
                for k in range(b.n_labels):
                    local[k] += x.cost
                local[gold] = right
        beam_step(b, step, forced, step == n - 1)
        if (b.states[0].score - gold_sum > worst
                and (not x.is_partly or _is_mistaken(x, sentence, step + 1))):
            worst = b.states[0].score - gold_sum
            prefix = step + 1
    # A tie is a mistake too if it is not the gold sequence that the search prefers.
    if not prefix and b.states[0].score == gold_sum:
        prefix = n
    beam_trace(b, prefix, x.guess)
    if x.is_partly and not _is_mistaken(x, sentence, prefix):
        return 0
    if prefix and memcmp(x.gold, x.guess, prefix * sizeof(int32_t)):
        return prefix
    return 0


cdef int _note(Structured *x, int64_t row, int32_t label, double sign) noexcept nogil:
    """Note a step of one weight, and make its cell. -1: no memory."""
    cdef Row cells
    cdef Change *change
    if array_room(&x.changes, &x.changes_room, x.n_changes + 1, sizeof(Change)) < 0:
        return -1
    if make_cell(x.table, row, label, &cells) < 0:
        return -1
    change = &x.changes[x.n_changes]
    change.row, change.label = row, label
    change.step = sign * (1 if x.rule.kind == ADAGRAD else x.rule.rate)
    x.n_changes += 1
    return 0


cdef int _part_step(Structured *x, int64_t sentence, int64_t step) noexcept nogil:
    """Note what parts gold and rival at one step; features that both have with the same label are
    left alone. -1: no memory."""
    cdef const Program *p = x.program
    cdef int32_t gold = x.gold[step], guess = x.guess[step], none = x.table.n_labels
    cdef int32_t past[MAX_HISTORY]
    cdef const int32_t *types[MAX_COLUMNS]
    cdef uint64_t right_hashes[MAX_HISTORY]
    cdef uint64_t wrong_hashes[MAX_HISTORY]
    cdef TokenView right, wrong
    cdef int64_t token = _token_of(x, sentence, step), row
    cdef uint64_t one, two
    cdef int32_t h, template_id
    cdef size_t i
    _past_of(x.gold, step, none, past)
    _view(x, sentence, token, past, types, right_hashes, &right)
    _past_of(x.guess, step, none, past)
    _view(x, sentence, token, past, types, wrong_hashes, &wrong)
    if gold != guess:
        for i in range(_static_rows(x, sentence, token)):
            if _note(x, x.rows[i], gold, 1) < 0 or _note(x, x.rows[i], guess, -1) < 0:
                return -1
    for h in range(p.n_history):
        template_id = p.history_templates[h]
        one = token_key(p, template_id, &right)
        two = token_key(p, template_id, &wrong)
        if one == two and gold == guess:
            continue
        row = insert(x.table, one, <uint16_t>template_id)
        if row < 0 or _note(x, row, gold, 1) < 0:
            return -1
        row = row if one == two else insert(x.table, two, <uint16_t>template_id)
        if row < 0 or _note(x, row, guess, -1) < 0:
            return -1
    return 0
