/* Rows of numbers, dense or compressed (CSR), and the two things that linear learners do with
 * one: take its product with weights, and add it to weights.
 *
 *   dense   values[n * width], C order; columns and starts are NULL.
 *           Weights lie class by class:      w[k * width + f], so a product runs along memory.
 *   sparse  row j is values[starts[j] .. starts[j+1]) at columns[the same]; a column may come twice.
 *           Weights lie feature by feature:  w[f * classes + k], so that a non-zero touches
 *           one contiguous run of `classes` weights: one cache line up to eight classes.
 *
 * With one weight vector (classes == 1) the two layouts are the same. Sums run in the fixed lanes
 * written here, so every machine adds in the same order and gets the same bits. */
#ifndef PERCEPTRON_NLP_VECTOR_ROWS_H
#define PERCEPTRON_NLP_VECTOR_ROWS_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define ROWS_INLINE static inline __attribute__((always_inline))
#define ROWS_PREFETCH(p) __builtin_prefetch(p)
#else
#define ROWS_INLINE static inline
#define ROWS_PREFETCH(p) ((void)(p))
#endif

typedef struct {
    const double *values;
    const int32_t *columns;
    const int64_t *starts;
    int64_t width;
} rows_t;

/* Eight lanes: an add waits four cycles for the one before it, and two loads start each cycle. */
ROWS_INLINE double dense_dot(const double *restrict x, const double *restrict w, int64_t n) {
    double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) lane[l] += x[i + l] * w[i + l];
    double tail = 0;
    for (; i < n; i++) tail += x[i] * w[i];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
           ((lane[2] + lane[6]) + (lane[3] + lane[7])) + tail;
}

ROWS_INLINE double sparse_dot(const double *restrict x, const int32_t *restrict columns,
                              const double *restrict w, int64_t n) {
    double a = 0, b = 0, c = 0, d = 0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += x[i] * w[columns[i]];
        b += x[i + 1] * w[columns[i + 1]];
        c += x[i + 2] * w[columns[i + 2]];
        d += x[i + 3] * w[columns[i + 3]];
    }
    for (; i < n; i++) a += x[i] * w[columns[i]];
    return (a + b) + (c + d);
}

/* `tile` classes at once, known at compile time so that the sums stay in registers. */
ROWS_INLINE void sparse_tile(const double *restrict x, const int32_t *restrict columns, int64_t n,
                             const double *restrict w, int64_t classes, int tile,
                             double *restrict scores) {
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        const double *restrict run = w + (int64_t)columns[i] * classes;
        for (int k = 0; k < tile; k++) sum[k] += x[i] * run[k];
    }
    for (int k = 0; k < tile; k++) scores[k] += sum[k];
}

static inline void sparse_scores(const double *x, const int32_t *columns, int64_t n,
                                 const double *w, int64_t classes, double *scores) {
    int64_t k = 0;
    for (; k + 8 <= classes; k += 8) sparse_tile(x, columns, n, w + k, classes, 8, scores + k);
    if (k + 4 <= classes) {
        sparse_tile(x, columns, n, w + k, classes, 4, scores + k);
        k += 4;
    }
    switch (classes - k) {
        case 3:
            sparse_tile(x, columns, n, w + k, classes, 3, scores + k);
            break;
        case 2:
            sparse_tile(x, columns, n, w + k, classes, 2, scores + k);
            break;
        case 1:
            sparse_tile(x, columns, n, w + k, classes, 1, scores + k);
            break;
        default:
            break;
    }
}

