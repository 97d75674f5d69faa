/* What a tagger remembers of the strings it has met: for each type (a distinct string of one
 * column) the summed scores of its slots, and what templates over several words need of it.
 *
 * The cache belongs to one Worker. It is emptied whole when it is full, between batches; only a
 * single sentence with more types than the limit makes it larger, until the next batch. It is
 * full when it holds `limit` types, or TEXT_PER_TYPE bytes of long strings for each of so many.
 *
 *   slots    | head:u64 tail:u64 mark:u32 type+1:u32 |  a short string stands there whole, so
 *            that finding it costs one cache miss
 *   vectors  [type][vector slot][stride]   int16 or int32, in units of 1 / scale
 *   memos    [type][tag[-1]]               the sum of what templates of (tag[-1], the word
 *            itself) say: a number of a vector in pool; 0, the zero vector, for nothing
 *
 * A slot with a condition is no vector of its own: "not first" is added to the vector of its
 * column and offset, and a correction vector turns it into "first" for the one word concerned.
 * With more than DENSE_LABELS labels the rows themselves are kept, as lists. */
#ifndef PERCEPTRON_NLP_TYPECACHE_H
#define PERCEPTRON_NLP_TYPECACHE_H

#include "frozen.h"
#include "program.h"
#include "wordref.h"

#define DENSE_LABELS 64
#define TEXT_PER_TYPE 64
#define MEMO_UNKNOWN 0xFFFFFFFFu
#define FREE (-1)

typedef struct {
    int32_t column, offset, condition; /* condition: ALWAYS, or FIRST / LAST for a correction */
} VectorSlot;

typedef struct {
    WordRef word; /* at: place of a long string in the cache's text */
    int32_t column; /* -1: a pad */
    int32_t forced; /* its one label; FREE; or FREE - 1 - k: only labels of mask k */
} TypeEntry;

typedef struct {
    uint64_t head, tail;
    uint32_t mark;  /* length and column */
    uint32_t type1; /* type + 1; 0 is an empty slot */
} TypeSlot;

/* What the cache needs to know of the model; shared by all workers, never written after set-up. */
typedef struct {
    const Program *program;
    const FrozenTable *table;
    int dense;
    int narrow;     /* dense, and no sum of weights leaves 16 bits */
    int32_t stride; /* labels rounded up to a whole number of lanes */
    int32_t n_vectors, n_always;
    VectorSlot *vectors;      /* those that always apply, then the corrections */
    int32_t *slot_vector;     /* program slot -> vector slot it is summed into */
    int32_t *slot_correction; /* program slot -> correction it is summed into too; or -1 */
    int *slot_sign;           /* sign with which it enters the correction */
    int32_t n_memos;          /* history templates of (tag[-1], values of the word itself) */
    int32_t *memo_templates;
    Index dictionary;         /* hash of a word -> its one label */
    uint16_t *dictionary_labels;
    Index lexicon;           /* hash of a form, as written or lower-cased -> what it may be */
    int32_t *lexicon_labels; /* as TypeEntry.forced; goes before the dictionary */
    uint8_t *masks;          /* [mask][label]: may the label be given? */
    int32_t n_labels;        /* to a mask */
    int forces;              /* is there anything in the dictionary or the lexicon? */
} CacheLayout;

typedef struct {
    uint64_t secrets[N_SECRETS]; /* those of the decoder */
    TypeSlot *slots;
    int bits;
    uint32_t n_types, room, limit;
    TypeEntry *entries;
    uint8_t *text;
    size_t text_used, text_room;
    char *vectors;
    uint64_t *carried;
    uint32_t *memos;
    char *pool;
    uint32_t pool_used, pool_room;
    uint64_t *values; /* scratch of one type */
    size_t *slot_ends;
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
    free(c->pool);
    free(c->values);
    free(c->slot_ends);
    free(c->list_starts);
    free(c->rows);
    word_scratch_close(&c->words);
    key_buffer_close(&c->keys);
    memset(c, 0, sizeof *c);
}

static inline int grow_array(void **array, size_t count, size_t item) {
    size_t bytes = count * item;
    void *bigger = realloc(*array, bytes ? bytes : 1);
    if (!bigger) return -1;
    *array = bigger;
    return 0;
}

static inline size_t score_bytes(const CacheLayout *l) { return l->narrow ? 2 : 4; }
static inline size_t vector_words(const CacheLayout *l) {
    return l->dense ? (size_t)l->n_vectors * (size_t)l->stride : 0;
}
static inline size_t vector_bytes(const CacheLayout *l) {
    return vector_words(l) * score_bytes(l);
}
static inline size_t memo_words(const CacheLayout *l) {
    return l->n_memos ? (size_t)l->table->n_labels + 1 : 0;
}

static inline uint64_t cache_hash(const TypeCache *c, const WordRef *word, int32_t column) {
    return word_hash(word, word_mark(word, column), c->secrets);
}

