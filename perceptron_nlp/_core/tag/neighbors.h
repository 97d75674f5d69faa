/* What neighbors of a word say: the words beside it, looked up, and the label before it, remembered.
 *
 * Templates over two neighboring words are grouped by where the pair stands (its left word at
 * position 0, -1, … seen from the word that is labeled). Pairs are looked up each time that they
 * stand somewhere: a filter, which touches no memory for what the model does not know, leaves few
 * rows, and those of several blocks are on their way at once. */
#pragma once

#include "tag/typecache.h"

#define PAIR_BLOCK 32 /* pairs that are looked up together */
#define PAIR_BLOCKS 3 /* blocks on their way, each a step ahead of the next */
#define MAX_PAIR_GROUPS 4

typedef struct {
    int32_t n_groups;                 /* 0: no templates over pairs */
    int32_t n_templates;              /* of all groups */
    int32_t offsets[MAX_PAIR_GROUPS]; /* where the left word stands */
    int32_t *templates, *group_of;    /* sorted by group */
    int32_t *value_at; /* where the second word's part of each key is among its halves, twice; and 1
                          where that is the left word. NULL: some template is of other values */
    KeyFilter filter;
} PairLayout;

/* Where a pair stands: its words' types, the left one's token, and, a bit for each group, whether
 * there is a token that the group speaks of. */
typedef struct {
    const int32_t *types;
    int64_t token;
    uint32_t groups;
} PairPlace;

/* Where each template is of one value of either word: plan halves of keys, of each template that of
 * the word that it names first, then the values of the others. Layout and pairs are new. -1: no
 * memory. */
static inline int pair_halves_open(PairLayout *p, CacheLayout *l) {
    const Program *program = l->program;
    const int32_t n = p->n_templates;
    int32_t used = n, right;
    for (int32_t k = 0; k < n; k++)
        if (!is_plain_pair(program, p->templates[k], &right)) return 0;
    if (!n) return 0;
    p->value_at = (int32_t *)malloc((size_t)n * sizeof *p->value_at);
    l->halves = (HalfPlan *)malloc(2 * (size_t)n * sizeof *l->halves);
    if (!p->value_at || !l->halves) return -1;
    for (int32_t k = 0; k < n; k++) {
        const AtomSpec *atom = program->atoms + program->atom_starts[p->templates[k]];
        int32_t at = n;
        l->halves[k] = (HalfPlan){program->seeds[p->templates[k]] + XXH_P5 + 16, atom[0].value, 1};
        while (at < used && l->halves[at].value != atom[1].value) at++;
        if (at == used) l->halves[used++] = (HalfPlan){0, atom[1].value, 0};
        is_plain_pair(program, p->templates[k], &right);
        p->value_at[k] = 2 * at + !right;
    }
    l->n_halves = used;
    return 0;
}

/* What a template says of a token, when its row is known. */
typedef struct {
    int32_t token, group;
} PairTarget;

/* Pairs of which the model is asked: their keys by pair and template, then only those that the filter
 * lets through, and their rows. */
typedef struct {
    PairPlace places[PAIR_BLOCK];
    int32_t count, n; /* pairs; keys that are let through */
    uint64_t *keys;   /* as the table has them */
    uint32_t *rows;   /* 0: none */
    PairTarget *targets;
} PairBlock;

typedef struct {
    PairBlock blocks[PAIR_BLOCKS];
    int is_open;
} PairBlocks;

static inline void pair_blocks_close(PairBlocks *x) {
    for (int k = 0; k < PAIR_BLOCKS; k++) {
        free(x->blocks[k].keys);
        free(x->blocks[k].rows);
        free(x->blocks[k].targets);
    }
    memset(x, 0, sizeof *x);
}

/* Room for blocks of pairs, unless there is; -1: no memory. */
static inline int pair_blocks_open(PairBlocks *x, const PairLayout *p) {
    const size_t n = (size_t)(PAIR_BLOCK * p->n_templates);
    int missing = 0;
    for (int k = 0; k < PAIR_BLOCKS && !x->is_open; k++) {
        PairBlock *b = &x->blocks[k];
        b->keys = (uint64_t *)malloc(n * sizeof *b->keys);
        b->rows = (uint32_t *)malloc(n * sizeof *b->rows);
        b->targets = (PairTarget *)malloc(n * sizeof *b->targets);
        missing |= !b->keys || !b->rows || !b->targets;
    }
    if (missing)
        pair_blocks_close(x);
    else
        x->is_open = 1;
    return missing ? -1 : 0;
}

