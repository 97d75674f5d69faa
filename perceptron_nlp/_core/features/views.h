/* The views of a word: texts that are made of it, whose parts are what templates look at.
 *
 * Needs Python.h for the Unicode tables of the interpreter: they are plain lookups of a code
 * point, and safe without the interpreter lock. */
#ifndef PERCEPTRON_NLP_VIEWS_H
#define PERCEPTRON_NLP_VIEWS_H

#include <Python.h>

#include "features/asciiviews.h"
#include "features/codepoints.h"

static inline void view_put(View *v, uint32_t c) {
    uint32_t at = v->at[v->n];
    v->at[++v->n] = at + utf8_put(v->text + at, c);
}

static inline void view_clear(View *v) {
    v->n = 0;
    v->at[0] = 0;
}

static inline void view_ascii(View *v, const char *text) {
    view_clear(v);
    for (; *text; text++) view_put(v, (uint8_t)*text);
}

static inline int is_upper(uint32_t c) {
    return Py_UNICODE_ISUPPER(c) || Py_UNICODE_ISTITLE(c);
}
static inline int is_hyphen(uint32_t c) {
    return c == '-' || c == 0x2010 || c == 0x2011;
}

/* X upper case, x any other letter, d digit, anything else itself. */
static inline uint32_t shape_class(uint32_t c) {
    if (is_upper(c)) return 'X';
    if (Py_UNICODE_ISALPHA(c)) return 'x';
    if (Py_UNICODE_ISDIGIT(c)) return 'd';
    return c;
}

static inline void view_shape(View *v, const uint32_t *points, uint32_t n, uint32_t longest) {
    uint32_t run = 0, before = 0;
    view_clear(v);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = shape_class(points[i]);
        run = i && c == before ? run + 1 : 1;
        before = c;
        if (run <= longest) view_put(v, c);
    }
}

/* U+00E0 to U+017F: the letter without its marks; '.': none of ASCII, or upper case. */
static const char UNMARKED[] =
    "aaaaaa.ceeeeiiii.nooooo..uuuuy.y.a.a.a.c.c.c.c.d...e.e.e.e.e.g.g.g.g.h...i.i.i.i"
    ".i...j.k..l.l.l.....n.n.n....o.o.o...r.r.r.s.s.s.s.t.t...u.u.u.u.u.u.w.y..z.z.z.";

/* Letters that inflection changes into each other are one: vowels in harmony, and voiced and
 * voiceless consonants. LEFT_OUT: a combining mark. */
#define LEFT_OUT 0xFFFFFFFFu
static inline uint32_t folded(uint32_t c) {
    if (c >= 0x300 && c < 0x370) return LEFT_OUT;
    if (c >= 0xE0 && c < 0x180 && UNMARKED[c - 0xE0] != '.') c = (uint8_t)UNMARKED[c - 0xE0];
    switch (c) {
        case 'e':
            return 'a';
        case 'u':
            return 'i';
        case 'b':
            return 'p';
        case 'd':
            return 't';
        case 'g':
            return 'k';
        default:
            return c;
    }
}

static inline void view_folded(View *v, const uint32_t *points, uint32_t n) {
    view_clear(v);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = folded(Py_UNICODE_TOLOWER(points[i]));
        if (c != LEFT_OUT) view_put(v, c);
    }
}

enum {
    FLAG_CAPITAL = 1,
    FLAG_ALL_CAPS = 2,
    FLAG_INNER_CAPITAL = 4,
    FLAG_DIGIT = 8,
    FLAG_ALL_DIGITS = 16,
    FLAG_HYPHEN = 32,
    FLAG_NO_LETTER = 64,
    FLAG_OTHER = 128
};

