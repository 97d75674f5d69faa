/* What a type that was never met before says: its keys, their rows, their sums.
 *
 * Slots and rows of weights stand anywhere in memory. So keys are made, and their slots fetched,
 * when a type is entered; the rows of a few such types are then fetched and read together. */
#ifndef PERCEPTRON_NLP_TYPEFILL_H
#define PERCEPTRON_NLP_TYPEFILL_H

#include "typelayout.h"

/* ---- the plan ---- */

static inline void plan_close(CacheLayout *l) {
    free(l->plan);
    free(l->plan_starts);
}

/* The value that is all a template looks at, or -1. */
static inline int32_t only_value(const Program *p, int32_t template_id) {
    const AtomSpec *atom = &p->atoms[p->atom_starts[template_id]];
    int alone = p->atom_starts[template_id + 1] - p->atom_starts[template_id] == 1;
    return alone && atom->kind == ATOM_VALUE && !is_many(&p->values[atom->value]) ? atom->value
                                                                                   : -1;
}

/* -1: no memory. */
static inline int plan_open(CacheLayout *l) {
    const Program *p = l->program;
    int32_t n = 0;
    for (int32_t s = 0; s < p->n_slots; s++) n += p->slots[s].n_templates;
    l->plan = (KeyPlan *)malloc(((size_t)n + 1) * sizeof *l->plan);
    l->plan_starts = (int32_t *)malloc(((size_t)p->n_columns + 1) * sizeof *l->plan_starts);
    if (!l->plan || !l->plan_starts) return -1;
    n = 0;
    for (int32_t column = 0; column < p->n_columns; column++) {
        l->plan_starts[column] = n;
        for (int32_t s = 0; s < p->n_slots; s++)
            for (int32_t k = 0; k < p->slots[s].n_templates && p->slots[s].column == column; k++) {
                int32_t template_id = p->slots[s].templates[k];
                l->plan[n++] = (KeyPlan){xxh64_word_start(p->seeds[template_id]), s, template_id,
                                         only_value(p, template_id)};
            }
    }
    l->plan_starts[p->n_columns] = n;
    return 0;
}

/* ---- keys ---- */

/* Room for so many keys more. */
static inline int fresh_reserve(TypeCache *c, size_t more) {
    if (c->n_fresh_keys + more <= c->fresh_room) return 0;
    size_t room = 2 * c->fresh_room + more + 256;
    if (grow_array(&c->fresh_keys, room, sizeof *c->fresh_keys) < 0 ||
        grow_array(&c->fresh_slots, room, sizeof *c->fresh_slots) < 0)
        return -1;
    c->fresh_room = room;
    return 0;
}

static inline void fresh_key(TypeCache *c, const CacheLayout *l, uint64_t key, int32_t slot) {
    c->fresh_keys[c->n_fresh_keys] = key;
    c->fresh_slots[c->n_fresh_keys++] = (uint16_t)slot;
    frozen_prefetch(l->table, key);
}

/* All keys of a type by the values that were made of it. */
static inline int make_keys(TypeCache *c, const CacheLayout *l, int32_t column, int is_pad) {
    const Program *p = l->program;
    const KeyPlan *k = l->plan + l->plan_starts[column];
    const KeyPlan *end = l->plan + l->plan_starts[column + 1];
    if (fresh_reserve(c, (size_t)(end - k)) < 0) return -1;
    for (; k < end; k++) {
        if (k->value >= 0) {
            fresh_key(c, l, xxh64_mixed_word(k->start, c->mixed[k->value]), k->slot);
            continue;
        }
        c->keys.n = 0;
        if (type_template_keys(p, k->template_id, p->slots[k->slot].condition, c->values,
                               is_pad ? NULL : &c->words, &c->keys) < 0 ||
            fresh_reserve(c, c->keys.n + (size_t)(end - k)) < 0)
            return -1;
        for (size_t i = 0; i < c->keys.n; i++) fresh_key(c, l, c->keys.keys[i], k->slot);
    }
    return 0;
}

/* ---- rows ---- */

static inline int keep_row(TypeCache *c, int64_t row) {
    if (c->rows_used == c->rows_room) {
        size_t room = c->rows_room ? 2 * c->rows_room : 1024;
        if (room > 0xFFFFFFFFu || grow_array(&c->rows, room, 4) < 0) return -1;
        c->rows_room = room;
    }
    c->rows[c->rows_used++] = (uint32_t)row;
    return 0;
}

