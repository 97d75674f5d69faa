/* Compiled templates: from the values of words, places and past labels to feature keys.
 *
 * A *type* is one distinct string of one column. Everything that depends on a type alone is made
 * once for it: its values, and the keys of its slots (features/templates.py has the kinds).
 * Sentences are laid out with `reach` pads on either side, so that a neighbor is plain
 * indexing:
 *
 *   types of one column, reach 2:   L2 L1 The old man R1 R2   L2 L1 Stop R1 R2
 *
 * The key of a feature is XXH64 over the hashes of its atoms, seeded by its template's hash. */
#pragma once

#include "features/values.h"

enum { ATOM_VALUE, ATOM_TAG, ATOM_FIRST, ATOM_LAST, ATOM_BIAS };
enum { ALWAYS, NOT_FIRST, FIRST, NOT_LAST, LAST };
#define MAX_ATOMS 8
#define MAX_HISTORY 4
#define MAX_REACH 8
#define MAX_COLUMNS 64

typedef struct {
    int32_t kind, value, offset; /* of a tag, value holds the steps back */
} AtomSpec;

typedef struct {
    int32_t column, offset, condition;
    int32_t n_templates;
    const int32_t *templates;
} SlotSpec;

typedef struct {
    int32_t n_columns, n_values, n_templates, n_slots, n_static, n_history;
    int32_t reach;     /* farthest offset of any atom */
    int32_t depth;     /* farthest label looked back to */
    int32_t n_carried; /* values that static and history templates need of each type */
    ValueSpec *values;
    int32_t *value_column, *carried_at; /* per value; carried_at is -1 where not carried */
    uint32_t *wanted;                   /* per column: which views its values need */
    uint64_t *seeds;
    int32_t *atom_starts;
    AtomSpec *atoms;
    SlotSpec *slots;
    int32_t *slot_templates, *static_templates, *history_templates;
} Program;

typedef struct {
    uint64_t *keys;
    uint16_t *groups; /* the template of each key */
    size_t n, room;
} KeyBuffer;

/* No UTF-8 text has the byte 0xFF, so none of these can be the value of a word. */
static inline uint64_t mark_hash(const char *mark) {
    return xxh64((const uint8_t *)mark, strlen(mark), 0);
}
static inline uint64_t pad_hash(int32_t distance) {
    uint8_t text[3] = {0xFF, distance < 0 ? 'L' : 'R',
                       (uint8_t)('0' + (distance < 0 ? -distance : distance))};
    return xxh64(text, 3, 0);
}
static inline uint64_t yes_hash(int yes) {
    return mark_hash(yes ? "\xff"
                           "yes"
                         : "\xff"
                           "no");
}
static inline uint64_t bias_hash(void) {
    return mark_hash("\xff"
                     "bias");
}
static inline uint64_t no_label_hash(void) {
    return mark_hash("\xff"
                     "start");
}

static inline int key_push(KeyBuffer *b, uint64_t key, int32_t group) {
    if (b->n == b->room) {
        size_t room = b->room ? 2 * b->room : 64;
        if (grow_array(&b->keys, room, sizeof *b->keys) < 0) return -1;
        if (grow_array(&b->groups, room, sizeof *b->groups) < 0) return -1;
        b->room = room;
    }
    b->keys[b->n] = key;
    b->groups[b->n++] = (uint16_t)group;
    return 0;
}

static inline void key_buffer_close(KeyBuffer *b) {
    free(b->keys);
    free(b->groups);
    memset(b, 0, sizeof *b);
}

/* All values of a type into out[n_values]; those of other columns are left alone. The views stay
 * in the scratch for the many-valued ones of type_template_keys. -1: no memory. */
static inline int type_values(const Program *p, WordScratch *s, int32_t column, const uint8_t *text,
                              size_t n, uint64_t *out) {
    if (word_views(s, text, n, p->wanted[column]) < 0) return -1;
    for (int32_t v = 0; v < p->n_values; v++)
        if (p->value_column[v] == column && !is_many(&p->values[v]))
            out[v] = word_value(s, &p->values[v]);
    return 0;
}

/* Beyond the ends every value of every column is the pad of that distance. */
static inline void pad_values(const Program *p, int32_t distance, uint64_t *out) {
    for (int32_t v = 0; v < p->n_values; v++) out[v] = pad_hash(distance);
}

static inline uint64_t mark_of(int32_t kind, int32_t condition) {
    if (kind == ATOM_FIRST) return yes_hash(condition == FIRST);
    if (kind == ATOM_LAST) return yes_hash(condition == LAST);
    return bias_hash();
}

/* Append the keys of one template of a type, under the condition of its slot. `s` holds the
 * type's views, or is NULL for a pad. */