static inline TypeSlot *cache_free_slot(TypeSlot *slots, int bits, uint64_t hash) {
    size_t mask = ((size_t)1 << bits) - 1, at = (size_t)(hash >> (64 - bits));
    while (slots[at].type1) at = (at + 1) & mask;
    return &slots[at];
}

static inline void slot_set(TypeSlot *slot, const WordRef *word, int32_t column, uint32_t type) {
    slot->head = word->head;
    slot->tail = word->tail;
    slot->mark = word_mark(word, column);
    slot->type1 = type + 1;
}

/* Room for `room` types in every array; the slots are laid anew. -1: no memory; nothing lost. */
static inline int cache_reserve(TypeCache *c, const CacheLayout *l, uint32_t room) {
    int bits = 6;
    while ((uint64_t)1 << bits < 2 * (uint64_t)room) bits++;
    if (grow_array((void **)&c->entries, room, sizeof(TypeEntry)) < 0 ||
        grow_array((void **)&c->vectors, room, vector_bytes(l)) < 0 ||
        grow_array((void **)&c->carried, (size_t)room * (size_t)l->program->n_carried, 8) < 0 ||
        grow_array((void **)&c->memos, room * memo_words(l), sizeof(uint32_t)) < 0 ||
        grow_array((void **)&c->values, (size_t)l->program->n_values, 8) < 0 ||
        grow_array((void **)&c->slot_ends, (size_t)l->program->n_slots, sizeof(size_t)) < 0 ||
        (!l->dense && grow_array((void **)&c->list_starts,
                                 (size_t)room * (size_t)l->program->n_slots + 1, 4) < 0))
        return -1;
    TypeSlot *slots = (TypeSlot *)calloc((size_t)1 << bits, sizeof *slots);
    if (!slots) return -1;
    free(c->slots);
    c->slots = slots;
    c->bits = bits;
    c->room = room;
    for (uint32_t type = 0; type < c->n_types; type++) {
        const TypeEntry *entry = &c->entries[type];
        if (entry->column >= 0)
            slot_set(cache_free_slot(slots, bits, cache_hash(c, &entry->word, entry->column)),
                     &entry->word, entry->column, type);
    }
    return 0;
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

/* A row of one slot of a type: into its vectors, or into its list. */
static inline int absorb_row(TypeCache *c, const CacheLayout *l, uint32_t type, int32_t slot,
                             int64_t row) {
    if (!l->dense) return keep_row(c, row);
    char *base = c->vectors + type * vector_bytes(l);
    size_t step = (size_t)l->stride * score_bytes(l);
    int32_t vector = l->slot_vector[slot], correction = l->slot_correction[slot];
    if (vector >= 0) add_row(l, row, 1, base + (size_t)vector * step);
    if (correction >= 0) add_row(l, row, l->slot_sign[slot], base + (size_t)correction * step);
    return 0;
}

/* All keys of a type, their slots fetched ahead; slot_ends tells which slot each is of. */
static inline int gather_keys(TypeCache *c, const CacheLayout *l, int32_t column, int is_pad) {
    const Program *p = l->program;
    c->keys.n = 0;
    for (int32_t s = 0; s < p->n_slots; s++) {
        size_t from = c->keys.n;
        if (p->slots[s].column == column &&
            type_slot_keys(p, &p->slots[s], c->values, is_pad ? NULL : &c->words, &c->keys) < 0)
            return -1;
        for (size_t i = from; i < c->keys.n; i++) frozen_prefetch(l->table, c->keys.keys[i]);
        c->slot_ends[s] = c->keys.n;
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
    memset(c->vectors + type * vector_bytes(l), 0, vector_bytes(l));
    if (memo_words(l)) memset(c->memos + type * memo_words(l), 0xFF, memo_words(l) * 4);
    if (gather_keys(c, l, column, text == NULL) < 0) return -1;
    for (size_t i = 0; i < c->keys.n; i++) frozen_prefetch_record(l->table, c->keys.keys[i]);
    for (size_t i = 0; i < c->keys.n; i++) { /* a key becomes its row */
        int64_t row = frozen_find(l->table, c->keys.keys[i]);
        if (row >= 0) frozen_prefetch_row(l->table, row);
        c->keys.keys[i] = (uint64_t)row;
    }
    for (int32_t s = 0; s < p->n_slots; s++) {
        if (!l->dense)
            c->list_starts[(size_t)type * (size_t)p->n_slots + (size_t)s] = (uint32_t)c->rows_used;
        for (size_t i = s ? c->slot_ends[s - 1] : 0; i < c->slot_ends[s]; i++)
            if ((int64_t)c->keys.keys[i] >= 0 &&
                absorb_row(c, l, type, s, (int64_t)c->keys.keys[i]) < 0)
                return -1;
    }
    if (!l->dense)
        c->list_starts[((size_t)type + 1) * (size_t)p->n_slots] = (uint32_t)c->rows_used;
    return 0;
}

/* What a form may be by the lexicon: as it is written, else lower-cased; the row, or -1. */
static inline int64_t lexicon_row(TypeCache *c, const CacheLayout *l, const uint8_t *text,
                                  size_t n) {
    int64_t row = index_find(&l->lexicon, xxh64(text, n, 0));
    if (row >= 0 || word_views(&c->words, text, n, 1u << VIEW_LOWER) < 0) return row;
    const View *lower = &c->words.views[VIEW_LOWER];
    return index_find(&l->lexicon, xxh64(lower->text, view_at(&c->words, lower, lower->n), 0));
}

static inline int32_t forced_of(TypeCache *c, const CacheLayout *l, int32_t column,
                                const uint8_t *text, size_t n) {
    if (column || !text || !l->forces) return FREE;
    int64_t row = l->lexicon.n ? lexicon_row(c, l, text, n) : -1;
    if (row >= 0) return l->lexicon_labels[row];
    row = index_find(&l->dictionary, xxh64(text, n, 0));
    return row < 0 ? FREE : (int32_t)l->dictionary_labels[row];
}

/* The labels that `forced`, a value below FREE, leaves. */
static inline const uint8_t *mask_of(const CacheLayout *l, int32_t forced) {
    return l->masks + (size_t)(FREE - 1 - forced) * (size_t)l->n_labels;
}

static inline int32_t first_largest_within(const int32_t *scores, int32_t n,
                                           const uint8_t *mask) {
    int32_t best = -1;
    for (int32_t k = 0; k < n; k++)
        if (mask[k] && (best < 0 || scores[k] > scores[best])) best = k;
    return best;
}

/* Enter a type that is not there; its number, or -1: no memory. `texts` holds long strings;
 * distance is 0, or that of a pad. */
static inline int32_t type_enter(TypeCache *c, const CacheLayout *l, int32_t column,
                                 const WordRef *word, const uint8_t *texts, int32_t distance) {
    if (c->n_types == c->room && cache_reserve(c, l, c->room ? 2 * c->room : 1024) < 0) return -1;
    uint32_t type = c->n_types;
    TypeEntry *entry = &c->entries[type];
    uint8_t small[WORD_SMALL] = {0};
    const uint8_t *text = distance ? NULL : word_bytes(word, texts, small);
    entry->word = *word;
    entry->column = text ? column : -1;
    entry->forced = forced_of(c, l, column, text, word->length);
    if (word->length > WORD_SMALL) {
        if (c->text_used + word->length > c->text_room) {
            size_t room = 2 * c->text_room + word->length + 4096;
            if (grow_array((void **)&c->text, room, 1) < 0) return -1;
            c->text_room = room;
        }
        memcpy(c->text + c->text_used, text, word->length);
        entry->word.at = c->text_used;
    }
    if (type_fill(c, l, type, column, text, word->length, distance) < 0) return -1;
    if (word->length > WORD_SMALL) c->text_used += word->length;
    c->n_types++;
    if (text)
        slot_set(cache_free_slot(c->slots, c->bits, cache_hash(c, word, column)), word, column,
                 type);
    return (int32_t)type;
}

/* Empty the cache but for the pads, which are its first types: for each column the left ones at
 * distance 1, 2, …, then the right ones. -1: no memory. */
static inline int cache_clear(TypeCache *c, const CacheLayout *l) {
    const Program *p = l->program;
    const WordRef nothing = {0, 0, 0, 0};
    uint32_t room = c->limit < 64 ? 64 : c->limit;
    size_t vector = (size_t)l->stride * score_bytes(l);
    c->n_types = 0;
    c->text_used = 0;
    c->rows_used = 0;
    if (l->n_memos && !c->pool) {
        if (grow_array((void **)&c->pool, 256, vector) < 0) return -1;
        c->pool_room = 256;
        memset(c->pool, 0, vector);
    }
    c->pool_used = 1;
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
                if (type_enter(c, l, column, &nothing, NULL, side * d) < 0) return -1;
    return 0;
}

static inline int32_t pad_type(const Program *p, int32_t column, int32_t distance) {
    int32_t first = column * 2 * p->reach;
    return distance < 0 ? first - distance - 1 : first + p->reach + distance - 1;
}

/* The number of a string's type, entered if it is new; -1: no memory. `hash` is its cache_hash. */
static inline int32_t type_find(TypeCache *c, const CacheLayout *l, int32_t column,
                                const WordRef *word, uint64_t hash, const uint8_t *texts) {
    size_t mask = ((size_t)1 << c->bits) - 1, at = (size_t)(hash >> (64 - c->bits));
    uint32_t mark = word_mark(word, column);
    for (; c->slots[at].type1; at = (at + 1) & mask) {
        const TypeSlot *slot = &c->slots[at];
        if (slot->head != word->head || slot->tail != word->tail || slot->mark != mark) continue;
        if (word->length > WORD_SMALL) {
            const WordRef *own = &c->entries[slot->type1 - 1].word;
            if (own->length != word->length ||
                memcmp(c->text + own->at, texts + word->at, word->length) != 0)
                continue;
        }
        c->hits++;
        return (int32_t)slot->type1 - 1;
    }
    c->misses++;
    return type_enter(c, l, column, word, texts, 0);
}

#endif