static inline uint32_t word_flags(const uint32_t *points, uint32_t n) {
    uint32_t upper = 0, letters = 0, digits = 0, hyphens = 0, flags = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = points[i];
        int is_up = is_upper(c);
        upper += (uint32_t)is_up;
        if (is_up) flags |= i ? FLAG_INNER_CAPITAL : FLAG_CAPITAL;
        if (is_up || Py_UNICODE_ISALPHA(c))
            letters++;
        else if (Py_UNICODE_ISDIGIT(c))
            digits++;
        else if (is_hyphen(c))
            hyphens++;
        else
            flags |= FLAG_OTHER;
    }
    if (upper && upper == letters) flags |= FLAG_ALL_CAPS;
    if (digits) flags |= digits == n ? FLAG_DIGIT | FLAG_ALL_DIGITS : FLAG_DIGIT;
    if (hyphens) flags |= FLAG_HYPHEN;
    if (!letters) flags |= FLAG_NO_LETTER;
    return flags;
}

/* The normal form of the averaged-perceptron tagger of 2007-2013: numbers and hyphenated words
 * become classes, everything else is lower-cased. */
static inline const char *norm_class(const uint32_t *points, uint32_t n) {
    int all_digits = n == 4;
    if (n && points[0] != '-')
        for (uint32_t i = 0; i < n; i++)
            if (points[i] == '-') return "!HYPHEN";
    for (uint32_t i = 0; i < n && all_digits; i++) all_digits = Py_UNICODE_ISDIGIT(points[i]);
    if (all_digits) return "!YEAR";
    return n && Py_UNICODE_ISDIGIT(points[0]) ? "!DIGITS" : NULL;
}

/* Make the views named by the bits of `wanted`; -1: no memory. */
static inline int word_views(WordScratch *s, const uint8_t *text, size_t n, uint32_t wanted) {
    if (n > 0x3FFFFFFF || word_scratch_reserve(s, (uint32_t)n) < 0) return -1;
    if (!(wanted & ~ASCII_VIEWS) && is_ascii(text, n)) {
        ascii_views(s, text, (uint32_t)n, wanted);
        return 0;
    }
    s->one_byte = 0;
    s->n = utf8_decode(text, n, s->points);
    const uint32_t *points = s->points;
    View *v = s->views;
    if (wanted & (1u << VIEW_WORD | 1u << VIEW_LOWER | 1u << VIEW_NORM)) {
        const char *class_name = wanted >> VIEW_NORM & 1 ? norm_class(points, s->n) : NULL;
        view_clear(&v[VIEW_WORD]);
        view_clear(&v[VIEW_LOWER]);
        view_clear(&v[VIEW_NORM]);
        if (class_name) view_ascii(&v[VIEW_NORM], class_name);
        for (uint32_t i = 0; i < s->n; i++) {
            uint32_t low = Py_UNICODE_TOLOWER(points[i]);
            if (wanted >> VIEW_WORD & 1) view_put(&v[VIEW_WORD], points[i]);
            if (wanted >> VIEW_LOWER & 1) view_put(&v[VIEW_LOWER], low);
            if (wanted >> VIEW_NORM & 1 && !class_name) view_put(&v[VIEW_NORM], low);
        }
    }
    if (wanted >> VIEW_SHAPE & 1) view_shape(&v[VIEW_SHAPE], points, s->n, 1);
    if (wanted >> VIEW_SHAPE4 & 1) view_shape(&v[VIEW_SHAPE4], points, s->n, 4);
    if (wanted >> VIEW_FOLDED & 1) view_folded(&v[VIEW_FOLDED], points, s->n);
    if (wanted >> VIEW_FLAGS) {
        uint32_t flags = word_flags(points, s->n);
        view_clear(&v[VIEW_FLAGS]);
        view_put(&v[VIEW_FLAGS], flags);
        view_ascii(&v[VIEW_CAPITAL], flags & FLAG_CAPITAL ? "1" : "0");
        view_ascii(&v[VIEW_ALLCAPS], flags & FLAG_ALL_CAPS ? "1" : "0");
        view_ascii(&v[VIEW_DIGIT], flags & FLAG_DIGIT ? "1" : "0");
        view_ascii(&v[VIEW_HYPHEN], flags & FLAG_HYPHEN ? "1" : "0");
    }
    return 0;
}

/* Where character i of a view begins. */
static inline uint32_t view_at(const WordScratch *s, const View *v, uint32_t i) {
    return s->one_byte ? i : v->at[i];
}

#endif