/* The key of template t for the pair whose left word is types[0]. */
static inline uint64_t pair_feature(const PairLayout *p, const CacheLayout *l, int32_t t,
                                    const int32_t *types, const uint64_t *carried) {
    const int32_t *token = types - p->offsets[p->group_of[t]];
    TokenView view = {&token, carried, NULL, 0, 0};
    return token_key(l->program, p->templates[t], &view);
}

/* What make_pair_keys reads of the types of a block; a left word mostly is the right one of the pair
 * before. */
static ALWAYS_INLINE void fetch_halves(const PairBlock *b, const CacheLayout *l,
                                       const TypeCache *c) {
    const size_t n = (size_t)l->n_halves;
    for (int32_t m = 0; m < b->count && n; m++) {
        const uint64_t *right = c->halves + (size_t)b->places[m].types[1] * n;
        PREFETCH(right);
        PREFETCH(right + n - 1);
    }
}

/* Looking up a block takes three steps, each of which fetches what the next one reads. Here the keys,
 * and the words of the filter for them. */
static ALWAYS_INLINE void make_pair_keys_of(PairBlock *b, const PairLayout *p, const CacheLayout *l,
                                            const TypeCache *c, int32_t n_templates) {
    const FrozenTable t = *l->table;
    const KeyFilter filter = p->filter;
    const size_t n_halves = (size_t)l->n_halves;
    const int32_t *value_at = p->value_at;
    uint64_t *key = b->keys;
    for (int32_t m = 0; m < b->count; m++) {
        const int32_t *types = b->places[m].types;
        const uint64_t *halves[2] = {c->halves + (size_t)types[0] * n_halves,
                                     c->halves + (size_t)types[1] * n_halves};
        for (int32_t k = 0; k < n_templates; k++) {
            const int32_t at = value_at ? value_at[k] : 0;
            const uint64_t whole =
                value_at ? xxh64_mixed_word(halves[at & 1][k], halves[!(at & 1)][at >> 1])
                         : pair_feature(p, l, k, types, c->carried);
            const uint64_t own = frozen_key(&t, whole);
            if (filter.words)
                PREFETCH(filter_word(&filter, own));
            else
                PREFETCH(&t.buckets[frozen_start(&t, own)]);
            *key++ = own;
        }
    }
}

/* What the filter lets through, and its buckets. */
static ALWAYS_INLINE void filter_pair_keys_of(PairBlock *b, const PairLayout *p,
                                              const FrozenTable *table, int32_t n_templates) {
    const FrozenTable t = *table;
    const KeyFilter filter = p->filter;
    const uint64_t *key = b->keys;
    int32_t n = 0;
    for (int32_t m = 0; m < b->count; m++) {
        const int32_t token = (int32_t)b->places[m].token;
        const uint32_t groups = b->places[m].groups;
        for (int32_t k = 0; k < n_templates; k++) {
            const int32_t group = p->group_of[k];
            const uint64_t own = *key++;
            b->keys[n] = own;
            b->targets[n] = (PairTarget){token - p->offsets[group], group};
            n += (!filter.words || filter_passes(&filter, own)) & (int)(groups >> group & 1);
        }
    }
    b->n = n;
    for (int32_t i = 0; i < n && filter.words; i++)
        PREFETCH(&t.buckets[frozen_start(&t, b->keys[i])]);
}

/* The presets have five templates over pairs, and a sixth over words farther away is added to them:
 * they are worth code of their own. */
static inline void make_pair_keys(PairBlock *b, const PairLayout *p, const CacheLayout *l,
                                  const TypeCache *c) {
    if (p->n_templates == 5 && p->value_at)
        make_pair_keys_of(b, p, l, c, 5);
    else if (p->n_templates == 6 && p->value_at)
        make_pair_keys_of(b, p, l, c, 6);
    else
        make_pair_keys_of(b, p, l, c, p->n_templates);
}

static inline void filter_pair_keys(PairBlock *b, const PairLayout *p, const FrozenTable *t) {
    if (p->n_templates == 5)
        filter_pair_keys_of(b, p, t, 5);
    else if (p->n_templates == 6)
        filter_pair_keys_of(b, p, t, 6);
    else
        filter_pair_keys_of(b, p, t, p->n_templates);
}

/* The rows of what was let through. */
static inline void guess_pair_rows(PairBlock *b, const FrozenTable *table) {
    const FrozenTable t = *table;
    const uint64_t *keys = b->keys;
    uint32_t *rows = b->rows;
    for (int32_t i = 0; i < b->n; i++) {
        rows[i] = frozen_guess(&t, keys[i]);
        frozen_prefetch_row(&t, rows[i]);
    }
}

/* What the label before a word and the word itself say together, remembered for each type and label:
 * the number of a vector in the cache's pool, which is summed where it is needed first. */

