/* What a tagger remembers of the strings it has met: for each type (a distinct string of one
 * column) the summed scores of its slots, and what templates over several words need of it.
 *
 * The cache belongs to one Worker. It is full when it takes its share of what all caches of a tagger
 * may take. Then, between batches, all types are dropped. Only a batch with more types than there is
 * room for makes it larger, until the next. */
#pragma once

#include "tag/typefill.h"

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

/* Lay slots anew, 2^bits of them. -1: no memory; nothing lost. */
static inline int cache_lay_slots(TypeCache *c, int bits) {
    TypeSlot *slots = (TypeSlot *)calloc((size_t)1 << bits, sizeof *slots);
    if (!slots) return -1;
    free(c->slots);
    c->slots = slots;
    c->bits = bits;
    for (uint32_t type = 0; type < c->n_types; type++) {
        const TypeEntry *entry = &c->entries[type];
        if (entry->column >= 0)
            slot_set(cache_free_slot(slots, bits, cache_hash(c, &entry->word, entry->column)),
                     &entry->word, entry->column, type);
    }
    return 0;
}

/* Room for `room` types in every array. -1: no memory; nothing lost. */
static inline int cache_reserve(TypeCache *c, const CacheLayout *l, uint32_t room) {
    if (grow_array(&c->entries, room, sizeof(TypeEntry)) < 0 ||
        grow_array(&c->vectors, room, vector_bytes(l)) < 0 ||
        grow_array(&c->carried, (size_t)room * (size_t)l->program->n_carried, 8) < 0 ||
        grow_array(&c->halves, (size_t)room * (size_t)l->n_halves, 8) < 0 ||
        grow_array(&c->transitions, room * transition_words(l), sizeof(uint32_t)) < 0 ||
        grow_array(&c->values, (size_t)l->program->n_values, 8) < 0 ||
        grow_array(&c->mixed, (size_t)l->program->n_values, 8) < 0 ||
        (!l->dense &&
         (grow_array(&c->list_starts, (size_t)room * (size_t)l->program->n_slots + 1, 4) < 0 ||
          grow_array(&c->sums, (size_t)room * (size_t)l->program->n_slots, 4) < 0 ||
          grow_array(&c->sum, (size_t)l->stride, sizeof *c->sum) < 0)))
        return -1;
    c->room = room;
    return 0;
}

/* Bytes of a type, its text, rows and transitions apart. */
static inline size_t type_bytes(const CacheLayout *l) {
    return sizeof(TypeEntry) + vector_bytes(l) + transition_words(l) * sizeof(uint32_t) +
           ((size_t)l->program->n_carried + (size_t)l->n_halves) * sizeof(uint64_t) +
           (l->dense ? 0 : 2 * (size_t)l->program->n_slots * sizeof(uint32_t));
}

/* Bytes of a type and of its slots, two to four. */
static inline size_t type_cost(const CacheLayout *l) {
    return type_bytes(l) + 3 * sizeof(TypeSlot);
}

/* The same and, without vectors, the sums of two slots. */
static inline size_t type_share(const CacheLayout *l) {
    return type_cost(l) + (l->dense ? 0 : 2 * (size_t)l->stride * sizeof(int16_t));
}

/* Bytes that the cache may take. */
static inline size_t cache_most(const CacheLayout *l) {
    return shared_words(l->share) * type_share(l);
}

/* Types for which there may be room between batches. */
static inline size_t most_room(const CacheLayout *l) {
    const size_t held = 2 * shared_words(l->share);
    const size_t most = held < l->most_types ? held : l->most_types;
    return most < 64 ? 64 : most;
}

/* Room for one type more. Most texts are short, or have thousands of types: then there is room
 * for as many as will be remembered by default, so that nothing is copied again and again. Memory
 * that is not written to is not taken from the system. */
