/* What a tagger remembers of the strings it has met: for each type (a distinct string of one
 * column) the summed scores of its slots, and what templates over several words need of it.
 *
 * The cache belongs to one Worker. It is emptied whole when it is full, between batches; only a
 * single sentence with more types than the limit makes it larger, until the next batch. It is
 * full when it holds `limit` types, or TEXT_PER_TYPE bytes of text for each of so many.
 *
 * With up to DENSE_LABELS labels the slots are summed vectors:
 *
 *   vectors  [type][vector slot][stride]   int32, in units of 1 / scale
 *
 * A slot with a condition is no vector of its own: "not first" is added to the vector of its
 * column and offset, and a correction vector turns it into "first" for the one word concerned.
 * With more labels the rows themselves are kept, as lists. */
#ifndef PERCEPTRON_NLP_TYPECACHE_H
#define PERCEPTRON_NLP_TYPECACHE_H

#include "frozen.h"
#include "program.h"
#include "siphash.h"

#define DENSE_LABELS 64
#define TEXT_PER_TYPE 64
#define MEMO_UNKNOWN (-2)
#define MEMO_NONE (-1)

typedef struct {
    int32_t column, offset, condition; /* condition: ALWAYS, or FIRST / LAST for a correction */
} VectorSlot;

typedef struct {
    uint64_t hash;
    size_t text_at;
    uint32_t length;
    int32_t column; /* -1: a pad */
    int32_t forced;
} TypeEntry;

/* What the cache needs to know of the model; shared by all workers, never written after set-up. */
typedef struct {
    const Program *program;
    const FrozenTable *table;
    int dense;
    int32_t stride; /* labels rounded up to a whole number of vectors */
    int32_t n_vectors;
    VectorSlot *vectors;
    int32_t *slot_vector;     /* program slot -> vector slot it is summed into */
    int32_t *slot_correction; /* program slot -> correction it is summed into too; or -1 */
    int *slot_sign;           /* sign with which it enters the correction */
    int32_t n_memos;          /* history templates of (tag[-1], values of the word itself) */
    Index dictionary;         /* hash of a word -> its one label */
    uint16_t *dictionary_labels;
} CacheLayout;

typedef struct {
    uint64_t secret[2]; /* drawn anew by each worker, so that nobody can choose colliding words */
    uint32_t *slots;    /* type + 1; first place: the top bits of type_hash */
    int bits;
    uint32_t n_types, room, limit;
    TypeEntry *entries;
    uint8_t *text;
    size_t text_used, text_room;
    int32_t *vectors;
    uint64_t *carried;
    int32_t *memos;       /* [type][memo][previous label, or n_labels for none] -> row */
    uint64_t *values;     /* scratch of one type */
    uint32_t *list_starts; /* [type][program slot] -> rows, where not dense; one more at the end */
    uint32_t *rows;
    size_t rows_used, rows_room;
    WordScratch words;
    KeyBuffer keys;
    int64_t hits, misses;
} TypeCache;

static inline void cache_close(TypeCache *c) {
    free(c->slots);
    free(c->entries);
    free(c->text);
    free(c->vectors);
    free(c->carried);
    free(c->memos);
    free(c->values);
    free(c->list_starts);
    free(c->rows);
    word_scratch_close(&c->words);
    key_buffer_close(&c->keys);
    memset(c, 0, sizeof *c);
}

static inline int grow_array(void **array, size_t count, size_t item) {
    void *bigger = realloc(*array, (count ? count : 1) * item);
    if (!bigger) return -1;
    *array = bigger;
    return 0;
}

static inline size_t vector_words(const CacheLayout *l) {
    return l->dense ? (size_t)l->n_vectors * (size_t)l->stride : 0;
}
static inline size_t memo_words(const CacheLayout *l) {
    return (size_t)l->n_memos * ((size_t)l->table->n_labels + 1);
}