/* Add a row to a vector of scores of the layout's width. */
static inline void add_row(const CacheLayout *l, int64_t row, int times, char *vector) {
    if (l->narrow) {
        frozen_add_narrow(l->table, row, times, (int16_t *)(void *)vector);
    } else {
        int32_t *scores = (int32_t *)(void *)vector;
        const FrozenRow *r = frozen_row(l->table, row);
        for (uint32_t i = 0; i < r->n; i++) scores[r->cells[i].label] += times * r->cells[i].weight;
    }
}

/* Sum the rows of a type, which stand in place of its keys, into its vectors. */
static inline void sum_rows(TypeCache *c, const CacheLayout *l, uint32_t type, size_t from,
                            size_t to) {
    const size_t step = (size_t)l->stride * score_bytes(l);
    char *base = c->vectors + type * vector_bytes(l);
    memset(base, 0, vector_bytes(l));
    for (size_t i = from; i < to; i++) {
        int64_t row = (int64_t)c->fresh_keys[i];
        if (row < 0) continue;
        int32_t slot = c->fresh_slots[i];
        int32_t vector = l->slot_vector[slot], correction = l->slot_correction[slot];
        if (vector >= 0) add_row(l, row, 1, base + (size_t)vector * step);
        if (correction >= 0) add_row(l, row, l->slot_sign[slot], base + (size_t)correction * step);
    }
}

/* List the rows of a type, which stand in place of its keys, slot after slot. */
static inline int list_rows(TypeCache *c, const CacheLayout *l, uint32_t type, size_t from,
                            size_t to) {
    const int32_t n_slots = l->program->n_slots;
    uint32_t *starts = c->list_starts + (size_t)type * (size_t)n_slots;
    for (int32_t s = 0; s < n_slots; s++) {
        starts[s] = (uint32_t)c->rows_used;
        for (; from < to && c->fresh_slots[from] == s; from++) {
            int64_t row = (int64_t)c->fresh_keys[from];
            if (row >= 0 && keep_row(c, row) < 0) return -1;
        }
    }
    starts[n_slots] = (uint32_t)c->rows_used;
    return 0;
}

/* ---- types ---- */

/* Read the rows of the types that were begun. -1: no memory. */
static inline int finish_types(TypeCache *c, const CacheLayout *l) {
    size_t from = 0;
    for (size_t i = 0; i < c->n_fresh_keys; i++) frozen_prefetch_record(l->table, c->fresh_keys[i]);
    for (size_t i = 0; i < c->n_fresh_keys; i++) /* a key becomes its row */
        c->fresh_keys[i] = (uint64_t)frozen_find(l->table, c->fresh_keys[i]);
    for (int k = 0; k < c->n_fresh; k++) {
        const FreshType *fresh = &c->fresh[k];
        if (l->dense) sum_rows(c, l, fresh->type, from, fresh->keys_end);
        else if (list_rows(c, l, fresh->type, from, fresh->keys_end) < 0) return -1;
        from = fresh->keys_end;
    }
    c->n_fresh = 0;
    c->n_fresh_keys = 0;
    return 0;
}

/* Begin to work out what the type just entered says; text is NULL for a pad. finish_types must
 * follow before anything is read of it. -1: no memory. */
static inline int begin_type(TypeCache *c, const CacheLayout *l, uint32_t type, int32_t column,
                             const uint8_t *text, size_t n, int32_t distance) {
    const Program *p = l->program;
    if (c->n_fresh == FRESH_TYPES && finish_types(c, l) < 0) return -1;
    if (text ? type_values(p, &c->words, column, text, n, c->values) < 0
             : (pad_values(p, distance, c->values), 0))
        return -1;
    for (int32_t v = 0; v < p->n_values; v++) {
        if (p->value_column[v] != column) continue;
        c->mixed[v] = xxh64_mixed(c->values[v]);
        if (p->carried_at[v] >= 0)
            c->carried[(size_t)type * (size_t)p->n_carried + (size_t)p->carried_at[v]] =
                c->values[v];
    }
    if (memo_words(l)) memset(c->memos + type * memo_words(l), 0xFF, memo_words(l) * 4);
    if (make_keys(c, l, column, text == NULL) < 0) return -1;
    c->fresh[c->n_fresh++] = (FreshType){type, c->n_fresh_keys};
    return 0;
}

#endif