#define SHORT_TEXT_TYPES 1024
static inline int cache_room(TypeCache *c, const CacheLayout *l) {
    if (2 * ((uint64_t)c->n_types + 1) > (uint64_t)1 << c->bits &&
        cache_lay_slots(c, c->bits + 1) < 0)
        return -1;
    if (c->n_types < c->room) return 0;
    const size_t held = most_room(l);
    const uint32_t most = held < MOST_AT_ONCE ? (uint32_t)held : MOST_AT_ONCE;
    const int jump = c->room >= SHORT_TEXT_TYPES && c->room < most;
    return cache_reserve(c, l, jump ? most : 2 * c->room);
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

static inline int32_t first_largest_within(const int32_t *scores, int32_t n, const uint8_t *mask) {
    int32_t best = -1;
    for (int32_t k = 0; k < n; k++)
        if (mask[k] && (best < 0 || scores[k] > scores[best])) best = k;
    return best;
}

/* Enter a type that is not there; its number, or -1: no memory. `texts` holds long strings;
 * distance is 0, or that of a pad. What it says is there after finish_types. */
static inline int32_t type_enter(TypeCache *c, const CacheLayout *l, int32_t column,
                                 const WordRef *word, uint64_t hash, const uint8_t *texts,
                                 int32_t distance) {
    if (cache_room(c, l) < 0) return -1;
    uint32_t type = c->n_types;
    TypeEntry *entry = &c->entries[type];
    uint8_t small[WORD_SMALL] = {0};
    const uint8_t *text = distance ? NULL : word_bytes(word, texts, small);
    entry->word = *word;
    entry->column = text ? column : -1;
    entry->forced = forced_of(c, l, column, text, word->length);
    if (word->length > WORD_SMALL) {
        if (array_room(&c->text, &c->text_room, c->text_used + word->length, 1) < 0) return -1;
        memcpy(c->text + c->text_used, text, word->length);
        entry->word.at = c->text_used;
    }
    if (begin_type(c, l, type, column, text, word->length, distance) < 0) return -1;
    if (word->length > WORD_SMALL) c->text_used += word->length;
    c->n_types++;
    if (text) slot_set(cache_free_slot(c->slots, c->bits, hash), word, column, type);
    return (int32_t)type;
}

/* Empty the cache but for the pads, which are its first types: for each column the left ones at
 * distance 1, 2, …, then the right ones. -1: no memory. */
static inline int cache_clear(TypeCache *c, const CacheLayout *l) {
    const Program *p = l->program;
    const WordRef nothing = {0, 0, 0, 0};
    size_t vector = (size_t)l->stride * score_bytes(l);
    c->times_cleared++;
    c->n_types = 0;
    c->text_used = 0;
    c->rows_used = 0;
    c->summed_used = FIRST_SUM;
    c->n_fresh = 0;
    c->n_guessed = 0;
    c->n_fresh_keys = 0;
    if (transition_words(l) && !c->pool) {
        if (grow_array(&c->pool, 256, vector) < 0) return -1;
        c->pool_room = 256;
        memset(c->pool, 0, vector);
    }
    c->pool_used = 1;
    if (!c->slots || c->room > most_room(l)) {
        free(c->slots);
        c->slots = NULL;
        c->room = 0;
        free(c->text);
        c->text = NULL;
        c->text_room = 0;
        if (cache_reserve(c, l, 64) < 0 || cache_lay_slots(c, 7) < 0) return -1;
    } else {
        memset(c->slots, 0, ((size_t)1 << c->bits) * sizeof *c->slots);
    }
    for (int32_t column = 0; column < p->n_columns; column++)
        for (int32_t side = -1; side <= 1; side += 2)
            for (int32_t d = 1; d <= p->reach; d++)
                if (type_enter(c, l, column, &nothing, 0, NULL, side * d) < 0) return -1;
    return finish_types(c, l);
}

static inline void cache_spoil(TypeCache *c) {
    c->spoiled = 1;
}

/* Bytes in use. */
static inline size_t cache_bytes(const TypeCache *c, const CacheLayout *l) {
    return c->n_types * type_cost(l) + c->text_used + c->rows_used * sizeof(uint32_t) +
           (size_t)c->summed_used * (size_t)l->stride * sizeof *c->summed +
           (size_t)c->pool_used * (size_t)l->stride * score_bytes(l);
}

/* Is there no room for so many types and bytes of text more? */
static inline int cache_is_full(const TypeCache *c, const CacheLayout *l, uint64_t types,
                                size_t text) {
    return c->n_types + types > l->most_types || cache_bytes(c, l) + text > cache_most(l);
}

/* Room for so many types and bytes of text more; types may have other numbers then. -1: no memory. */
static inline int cache_make_room(TypeCache *c, const CacheLayout *l, uint64_t types, size_t text) {
    if (c->slots && !c->spoiled && !cache_is_full(c, l, types, text)) return 0;
    c->spoiled = 1;
    if (cache_clear(c, l) < 0) return -1;
    c->spoiled = 0;
    return 0;
}

static inline int32_t pad_type(const Program *p, int32_t column, int32_t distance) {
    int32_t first = column * 2 * p->reach;
    return distance < 0 ? first - distance - 1 : first + p->reach + distance - 1;
}

/* The number of a string's type, entered if it is new; -1: no memory. `hash` is its cache_hash.
 * finish_types must follow before anything is read of a new type. */
static inline int32_t type_find(TypeCache *c, const CacheLayout *l, int32_t column,
                                const WordRef *word, uint64_t hash, const uint8_t *texts) {
    size_t mask = ((size_t)1 << c->bits) - 1, at = (size_t)(hash >> (64 - c->bits));
    uint32_t mark = word_mark(word, column);
    for (; c->slots[at].type1; at = (at + 1) & mask) {
        TypeSlot *slot = &c->slots[at];
        if (slot->head != word->head || slot->tail != word->tail || slot->mark != mark) continue;
        if (word->length > WORD_SMALL) {
            const WordRef *own = &c->entries[slot->type1 - 1].word;
            if (own->length != word->length ||
                memcmp(c->text + own->at, texts + word->at, word->length) != 0)
                continue;
        }
        return (int32_t)slot->type1 - 1;
    }
    c->misses++;
    return type_enter(c, l, column, word, hash, texts, 0);
}
