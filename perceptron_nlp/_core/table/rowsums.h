/* Sums of rows of a store: scores[k] = rows[0][k] + rows[1][k] + …
 *
 * Doubles are added in this order in any form, whole numbers in any order; so plain C and vector
 * instructions give the same sums, to the last bit. Rows are numbers of a table, and `stored` says
 * where each is (0: it has learnt nothing; stored[-1] is 0). */
#ifndef PERCEPTRON_NLP_ROWSUMS_H
#define PERCEPTRON_NLP_ROWSUMS_H

#include "table/lanes.h"
#include "table/rowstore.h"

typedef struct {
    void (*doubles)(const RowStore *s, const uint32_t *stored, const int32_t *rows, size_t n,
                    double *scores);
    /* The first of the largest; scores[0 … stride-1] are left behind, lowest beyond the labels. */
    int32_t (*best)(const RowStore *s, const uint32_t *stored, const int32_t *rows, size_t n,
                    int16_t *scores);
} RowSums;

/* Whole numbers of 16 bits cannot leave them in a sum of so many rows. */
static inline int sums_are_short(const RowStore *s, size_t n) {
    return s->whole && n * (size_t)s->largest <= INT16_MAX;
}

/* Sums of whole weights as doubles, which hold them all. */
static inline void sum_shorts_wide(const RowStore *s, const uint32_t *stored, const int32_t *rows,
                                   size_t n, double *scores) {
    memset(scores, 0, (size_t)s->n_labels * sizeof *scores);
    for (size_t i = 0; i < n; i++) {
        const int16_t *w = row_shorts(s, stored[rows[i]]);
        for (int32_t k = 0; k < s->n_labels; k++) scores[k] += w[k];
    }
}

static inline void sum_doubles_plain(const RowStore *s, const uint32_t *stored, const int32_t *rows,
                                     size_t n, double *scores) {
    memset(scores, 0, (size_t)s->stride * sizeof *scores);
    for (size_t i = 0; i < n; i++) {
        const double *w = row_doubles(s, stored[rows[i]]);
        for (int32_t k = 0; k < s->stride; k++) scores[k] += w[k];
    }
}

static inline int32_t best_shorts_plain(const RowStore *s, const uint32_t *stored,
                                        const int32_t *rows, size_t n, int16_t *scores) {
    int32_t best = 0;
    memcpy(scores, s->start, (size_t)s->stride * sizeof *scores);
    for (size_t i = 0; i < n; i++) {
        const int16_t *w = row_shorts(s, stored[rows[i]]);
        for (int32_t k = 0; k < s->stride; k++) scores[k] = (int16_t)(scores[k] + w[k]);
    }
    for (int32_t k = 1; k < s->n_labels; k++)
        if (scores[k] > scores[best]) best = k;
    return best;
}

#if VECTOR_EXTENSIONS
/* The sums of a count of vectors known to the compiler stay in registers. */
#define SUM_CASE(VECTOR, COUNT)                                                             \
    case COUNT: {                                                                           \
        VECTOR sum[COUNT];                                                                  \
        for (int k = 0; k < COUNT; k++) sum[k] = (VECTOR){0};                               \
        for (size_t i = 0; i < n; i++) {                                                    \
            const VECTOR *w =                                                               \
                (const VECTOR *)(const void *)s->weights + (size_t)stored[rows[i]] * COUNT; \
            for (int k = 0; k < COUNT; k++) sum[k] += w[k];                                 \
        }                                                                                   \
        memcpy(scores, sum, sizeof sum);                                                    \
        return;                                                                             \
    }

typedef double Pair __attribute__((vector_size(16), may_alias));

static inline void sum_doubles_pairs(const RowStore *s, const uint32_t *stored, const int32_t *rows,
                                     size_t n, double *scores) {
    switch (s->stride / 2) {
        SUM_CASE(Pair, 2)
        SUM_CASE(Pair, 4)
        SUM_CASE(Pair, 6)
        SUM_CASE(Pair, 8)
        SUM_CASE(Pair, 10)
        SUM_CASE(Pair, 12)
        SUM_CASE(Pair, 14)
        default:
            sum_doubles_plain(s, stored, rows, n, scores);
    }
}

#if AVX2_AT_RUN_TIME
typedef double Quad __attribute__((vector_size(32), may_alias));

TARGET_AVX2 static inline void sum_doubles_avx2(const RowStore *s, const uint32_t *stored,
                                                const int32_t *rows, size_t n, double *scores) {
    switch (s->stride / GROUP) {
        SUM_CASE(Quad, 1)
        SUM_CASE(Quad, 2)
        SUM_CASE(Quad, 3)
        SUM_CASE(Quad, 4)
        SUM_CASE(Quad, 5)
        SUM_CASE(Quad, 6)
        SUM_CASE(Quad, 7)
        SUM_CASE(Quad, 8)
        default:
            return;
    }
}
#endif

#if HAS_SHORT_LANES
/* Where the largest is, is the same with the sums as unsigned numbers, added modulo 2^16. */
#define BEST_CASE(VECTOR, COUNT, BEST)                                                          \
    {                                                                                           \
        VECTOR sum[COUNT];                                                                      \
        memcpy(sum, s->start, sizeof sum);                                                      \
        for (size_t i = 0; i < n; i++) {                                                        \
            const VECTOR *w =                                                                   \
                (const VECTOR *)(const void *)s->weights + (size_t)stored[rows[i]] * COUNT;     \
            for (int k = 0; k < COUNT; k++) sum[k] += w[k];                                     \
        }                                                                                       \
        memcpy(scores, sum, sizeof sum);                                                        \
        return BEST((const Shorts *)(const void *)scores, (int)(sizeof sum / (sizeof(Shorts))), \
                    s->n_labels);                                                               \
    }

typedef uint16_t Sixteen __attribute__((vector_size(32), may_alias));

static inline int32_t best_shorts_narrow(const RowStore *s, const uint32_t *stored,
                                         const int32_t *rows, size_t n, int16_t *scores) {
    if (s->stride == 8) BEST_CASE(Shorts, 1, best_shorts)
    if (s->stride == 16) BEST_CASE(Shorts, 2, best_shorts)
    BEST_CASE(Shorts, 4, best_shorts)
}

#if AVX2_AT_RUN_TIME
TARGET_AVX2 static inline int32_t best_shorts_wide(const RowStore *s, const uint32_t *stored,
                                                   const int32_t *rows, size_t n, int16_t *scores) {
    if (s->stride == 8) BEST_CASE(Shorts, 1, best_shorts_avx2)
    if (s->stride == 16) BEST_CASE(Sixteen, 1, best_shorts_avx2)
    BEST_CASE(Sixteen, 2, best_shorts_avx2)
}
#endif
#endif
#endif

/* The widest forms that this processor has, or plain C on request. */
static inline RowSums row_sums(int plain) {
    RowSums sums = {sum_doubles_plain, best_shorts_plain};
    if (plain) return sums;
#if VECTOR_EXTENSIONS
    sums.doubles = sum_doubles_pairs;
#if HAS_SHORT_LANES
    sums.best = best_shorts_narrow;
#endif
#endif
#if AVX2_AT_RUN_TIME
    if (cpu_has_avx2()) {
        sums.doubles = sum_doubles_avx2;
        sums.best = best_shorts_wide;
    }
#endif
    return sums;
}

#endif
