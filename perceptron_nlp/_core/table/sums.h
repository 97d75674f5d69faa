/* What the weight tables (weights.pxd) leave to C: sums of rows as vectors, fetching ahead, and the
 * switch of a build without averages.
 *
 * scores[k] = rows[0][k] + rows[1][k] + …, added in this order in any form; so plain C and vector
 * instructions give the same sums, to the last bit. A row of the table is at `place` of its weights
 * (0: it has learned nothing; place[-1] is 0), and `stride` weights long, a multiple of GROUP. */
#pragma once

#include <math.h>
#include "table/portable.h"

/* A build without averages, against which benchmarks/averaging.py measures what they cost. */
#ifdef PERCEPTRON_NLP_VANILLA
#define AVERAGED 0
#else
#define AVERAGED 1
#endif

#define GROUP 4
#define MOST_ROW_LABELS 32

typedef void (*SumRows)(const double *weights, size_t stride, const uint32_t *place,
                        const int32_t *rows, size_t n, double *scores);

typedef void (*AddRow)(const double *restrict weights, size_t n, double *restrict scores);

/* The compiler drops functions that only prefetch, as they have no effect, but for this one. */
static inline void fetch(const void *address) {
    PREFETCH(address);
    NOT_WITHOUT_EFFECT;
}

static inline void sum_plain(const double *weights, size_t stride, const uint32_t *place,
                             const int32_t *rows, size_t n, double *scores) {
    memset(scores, 0, stride * sizeof *scores);
    for (size_t i = 0; i < n; i++) {
        const double *w = weights + (size_t)place[rows[i]] * stride;
        for (size_t k = 0; k < stride; k++) scores[k] += w[k];
    }
}

/* scores[k] += weights[k]; the compiler makes vectors of it. */
static ALWAYS_INLINE void add_row_plain(const double *restrict weights, size_t n,
                                        double *restrict scores) {
    for (size_t k = 0; k < n; k++) scores[k] += weights[k];
}

#if VECTOR_EXTENSIONS
/* The sums of a count of vectors known to the compiler stay in registers. */
#define SUM_CASE(VECTOR, COUNT)                                                         \
    case COUNT: {                                                                       \
        VECTOR sum[COUNT];                                                              \
        for (int k = 0; k < COUNT; k++) sum[k] = (VECTOR){0};                           \
        for (size_t i = 0; i < n; i++) {                                                \
            const VECTOR *w =                                                           \
                (const VECTOR *)(const void *)weights + (size_t)place[rows[i]] * COUNT; \
            for (int k = 0; k < COUNT; k++) sum[k] += w[k];                             \
        }                                                                               \
        memcpy(scores, sum, sizeof sum);                                                \
        return;                                                                         \
    }

typedef double Pair VECTOR_OF(16, 8);

static inline void sum_pairs(const double *weights, size_t stride, const uint32_t *place,
                             const int32_t *rows, size_t n, double *scores) {
    switch (stride / 2) {
        SUM_CASE(Pair, 2)
        SUM_CASE(Pair, 4)
        SUM_CASE(Pair, 6)
        SUM_CASE(Pair, 8)
        SUM_CASE(Pair, 10)
        SUM_CASE(Pair, 12)
        SUM_CASE(Pair, 14)
        default: sum_plain(weights, stride, place, rows, n, scores);
    }
}

#if AVX2_AT_RUN_TIME
typedef double Quad VECTOR_OF(32, 8);

TARGET_AVX2 static inline void sum_quads(const double *weights, size_t stride,
                                         const uint32_t *place, const int32_t *rows, size_t n,
                                         double *scores) {
    switch (stride / GROUP) {
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

TARGET_AVX2 static inline void add_row_quads(const double *restrict weights, size_t n,
                                             double *restrict scores) {
    add_row_plain(weights, n, scores);
}
#endif
#endif

/* The highest of some scores, -INFINITY where there is none, in chains side by side. */
static inline double highest(const double *scores, int32_t n) {
    double best[8] = {-INFINITY, -INFINITY, -INFINITY, -INFINITY,
                      -INFINITY, -INFINITY, -INFINITY, -INFINITY};
    for (; n >= 8; n -= 8, scores += 8)
        for (int k = 0; k < 8; k++) best[k] = scores[k] > best[k] ? scores[k] : best[k];
    for (int k = 0; k < n; k++) best[k] = scores[k] > best[k] ? scores[k] : best[k];
    for (int k = 1; k < 8; k++) best[0] = best[k] > best[0] ? best[k] : best[0];
    return best[0];
}

/* The widest form that this processor has, or plain C on request: which is the same. */
static inline SumRows sum_rows(int plain) {
    if (plain) return sum_plain;
#if AVX2_AT_RUN_TIME
    if (cpu_has_avx2()) return sum_quads;
#endif
#if VECTOR_EXTENSIONS
    return sum_pairs;
#else
    return sum_plain;
#endif
}

static inline AddRow row_adder(int plain) {
    if (plain) return add_row_plain;
#if AVX2_AT_RUN_TIME && VECTOR_EXTENSIONS
    if (cpu_has_avx2()) return add_row_quads;
#endif
    return add_row_plain;
}