/* Most such templates are of the label, then one value: what hashing does with the label is done
 * once for all words. The others have no plan. -1: no memory. */
static inline int transition_plan_open(CacheLayout *l, const uint64_t *label_hashes) {
    const Program *p = l->program;
    const size_t n = transition_words(l);
    l->transitions_planned = 1;
    l->transition_starts =
        (uint64_t *)malloc(((size_t)l->n_transitions * n + 1) * sizeof(uint64_t));
    l->transition_values = (int32_t *)malloc(((size_t)l->n_transitions + 1) * sizeof(int32_t));
    if (!l->transition_starts || !l->transition_values) return -1;
    for (int32_t m = 0; m < l->n_transitions; m++) {
        const int32_t template_id = l->transition_templates[m], first = p->atom_starts[template_id];
        const AtomSpec *atom = &p->atoms[first];
        l->transition_values[m] = -1;
        if (p->atom_starts[template_id + 1] - first != 2 || atom[0].kind != ATOM_TAG ||
            atom[1].kind != ATOM_VALUE) {
            l->transitions_planned = 0;
            continue;
        }
        l->transition_values[m] = p->carried_at[atom[1].value];
        for (size_t label = 0; label < n; label++)
            l->transition_starts[(size_t)m * n + label] =
                xxh64_word_start(&label_hashes[label], 2, p->seeds[template_id]);
    }
    return 0;
}

static inline void transition_plan_close(CacheLayout *l) {
    free(l->transition_starts);
    free(l->transition_values);
}

static inline char *transition_vector(const CacheLayout *l, const TypeCache *c,
                                      uint32_t transition) {
    return c->pool + (size_t)transition * (size_t)l->stride * score_bytes(l);
}

/* The key of a template that has a plan. */
static inline uint64_t transition_key(const CacheLayout *l, const TypeCache *c, int32_t m,
                                      int32_t type, int32_t label) {
    uint64_t value =
        c->carried[(size_t)type * (size_t)l->program->n_carried + (size_t)l->transition_values[m]];
    return xxh64_mixed_word(l->transition_starts[(size_t)m * transition_words(l) + (size_t)label],
                            xxh64_mixed(value));
}

/* Is there surely nothing that a word and the label before it say together? */
static ALWAYS_INLINE int transition_is_nothing(const CacheLayout *l, const TypeCache *c,
                                               int32_t type, int32_t label) {
    if (!l->transition_filter.words) return 0;
    for (int32_t m = 0; m < l->n_transitions; m++)
        if (filter_passes(&l->transition_filter,
                          frozen_key(l->table, transition_key(l, c, m, type, label))))
            return 0;
    return 1;
}

/* Fetch what transition_fill will look for, from template m on. */
static ALWAYS_INLINE void transition_fetch(const CacheLayout *l, const TypeCache *c, int32_t m,
                                           int32_t type, int32_t label) {
    for (; m < l->n_transitions; m++)
        if (l->transition_values[m] >= 0)
            frozen_prefetch(l->table, transition_key(l, c, m, type, label));
}

/* Room for one vector more in the pool. -1: no memory. */
static inline int transition_reserve(const CacheLayout *l, TypeCache *c) {
    if (c->pool_used < c->pool_room) return 0;
    if (c->pool_room > TRANSITION_UNKNOWN / 4 ||
        grow_array(&c->pool, 2 * (size_t)c->pool_room, (size_t)l->stride * score_bytes(l)) < 0)
        return -1;
    c->pool_room *= 2;
    return 0;
}

/* A new vector of zeros in the pool; 0: no memory. */
static inline uint32_t transition_take(const CacheLayout *l, TypeCache *c) {
    if (transition_reserve(l, c) < 0) return 0;
    memset(transition_vector(l, c, c->pool_used), 0, (size_t)l->stride * score_bytes(l));
    return c->pool_used++;
}

/* Sum up what the word of a token and the label before it say together; -1: no memory. */
static inline int transition_fill(const CacheLayout *l, TypeCache *c, const TokenView *view,
                                  int32_t label, uint32_t *transition) {
    uint32_t found = 0;
    for (int32_t m = 0; m < l->n_transitions; m++) {
        uint64_t key = l->transition_values[m] >= 0
                           ? transition_key(l, c, m, view->types[0][0], label)
                           : token_key(l->program, l->transition_templates[m], view);
        int64_t row = frozen_find(l->table, key);
        if (row < 0) continue;
        if (!found && !(found = transition_take(l, c))) return -1;
        add_row(l, row, transition_vector(l, c, found));
    }
    *transition = found;
    return 0;
}