/* Room for `room` types in every array; the slots are laid anew. -1: no memory; nothing lost. */
static inline int cache_reserve(TypeCache *c, const CacheLayout *l, uint32_t room) {
    int bits = 6;
    while ((1u << bits) < 2 * room) bits++;
    if (grow_array((void **)&c->entries, room, sizeof(TypeEntry)) < 0 ||
        grow_array((void **)&c->vectors, room * vector_words(l), sizeof(int32_t)) < 0 ||
        grow_array((void **)&c->carried, (size_t)room * (size_t)l->program->n_carried, 8) < 0 ||
        grow_array((void **)&c->memos, room * memo_words(l), sizeof(int32_t)) < 0 ||
        grow_array((void **)&c->values, (size_t)l->program->n_values, 8) < 0 ||
        (!l->dense && grow_array((void **)&c->list_starts,
                                 (size_t)room * (size_t)l->program->n_slots + 1, 4) < 0))
        return -1;
    uint32_t *slots = (uint32_t *)calloc((size_t)1 << bits, sizeof *slots);
    if (!slots) return -1;
    free(c->slots);
    c->slots = slots;
    c->bits = bits;
    c->room = room;
    for (uint32_t type = 0; type < c->n_types; type++) {
        size_t at = (size_t)(c->entries[type].hash >> (64 - bits));
        while (slots[at]) at = (at + 1) & (((size_t)1 << bits) - 1);
        slots[at] = type + 1;
    }
    return 0;
}

static inline size_t cache_start(const TypeCache *c, uint64_t hash) {
    return (size_t)(hash >> (64 - c->bits));
}

static inline uint64_t type_hash(const TypeCache *c, int32_t column, const uint8_t *text,
                                 size_t n) {
    return siphash13(c->secret[0] ^ (uint64_t)column, c->secret[1], text, n);
}

static inline int keep_row(TypeCache *c, int64_t row) {
    if (c->rows_used == c->rows_room) {
        size_t room = c->rows_room ? 2 * c->rows_room : 1024;
        if (room > 0xFFFFFFFFu || grow_array((void **)&c->rows, room, 4) < 0) return -1;
        c->rows_room = room;
    }
    c->rows[c->rows_used++] = (uint32_t)row;
    return 0;
}

static inline void add_signed(const FrozenTable *t, int64_t row, int sign, int32_t *out) {
    for (uint32_t i = t->starts[row]; i < t->starts[row + 1]; i++)
        out[t->cells[i].label] += sign * t->cells[i].weight;
}

/* Sum the rows of the keys gathered for one slot into its vectors, or list them. */
static inline int absorb_keys(TypeCache *c, const CacheLayout *l, uint32_t type, int32_t slot) {
    const FrozenTable *t = l->table;
    int32_t *base = c->vectors + type * vector_words(l);
    int32_t vector = l->slot_vector[slot], correction = l->slot_correction[slot];
    for (size_t i = 0; i < c->keys.n; i++) frozen_prefetch(t, c->keys.keys[i]);
    for (size_t i = 0; i < c->keys.n; i++) {
        int64_t row = frozen_find(t, c->keys.keys[i]);
        if (row < 0) continue;
        if (!l->dense) {
            if (keep_row(c, row) < 0) return -1;
            continue;
        }
        if (vector >= 0) frozen_add(t, row, base + (size_t)vector * (size_t)l->stride);
        if (correction >= 0)
            add_signed(t, row, l->slot_sign[slot],
                       base + (size_t)correction * (size_t)l->stride);
    }
    return 0;
}

/* Work out everything about the type just entered; text is NULL for a pad. */
static inline int type_fill(TypeCache *c, const CacheLayout *l, uint32_t type, int32_t column,
                            const uint8_t *text, size_t n, int32_t distance) {
    const Program *p = l->program;
    if (text ? type_values(p, &c->words, column, text, n, c->values) < 0
             : (pad_values(p, distance, c->values), 0))
        return -1;
    for (int32_t v = 0; v < p->n_values; v++)
        if (p->carried_at[v] >= 0 && p->value_column[v] == column)
            c->carried[(size_t)type * (size_t)p->n_carried + (size_t)p->carried_at[v]] =
                c->values[v];
    memset(c->vectors + type * vector_words(l), 0, vector_words(l) * sizeof(int32_t));
    for (size_t m = 0; m < memo_words(l); m++) c->memos[type * memo_words(l) + m] = MEMO_UNKNOWN;
    for (int32_t s = 0; s < p->n_slots; s++) {
        if (!l->dense)
            c->list_starts[(size_t)type * (size_t)p->n_slots + (size_t)s] = (uint32_t)c->rows_used;
        if (p->slots[s].column != column) continue;
        c->keys.n = 0;
        if (type_slot_keys(p, &p->slots[s], c->values, text ? &c->words : NULL, &c->keys) < 0 ||
            absorb_keys(c, l, type, s) < 0)
            return -1;
    }
    if (!l->dense)
        c->list_starts[((size_t)type + 1) * (size_t)p->n_slots] = (uint32_t)c->rows_used;
    return 0;
}

