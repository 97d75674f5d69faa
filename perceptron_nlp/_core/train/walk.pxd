# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The way of greedy training over the tokens of a sentence, and fetching ahead of it.

A visit to a token adds about 27 rows of weights, and waiting for those that are not in the cache is
most of the time of training. So the rows of a token are found and fetched while the token before it
is labeled: also those that look at that label, which is taken to be the right one and mostly is;
where it is not, they are found again.

Each step follows what the one before has fetched, some tokens later: where the rows of a type
begin, the rows, what is remembered of labels; then, one token ahead, weights (fetch_rows). A type
is first looked at by the neighbor that is farthest before it.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint64_t

from perceptron_nlp._core.features.extract cimport (
    MAX_COLUMNS, MAX_HISTORY, Program, TokenView, no_label_hash,
)
from perceptron_nlp._core.table.weights cimport CACHE_LINE, Table, fetch, fetch_rows
from perceptron_nlp._core.train.driver cimport Counts, LearnSentence, Scratch, learn_in_order
from perceptron_nlp._core.train.history cimport (
    HistoryCache, HistoryRows, history_insert, history_row,
)
from perceptron_nlp._core.train.trainingset cimport Corpus, TrainingSet, find_static


cdef struct Road:  # what there is to go over
    const Program *program
    const Corpus *corpus
    const HistoryCache *caches  # one a history template
    bint right_to_left


cdef inline int64_t length_of(const Road *x, int64_t sentence) noexcept nogil:
    return x.corpus.token_starts[sentence + 1] - x.corpus.token_starts[sentence]


cdef inline int64_t place_of(const Road *x, int64_t sentence, int64_t step) noexcept nogil:
    cdef int64_t i = length_of(x, sentence) - 1 - step if x.right_to_left else step
    return x.corpus.padded_starts[sentence] + i


cdef inline const int32_t *starts_of(const Road *x, int32_t column, int64_t place) noexcept nogil:
    return (x.corpus.slot_starts
            + <size_t>x.corpus.types[column][place] * <size_t>x.program.n_slots)


cdef inline void fetch_starts(const Road *x, int64_t place) noexcept nogil:
    cdef int32_t column
    for column in range(x.program.n_columns):
        fetch(starts_of(x, column, place))


