/* Labels that a word and its labels in the columns before settle, by what was counted in training
 * (tagger/model/settled.py): those of the word itself, else of its longest ending that is known
 * together with its shape. Keys are the upper halves of hashes, ascending. */
#pragma once

#include "features/views.h"
#include "features/hashing.h"

#define LONGEST_ENDING 5
#define LONGEST_SETTLED 64 /* bytes of a word of which endings are looked at */
#define MOST_BEFORE 3      /* columns before */
/* UNSURE: the first column's label does not lead enough for any to be settled. HELD - label, of the
 * first column: it leads enough to be held to, but settles none of those met with it. */
enum { NOT_SETTLED = -1, UNSURE = -2, HELD = -3 };

typedef struct {
    const uint32_t *keys;
    const uint16_t *labels1; /* of each key its label + 1; 0: it is open, whatever is shorter */
    uint32_t *starts; /* the first key of each value of the upper bits; one more at the end */
    int shift;
    int looks_first; /* does an ending of the first word of a sentence stand for itself? */
    double lead; /* of the first column's label, in units of its weights, with which this holds */
    int n_before;
    const uint64_t *hashes[MOST_BEFORE]; /* of the labels of each column before */
} Settled;

/* -1: no memory. */
static inline int settled_open(Settled *s, uint32_t n) {
    int bits = 1;
    while (bits < 20 && (uint32_t)1 << bits < n) bits++;
    s->shift = 32 - bits;
    s->starts = (uint32_t *)malloc((((size_t)1 << bits) + 1) * sizeof *s->starts);
    if (!s->starts) return -1;
    for (uint32_t b = 0, k = 0; b <= (uint32_t)1 << bits; b++) {
        while (k < n && s->keys[k] >> s->shift < b) k++;
        s->starts[b] = k;
    }
    return 0;
}

/* The label + 1 of a text and the labels before; 0: open; NOT_SETTLED: there is no such key. */
static inline int32_t settled_find(const Settled *s, const uint8_t *text, size_t n,
                                   const uint64_t *before) {
    uint64_t hash = xxh64(text, n, 0);
    for (int c = 0; c < s->n_before; c++) {
        hash = (hash ^ before[c]) * XXH_P1;
        hash ^= hash >> 29;
    }
    const uint32_t key = (uint32_t)(hash >> 32);
    const uint32_t *bucket = s->starts + (key >> s->shift);
    for (uint32_t k = bucket[0]; k < bucket[1]; k++)
        if (s->keys[k] == key) return s->labels1[k];
    return NOT_SETTLED;
}

/* The label that settles a word, of n bytes; NOT_SETTLED: it is open. *by_ending tells what settled
 * it. `before` are the hashes of the labels before. */
static inline int32_t settled_label(const Settled *s, WordScratch *scratch, const uint8_t *text,
                                    size_t n, int is_first, const uint64_t *before,
                                    int *by_ending) {
    uint8_t made[2 * LONGEST_SETTLED + 4 * LONGEST_ENDING + 8];
    int32_t found = settled_find(s, text, n, before);
    *by_ending = found < 0;
    if (found >= 0 || n > LONGEST_SETTLED) return found - (found >= 0);
    if (word_views(scratch, text, n, 1u << VIEW_LOWER | 1u << VIEW_SHAPE) < 0) return NOT_SETTLED;
    const View *low = &scratch->views[VIEW_LOWER], *shape = &scratch->views[VIEW_SHAPE];
    const size_t n_shape = view_at(scratch, shape, shape->n), end = view_at(scratch, low, low->n);
    size_t at = 0;
    made[at++] = '\t';
    if (is_first && s->looks_first) made[at++] = '^';
    memcpy(made + at, shape->text, n_shape);
    at += n_shape;
    made[at++] = '\t';
    for (uint32_t k = low->n < LONGEST_ENDING ? low->n : LONGEST_ENDING;; k--) {
        const size_t from = view_at(scratch, low, low->n - k);
        memcpy(made + at, low->text + from, end - from);
        found = settled_find(s, made, at + end - from, before);
        if (found >= 0 || k == 0) return found - (found >= 0);
    }
}