static inline int32_t dictionary_label(const CacheLayout *l, int32_t column, const uint8_t *text,
                                       size_t n) {
    if (column || !text || !l->dictionary.n) return -1;
    int64_t row = index_find(&l->dictionary, xxh64(text, n, 0));
    return row < 0 ? -1 : (int32_t)l->dictionary_labels[row];
}

/* Enter a type that is not there; its number, or -1: no memory. */
static inline int32_t type_enter(TypeCache *c, const CacheLayout *l, uint64_t hash, int32_t column,
                                 const uint8_t *text, size_t n, int32_t distance) {
    if (c->n_types == c->room && cache_reserve(c, l, c->room ? 2 * c->room : 1024) < 0) return -1;
    if (c->text_used + n > c->text_room) {
        size_t room = 2 * c->text_room + n + 4096;
        if (grow_array((void **)&c->text, room, 1) < 0) return -1;
        c->text_room = room;
    }
    uint32_t type = c->n_types;
    TypeEntry *entry = &c->entries[type];
    entry->hash = hash;
    entry->text_at = c->text_used;
    entry->length = (uint32_t)n;
    entry->column = text ? column : -1;
    entry->forced = dictionary_label(l, column, text, n);
    if (n) memcpy(c->text + c->text_used, text, n);
    if (type_fill(c, l, type, column, text, n, distance) < 0) return -1;
    c->text_used += n;
    c->n_types++;
    size_t mask = ((size_t)1 << c->bits) - 1, at = cache_start(c, hash);
    while (c->slots[at]) at = (at + 1) & mask;
    c->slots[at] = type + 1;
    return (int32_t)type;
}

/* Empty the cache but for the pads, which are its first types: for each column the left ones at
 * distance 1, 2, …, then the right ones. -1: no memory. */
static inline int cache_clear(TypeCache *c, const CacheLayout *l) {
    const Program *p = l->program;
    uint32_t room = c->limit < 64 ? 64 : c->limit;
    c->n_types = 0;
    c->text_used = 0;
    c->rows_used = 0;
    if (!c->slots || c->room > room) {
        free(c->slots);
        c->slots = NULL;
        c->room = 0;
        free(c->text);
        c->text = NULL;
        c->text_room = 0;
        if (cache_reserve(c, l, 64) < 0) return -1;
    } else {
        memset(c->slots, 0, ((size_t)1 << c->bits) * sizeof *c->slots);
    }
    for (int32_t column = 0; column < p->n_columns; column++)
        for (int32_t side = -1; side <= 1; side += 2)
            for (int32_t d = 1; d <= p->reach; d++)
                if (type_enter(c, l, pad_hash(side * d) + (uint64_t)column, column, NULL, 0,
                               side * d) < 0)
                    return -1;
    return 0;
}

static inline int32_t pad_type(const Program *p, int32_t column, int32_t distance) {
    int32_t first = column * 2 * p->reach;
    return distance < 0 ? first - distance - 1 : first + p->reach + distance - 1;
}

/* The number of a string's type, entered if it is new; -1: no memory. */
static inline int32_t type_of(TypeCache *c, const CacheLayout *l, int32_t column,
                              const uint8_t *text, size_t n) {
    uint64_t hash = type_hash(c, column, text, n);
    size_t mask = ((size_t)1 << c->bits) - 1, at = cache_start(c, hash);
    for (; c->slots[at]; at = (at + 1) & mask) {
        const TypeEntry *entry = &c->entries[c->slots[at] - 1];
        if (entry->hash == hash && entry->length == n && entry->column == column &&
            memcmp(c->text + entry->text_at, text, n) == 0) {
            c->hits++;
            return (int32_t)c->slots[at] - 1;
        }
    }
    c->misses++;
    return type_enter(c, l, hash, column, text, n, 0);
}

#endif
