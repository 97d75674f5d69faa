/* What pairs of neighbours say, remembered.
 *
 * Templates over two neighbouring words are grouped by where the pair stands (its left word at
 * position 0, -1, … seen from the word that is labelled). One probe for a pair of types gives the
 * summed scores of every such group: for 0 those of the left word, for -1 those of the right.
 *
 * A pair may stand in any of the PAIR_WAYS places of its set, half a cache line of keys; a
 * newcomer that finds none free takes the one that the rest of its hash names. So nothing is
 * ever emptied because it is full, and the size is a bound. */
#ifndef PERCEPTRON_NLP_PAIRCACHE_H
#define PERCEPTRON_NLP_PAIRCACHE_H

#include "typecache.h"

#define PAIR_WAYS 4
#define PAIR_MAX_SETS_BITS 14
#define MAX_PAIR_GROUPS 4

typedef struct {
    int32_t n_groups;                 /* 0: no templates over pairs */
    int32_t n_templates;              /* of all groups */
    int32_t offsets[MAX_PAIR_GROUPS]; /* where the left word stands */
    int32_t *templates, *group_of;    /* sorted by group */
    int32_t *left, *right; /* which carried values make up each template; -1: not just one each */
} PairLayout;

typedef struct {
    uint64_t *keys; /* left type << 32 | right type, + 1; 0 is an empty place */
    char *vectors;  /* [place][group][stride] */
    int bits;
    uint64_t *scratch_keys; /* of the pairs that a block misses */
    int64_t *scratch_rows;
} PairCache;

static inline void pair_cache_close(PairCache *c) {
    free(c->keys);
    free(c->vectors);
    free(c->scratch_keys);
    free(c->scratch_rows);
    memset(c, 0, sizeof *c);
}

static inline size_t pair_bytes(const PairLayout *p, const CacheLayout *l) {
    return (size_t)p->n_groups * (size_t)l->stride * score_bytes(l);
}

static inline size_t pair_places(const PairCache *c) { return (size_t)PAIR_WAYS << c->bits; }

/* Twice as many places as types may be remembered, within bounds. -1: no memory. */
static inline int pair_cache_open(PairCache *c, const PairLayout *p, const CacheLayout *l,
                                  uint32_t limit, int block) {
    c->bits = 2;
    while (c->bits < PAIR_MAX_SETS_BITS && pair_places(c) < 2 * (uint64_t)limit) c->bits++;
    c->keys = (uint64_t *)calloc(pair_places(c), sizeof *c->keys);
    c->vectors = (char *)malloc(pair_places(c) * pair_bytes(p, l));
    c->scratch_keys = (uint64_t *)malloc((size_t)(block * p->n_templates) * sizeof(uint64_t));
    c->scratch_rows = (int64_t *)malloc((size_t)(block * p->n_templates) * sizeof(int64_t));
    if (c->keys && c->vectors && c->scratch_keys && c->scratch_rows) return 0;
    pair_cache_close(c);
    return -1;
}

static inline void pair_cache_clear(PairCache *c) {
    if (c->keys) memset(c->keys, 0, pair_places(c) * sizeof *c->keys);
}

/* Type numbers stay below 2^30, so the key is never 0 and 2^31 is free for a mark. */
#define PAIR_SILENT 0x80000000u /* no template knows this pair */

static inline uint64_t pair_key(int32_t left, int32_t right) {
    return ((uint64_t)(uint32_t)left << 32 | (uint32_t)right) + 1;
}

/* The first place of a pair's set, and the place that it takes if all are taken. */
static inline size_t pair_set(const PairCache *c, uint64_t key, uint64_t multiplier) {
    return (size_t)((key * multiplier) >> (64 - c->bits)) * PAIR_WAYS;
}

static inline size_t pair_victim(const PairCache *c, uint64_t key, uint64_t multiplier,
                                 size_t set) {
    for (size_t way = 0; way < PAIR_WAYS; way++)
        if (!c->keys[set + way]) return set + way;
    return set + (size_t)((key * multiplier) >> 32) % PAIR_WAYS;
}

/* Where the pair stands, or -1. */
static inline int64_t pair_find(const PairCache *c, uint64_t key, size_t set) {
    for (size_t way = 0; way < PAIR_WAYS; way++)
        if ((c->keys[set + way] & ~(uint64_t)PAIR_SILENT) == key) return (int64_t)(set + way);
    return -1;
}

/* The key of template t for the pair whose left word is types[0]. */
static inline uint64_t pair_feature(const PairLayout *p, const CacheLayout *l, int32_t t,
                                    const int32_t *types, const uint64_t *carried) {
    size_t n_carried = (size_t)l->program->n_carried;
    if (p->left[t] >= 0) {
        const uint64_t words[2] = {carried[(size_t)types[0] * n_carried + (size_t)p->left[t]],
                                   carried[(size_t)types[1] * n_carried + (size_t)p->right[t]]};
        return xxh64_words(words, 2, l->program->seeds[p->templates[t]]);
    }
    const int32_t *token = types - p->offsets[p->group_of[t]];
    TokenView view = {&token, carried, NULL, 0, 0};
    return token_key(l->program, p->templates[t], &view);
}

/* Put a pair into its place; rows[t] is the row of template t, or -1. */
static inline void pair_fill(PairCache *c, const PairLayout *p, const CacheLayout *l, size_t place,
                             uint64_t key, const int64_t *rows) {
    char *vectors = c->vectors + place * pair_bytes(p, l);
    size_t step = (size_t)l->stride * score_bytes(l);
    uint64_t mark = PAIR_SILENT;
    for (int32_t t = 0; t < p->n_templates; t++) {
        if (rows[t] < 0) continue;
        if (mark) memset(vectors, 0, pair_bytes(p, l));
        mark = 0;
        add_row(l, rows[t], 1, vectors + (size_t)p->group_of[t] * step);
    }
    c->keys[place] = key | mark;
}

#endif
