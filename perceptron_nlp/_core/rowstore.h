/* Rows of all labels, for tables with few of them: what a row costs is known beforehand, its
 * weights are added as vectors, and an update changes two places of one piece of memory.
 *
 *   row   | w:f64 * stride | owed:f64 * n_labels | [g:f64 * n_labels] |  rounded up to 32 bytes
 *
 * stride is n_labels rounded up to whole groups of GROUP; what lies beyond the labels stays 0.
 * Rows are given out of chunks that never move, so a pointer to a row stays good. The first row
 * is never written: rows that have learnt nothing point to it. */
#ifndef PERCEPTRON_NLP_ROWSTORE_H
#define PERCEPTRON_NLP_ROWSTORE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "portable.h"

#define GROUP 4
#define MAX_GROUPS 8
#define MOST_ROW_LABELS (GROUP * MAX_GROUPS)
#define CHUNK_ROWS 1024u
#define CACHE_LINE 64

typedef struct {
    int32_t n_labels, stride, size; /* size: doubles in a row */
    int with_gradient;
    uint32_t n_rows, n_chunks, chunk_room;
    void **chunks;
} RowStore;

static inline size_t chunk_bytes(const RowStore *s) {
    return CHUNK_ROWS * (size_t)s->size * sizeof(double) + CACHE_LINE;
}

static inline void rowstore_close(RowStore *s) {
    for (uint32_t i = 0; i < s->n_chunks; i++) free(s->chunks[i]);
    free(s->chunks);
    memset(s, 0, sizeof *s);
}

/* Room for `more` rows; -1: no memory, and no row has changed. */
static inline int rowstore_reserve(RowStore *s, size_t more) {
    while ((size_t)s->n_rows + more > (size_t)s->n_chunks * CHUNK_ROWS) {
        if (s->n_chunks == s->chunk_room) {
            uint32_t room = 2 * s->chunk_room + 4;
            void **chunks = (void **)realloc(s->chunks, room * sizeof *chunks);
            if (!chunks) return -1;
            s->chunks = chunks;
            s->chunk_room = room;
        }
        void *chunk = calloc(1, chunk_bytes(s));
        if (!chunk) return -1;
        s->chunks[s->n_chunks++] = chunk;
    }
    return 0;
}

/* The next row, all 0; NULL: no memory. */
static inline double *rowstore_take(RowStore *s) {
    if (rowstore_reserve(s, 1) < 0) return NULL;
    uintptr_t chunk = (uintptr_t)s->chunks[s->n_rows / CHUNK_ROWS];
    double *rows = (double *)((chunk + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    return rows + (size_t)(s->n_rows++ % CHUNK_ROWS) * (size_t)s->size;
}

/* The row that stays 0, or NULL: no memory. */
static inline double *rowstore_open(RowStore *s, int32_t n_labels, int with_gradient) {
    memset(s, 0, sizeof *s);
    s->n_labels = n_labels;
    s->with_gradient = with_gradient;
    s->stride = (n_labels + GROUP - 1) / GROUP * GROUP;
    int32_t size = s->stride + (AVERAGED ? n_labels : 0) + (with_gradient ? n_labels : 0);
    s->size = (size + GROUP - 1) / GROUP * GROUP;
    return rowstore_take(s);
}

static inline double *row_owed(const RowStore *s, double *row) { return row + s->stride; }
static inline double *row_gradients(const RowStore *s, double *row) {
    return row + s->stride + (AVERAGED ? s->n_labels : 0);
}

/* Fetch the weights of many rows: one to four cache lines each. */
static inline void prefetch_rows(const RowStore *s, double *const *row, const int64_t *numbers,
                                 size_t n) {
    const int32_t line = CACHE_LINE / (int32_t)sizeof(double);
    const int32_t second = s->stride > line ? line : 0;
    const int32_t third = s->stride > 2 * line ? 2 * line : 0;
    const int32_t fourth = s->stride > 3 * line ? 3 * line : 0;
    for (size_t i = 0; i < n; i++) {
        const double *w = row[numbers[i]];
        PREFETCH(w);
        PREFETCH(w + second);
        PREFETCH(w + third);
        PREFETCH(w + fourth);
    }
}

/* ---- sums of rows: scores[k] = rows[0][k] + rows[1][k] + …, in this order, for any form ---- */

typedef void (*SumRows)(const double *const *rows, size_t n, int32_t groups, double *scores);

static inline void sum_rows_plain(const double *const *rows, size_t n, int32_t groups,
                                  double *scores) {
    memset(scores, 0, (size_t)(groups * GROUP) * sizeof *scores);
    for (size_t i = 0; i < n; i++)
        for (int32_t k = 0; k < groups * GROUP; k++) scores[k] += rows[i][k];
}

#if VECTOR_EXTENSIONS
/* The sums of a count of vectors known to the compiler stay in registers. */
#define SUM_CASE(VECTOR, COUNT)                                                        \
    case COUNT: {                                                                      \
        VECTOR sum[COUNT];                                                             \
        for (int k = 0; k < COUNT; k++) sum[k] = (VECTOR){0};                          \
        for (size_t i = 0; i < n; i++)                                                 \
            for (int k = 0; k < COUNT; k++) sum[k] += ((const VECTOR *)rows[i])[k];    \
        for (int k = 0; k < COUNT; k++)                                                \
            memcpy((char *)scores + k * sizeof(VECTOR), &sum[k], sizeof(VECTOR));      \
        return;                                                                        \
    }

typedef double Pair __attribute__((vector_size(16), may_alias));

static inline void sum_rows_pairs(const double *const *rows, size_t n, int32_t groups,
                                  double *scores) {
    switch (2 * groups) {
        SUM_CASE(Pair, 2)
        SUM_CASE(Pair, 4)
        SUM_CASE(Pair, 6)
        SUM_CASE(Pair, 8)
        SUM_CASE(Pair, 10)
        SUM_CASE(Pair, 12)
        SUM_CASE(Pair, 14)
        default: sum_rows_plain(rows, n, groups, scores);
    }
}

#if AVX2_AT_RUN_TIME
typedef double Quad __attribute__((vector_size(32), may_alias));

TARGET_AVX2 static inline void sum_rows_avx2(const double *const *rows, size_t n, int32_t groups,
                                             double *scores) {
    switch (groups) {
        SUM_CASE(Quad, 1)
        SUM_CASE(Quad, 2)
        SUM_CASE(Quad, 3)
        SUM_CASE(Quad, 4)
        SUM_CASE(Quad, 5)
        SUM_CASE(Quad, 6)
        SUM_CASE(Quad, 7)
        SUM_CASE(Quad, 8)
        default: return;
    }
}
#endif
#endif

/* The widest form that this processor has, or plain C on request. */
static inline SumRows sum_rows_form(int plain) {
    if (plain) return sum_rows_plain;
#if AVX2_AT_RUN_TIME
    if (cpu_has_avx2()) return sum_rows_avx2;
#endif
#if VECTOR_EXTENSIONS
    return sum_rows_pairs;
#else
    return sum_rows_plain;
#endif
}

#endif
