/* What a type that was never met before says: its keys, their rows, their sums.
 *
 * Buckets and rows of weights stand anywhere in memory, and only so much can be fetched at a time.
 * So keys are made, and their buckets fetched, when a type is entered; their rows are found and
 * fetched when GUESS_BEHIND types more were entered, and summed some types later. */
#pragma once

#include "tag/typelayout.h"

/* ---- the plan ---- */

static inline void plan_close(CacheLayout *l) {
    free(l->plan);
    free(l->plan_starts);
    free(l->value_plan);
    free(l->value_starts);
    free(l->halves);
}

#define FEW_ATOMS 3 /* of which xxh64_word_start may be asked */

/* The value that a template of a slot ends with, if it is the only one; or -1. */
static inline KeyPlan key_plan(const Program *p, int32_t slot, int32_t template_id) {
    const AtomSpec *atom = &p->atoms[p->atom_starts[template_id]];
    const int n = p->atom_starts[template_id + 1] - p->atom_starts[template_id];
    const AtomSpec *last = atom + n - 1;
    KeyPlan plan = {0, slot, template_id, -1};
    uint64_t marks[FEW_ATOMS];
    if (n > FEW_ATOMS || last->kind != ATOM_VALUE || is_many(&p->values[last->value])) return plan;
    for (int a = 0; a < n - 1; a++) {
        if (atom[a].kind == ATOM_VALUE) return plan;
        marks[a] = mark_of(atom[a].kind, p->slots[slot].condition);
    }
    plan.start = xxh64_word_start(marks, n, p->seeds[template_id]);
    plan.value = last->value;
    return plan;
}

static inline void plan_values(CacheLayout *l) {
    const Program *p = l->program;
    int32_t n = 0;
    for (int32_t column = 0; column < p->n_columns; column++) {
        l->value_starts[column] = n;
        for (int32_t v = 0; v < p->n_values; v++)
            if (p->value_column[v] == column && !is_many(&p->values[v]))
                l->value_plan[n++] = (ValuePlan){p->values[v], v, p->carried_at[v]};
    }
    l->value_starts[p->n_columns] = n;
}

/* -1: no memory. */
static inline int plan_open(CacheLayout *l) {
    const Program *p = l->program;
    int32_t n = 0;
    for (int32_t s = 0; s < p->n_slots; s++) n += p->slots[s].n_templates;
    l->plan = (KeyPlan *)malloc(((size_t)n + 1) * sizeof *l->plan);
    l->plan_starts = (int32_t *)malloc(((size_t)p->n_columns + 1) * sizeof *l->plan_starts);
    l->value_plan = (ValuePlan *)malloc(((size_t)p->n_values + 1) * sizeof *l->value_plan);
    l->value_starts = (int32_t *)malloc(((size_t)p->n_columns + 1) * sizeof *l->value_starts);
    if (!l->plan || !l->plan_starts || !l->value_plan || !l->value_starts) return -1;
    plan_values(l);
    n = 0;
    for (int32_t column = 0; column < p->n_columns; column++) {
        l->plan_starts[column] = n;
        for (int32_t s = 0; s < p->n_slots; s++)
            for (int32_t k = 0; k < p->slots[s].n_templates && p->slots[s].column == column; k++)
                l->plan[n++] = key_plan(p, s, p->slots[s].templates[k]);
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
        grow_array(&c->fresh_rows, room, sizeof *c->fresh_rows) < 0 ||
        grow_array(&c->fresh_slots, room, sizeof *c->fresh_slots) < 0)
        return -1;
    c->fresh_room = room;
    return 0;
}

/* Make a key the table's own, and fetch its bucket. */
static inline uint64_t fresh_key(const FrozenTable *t, uint64_t key) {
    uint64_t own = frozen_key(t, key);
    PREFETCH(&t->buckets[frozen_start(t, own)]);
    return own;
}

/* The keys of a template that does not look at one value alone. -1: no memory. */
static inline int make_listed_keys(TypeCache *c, const CacheLayout *l, const KeyPlan *k,
                                   int is_pad) {
    const Program *p = l->program;
    c->keys.n = 0;
    if (type_template_keys(p, k->template_id, p->slots[k->slot].condition, c->values,
                           is_pad ? NULL : &c->words, &c->keys) < 0 ||
        fresh_reserve(c, c->keys.n) < 0)
        return -1;
    for (size_t i = 0; i < c->keys.n; i++) {
        c->fresh_keys[c->n_fresh_keys] = fresh_key(l->table, c->keys.keys[i]);
        c->fresh_slots[c->n_fresh_keys++] = (uint16_t)k->slot;
    }
    return 0;
}

