/* Atoms of running text in UTF-8, as text/atoms.py tells them: where each stands, and what is behind
 * it. Places are below 2^31 bytes. */
#pragma once

#include "tag/typelayout.h"

/* What a character, or an atom, is: its kind, and above that its type: 0 for a mark, else one of four classes, by
 * which it is known at the edge of an atom, or one of four of letters of scripts without spaces. A
 * page, which has those of 256 characters, is UNKNOWN till asked for. */
enum { KIND_SPACE, KIND_LETTER, KIND_MARK, KIND_DIGIT, KIND_OTHER, KIND_UNKNOWN };
#define CHARACTER_PAGES 0x1100
#define KIND_BITS 3
#define KIND_OF(class) ((class) & ((1 << KIND_BITS) - 1))
#define ENDS_LINE (1 << KIND_BITS) /* beside the kind of an atom with one line break behind it */
#define IS_RAISED (2 << KIND_BITS) /* beside that of a word seen with a capital: see cut.h */
enum { TYPE_CAPITAL = 1, TYPE_SMALL, TYPE_CASELESS, TYPE_DIGIT, TYPE_HIRAGANA, TYPE_HAN = 7 };
#define IS_LETTER(type) ((type) && (type) != TYPE_DIGIT)
#define IS_UNSPACED(type) ((type) > TYPE_DIGIT)
#define IS_EAST_ASIAN(type) ((type) >= TYPE_HIRAGANA && (type) <= TYPE_HAN)
#define LOOK_CLASSES 0x110000u /* above all characters */
#define LONGEST_ATOM 10000     /* characters, and marks behind digits */

typedef struct {
    const uint8_t *pages[CHARACTER_PAGES];
} Characters;

enum { GAP_NOTHING, GAP_SPACE, GAP_PARAGRAPH, GAP_OUTSIDE };

typedef struct {
    uint32_t begin, end;           /* in bytes */
    uint32_t char_begin, char_end; /* in characters */
    uint32_t first, last;          /* how its edges look */
    uint8_t gap;                   /* behind it */
    uint8_t kind, type;            /* of its first character */
    int8_t label;                  /* as the decoder numbers it; below 0: not given yet */
} Atom;

typedef struct {
    Atom *atoms;
    size_t n, room;
    uint32_t chars;  /* of the text */
    int32_t missing; /* the page that is unknown, or -1 */
    int has_breaks;  /* does a line end in it that is not empty? */
} AtomList;

typedef struct {
    const uint8_t *text;
    size_t at, n;
    uint32_t chars;
    /* the character at hand */
    uint32_t code, length; /* in bytes; width: in characters, several of an entity */
    uint32_t width;
    uint8_t class;
} Reading;