/* scores[k] = bias[k] + row j . w[k] */
static inline void score_row(const rows_t *rows, int64_t j, const double *w, const double *bias,
                             int64_t classes, double *scores) {
    if (rows->columns == NULL) {
        const double *x = rows->values + j * rows->width;
        for (int64_t k = 0; k < classes; k++)
            scores[k] = bias[k] + dense_dot(x, w + k * rows->width, rows->width);
        return;
    }
    const int64_t start = rows->starts[j], n = rows->starts[j + 1] - start;
    const double *x = rows->values + start;
    const int32_t *columns = rows->columns + start;
    if (classes == 1) {
        scores[0] = bias[0] + sparse_dot(x, columns, w, n);
        return;
    }
    for (int64_t k = 0; k < classes; k++) scores[k] = bias[k];
    sparse_scores(x, columns, n, w, classes, scores);
}

/* w[k] += a * row j */
static inline void add_row(const rows_t *rows, int64_t j, double a, int64_t k, int64_t classes,
                           double *w) {
    if (rows->columns == NULL) {
        const double *restrict x = rows->values + j * rows->width;
        double *restrict to = w + k * rows->width;
        for (int64_t i = 0; i < rows->width; i++) to[i] += a * x[i];
        return;
    }
    const int64_t start = rows->starts[j], n = rows->starts[j + 1] - start;
    const double *restrict x = rows->values + start;
    const int32_t *restrict columns = rows->columns + start;
    double *to = w + k;
    if (classes == 1) {
        for (int64_t i = 0; i < n; i++) to[columns[i]] += a * x[i];
    } else {
        for (int64_t i = 0; i < n; i++) to[(int64_t)columns[i] * classes] += a * x[i];
    }
}

/* w[k] += a * row j and v[k] += b * row j, of a dense row: it is read once. */
static inline void add_dense_twice(const rows_t *rows, int64_t j, double a, double b, int64_t k,
                                   double *w, double *v) {
    const double *restrict x = rows->values + j * rows->width;
    double *restrict to = w + k * rows->width, *restrict also = v + k * rows->width;
    for (int64_t i = 0; i < rows->width; i++) {
        to[i] += a * x[i];
        also[i] += b * x[i];
    }
}

/* In a shuffled order the next rows are nowhere near, and short sparse ones are over before they
 * would have come from memory: ask for a row's first lines while the rows before it are scored
 * (with 20 words a row this halves the time). The rest of a long row the processor foresees.
 * Always inline: to GCC a function that only prefetches has no effect, and it drops its calls. */
#define LINE 64

/* `lines` is a constant: a loop as long as the row would end where the processor did not expect
 * it, and cost more than lines asked for in vain. Lines beyond the array do no harm. */
ROWS_INLINE void prefetch_lines(const void *from, int lines) {
    const uintptr_t p = (uintptr_t)from;
    for (int i = 0; i < lines; i++) ROWS_PREFETCH((const void *)(p + (uintptr_t)(i * LINE)));
}

ROWS_INLINE void prefetch_row(const rows_t *rows, int64_t j) {
    if (rows->columns == NULL) {
        prefetch_lines(rows->values + j * rows->width, 4);
    } else {
        prefetch_lines(rows->values + rows->starts[j], 4);
        prefetch_lines(rows->columns + rows->starts[j], 2);
    }
}

/* Ask for the weights of class k of a sparse row, as many as a cache keeps meanwhile. */
#define WEIGHTS_AHEAD 256
ROWS_INLINE void prefetch_weights(const rows_t *rows, int64_t j, int64_t k, int64_t classes,
                                  const double *w) {
    const int64_t start = rows->starts[j], n = rows->starts[j + 1] - start;
    const int32_t *columns = rows->columns + start;
    for (int64_t i = 0; i < n && i < WEIGHTS_AHEAD; i++)
        ROWS_PREFETCH(w + (int64_t)columns[i] * classes + k);
}

/* The class of the highest score; the lowest id among equals. Skips class `but` (-1: none). */
static inline int32_t best_class(const double *scores, int64_t classes, int32_t but) {
    int32_t best = but == 0 ? 1 : 0;
    for (int32_t k = best + 1; k < classes; k++)
        if (k != but && scores[k] > scores[best]) best = k;
    return best;
}

#endif
