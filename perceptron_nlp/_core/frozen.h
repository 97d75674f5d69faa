/* Weights that no longer change, laid out for tagging.
 *
 *   slots    | tag:u32  at+1:u32 |  2^bits of them, linear probing; 0 is an empty slot
 *   records  | key >> 32 : u32 | number of cells : u32 | cells |  one after the other
 *   cells    | label:u16 weight:i16 |, ascending labels
 *
 * A row is named by its place in records, so that a feature costs two cache misses: its slot and
 * its record. The tag is the low half of the key and the record has the high half. The key of a
 * fixed table is the top bits of a feature's key, and the slot's number where most of the table
 * is in use (`direct`).
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
    uint32_t key_high, n;
    FrozenCell cells[];
} FrozenRow;

typedef struct {
    int32_t n_labels;
    int fixed_bits; /* 0: exact */
    int direct;     /* fixed, and slots are found without a search */
    int bits;
    uint64_t multiplier; /* odd, drawn anew by each process: see probe.h */
    Slot *slots;
    uint32_t *records;
    uint64_t used; /* words of records in use */
} FrozenTable;

#define FROZEN_MAX_WORDS 0xFFFFFFF0u

static inline void frozen_close(FrozenTable *t) {
    free(t->slots);
    free(t->records);
    memset(t, 0, sizeof *t);
}

/* Room for n_rows rows and n_cells cells; fixed_bits is 0 for exact keys. -1: no memory. */
static inline int frozen_open(FrozenTable *t, int32_t n_labels, int fixed_bits,
                              uint64_t multiplier, uint64_t n_rows, uint64_t n_cells) {
    uint64_t words = 2 * n_rows + n_cells + 2;
    memset(t, 0, sizeof *t);
    t->n_labels = n_labels;
    t->fixed_bits = fixed_bits;
    /* A file of a few rows may claim a table of 2^30: memory follows the rows that are there. */
    t->direct = fixed_bits && (uint64_t)1 << fixed_bits <= 8 * n_rows + 4096;
    t->bits = t->direct ? fixed_bits : 0;
    t->multiplier = multiplier | 1;
    while (!t->direct && (t->bits < INDEX_MIN_BITS || (uint64_t)1 << t->bits < 2 * n_rows))
        t->bits++;
    if (words > FROZEN_MAX_WORDS) return -1;
    t->slots = (Slot *)large_block(sizeof(Slot) << t->bits, 1);
    t->records = (uint32_t *)large_block((size_t)words * sizeof(uint32_t), 0);
    return t->slots && t->records ? 0 : -1;
}

static inline const FrozenRow *frozen_row(const FrozenTable *t, int64_t row) {
    return (const FrozenRow *)(const void *)(t->records + row);
}

/* What a feature's key is in this table. */
static inline uint64_t frozen_key(const FrozenTable *t, uint64_t key) {
    return t->fixed_bits ? key >> (64 - t->fixed_bits) : key;
}

static inline size_t frozen_start(const FrozenTable *t, uint64_t own) {
    return t->direct ? (size_t)own : (size_t)((own * t->multiplier) >> (64 - t->bits));
}

static inline void frozen_prefetch(const FrozenTable *t, uint64_t key) {
    PREFETCH(&t->slots[frozen_start(t, frozen_key(t, key))]);
}

static inline void frozen_prefetch_row(const FrozenTable *t, int64_t row) {
    PREFETCH(t->records + row);
}

/* The record that the key's first slot speaks of, which the slot's own tag cannot tell for sure
 * from another: finding a row reads it. The slot was fetched. */
static inline void frozen_prefetch_record(const FrozenTable *t, uint64_t key) {
    uint64_t own = frozen_key(t, key);
    const Slot *slot = &t->slots[frozen_start(t, own)];
    if (slot->row1 && slot->tag == (uint32_t)own) PREFETCH(t->records + slot->row1 - 1);
}

static inline int64_t frozen_find_own(const FrozenTable *t, uint64_t own) {
    size_t mask = ((size_t)1 << t->bits) - 1, at = frozen_start(t, own);
    if (t->direct) return (int64_t)t->slots[at].row1 - 1;
    for (;; at = (at + 1) & mask) {
        const Slot *slot = &t->slots[at];
        if (slot->row1 == 0) return -1;
        if (slot->tag == (uint32_t)own &&
            frozen_row(t, (int64_t)slot->row1 - 1)->key_high == (uint32_t)(own >> 32))
            return (int64_t)slot->row1 - 1;
    }
}

/* The row of a feature's key, or -1. */
static inline int64_t frozen_find(const FrozenTable *t, uint64_t key) {
    return frozen_find_own(t, frozen_key(t, key));
}

/* Enter a row of n cells under a key of the table's own; where to write them, or NULL where it is
 * there already. */
static inline FrozenCell *frozen_enter(FrozenTable *t, uint64_t own, uint32_t n) {
    size_t mask = ((size_t)1 << t->bits) - 1, at = frozen_start(t, own);
    uint32_t high = (uint32_t)(own >> 32);
    for (; t->slots[at].row1; at = (at + 1) & mask)
        if (t->direct || (t->slots[at].tag == (uint32_t)own &&
                          frozen_row(t, (int64_t)t->slots[at].row1 - 1)->key_high == high))
            return NULL;
    FrozenRow *row = (FrozenRow *)(void *)(t->records + t->used);
    row->key_high = high;
    row->n = n;
    t->slots[at].tag = (uint32_t)own;
    t->slots[at].row1 = (uint32_t)t->used + 1;
    t->used += 2 + (uint64_t)n;
    return row->cells;
}

#define FROZEN_AHEAD 16

/* Enter all rows; starts are those of FrozenWeights. The first row whose key is there already, or
 * -1 when there is none. */
static inline int64_t frozen_fill(FrozenTable *t, const uint64_t *keys, const int64_t *starts,
                                  const uint16_t *labels, const int16_t *weights,
                                  int64_t n_rows) {
    for (int64_t row = 0; row < n_rows; row++) {
        if (row + FROZEN_AHEAD < n_rows)
            PREFETCH(&t->slots[frozen_start(t, keys[row + FROZEN_AHEAD])]);
        int64_t start = starts[row], n = starts[row + 1] - start;
        FrozenCell *cells = frozen_enter(t, keys[row], (uint32_t)n);
        if (!cells) return row;
        for (int64_t k = 0; k < n; k++) {
            cells[k].label = labels[start + k];
            cells[k].weight = weights[start + k];
        }
    }
    return -1;
}

static inline void frozen_add(const FrozenTable *t, int64_t row, int32_t *scores) {
    const FrozenRow *r = frozen_row(t, row);
    for (uint32_t i = 0; i < r->n; i++) scores[r->cells[i].label] += r->cells[i].weight;
}

/* Like frozen_add, `times` (1 or -1) times, modulo 2^16. */
static inline void frozen_add_narrow(const FrozenTable *t, int64_t row, int times,
                                     int16_t *scores) {
    const FrozenRow *r = frozen_row(t, row);
    for (uint32_t i = 0; i < r->n; i++) {
        uint16_t step = (uint16_t)(times * r->cells[i].weight);
        scores[r->cells[i].label] = (int16_t)(uint16_t)((uint16_t)scores[r->cells[i].label] + step);
    }
}

#endif