/* All keys of a type by the values that were made of it. */
static inline int make_keys(TypeCache *c, const CacheLayout *l, int32_t column, int is_pad) {
    const FrozenTable t = *l->table; /* a copy, which no store can change */
    const KeyPlan *k = l->plan + l->plan_starts[column];
    const KeyPlan *end = l->plan + l->plan_starts[column + 1];
    while (k < end) {
        if (k->value < 0) {
            if (make_listed_keys(c, l, k++, is_pad) < 0) return -1;
            continue;
        }
        if (fresh_reserve(c, (size_t)(end - k)) < 0) return -1;
        const uint64_t *mixed = c->mixed;
        uint64_t *keys = c->fresh_keys + c->n_fresh_keys, *at = keys;
        uint16_t *slots = c->fresh_slots + c->n_fresh_keys;
        for (; k < end && k->value >= 0; k++) {
            *at++ = fresh_key(&t, xxh64_mixed_word(k->start, mixed[k->value]));
            *slots++ = (uint16_t)k->slot;
        }
        c->n_fresh_keys += (size_t)(at - keys);
    }
    return 0;
}

/* ---- rows ---- */

static inline int keep_row(TypeCache *c, uint32_t row) {
    if (c->rows_used == 0xFFFFFFFFu) return -1;
    if (array_room(&c->rows, &c->rows_room, c->rows_used + 1, 4) < 0) return -1;
    c->rows[c->rows_used++] = row;
    return 0;
}

/* Add a row to a vector of scores of the layout's width. */
static inline void add_row(const CacheLayout *l, int64_t row, char *vector) {
    if (l->narrow)
        frozen_add_narrow(l->table, row, (int16_t *)(void *)vector);
    else
        frozen_add(l->table, row, (int32_t *)(void *)vector);
}

/* List the rows of a type slot after slot. */
static inline int list_rows(TypeCache *c, const CacheLayout *l, uint32_t type, size_t from,
                            size_t to) {
    const int32_t n_slots = l->program->n_slots;
    uint32_t *starts = c->list_starts + (size_t)type * (size_t)n_slots;
    for (int32_t s = 0; s < n_slots; s++) {
        starts[s] = (uint32_t)c->rows_used;
        for (; from < to && c->fresh_slots[from] == s; from++) {
            uint32_t row = frozen_sure(l->table, c->fresh_keys[from], c->fresh_rows[from]);
            if (row && keep_row(c, row) < 0) return -1;
        }
    }
    starts[n_slots] = (uint32_t)c->rows_used;
    memset(c->sums + (size_t)type * (size_t)n_slots, 0, (size_t)n_slots * sizeof *c->sums);
    return 0;
}

/* ---- types ---- */

#define GUESS_BEHIND 2

/* Find and fetch the rows of the first n types that were begun. */
static inline void guess_types(TypeCache *c, const CacheLayout *l, int n) {
    const FrozenTable t = *l->table;
    const uint64_t *keys = c->fresh_keys;
    uint32_t *rows = c->fresh_rows;
    for (; c->n_guessed < n; c->n_guessed++) {
        const size_t end = c->fresh[c->n_guessed].keys_end;
        for (size_t i = c->n_guessed ? c->fresh[c->n_guessed - 1].keys_end : 0; i < end; i++) {
            rows[i] = frozen_guess(&t, keys[i]);
            frozen_prefetch_row(&t, rows[i]);
        }
    }
}

/* Read the rows of the first n types that were begun, n > 0, and forget these. -1: no memory. */
static inline int sum_types_begun(TypeCache *c, const CacheLayout *l, int n) {
    const size_t end = c->fresh[n - 1].keys_end, left = c->n_fresh_keys - end;
    size_t from = 0;
    guess_types(c, l, n);
    if (l->dense) l->sum_fresh(l, c, n);
    for (int k = 0; k < n && !l->dense; k++) {
        if (list_rows(c, l, c->fresh[k].type, from, c->fresh[k].keys_end) < 0) return -1;
        from = c->fresh[k].keys_end;
    }
    c->n_fresh -= n;
    c->n_guessed -= n;
    c->n_fresh_keys = left;
    for (int k = 0; k < c->n_fresh; k++)
        c->fresh[k] = (FreshType){c->fresh[k + n].type, c->fresh[k + n].keys_end - end};
    if (!left) return 0;
    memmove(c->fresh_keys, c->fresh_keys + end, left * sizeof *c->fresh_keys);
    memmove(c->fresh_rows, c->fresh_rows + end, left * sizeof *c->fresh_rows);
    memmove(c->fresh_slots, c->fresh_slots + end, left * sizeof *c->fresh_slots);
    return 0;
}

