/* Open addressing from 64-bit keys to row numbers 0, 1, 2, … in order of arrival.
 *
 *   slots   | tag:u32  row+1:u32 |  2^bits of them, linear probing, at most 5/8 full
 *   keys    row -> the whole key; the tag (low half of the key) only spares a look at it
 *
 * The first slot is (key * multiplier) >> shift. The multiplier is odd and drawn anew by each
 * process, so nobody can choose words that fall into one run of slots; row numbers do not
 * depend on it, hence neither does anything saved. */
#pragma once

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "table/portable.h"

typedef struct {
    uint32_t tag;
    uint32_t row1; /* row + 1; 0 is an empty slot */
} Slot;

typedef struct {
    Slot *slots;
    uint64_t *keys;
    uint64_t multiplier;
    int bits;
    uint32_t n;        /* rows in use */
    uint32_t capacity; /* rows that keys has room for */
} Index;

#define INDEX_MIN_BITS 6
#define INDEX_MAX_ROWS 0xFFFFFFF0u

static inline int index_open(Index *x, uint64_t multiplier, int bits) {
    if (bits < INDEX_MIN_BITS) bits = INDEX_MIN_BITS;
    memset(x, 0, sizeof *x);
    x->multiplier = multiplier | 1;
    x->bits = bits;
    x->slots = (Slot *)calloc((size_t)1 << bits, sizeof(Slot));
    return x->slots ? 0 : -1;
}

static inline void index_close(Index *x) {
    free(x->slots);
    free(x->keys);
    memset(x, 0, sizeof *x);
}

static inline size_t index_start(const Index *x, uint64_t key) {
    return (size_t)((key * x->multiplier) >> (64 - x->bits));
}

/* The row of a key, or -1. */
static inline int64_t index_find(const Index *x, uint64_t key) {
    size_t mask = ((size_t)1 << x->bits) - 1, at = index_start(x, key);
    for (;; at = (at + 1) & mask) {
        const Slot *slot = &x->slots[at];
        if (slot->row1 == 0) return -1;
        if (slot->tag == (uint32_t)key && x->keys[slot->row1 - 1] == key)
            return (int64_t)slot->row1 - 1;
    }
}

static inline void index_put(Slot *slots, int bits, uint64_t multiplier, uint64_t key,
                             uint32_t row1) {
    size_t mask = ((size_t)1 << bits) - 1;
    size_t at = (size_t)((key * multiplier) >> (64 - bits));
    while (slots[at].row1) at = (at + 1) & mask;
    slots[at].tag = (uint32_t)key;
    slots[at].row1 = row1;
}

static inline int index_grow_slots(Index *x) {
    int bits = x->bits + 1;
    Slot *slots = (Slot *)calloc((size_t)1 << bits, sizeof(Slot));
    if (!slots) return -1;
    for (uint32_t row = 0; row < x->n; row++)
        index_put(slots, bits, x->multiplier, x->keys[row], row + 1);
    free(x->slots);
    x->slots = slots;
    x->bits = bits;
    return 0;
}

static inline int index_grow_keys(Index *x) {
    uint64_t wanted = x->capacity ? (uint64_t)x->capacity * 3 / 2 : 64;
    if (wanted > INDEX_MAX_ROWS) wanted = INDEX_MAX_ROWS;
    if (wanted <= x->capacity) return -1;
    if (grow_array(&x->keys, (size_t)wanted, sizeof *x->keys) < 0) return -1;
    x->capacity = (uint32_t)wanted;
    return 0;
}

/* Room for `more` new keys; -1 when there is no memory (and no key has changed its row). */
static inline int index_reserve(Index *x, uint32_t more) {
    uint64_t n = (uint64_t)x->n + more;
    while (n > x->capacity)
        if (index_grow_keys(x) < 0) return -1;
    while (n * 8 > ((uint64_t)5 << x->bits))
        if (index_grow_slots(x) < 0) return -1;
    return 0;
}

/* The row of a key, made if it is new; -1 when there is no memory (and nothing has changed). */
static inline int64_t index_insert(Index *x, uint64_t key) {
    int64_t row = index_find(x, key);
    if (row >= 0) return row;
    if (index_reserve(x, 1) < 0) return -1;
    x->keys[x->n] = key;
    index_put(x->slots, x->bits, x->multiplier, key, x->n + 1);
    return x->n++;
}
