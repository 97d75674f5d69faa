/* Rows of all labels, for tables with few of them: what a row costs is known beforehand, and its
 * weights are added as vectors.
 *
 *   weights   row * stride + label, in one piece that moves when it grows: what every visit reads
 *   debts     | owed:f64 [g:f64] | * n_labels, in chunks that never move: what only updates touch
 *
 * What lies beyond the labels of a row stays 0, and so does row 0: rows of a table that have learnt
 * nothing are stored there.
 *
 * Weights are doubles, or whole numbers of 16 bits where learning takes whole steps alone (the
 * perceptron): then a row is one cache line in place of three. Whole numbers of doubles are exact,
 * so both forms learn the same; a weight that does not fit makes all of them doubles again. */
#ifndef PERCEPTRON_NLP_ROWSTORE_H
#define PERCEPTRON_NLP_ROWSTORE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "table/kernels.h"
#include "table/portable.h"

#define GROUP 4
#define MAX_GROUPS 8
#define MOST_ROW_LABELS (GROUP * MAX_GROUPS)
#define LEAST_SHORTS 8
#define CHUNK_ROWS 1024u
#define CACHE_LINE 64

typedef struct {
    int32_t n_labels, stride; /* stride: weights of a row, with those that stay 0 */
    int with_gradient;
    int whole;       /* weights are of 16 bits */
    int32_t largest; /* of whole ones: none is farther from 0 */
    int16_t
        start[MOST_ROW_LABELS]; /* 0 for labels; sums beyond them begin with the lowest number */
    uint32_t n_rows, room;      /* rows given out; rows that there is room for */
    char *weights;              /* on a cache line of `block`, which is what was allocated */
    void *block;
    double **chunks;
    uint32_t n_chunks, chunk_room;
} RowStore;

static inline size_t row_bytes(const RowStore *s) {
    return (size_t)s->stride * (s->whole ? sizeof(int16_t) : sizeof(double));
}

static inline double *row_doubles(const RowStore *s, uint32_t row) {
    return (double *)(void *)s->weights + (size_t)row * (size_t)s->stride;
}
static inline int16_t *row_shorts(const RowStore *s, uint32_t row) {
    return (int16_t *)(void *)s->weights + (size_t)row * (size_t)s->stride;
}

/* Numbers that a weight owes or has gathered, and of a row of them. */
static inline int32_t debts_of_weight(const RowStore *s) {
    return AVERAGED + !!s->with_gradient;
}
static inline size_t debts_of_row(const RowStore *s) {
    return (size_t)(s->n_labels * debts_of_weight(s));
}
static inline double *row_debts(const RowStore *s, uint32_t row) {
    return s->chunks[row / CHUNK_ROWS] + (size_t)(row % CHUNK_ROWS) * debts_of_row(s);
}

static inline size_t rowstore_bytes(const RowStore *s) {
    return (size_t)s->room * row_bytes(s) +
           (size_t)s->n_chunks * CHUNK_ROWS * debts_of_row(s) * sizeof(double);
}

static inline void rowstore_close(RowStore *s) {
    for (uint32_t i = 0; i < s->n_chunks; i++) free(s->chunks[i]);
    free(s->chunks);
    free(s->block);
    memset(s, 0, sizeof *s);
}

static inline int32_t stride_of(int32_t n_labels, int whole) {
    int32_t stride = LEAST_SHORTS;
    if (!whole) return (n_labels + GROUP - 1) / GROUP * GROUP;
    while (stride < n_labels) stride *= 2; /* so that no row lies across two lines */
    return stride;
}