cdef inline void fetch_numbers(const Road *x, int64_t place) noexcept nogil:
    cdef int32_t column
    cdef const int32_t *rows
    for column in range(x.program.n_columns):
        rows = x.corpus.slot_rows + starts_of(x, column, place)[0]
        fetch(rows)
        fetch(rows + CACHE_LINE // sizeof(int32_t))


cdef inline void fetch_remembered(const Road *x, int64_t place) noexcept nogil:
    cdef int32_t h
    cdef const HistoryCache *m
    cdef const int32_t *first
    for h in range(x.program.n_history):
        m = &x.caches[h]
        if m.row1 != NULL and m.values != NULL:
            first = m.row1 + <size_t>m.values[x.corpus.types[m.column][place + m.offset]] * m.span
            fetch(first)
            fetch(first + (m.span - 1 if m.span > 1 else 0))


cdef inline void fetch_ahead(const Road *x, int64_t sentence, int64_t step,
                             int64_t n) noexcept nogil:
    """Fetch for the tokens after this step of a sentence of n."""
    cdef int64_t first = x.program.reach + 2
    if step + 2 < n:
        fetch_remembered(x, place_of(x, sentence, step + 2))
    if step + first < n:
        fetch_numbers(x, place_of(x, sentence, step + first))
    if step + first + 1 < n:
        fetch_starts(x, place_of(x, sentence, step + first + 1))


cdef inline void fetch_sentences(const Road *x, const int64_t *order, int64_t i,
                                 int64_t n) noexcept nogil:
    """Fetch for the sentences after sentence i of an order of n."""
    cdef int64_t sentence, token, step
    cdef int32_t column
    if i + 2 < n:
        sentence = order[i + 2]
        token = x.corpus.token_starts[sentence + x.right_to_left]
        for column in range(x.program.n_columns):
            fetch(x.corpus.types[column] + place_of(x, sentence, 0))
        fetch(x.corpus.static_rows + token * x.program.n_static)
        fetch(x.corpus.gold + token)
    if i + 1 < n:
        step = 0
        while step < x.program.reach + 3 and step < length_of(x, order[i + 1]):
            fetch_starts(x, place_of(x, order[i + 1], step))
            step += 1
    step = 0
    while step < x.program.reach + 2 and step < length_of(x, order[i]):
        fetch_numbers(x, place_of(x, order[i], step))
        step += 1


# ---- from token to token ----

cdef struct Walk:
    Road road
    Table *table
    int32_t *rows       # of the token at hand
    int32_t *next_rows  # of the one after it


cdef struct Visit:  # a token, and what it looks like after the labels given
    int64_t token, place
    int32_t forced                # the label that it has without being scored, or -1
    const int32_t *types[MAX_COLUMNS]
    uint64_t past[MAX_HISTORY]    # hashes of the labels given, the last first
    int32_t given[MAX_HISTORY]    # their numbers; as many as there are labels for "none"
    TokenView view
    bint is_open                  # may it bring features of its own?
    size_t n_fixed, n             # rows: those of its words, and all


# Labels a token, whose rows are the walk's, and learns from it; the label given, or -1: no memory.
ctypedef int32_t (*LearnToken)(void *learner, const Visit *visit, Counts *counts) noexcept nogil


cdef inline Walk walk_of(TrainingSet data, Scratch scratch, bint right_to_left) except *:
    """Ready to go over sentences."""
    cdef Walk x
    x.table = &data.table.table
    x.road.program = &data.program.program
    x.road.corpus = &data.corpus
    x.road.caches = data.history_rows().caches
    x.road.right_to_left = right_to_left
    x.rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    x.next_rows = <int32_t *>scratch.of((data.most_rows + 1) * sizeof(int32_t))
    return x


cdef inline tuple walk_in_order(TrainingSet data, const int64_t[::1] order,
                                LearnSentence learn_one, void *learner):
    """Go once over sentences, as learn_in_order; what is remembered of labels is up to date."""
    cdef HistoryRows history = data.history_rows()
    history.begin()
    try:
        return learn_in_order(order, learn_one, learner)
    finally:
        history.end()


cdef inline void begin(const Walk *x, Visit *v) noexcept nogil:
    """Come to the first token: no label was given."""
    cdef int k
    for k in range(MAX_HISTORY):
        v.past[k] = no_label_hash()
        v.given[k] = x.road.corpus.n_labels


cdef inline void follow(const Walk *x, const Visit *before, int32_t label,
                        Visit *v) noexcept nogil:
    """Come after a token that was given this label."""
    cdef int k
    for k in range(MAX_HISTORY - 1):
        v.past[k + 1] = before.past[k]
        v.given[k + 1] = before.given[k]
    v.past[0] = x.road.corpus.label_hashes[label]
    v.given[0] = label


cdef inline void visit(const Walk *x, int64_t sentence, int64_t step, Visit *v) noexcept nogil:
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
    find_history(x, v)
    fetch_rows(x.table, x.next_rows, v.n)


cdef inline void find_history(const Walk *x, Visit *v) noexcept nogil:
    """Find the rows that hang on the labels given."""
    cdef const Program *p = x.road.program
    cdef int64_t row
    cdef int32_t h
    v.n = v.n_fixed
    if v.forced >= 0:
        return
    for h in range(p.n_history):
        row = history_row(p, x.table, &x.road.caches[h], p.history_templates[h], &v.view, v.given)
        if row >= 0 or v.is_open:
            x.next_rows[v.n] = <int32_t>row
            v.n += 1


cdef inline int insert_history(const Walk *x, const Visit *v) noexcept nogil:
    """Make those rows of the token at hand that are not there; -1: no memory, no weight changed."""
    cdef const Program *p = x.road.program
    cdef int32_t *row
    cdef int32_t h
    for h in range(p.n_history if v.is_open else 0):
        row = &x.rows[v.n_fixed + h]
        if row[0] < 0:
            row[0] = <int32_t>history_insert(
                p, x.table, &x.road.caches[h], p.history_templates[h], &v.view, v.given)
        if row[0] < 0:
            return -1
    return 0


cdef inline int walk_sentence(Walk *x, const int64_t *order, int64_t i, int64_t n_sentences,
                              LearnToken learn_token, void *learner,
                              Counts *counts) noexcept nogil:
    """Learn from the tokens of sentence order[i] of n; -1: no memory for a new weight."""
    cdef int64_t sentence = order[i], n = length_of(&x.road, sentence), step, updates
    cdef Visit visits[2]
    cdef Visit *now
    cdef Visit *then
    cdef int32_t label, expected
    fetch_sentences(&x.road, order, i, n_sentences)
    if n:
        begin(x, &visits[0])
        visit(x, sentence, 0, &visits[0])
    for step in range(n):
        now, then = &visits[step & 1], &visits[(step + 1) & 1]
        x.rows, x.next_rows = x.next_rows, x.rows
        expected = now.forced if now.forced >= 0 else x.road.corpus.gold[now.token]
        fetch_ahead(&x.road, sentence, step, n)
        if step + 1 < n:
            follow(x, now, max(expected, 0), then)
            visit(x, sentence, step + 1, then)
        updates = counts.updates
        label = now.forced if now.forced >= 0 else learn_token(learner, now, counts)
        if label < 0:
            return -1
        # An update may have made rows that were not there.
        if step + 1 < n and (label != expected or counts.updates != updates):
            follow(x, now, label, then)
            find_history(x, then)
    return 0
