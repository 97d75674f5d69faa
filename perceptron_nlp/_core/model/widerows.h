/* Long rows of a frozen table of many labels once more, with a weight for every label and the
 * highest of each span of labels: what rows say of a label together is looked up at one place of
 * each, and no label of a span can have more than the sum of what is highest there.
 *
 *   rows     [i]                 where the records of these rows are, ascending
 *   weights  [i][span][label]    0 where the row does not have the label
 *   peaks    [i][span]           the highest of them, below 0 where all are */
#ifndef PERCEPTRON_NLP_WIDEROWS_H
#define PERCEPTRON_NLP_WIDEROWS_H

#include "table/portable.h"

#define SPAN 32
#define MOST_SPANS (65536 / SPAN)

typedef struct {
    uint32_t n;
    uint32_t least; /* rows of so many cells are among them; more than any has where none is */
    int32_t n_spans;
    uint32_t *rows;
    int16_t *weights, *peaks;
} WideRows;

static inline void wide_close(WideRows *w) {
    free(w->rows);
    free(w->weights);
    free(w->peaks);
    memset(w, 0, sizeof *w);
    w->least = UINT32_MAX;
}

/* Bytes that a row takes. */
static inline size_t wide_bytes(int32_t n_labels) {
    return (size_t)(n_labels + SPAN - 1) / SPAN * (SPAN + 1) * sizeof(int16_t) + sizeof(uint32_t);
}

/* Room for n rows, all weights 0; -1: no memory. */
static inline int wide_open(WideRows *w, int32_t n_labels, uint32_t n) {
    w->n_spans = (n_labels + SPAN - 1) / SPAN;
    w->rows = (uint32_t *)malloc(n * sizeof *w->rows);
    w->weights = (int16_t *)calloc((size_t)n * (size_t)w->n_spans, SPAN * sizeof(int16_t));
    w->peaks = (int16_t *)malloc((size_t)n * (size_t)w->n_spans * sizeof(int16_t));
    return w->rows && w->weights && w->peaks ? 0 : -1;
}

static inline int16_t *wide_weights(const WideRows *w, uint32_t i) {
    return w->weights + (size_t)i * (size_t)w->n_spans * SPAN;
}

static inline int16_t *wide_peaks(const WideRows *w, uint32_t i) {
    return w->peaks + (size_t)i * (size_t)w->n_spans;
}

/* Its weights are there: find the highest of each span. */
static inline void wide_find_peaks(WideRows *w, uint32_t i) {
    const int16_t *weight = wide_weights(w, i);
    for (int32_t s = 0; s < w->n_spans; s++, weight += SPAN) {
        int16_t peak = weight[0];
        for (int k = 1; k < SPAN; k++) peak = weight[k] > peak ? weight[k] : peak;
        wide_peaks(w, i)[s] = peak;
    }
}

/* The number of a row that is there. */
static inline uint32_t wide_number(const WideRows *w, uint32_t row) {
    const uint32_t *low = w->rows;
    for (uint32_t n = w->n; n > 1;) {
        uint32_t half = n / 2;
        low += low[half] <= row ? half : 0;
        n -= half;
    }
    return (uint32_t)(low - w->rows);
}

#endif