static inline int type_template_keys(const Program *p, int32_t template_id, int32_t condition,
                                     const uint64_t *values, WordScratch *s, KeyBuffer *out) {
    int32_t grams_at = -1, n = 0;
    const ValueSpec *grams = NULL;
    const uint64_t seed = p->seeds[template_id];
    uint64_t words[MAX_ATOMS];
    for (int32_t a = p->atom_starts[template_id]; a < p->atom_starts[template_id + 1]; a++) {
        const AtomSpec *atom = &p->atoms[a];
        if (atom->kind == ATOM_VALUE && is_many(&p->values[atom->value])) {
            grams = &p->values[atom->value];
            grams_at = n++;
        } else {
            words[n++] =
                atom->kind == ATOM_VALUE ? values[atom->value] : mark_of(atom->kind, condition);
        }
    }
    if (!grams) return key_push(out, xxh64_words(words, n, seed), template_id);
    if (!s) return 0; /* a pad has no characters */
    if (word_many(s, grams) < 0) return -1;
    for (uint32_t g = 0; g < s->n_grams; g++) {
        words[grams_at] = s->grams[g];
        if (key_push(out, xxh64_words(words, n, seed), template_id) < 0) return -1;
    }
    return 0;
}

/* The same for all templates of a slot. */
static inline int type_slot_keys(const Program *p, const SlotSpec *slot, const uint64_t *values,
                                 WordScratch *s, KeyBuffer *out) {
    for (int32_t i = 0; i < slot->n_templates; i++)
        if (type_template_keys(p, slot->templates[i], slot->condition, values, s, out) < 0)
            return -1;
    return 0;
}

static inline int slot_applies(int32_t condition, int first, int last) {
    switch (condition) {
        case NOT_FIRST: return !first;
        case FIRST: return first;
        case NOT_LAST: return !last;
        case LAST: return last;
        default: return 1;
    }
}

/* A token in its padded sentence, as static and history templates see it. */
typedef struct {
    const int32_t *const *types; /* per column, at the token's own place */
    const uint64_t *carried;     /* [type * n_carried + carried_at[value]] */
    const uint64_t *past;        /* past[k]: hash of the label given k + 1 steps ago */
    int first, last;
} TokenView;

/* The key of a template that looks at several words or at past labels. */
static inline uint64_t token_key(const Program *p, int32_t template_id, const TokenView *token) {
    uint64_t words[MAX_ATOMS];
    int n = 0;
    for (int32_t a = p->atom_starts[template_id]; a < p->atom_starts[template_id + 1]; a++) {
        const AtomSpec *atom = &p->atoms[a];
        switch (atom->kind) {
            case ATOM_VALUE: {
                int32_t type = token->types[p->value_column[atom->value]][atom->offset];
                words[n++] = token->carried[(size_t)type * (size_t)p->n_carried +
                                            (size_t)p->carried_at[atom->value]];
                break;
            }
            case ATOM_TAG: words[n++] = token->past[atom->value - 1]; break;
            case ATOM_FIRST: words[n++] = yes_hash(token->first); break;
            case ATOM_LAST: words[n++] = yes_hash(token->last); break;
            default: words[n++] = bias_hash();
        }
    }
    return xxh64_words(words, n, p->seeds[template_id]);
}

/* How a template can be looked up, going by what it looks at. */

#define EACH_ATOM(p, template_id, atom)                                 \
    (const AtomSpec *atom = (p)->atoms + (p)->atom_starts[template_id]; \
     atom < (p)->atoms + (p)->atom_starts[(template_id) + 1]; atom++)

/* How many features it gives a word at most; 0: any number. */
static inline int32_t most_features(const Program *p, int32_t template_id) {
    int32_t most = 1;
    for
        EACH_ATOM(p, template_id, atom)
    if (atom->kind == ATOM_VALUE && is_many(&p->values[atom->value]))
        most = most_values(&p->values[atom->value]);
    return most;
}

/* Is it of two neighboring words alone? *left is where the left one stands. */
static inline int is_pair(const Program *p, int32_t template_id, int32_t *left) {
    int32_t low = MAX_REACH, high = -MAX_REACH;
    for
        EACH_ATOM(p, template_id, atom) {
            if (atom->kind != ATOM_VALUE || p->value_column[atom->value]) return 0;
            if (atom->offset < low) low = atom->offset;
            if (atom->offset > high) high = atom->offset;
        }
    *left = low;
    return high == low + 1;
}

/* Is a pair of one value of each word? Which of its atoms is the right word's. */
static inline int is_plain_pair(const Program *p, int32_t template_id, int32_t *right) {
    const AtomSpec *first = p->atoms + p->atom_starts[template_id], *second = first + 1;
    *right = second->offset > first->offset;
    return p->atom_starts[template_id + 1] - p->atom_starts[template_id] == 2;
}

/* Is it of the labels given before alone, and none that is farther back than `deepest`? */
static inline int is_of_tags(const Program *p, int32_t template_id, int32_t deepest) {
    for
        EACH_ATOM(p, template_id, atom)
    if (atom->kind != ATOM_TAG || atom->value > deepest) return 0;
    return 1;
}

/* Is it of the label before and of values of the word itself, and nothing else? */
static inline int is_of_word_and_tag(const Program *p, int32_t template_id) {
    for
        EACH_ATOM(p, template_id, atom) {
            if (atom->kind == ATOM_TAG && atom->value == 1) continue;
            if (atom->kind != ATOM_VALUE || atom->offset || p->value_column[atom->value]) return 0;
        }
    return 1;
}
