/* Weights that no longer change, laid out for tagging.
 *
 *   index    key -> row (probe.h); the key of a fixed table is the top bits of a feature's
 *            key, which is the row itself where most rows are in use (`direct`, no index)
 *   starts   row r has the cells starts[r] .. starts[r + 1]
 *   cells    | label:u16 weight:i16 |, ascending labels
 *
 * Weights are whole numbers of 1 / scale, and sums of them are exact in 32 bits, so every order
 * of adding them gives the same tags. */
#ifndef PERCEPTRON_NLP_FROZEN_H
#define PERCEPTRON_NLP_FROZEN_H

#include "probe.h"

typedef struct {
    uint16_t label;
    int16_t weight;
} FrozenCell;

typedef struct {
    int32_t n_labels;
    int fixed_bits; /* 0: exact */
    int direct;     /* fixed, and the index is left out */
    Index index;
    uint32_t *starts;
    FrozenCell *cells;
} FrozenTable;

static inline void frozen_close(FrozenTable *t) {
    index_close(&t->index);
    free(t->starts);
    free(t->cells);
    memset(t, 0, sizeof *t);
}

static inline int64_t frozen_find(const FrozenTable *t, uint64_t key) {
    if (t->fixed_bits) {
        key >>= 64 - t->fixed_bits;
        if (t->direct) return (int64_t)key;
    }
    return index_find(&t->index, key);
}

static inline void frozen_prefetch(const FrozenTable *t, uint64_t key) {
    if (t->fixed_bits) key >>= 64 - t->fixed_bits;
    if (t->direct) PREFETCH(&t->starts[key]);
    else index_prefetch(&t->index, key);
}

static inline void frozen_add(const FrozenTable *t, int64_t row, int32_t *scores) {
    for (uint32_t i = t->starts[row]; i < t->starts[row + 1]; i++)
        scores[t->cells[i].label] += t->cells[i].weight;
}

#endif