/* The character that begins here, and its length in bytes. */
static ALWAYS_INLINE uint32_t code_at(const uint8_t *p, uint32_t *length) {
    const uint32_t c = *p;
    *length = c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
    if (c < 0x80) return c;
    if (c < 0xE0) return (c & 0x1F) << 6 | (p[1] & 0x3F);
    const uint32_t two = (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
    return c < 0xF0 ? (c & 0x0F) << 12 | two : (c & 0x07) << 18 | two << 6 | (p[3] & 0x3F);
}

/* What the & at hand is: an entity is the character that it stands for. */
static inline uint32_t reading_entity(Reading *r) {
    uint32_t length;
    const uint32_t point = entity_point(r->text + r->at, r->n - r->at, &length);
    if (!point) return '&';
    r->length = r->width = length;
    return point;
}

/* Look at the next character; KIND_SPACE at the end, where its length is 0. */
static ALWAYS_INLINE int reading_look(Reading *r, const Characters *known) {
    if (r->at >= r->n) {
        r->length = 0;
        return KIND_SPACE;
    }
    uint32_t c = code_at(r->text + r->at, &r->length);
    r->width = 1;
    if (c == '&') c = reading_entity(r);
    r->code = c;
    r->class = known->pages[c >> 8][c & 0xFF];
    return KIND_OF(r->class);
}

static ALWAYS_INLINE void reading_step(Reading *r) {
    r->at += r->length;
    r->chars += r->width;
}

static ALWAYS_INLINE uint32_t reading_edge(const Reading *r) {
    const uint32_t type = r->class >> KIND_BITS, seen = seen_point(r->code);
    if (type) return LOOK_CLASSES + (IS_UNSPACED(type) ? TYPE_CASELESS : type);
    return seen == NOT_SEEN ? r->code : seen;
}

/* Read on while characters are of either kind, at most so many; *edge is how the last one looks. */
static ALWAYS_INLINE void reading_run(Reading *r, const Characters *known, int one, int other,
                                      int most, uint32_t *edge) {
    for (; most > 0; most--) {
        const int kind = reading_look(r, known);
        if ((kind != one && kind != other) || !r->length) return;
        if (kind != KIND_MARK || (seen_point(r->code) != NOT_SEEN && !is_composing(r->code)))
            *edge = reading_edge(r);
        reading_step(r);
    }
}

/* Read over characters that are not seen, in front of an atom that stands right behind them; the
 * kind of its first. */
static inline int reading_hidden(Reading *r, const Characters *known, int kind) {
    const Reading begin = *r;
    int n = 0;
    for (; kind == KIND_MARK && seen_point(r->code) == NOT_SEEN && n < LONGEST_ATOM; n++) {
        reading_step(r);
        kind = reading_look(r, known);
    }
    if (!n || (n < LONGEST_ATOM && kind != KIND_SPACE)) return kind;
    *r = begin;
    return KIND_MARK;
}

/* Read over white space: the gap that it is. An empty line is two line breaks of one kind with
 * nothing but white space between them, or a form feed or paragraph separator. */
static inline uint8_t reading_gap(Reading *r, const Characters *known, int *has_break) {
    uint8_t gap = GAP_NOTHING;
    int feeds = 0, returns = 0;
    *has_break = 0;
    while (reading_look(r, known) == KIND_SPACE && r->length) {
        const uint32_t c = r->code;
        if (!gap) gap = GAP_SPACE;
        *has_break |= c == '\n' || c == '\r';
        if (c == '\n') {
            if (feeds++) gap = GAP_PARAGRAPH;
            returns = 0;
        } else if (c == '\r') {
            if (returns++) gap = GAP_PARAGRAPH;
        } else if (c == '\f' || c == 0x2029) {
            gap = GAP_PARAGRAPH;
        }
        reading_step(r);
    }
    return gap;
}

/* The atoms of a text, every sequence of whose bytes is a whole character. -1: no memory, or a page
 * is missing. */
static inline int list_atoms(AtomList *x, const Characters *known, const uint8_t *text, size_t n) {
    Reading r = {text, 0, n, 0, 0, 0, 0, 0};
    x->n = 0;
    int has_break;
    x->missing = -1;
    x->has_breaks = 0;
    reading_gap(&r, known, &has_break);
    for (;;) {
        int kind = reading_look(&r, known);
        const Reading begin = r;
        x->chars = r.chars;
        if (!r.length) return 0;
        if (kind == KIND_MARK) kind = reading_hidden(&r, known, kind);
        if (kind == KIND_UNKNOWN) {
            x->missing = (int32_t)(r.code >> 8);
            return -1;
        }
        if (array_room(&x->atoms, &x->room, x->n + 1, sizeof(Atom)) < 0) return -1;
        Atom *atom = &x->atoms[x->n++];
        atom->begin = (uint32_t)begin.at;
        atom->char_begin = begin.chars;
        atom->first = atom->last = reading_edge(&r);
        atom->label = -1;
        atom->kind = (uint8_t)kind;
        atom->type = r.class >> KIND_BITS;
        reading_step(&r);
        if (kind == KIND_LETTER) {
            reading_run(&r, known, KIND_LETTER, KIND_MARK, LONGEST_ATOM - 1, &atom->last);
        } else if (kind == KIND_DIGIT) {
            reading_run(&r, known, KIND_DIGIT, KIND_DIGIT, LONGEST_ATOM - 1, &atom->last);
            reading_run(&r, known, KIND_MARK, KIND_MARK, LONGEST_ATOM, &atom->last);
        } else {
            reading_run(&r, known, KIND_MARK, KIND_MARK, LONGEST_ATOM - 1, &atom->last);
        }
        atom->end = (uint32_t)r.at;
        atom->char_end = r.chars;
        atom->gap = reading_gap(&r, known, &has_break);
        if (has_break && atom->gap == GAP_SPACE) {
            atom->kind |= ENDS_LINE;
            x->has_breaks = 1;
        }
    }
}

/* What is known of places by what stands about them, by keys: see place_key and word_key. The first
 * slot is found as in probe.h. */

typedef struct {
    uint64_t *keys; /* 0: an empty place of the table */
    uint32_t *values;
    uint64_t multiplier;
    int bits;
} Places;

static inline uint64_t place_key(uint32_t last, uint8_t gap, uint32_t first) {
    return 1 + ((uint64_t)last << 24 | (uint64_t)first << 2 | gap);
}

/* Of the hash of a word, where `look` is 0; or of an ending and how its word begins, + 1. */
static inline uint64_t word_key(uint64_t hash, uint32_t look) {
    return (hash ^ look * XXH_P4) | 1;
}

static inline size_t place_at(const Places *x, uint64_t key) {
    const size_t mask = ((size_t)1 << x->bits) - 1;
    size_t at = (size_t)((key * x->multiplier) >> (64 - x->bits));
    while (x->keys[at] && x->keys[at] != key) at = (at + 1) & mask;
    return at;
}

static inline void places_close(Places *x) {
    free(x->keys);
    free(x->values);
}

/* Room for n places; -1: no memory. */
static inline int places_open(Places *x, size_t n, uint64_t secret) {
    x->multiplier = secret | 1;
    x->bits = 4;
    while (((size_t)1 << x->bits) < 2 * n) x->bits++;
    x->keys = (uint64_t *)calloc((size_t)1 << x->bits, sizeof *x->keys);
    x->values = (uint32_t *)calloc((size_t)1 << x->bits, sizeof *x->values);
    return x->keys && x->values ? 0 : -1;
}

static inline void places_add(Places *x, uint64_t key, uint32_t value) {
    const size_t at = place_at(x, key);
    x->keys[at] = key;
    x->values[at] = value;
}

/* What is known of a place, or 0. */
static inline uint32_t places_find(const Places *x, uint64_t key) {
    return x->values[place_at(x, key)];
}
