# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Fetching ahead of greedy training.

Each step follows what the one before has fetched, some tokens later: where the rows of a type
begin, the rows, what is remembered of labels; then, one token ahead, weights (fetch_rows). A type
is first looked at by the neighbor that is farthest before it.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t

from perceptron_nlp._core.features.extract cimport Program
from perceptron_nlp._core.table.weights cimport CACHE_LINE, fetch
from perceptron_nlp._core.train.history cimport HistoryMemo
from perceptron_nlp._core.train.trainingset cimport Corpus


cdef struct Road:  # what there is to go over
    const Program *program
    const Corpus *corpus
    const HistoryMemo *memos  # one a history template
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
    cdef const HistoryMemo *m
    cdef const int32_t *first
    for h in range(x.program.n_history):
        m = &x.memos[h]
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