static inline char *on_a_line(void *block) {
    return (char *)(((uintptr_t)block + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
}

/* Room for `more` rows; -1: no memory, and no row has changed. */
static inline int rowstore_reserve(RowStore *s, size_t more) {
    size_t wanted = (size_t)s->n_rows + more;
    while (wanted > (size_t)s->n_chunks * CHUNK_ROWS) {
        if (s->n_chunks == s->chunk_room) {
            uint32_t room = 2 * s->chunk_room + 4;
            double **chunks = (double **)realloc(s->chunks, room * sizeof *chunks);
            if (!chunks) return -1;
            s->chunks = chunks;
            s->chunk_room = room;
        }
        /* One more, since a build without averages may have nothing to put there. */
        double *chunk = (double *)calloc(CHUNK_ROWS * debts_of_row(s) + 1, sizeof *chunk);
        if (!chunk) return -1;
        s->chunks[s->n_chunks++] = chunk;
    }
    if (wanted <= s->room) return 0;
    size_t room = (size_t)s->room + s->room / 2 + 64;
    if (room < wanted) room = wanted;
    if (room > UINT32_MAX) return -1;
    void *block = large_block(room * row_bytes(s) + CACHE_LINE, 0);
    if (!block) return -1;
    if (s->n_rows) move_block(on_a_line(block), s->weights, s->n_rows * row_bytes(s));
    free(s->block);
    s->block = block;
    s->weights = on_a_line(block);
    s->room = (uint32_t)room;
    return 0;
}

/* The next row, all 0; 0, which is never given out, says that there is no memory. */
static inline uint32_t rowstore_take(RowStore *s) {
    if (rowstore_reserve(s, 1) < 0) return 0;
    memset(s->weights + s->n_rows * row_bytes(s), 0, row_bytes(s));
    return s->n_rows++;
}

/* An empty store, of doubles at first; -1: no memory. */
static inline int rowstore_open(RowStore *s, int32_t n_labels, int with_gradient) {
    memset(s, 0, sizeof *s);
    s->n_labels = n_labels;
    s->with_gradient = with_gradient;
    s->stride = stride_of(n_labels, 0);
    for (int32_t k = n_labels; k < MOST_ROW_LABELS; k++) s->start[k] = INT16_MIN;
    if (rowstore_reserve(s, 1) < 0) return -1;
    return (int)rowstore_take(s);
}

static inline double row_weight(const RowStore *s, uint32_t row, int32_t label) {
    return s->whole ? row_shorts(s, row)[label] : row_doubles(s, row)[label];
}

/* Take all weights over into the other form; -1: no memory, and nothing has changed. */
static inline int rowstore_recast(RowStore *s, int whole) {
    RowStore old = *s;
    s->whole = whole;
    s->stride = stride_of(s->n_labels, whole);
    s->largest = 0;
    s->block = large_block(s->room * row_bytes(s) + CACHE_LINE, 0);
    if (!s->block) {
        *s = old;
        return -1;
    }
    s->weights = on_a_line(s->block);
    memset(s->weights, 0, s->n_rows * row_bytes(s));
    for (uint32_t row = 0; row < s->n_rows; row++)
        for (int32_t k = 0; k < s->n_labels; k++) {
            double w = row_weight(&old, row, k);
            if (!whole) {
                row_doubles(s, row)[k] = w;
                continue;
            }
            int32_t size = w < 0 ? -(int32_t)w : (int32_t)w;
            row_shorts(s, row)[k] = (int16_t)w;
            if (size > s->largest) s->largest = size;
        }
    free(old.block);
    return 0;
}

/* Could each of these be a weight of 16 bits? */
static inline int is_short(double w) {
    return w >= -INT16_MAX && w <= INT16_MAX && w == (double)(int32_t)w;
}
static inline int holds_shorts(const RowStore *s) {
    for (uint32_t row = 0; row < s->n_rows; row++)
        for (int32_t k = 0; k < s->n_labels; k++)
            if (!is_short(row_weight(s, row, k))) return 0;
    return 1;
}

/* Does every weight stay one of 16 bits after this step of n features? A word can have one of them
 * as often as all: its n-grams repeat. */
static inline int takes_step(const RowStore *s, double step, size_t n) {
    return is_short(step) && s->largest + (double)n * fabs(step) <= INT16_MAX;
}

/* w(row, label) += step, for whole weights that take it (takes_step). */
static inline void add_short(RowStore *s, uint32_t row, int32_t label, int32_t step, double done) {
    int32_t w = row_shorts(s, row)[label] + step, size = w < 0 ? -w : w;
    row_shorts(s, row)[label] = (int16_t)w;
    if (AVERAGED) row_debts(s, row)[label * debts_of_weight(s)] += done * step;
    if (size > s->largest) s->largest = size;
}

/* Fetch the weights of many rows: one to four cache lines each. */
static ALWAYS_INLINE void prefetch_rows(const RowStore *s, const uint32_t *stored,
                                        const int32_t *rows, size_t n) {
    const size_t bytes = row_bytes(s);
    const char *weights = s->weights;
    if (s->whole) {
        for (size_t i = 0; i < n; i++) PREFETCH(weights + stored[rows[i]] * bytes);
        return;
    }
    const size_t last = (size_t)s->n_labels * sizeof(double) - 1;
    const size_t second = last > CACHE_LINE ? CACHE_LINE : last;
    const size_t third = last > 2 * CACHE_LINE ? 2 * CACHE_LINE : last;
    for (size_t i = 0; i < n; i++) {
        const char *w = weights + stored[rows[i]] * bytes;
        PREFETCH(w);
        PREFETCH(w + second);
        PREFETCH(w + third);
        if (last > 3 * CACHE_LINE) PREFETCH(w + last);
    }
}

#endif
