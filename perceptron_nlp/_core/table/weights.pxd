# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""The heart: multiclass weights of hashed features, and their lazy averages.

A feature is a 64-bit hash. It has a row, and a row has for each label a *weight*, and the *total*
of that weight over the examples that were finished when the row was last settled, which is its time
stamp, *last_update*:

    settle    total += (now - last_update) * weight;  last_update = now
    update    settle;  weight += step                                       (touch, step)
    average   (total + (now - last_update) * weight) / now

So a mistake costs what its own features cost, and rows that are quiet cost nothing until they are
read (Daumé's trick with time stamps: L12 in docs/perceptron-family.md). `now` is the number of
examples finished: the weights after an update count from the example on that it was made for.

Rows take one of three forms, which differ in how they are found and how large they are:

    full, exact   few labels: all of a row stand side by side, so that rows are summed as vectors
    full, fixed   2^bits such rows, laid out at the start: keys of the same top bits share a row
    sparse        many labels: a row is a block of cells for the labels that it has met

What is learned comes first: a row, how it is settled, moved and averaged, and its scores. How rows
are found and where they are stored comes after.
"""

from libc.math cimport sqrt
from libc.stddef cimport size_t
from libc.stdint cimport UINT32_MAX, int32_t, int64_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

cdef extern from "table/portable.h" nogil:
    int grow_array(void *array, size_t count, size_t item)
    int array_room(void *array, size_t *room, size_t n, size_t item)
    void *large_block(size_t size, int zeroed) noexcept
    void move_block(char *to, char *from_, size_t size) noexcept

cdef extern from "table/probe.h" nogil:
    ctypedef struct Slot:
        pass
    ctypedef struct Index:  # 64-bit keys -> rows 0, 1, 2, … in order of arrival
        Slot *slots
        uint64_t *keys
        uint32_t n, capacity
        int bits
    const uint32_t INDEX_MAX_ROWS
    int64_t index_find(const Index *x, uint64_t key) noexcept
    int64_t index_insert(Index *x, uint64_t key) noexcept
    int index_reserve(Index *x, uint32_t more) noexcept
    int index_open(Index *x, uint64_t multiplier, int bits) noexcept
    void index_close(Index *x) noexcept
    size_t index_start(const Index *x, uint64_t key) noexcept

cdef extern from "table/sums.h" nogil:
    const bint AVERAGED
    enum:
        GROUP, MOST_ROW_LABELS
    ctypedef void (*SumRows)(const double *weights, size_t stride, const uint32_t *place,
                             const int32_t *rows, size_t n, double *scores) noexcept
    ctypedef void (*AddRow)(const double *weights, size_t n, double *scores) noexcept
    void fetch(const void *address) noexcept

cdef enum:
    CACHE_LINE = 64
    CELLS_AHEAD = 3  # rows
    HEAD_WEIGHTS = 14  # in the two lines of a sparse row that fetch_rows fetches
    LEAST_CELLS = 2  # a mistake writes the gold label and the rival
    MOST_SIZES = 18
    CHUNK_BITS = 10

cdef struct Row:
    int64_t *last_update
    double *weight
    double *total
    double *squares      # NULL: without
    const uint32_t *label  # NULL: place k is that of label k
    int32_t n            # places; 0 where the row has learned nothing

cdef struct Table:
    int32_t n_labels
    size_t stride             # weights of a full row, with those that stay 0
    size_t width              # numbers that it has beside them
    int fixed_bits            # 0: exact
    bint is_full
    bint with_squares         # cells carry AdaGrad's sum of squares
    int64_t done              # examples finished: "now"
    Index index               # exact: key -> row
    uint16_t *group           # exact: row -> template that made it
    uint32_t *place           # exact: row -> where it is stored; 0, as at -1: it has learned nothing
    uint32_t rows_room
    SumRows sums
    AddRow add
    double *weights           # full: [place * stride + label]
    double **chunks           # full: | last_update  total * n_labels  [squares * n_labels] |
    int chunk_bits            # for each place, 2^chunk_bits of them in a piece that never moves
    size_t n_chunks
    uint32_t n_stored, room
    uint64_t *words           # sparse: blocks, each at its place
    size_t words_used, words_room
    uint32_t free_blocks[MOST_SIZES]  # sparse: by size; chained through the first word
    uint32_t largest          # sparse: cells of the largest block so far but for complete ones

# ---- learning and averaging: a settled row, and one step ----

cdef inline void settle(const Table *t, Row *r) noexcept nogil:
    """Bring the totals of a row up to now: its weights stood as they are since it was settled."""
    cdef double quiet = <double>(t.done - r.last_update[0])
    cdef int32_t k
    if not AVERAGED or quiet == 0:
        return
    for k in range(r.n):
        r.total[k] += quiet * r.weight[k]
    r.last_update[0] = t.done


cdef inline void step(Row *r, int64_t k, double by) noexcept nogil:
    """Move a weight of a settled row."""
    r.weight[k] += by


cdef inline void step_adagrad(Row *r, int64_t k, double gradient, double rate) noexcept nogil:
    """Move a weight of a settled row by AdaGrad's own step (Duchi, Hazan and Singer, 2011,
    diagonal): none where the sum of squares is too small to be seen."""
    r.squares[k] += gradient * gradient
    if r.squares[k] > 0:
        r.weight[k] += rate * gradient / sqrt(r.squares[k])


cdef inline double average(const Table *t, const Row *r, int32_t k) noexcept nogil:
    """The mean of a weight after each example; there is one."""
    return ((r.total[k] + <double>(t.done - r.last_update[0]) * r.weight[k])
            / <double>t.done)


cdef inline int64_t touch(Table *t, int64_t row, int32_t label, Row *r) noexcept nogil:
    """The place of a label in a row, which is settled; -1: no memory, nothing changed."""
    cdef int64_t k = make_cell(t, row, label, r)
    if k >= 0:
        settle(t, r)
    return k


cdef inline int64_t touch_too(Table *t, int64_t row, int32_t label, Row *r) noexcept nogil:
    """The place of one more label in the row that was touched last; -1: no memory."""
    return label if t.is_full else make_sparse_cell(t, row, <uint32_t>label, r)


# ---- scoring ----

cdef inline void score(const Table *t, int64_t row, double value, double *scores) noexcept nogil:
    """scores[label] += value * weight for every weight of the row."""
    cdef Row r = row_of(t, row)
    cdef int32_t k
    if r.label == NULL or r.n == t.n_labels:
        for k in range(r.n):
            scores[k] += value * r.weight[k]
    else:
        for k in range(r.n):
            scores[r.label[k]] += value * r.weight[k]


cdef inline void add_row(const Table *t, int64_t row, double *scores) noexcept nogil:
    """scores[label] += weight for every weight of the row."""
    cdef Row r = row_of(t, row)
    cdef int32_t k
    if r.label == NULL or r.n == t.n_labels:
        t.add(r.weight, r.n, scores)
    else:
        for k in range(r.n):
            scores[r.label[k]] += r.weight[k]


cdef inline void score_rows(const Table *t, const int32_t *rows, size_t n,
                            double *scores) noexcept nogil:
    """scores[label] = the sum over rows, of which those that are -1 do not count; there is room for
    `stride` scores."""
    cdef size_t i
    if t.is_full and not t.fixed_bits:
        t.sums(t.weights, t.stride, t.place, rows, n, scores)
        return
    memset(scores, 0, t.n_labels * sizeof(double))
    for i in range(n):
        if i + CELLS_AHEAD < n and rows[i + CELLS_AHEAD] >= 0:
            fetch_cells(t, rows[i + CELLS_AHEAD])
        if rows[i] >= 0:
            add_row(t, rows[i], scores)


# ---- keys to rows ----

cdef inline int64_t find(const Table *t, uint64_t key) noexcept nogil:
    """The row of a feature, or -1."""
    if t.fixed_bits:
        return <int64_t>(key >> (64 - t.fixed_bits))
    return index_find(&t.index, key)


cdef inline void fetch_key(const Table *t, uint64_t key) noexcept nogil:
    """Have what says where the row of a feature is on its way to the processor."""
    if not t.fixed_bits:
        fetch(&t.index.slots[index_start(&t.index, key)])


cdef inline int64_t n_rows(const Table *t) noexcept nogil:
    """Rows in use (exact) or laid out (fixed)."""
    return <int64_t>1 << t.fixed_bits if t.fixed_bits else <int64_t>t.index.n


cdef inline int reserve_rows(Table *t, uint32_t more) noexcept nogil:
    """Room for new keys; -1: no memory, nothing changed."""
    cdef uint64_t wanted = <uint64_t>t.index.n + more
    cdef uint64_t room = <uint64_t>t.rows_room + t.rows_room // 2 + 64
    cdef uint32_t *place
    if wanted > t.rows_room:
        room = min(max(room, wanted), <uint64_t>INDEX_MAX_ROWS)
        if room < wanted:
            return -1
        place = t.place - 1
        if grow_array(&place, room + 1, sizeof(uint32_t)) < 0:
            return -1
        t.place = place + 1
        if grow_array(&t.group, room, sizeof(uint16_t)) < 0:
            return -1
        t.rows_room = <uint32_t>room
    return index_reserve(&t.index, more)


cdef inline int64_t insert(Table *t, uint64_t key, uint16_t group) noexcept nogil:
    """The row of a feature, made if it is new; -1: no memory, nothing changed."""
    cdef int64_t row = find(t, key)
    if row >= 0:
        return row
    if reserve_rows(t, 1) < 0:
        return -1
    row = index_insert(&t.index, key)
    t.place[row] = 0
    t.group[row] = group
    return row


# ---- rows to weights ----

cdef inline Row full_row(const Table *t, size_t place) noexcept nogil:
    cdef double *history = (t.chunks[place >> t.chunk_bits]
                            + (place & ((<size_t>1 << t.chunk_bits) - 1)) * t.width)
    cdef Row r
    r.last_update = <int64_t *>history
    r.weight = t.weights + place * t.stride
    r.total = history + 1
    r.squares = history + 1 + t.n_labels if t.with_squares else NULL
    r.label = NULL
    r.n = t.n_labels
    return r


cdef inline size_t block_words(const Table *t, size_t cells) noexcept nogil:
    """Words of 8 bytes of | n cells | last_update | weight * cells | label * cells | total * cells
    | [squares * cells] |, which is a sparse row."""
    return 2 + cells * (3 if t.with_squares else 2) + (cells + 1) // 2


cdef inline uint32_t *block_head(const Table *t, uint32_t place) noexcept nogil:
    return <uint32_t *>(t.words + place)


cdef inline Row sparse_row(const Table *t, uint32_t place) noexcept nogil:
    cdef size_t cells = block_head(t, place)[1]
    cdef Row r
    r.last_update = <int64_t *>(t.words + place + 1)
    r.weight = <double *>(t.words + place + 2)
    r.label = <uint32_t *>(r.weight + cells)
    r.total = r.weight + cells + (cells + 1) // 2
    r.squares = r.total + cells if t.with_squares else NULL
    r.n = <int32_t>block_head(t, place)[0]
    return r


cdef inline Row row_of(const Table *t, int64_t row) noexcept nogil:
    """A row, to be read."""
    cdef Row r
    if t.fixed_bits:
        return full_row(t, <size_t>row)
    if t.place[row]:
        return full_row(t, t.place[row]) if t.is_full else sparse_row(t, t.place[row])
    memset(&r, 0, sizeof(r))
    return r


cdef inline int64_t label_at(const Row *r, int32_t k) noexcept nogil:
    """The label of a place whose weight has learned something, or -1."""
    if r.weight[k] == 0 and r.total[k] == 0 and (r.squares == NULL or r.squares[k] == 0):
        return -1
    return k if r.label == NULL else <int64_t>r.label[k]


cdef inline int store_chunk(Table *t) noexcept nogil:
    """Room for stamps and totals of 2^chunk_bits more full rows, all 0; -1: no memory."""
    if grow_array(&t.chunks, t.n_chunks + 1, sizeof(double *)) < 0:
        return -1
    t.chunks[t.n_chunks] = <double *>calloc(<size_t>1 << t.chunk_bits, t.width * sizeof(double))
    if t.chunks[t.n_chunks] == NULL:
        return -1
    t.n_chunks += 1
    return 0


cdef inline int store_reserve(Table *t, size_t more) noexcept nogil:
    """Room for full rows; -1: no memory, no row has changed."""
    cdef size_t wanted = t.n_stored + more, room = <size_t>t.room + t.room // 2 + 64
    cdef size_t width = t.stride * sizeof(double)
    cdef void *moved
    while wanted > t.n_chunks << t.chunk_bits:
        if store_chunk(t) < 0:
            return -1
    if wanted <= t.room:
        return 0
    room = max(room, wanted)
    if room > UINT32_MAX:
        return -1
    moved = large_block(room * width, 0)
    if moved == NULL:
        return -1
    if t.n_stored:
        move_block(<char *>moved, <char *>t.weights, t.n_stored * width)
    free(t.weights)
    t.weights = <double *>moved
    t.room = <uint32_t>room
    return 0


cdef inline uint32_t store_take(Table *t) noexcept nogil:
    """The place of a new full row, all 0; 0: no memory."""
    if store_reserve(t, 1) < 0:
        return 0
    memset(t.weights + t.n_stored * t.stride, 0, t.stride * sizeof(double))
    t.n_stored += 1
    return t.n_stored - 1


cdef inline size_t next_size(const Table *t, size_t cells) noexcept nogil:
    """Cells of the block that a full block of sparse cells moves to: twice as many, or one for each
    label where a third of them would not do."""
    return 2 * cells if 6 * cells <= <size_t>t.n_labels else <size_t>t.n_labels


cdef inline bint is_complete(const Table *t, size_t cells) noexcept nogil:
    """Has a block a cell for each label, in their order?"""
    return cells == <size_t>t.n_labels


cdef inline int words_reserve(Table *t, size_t words) noexcept nogil:
    """Room at the end of the blocks; -1: no memory, nothing changed."""
    cdef size_t wanted = t.words_used + words
    cdef size_t room = min(max(t.words_room + t.words_room // 2, wanted), <size_t>UINT32_MAX)
    cdef void *moved
    if wanted <= t.words_room:
        return 0
    if room < wanted:
        return -1
    moved = large_block(room * 8, 0)
    if moved == NULL:
        return -1
    if t.words_used:
        move_block(<char *>moved, <char *>t.words, t.words_used * 8)
    free(t.words)
    t.words = <uint64_t *>moved
    t.words_room = room
    return 0


cdef inline int size_number(size_t cells) noexcept nogil:
    cdef int number = 0
    while (<size_t>LEAST_CELLS << number) < cells:
        number += 1
    return number


cdef inline uint32_t block_new(Table *t, size_t cells) noexcept nogil:
    """The place of a block without labels, or with all of them; 0: no memory, nothing changed."""
    cdef size_t words = block_words(t, cells), k
    cdef uint32_t place = 0
    cdef int number = size_number(cells)
    cdef Row r
    if not is_complete(t, cells):
        place = t.free_blocks[number]
        t.largest = max(t.largest, <uint32_t>cells)
    if place:
        t.free_blocks[number] = block_head(t, place)[0]
    else:
        if words_reserve(t, words) < 0:
            return 0
        place = <uint32_t>t.words_used
        t.words_used += words
    memset(t.words + place, 0, words * 8)
    block_head(t, place)[1] = <uint32_t>cells
    if is_complete(t, cells):
        block_head(t, place)[0] = <uint32_t>cells
        r = sparse_row(t, place)
        for k in range(cells):
            (<uint32_t *>r.label)[k] = <uint32_t>k
    return place


cdef inline int block_grow(Table *t, int64_t row) noexcept nogil:
    """Move a sparse row to a larger block; -1: no memory, nothing changed."""
    cdef uint32_t old = t.place[row], place
    cdef size_t cells = block_head(t, old)[1]
    cdef Row source, target
    cdef int32_t k, at
    cdef int number = size_number(cells)
    place = block_new(t, next_size(t, cells))
    if place == 0:
        return -1
    source = sparse_row(t, old)
    target = sparse_row(t, place)
    target.last_update[0] = source.last_update[0]
    for k in range(source.n):
        at = <int32_t>source.label[k] if target.n else k
        (<uint32_t *>target.label)[at] = source.label[k]
        target.weight[at] = source.weight[k]
        target.total[at] = source.total[k]
        if target.squares != NULL:
            target.squares[at] = source.squares[k]
    if target.n == 0:
        block_head(t, place)[0] = <uint32_t>source.n
    block_head(t, old)[0] = t.free_blocks[number]
    t.free_blocks[number] = old
    t.place[row] = place
    return 0


cdef inline int64_t make_sparse_cell(Table *t, int64_t row, uint32_t label, Row *r) noexcept nogil:
    cdef uint32_t *head
    cdef int32_t k
    if not t.place[row]:
        t.place[row] = block_new(t, LEAST_CELLS)
        if not t.place[row]:
            return -1
    r[0] = sparse_row(t, t.place[row])
    head = block_head(t, t.place[row])
    if is_complete(t, head[1]):
        return label
    # To look at each cell takes no longer than to settle each.
    for k in range(r.n):
        if r.label[k] == label:
            return k
    if head[0] == head[1]:
        if block_grow(t, row) < 0:
            return -1
        r[0] = sparse_row(t, t.place[row])
        head = block_head(t, t.place[row])
        if is_complete(t, head[1]):
            return label
    (<uint32_t *>r.label)[r.n] = label
    head[0] += 1
    r.n += 1
    return r.n - 1


cdef inline int64_t make_cell(Table *t, int64_t row, int32_t label, Row *r) noexcept nogil:
    """The place of a label in a row, both made if they are new; -1: no memory, nothing changed."""
    if not t.is_full:
        return make_sparse_cell(t, row, <uint32_t>label, r)
    if t.fixed_bits:
        r[0] = full_row(t, <size_t>row)
        return label
    if not t.place[row]:
        t.place[row] = store_take(t)
        if not t.place[row]:
            return -1
    r[0] = full_row(t, t.place[row])
    return label


cdef inline int reserve(Table *t, size_t rows, uint32_t new_rows) noexcept nogil:
    """Room for an update, which gives each of some rows at most two labels, some of them rows that
    are not there yet: so that no update fails halfway. -1: no memory, nothing changed."""
    if t.fixed_bits:
        return 0
    if t.is_full:
        if store_reserve(t, rows) < 0:
            return -1
    elif words_reserve(t, rows * block_words(t, next_size(t, t.largest))) < 0:
        return -1
    return reserve_rows(t, new_rows)


# ---- what is fetched ahead ----

cdef inline void fetch_history(const Table *t, const int32_t *rows, size_t n, int32_t gold,
                               int32_t rival) noexcept nogil:
    """Have what an update of two labels reads of full rows beside weights on its way.

    It is never read before: rows that are only summed need none of it.
    """
    cdef size_t i, last = t.n_labels * sizeof(double)
    cdef const char *history
    if t.fixed_bits or not t.is_full:
        return
    for i in range(n):
        if rows[i] >= 0 and t.place[rows[i]]:
            history = <const char *>full_row(t, t.place[rows[i]]).last_update
            fetch(history)
            fetch(history + min(last, <size_t>CACHE_LINE))
            fetch(history + last)
            if t.with_squares:
                fetch(history + last + gold * sizeof(double))
                fetch(history + last + rival * sizeof(double))


cdef inline void fetch_rows(const Table *t, const int32_t *rows, size_t n) noexcept nogil:
    """Have the weights of rows, of which some may be -1, on their way to the processor."""
    cdef size_t bytes_ = t.stride * sizeof(double), last = t.n_labels * sizeof(double) - 1, i, at
    cdef const char *weights
    if t.is_full and not t.fixed_bits:
        for i in range(n):
            weights = <const char *>t.weights + t.place[rows[i]] * bytes_
            fetch(weights)
            fetch(weights + min(last, <size_t>CACHE_LINE))
            fetch(weights + min(last, <size_t>(2 * CACHE_LINE)))
            if last > 3 * CACHE_LINE:
                fetch(weights + last)
        return
    for i in range(n):
        if rows[i] >= 0:
            if t.is_full:
                fetch(t.weights + <size_t>rows[i] * t.stride)
            else:
                fetch(t.words + t.place[rows[i]])
                fetch(t.words + t.place[rows[i]] + CACHE_LINE // sizeof(uint64_t))


cdef inline void fetch_cells(const Table *t, int64_t row) noexcept nogil:
    """Have what is behind the head of a sparse row, which was fetched, on its way: the labels, and
    the weights, as far as most rows go; longer ones are read in order, which processors foresee."""
    cdef Row r
    if not t.is_full and t.place[row]:
        r = row_of(t, row)
        fetch_from(r.label, min(r.n, 32) * <int64_t>sizeof(uint32_t))
        fetch_from(r.weight + HEAD_WEIGHTS,
                   min(r.n - HEAD_WEIGHTS, 16) * <int64_t>sizeof(double))


cdef inline void fetch_totals(const Row *r) noexcept nogil:
    """Have what an update reads of a row beside weights on its way."""
    fetch_from(r.total, min(r.n, 32) * <int64_t>sizeof(double))
    if r.squares != NULL:
        fetch_from(r.squares, min(r.n, 16) * <int64_t>sizeof(double))


cdef inline void fetch_from(const void *begin, int64_t n_bytes) noexcept nogil:
    """Have so many bytes on their way."""
    cdef int64_t at = 0
    while at < n_bytes:
        fetch(<const char *>begin + at)
        at += CACHE_LINE


cdef class WeightTable:
    cdef Table table
    cdef readonly object table_bits
