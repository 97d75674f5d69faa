/* What the label before a word and the word itself say together, remembered for each type and label:
 * the number of a vector in the cache's pool, which is summed where it is needed first. */
#ifndef PERCEPTRON_NLP_MEMO_H
#define PERCEPTRON_NLP_MEMO_H

#include "tag/typecache.h"

/* Most such templates are of the label, then one value: what hashing does with the label is done
 * once for all words. The others have no plan. -1: no memory. */
static inline int memo_plan_open(CacheLayout *l, const uint64_t *label_hashes) {
    const Program *p = l->program;
    const size_t n = memo_words(l);
    l->memos_planned = 1;
    l->memo_starts = (uint64_t *)malloc(((size_t)l->n_memos * n + 1) * sizeof(uint64_t));
    l->memo_values = (int32_t *)malloc(((size_t)l->n_memos + 1) * sizeof(int32_t));
    if (!l->memo_starts || !l->memo_values) return -1;
    for (int32_t m = 0; m < l->n_memos; m++) {
        const int32_t template_id = l->memo_templates[m], first = p->atom_starts[template_id];
        const AtomSpec *atom = &p->atoms[first];
        l->memo_values[m] = -1;
        if (p->atom_starts[template_id + 1] - first != 2 || atom[0].kind != ATOM_TAG ||
            atom[1].kind != ATOM_VALUE) {
            l->memos_planned = 0;
            continue;
        }
        l->memo_values[m] = p->carried_at[atom[1].value];
        for (size_t label = 0; label < n; label++)
            l->memo_starts[(size_t)m * n + label] =
                xxh64_word_start(&label_hashes[label], 2, p->seeds[template_id]);
    }
    return 0;
}

static inline void memo_plan_close(CacheLayout *l) {
    free(l->memo_starts);
    free(l->memo_values);
}

static inline char *memo_vector(const CacheLayout *l, const TypeCache *c, uint32_t memo) {
    return c->pool + (size_t)memo * (size_t)l->stride * score_bytes(l);
}

/* The key of a template that has a plan. */
static inline uint64_t memo_key(const CacheLayout *l, const TypeCache *c, int32_t m, int32_t type,
                                int32_t label) {
    uint64_t value =
        c->carried[(size_t)type * (size_t)l->program->n_carried + (size_t)l->memo_values[m]];
    return xxh64_mixed_word(l->memo_starts[(size_t)m * memo_words(l) + (size_t)label],
                            xxh64_mixed(value));
}

/* Fetch what memo_fill will look for, from template m on. */
static ALWAYS_INLINE void memo_fetch(const CacheLayout *l, const TypeCache *c, int32_t m,
                                     int32_t type, int32_t label) {
    for (; m < l->n_memos; m++)
        if (l->memo_values[m] >= 0) frozen_prefetch(l->table, memo_key(l, c, m, type, label));
}

/* Room for one vector more in the pool. -1: no memory. */
static inline int memo_reserve(const CacheLayout *l, TypeCache *c) {
    if (c->pool_used < c->pool_room) return 0;
    if (c->pool_room > MEMO_UNKNOWN / 4 ||
        grow_array(&c->pool, 2 * (size_t)c->pool_room, (size_t)l->stride * score_bytes(l)) < 0)
        return -1;
    c->pool_room *= 2;
    return 0;
}

/* A new vector of zeros in the pool; 0: no memory. */
static inline uint32_t memo_take(const CacheLayout *l, TypeCache *c) {
    if (memo_reserve(l, c) < 0) return 0;
    memset(memo_vector(l, c, c->pool_used), 0, (size_t)l->stride * score_bytes(l));
    return c->pool_used++;
}

/* Sum up what the word of a token and the label before it say together; -1: no memory. */
static inline int memo_fill(const CacheLayout *l, TypeCache *c, const TokenView *view,
                            int32_t label, uint32_t *memo) {
    uint32_t found = 0;
    for (int32_t m = 0; m < l->n_memos; m++) {
        uint64_t key = l->memo_values[m] >= 0 ? memo_key(l, c, m, view->types[0][0], label)
                                              : token_key(l->program, l->memo_templates[m], view);
        int64_t row = frozen_find(l->table, key);
        if (row < 0) continue;
        if (!found && !(found = memo_take(l, c))) return -1;
        add_row(l, row, memo_vector(l, c, found));
    }
    *memo = found;
    return 0;
}

#endif