/* Read the rows of all types that were begun. -1: no memory. */
static inline int finish_types(TypeCache *c, const CacheLayout *l) {
    return c->n_fresh ? sum_types_begun(c, l, c->n_fresh) : 0;
}

/* The values of the word whose views were made last, or of a pad where distance is not 0. */
static inline void make_values(TypeCache *c, const CacheLayout *l, int32_t column, int32_t distance,
                               uint64_t *carried) {
    const ValuePlan *v = l->value_plan + l->value_starts[column];
    const ValuePlan *end = l->value_plan + l->value_starts[column + 1];
    for (; v < end; v++) {
        uint64_t value = distance ? pad_hash(distance) : word_value(&c->words, &v->spec);
        c->values[v->value] = value;
        c->mixed[v->value] = xxh64_mixed(value);
        if (v->carried_at >= 0) carried[v->carried_at] = value;
    }
}

/* Is there a row for the whole of a word of column 0? -1: no template looks at that, or no memory. */
static inline int is_known(WordScratch *words, const CacheLayout *l, const uint8_t *text,
                           size_t n) {
    const Program *p = l->program;
    int asked = -1;
    if (word_views(words, text, n, p->wanted[0]) < 0) return -1;
    for (const KeyPlan *k = l->plan; k < l->plan + l->plan_starts[1]; k++) {
        if (k->value < 0 || p->slots[k->slot].offset || p->slots[k->slot].condition != ALWAYS)
            continue;
        const ValueSpec *value = &p->values[k->value];
        const int is_whole = value->view == VIEW_WORD || value->view == VIEW_LOWER;
        if (!is_whole || (value->affix && (uint32_t)value->low < words->views[value->view].n))
            continue;
        const uint64_t key = xxh64_mixed_word(k->start, xxh64_mixed(word_value(words, value)));
        if (frozen_find(l->table, key) >= 0) return 1;
        asked = 0;
    }
    return asked;
}

/* A word of column 0 as the features see it: marks that are not known as those that are (values.h). */
static inline const uint8_t *seen_as(WordScratch *words, const CacheLayout *l, const uint8_t *text,
                                     size_t *n) {
    uint32_t length = 0;
    const uint32_t point = *n && *text == '&' ? entity_point(text, *n, &length) : 0;
    if (point && length == *n && seen_point(point) != NOT_SEEN &&
        word_scratch_reserve(words, length) == 0) {
        *n = utf8_put(words->entity, point);
        text = words->entity;
    }
    const int class = l->as_written ? -1 : marks_class(text, *n);
    if (class < 0 || is_known(words, l, text, *n)) return text;
    for (int k = 0; k < MOST_TRIED && MARKS[class].tried[k]; k++) {
        const uint8_t *tried = (const uint8_t *)MARKS[class].tried[k];
        const size_t length = strlen(MARKS[class].tried[k]);
        if (is_known(words, l, tried, length) != 1) continue;
        *n = length;
        return tried;
    }
    return text;
}

/* The halves of keys of pairs, by the values that were made. */
static inline void make_halves(TypeCache *c, const CacheLayout *l, uint32_t type) {
    uint64_t *half = c->halves + (size_t)type * (size_t)l->n_halves;
    for (const HalfPlan *h = l->halves; h < l->halves + l->n_halves; h++) {
        const uint64_t mixed = c->mixed[h->value];
        *half++ = h->is_first ? xxh_rotl(h->start ^ mixed, 27) * XXH_P1 + XXH_P4 : mixed;
    }
}

/* Begin to work out what the type just entered says; text is NULL for a pad. finish_types must
 * follow before anything is read of it. -1: no memory. */
static inline int begin_type(TypeCache *c, const CacheLayout *l, uint32_t type, int32_t column,
                             const uint8_t *text, size_t n, int32_t distance) {
    const Program *p = l->program;
    if (c->n_fresh == FRESH_TYPES && sum_types_begun(c, l, FRESH_TYPES / 2) < 0) return -1;
    if (text && !column) text = seen_as(&c->words, l, text, &n);
    if (text && word_views(&c->words, text, n, p->wanted[column]) < 0) return -1;
    make_values(c, l, column, text ? 0 : distance,
                c->carried + (size_t)type * (size_t)p->n_carried);
    if (column == 0 && l->n_halves) make_halves(c, l, type);
    if (transition_words(l))
        memset(c->transitions + type * transition_words(l), 0xFF, transition_words(l) * 4);
    if (make_keys(c, l, column, text == NULL) < 0) return -1;
    c->fresh[c->n_fresh++] = (FreshType){type, c->n_fresh_keys};
    guess_types(c, l, c->n_fresh - GUESS_BEHIND);
    return 0;
}
