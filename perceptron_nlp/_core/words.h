/* What can be seen of one word: its views (as written, lower-cased, shape, …), their prefixes,
 * suffixes and n-grams, each as a 64-bit hash of its UTF-8 bytes.
 *
 * Needs Python.h for the Unicode tables of the interpreter: they are plain lookups of a code
 * point, and safe without the interpreter lock. */
#ifndef PERCEPTRON_NLP_WORDS_H
#define PERCEPTRON_NLP_WORDS_H

#include <Python.h>

#include "hashing.h"

enum { VIEW_WORD, VIEW_LOWER, VIEW_NORM, VIEW_SHAPE, VIEW_SHAPE4, VIEW_FOLDED, VIEW_FLAGS,
       VIEW_CAPITAL, VIEW_ALLCAPS, VIEW_DIGIT, VIEW_HYPHEN, N_VIEWS };
enum { AFFIX_NONE, AFFIX_PREFIX, AFFIX_SUFFIX, AFFIX_NGRAMS, AFFIX_PIECES };

/* n-grams of a longer word are those of its first and last halves of this many code points, so
 * that a word of a megabyte is not a million features. */
#define NGRAM_WORD_LIMIT 48

typedef struct {
    int32_t view, affix, low, high;
} ValueSpec;

typedef struct {
    uint8_t *text;
    uint32_t *at; /* byte offset of each code point; at[n] is the length */
    uint32_t n;
} View;

/* Scratch for one word at a time; grows to the longest word seen. */
typedef struct {
    uint32_t *points;
    uint32_t n, room;
    int one_byte; /* views of characters have one byte to each, and their `at` is not made */
    View views[N_VIEWS];
    uint64_t *grams;
    uint32_t n_grams, grams_room;
} WordScratch;

static inline void word_scratch_close(WordScratch *s) {
    free(s->points);
    free(s->grams);
    for (int v = 0; v < N_VIEWS; v++) {
        free(s->views[v].text);
        free(s->views[v].at);
    }
    memset(s, 0, sizeof *s);
}

/* Room for a word of n code points in every view; what was there is lost. */
static inline int word_scratch_reserve(WordScratch *s, uint32_t n) {
    if (n + 1 <= s->room) return 0;
    uint32_t room = n + 1 < 64 ? 64 : n + 1 + n / 4;
    word_scratch_close(s);
    s->points = (uint32_t *)malloc((size_t)room * 4);
    int ok = s->points != NULL;
    for (int v = 0; v < N_VIEWS; v++) {
        s->views[v].text = (uint8_t *)malloc((size_t)room * 4 + 16);
        s->views[v].at = (uint32_t *)malloc(((size_t)room + 1) * 4 + 64);
        ok = ok && s->views[v].text && s->views[v].at;
    }
    if (!ok) {
        word_scratch_close(s);
        return -1;
    }
    s->room = room;
    return 0;
}

/* UTF-8 to code points. The bytes come from str objects, where a lone surrogate is written as
 * its three bytes, so every sequence is complete. */
static inline uint32_t utf8_decode(const uint8_t *p, size_t n, uint32_t *points) {
    const uint8_t *end = p + n;
    uint32_t count = 0;
    while (p < end) {
        uint32_t c = *p;
        if (c < 0x80) {
            p += 1;
        } else if (c < 0xE0) {
            c = (c & 0x1F) << 6 | (p[1] & 0x3F);
            p += 2;
        } else if (c < 0xF0) {
            c = (c & 0x0F) << 12 | (uint32_t)(p[1] & 0x3F) << 6 | (p[2] & 0x3F);
            p += 3;
        } else {
            c = (c & 0x07) << 18 | (uint32_t)(p[1] & 0x3F) << 12 | (uint32_t)(p[2] & 0x3F) << 6 |
                (p[3] & 0x3F);
            p += 4;
        }
        points[count++] = c;
    }
    return count;
}

/* One code point as UTF-8, a lone surrogate as its three bytes like any other; how many bytes. */
static inline uint32_t utf8_put(uint8_t *p, uint32_t c) {
    if (c < 0x80) {
        p[0] = (uint8_t)c;
        return 1;
    }
    if (c < 0x800) {
        p[0] = (uint8_t)(0xC0 | c >> 6);
        p[1] = (uint8_t)(0x80 | (c & 0x3F));
        return 2;
    }
    if (c < 0x10000) {
        p[0] = (uint8_t)(0xE0 | c >> 12);
        p[1] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
        p[2] = (uint8_t)(0x80 | (c & 0x3F));
        return 3;
    }
    p[0] = (uint8_t)(0xF0 | c >> 18);
    p[1] = (uint8_t)(0x80 | (c >> 12 & 0x3F));
    p[2] = (uint8_t)(0x80 | (c >> 6 & 0x3F));
    p[3] = (uint8_t)(0x80 | (c & 0x3F));
    return 4;
}

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

static inline int is_upper(uint32_t c) { return Py_UNICODE_ISUPPER(c) || Py_UNICODE_ISTITLE(c); }
static inline int is_hyphen(uint32_t c) { return c == '-' || c == 0x2010 || c == 0x2011; }

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
        case 'e': return 'a';
        case 'u': return 'i';
        case 'b': return 'p';
        case 'd': return 't';
        case 'g': return 'k';
        default: return c;
    }
}

static inline void view_folded(View *v, const uint32_t *points, uint32_t n) {
    view_clear(v);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = folded(Py_UNICODE_TOLOWER(points[i]));
        if (c != LEFT_OUT) view_put(v, c);
    }
}

enum { FLAG_CAPITAL = 1, FLAG_ALL_CAPS = 2, FLAG_INNER_CAPITAL = 4, FLAG_DIGIT = 8,
       FLAG_ALL_DIGITS = 16, FLAG_HYPHEN = 32, FLAG_NO_LETTER = 64, FLAG_OTHER = 128 };

static inline uint32_t word_flags(const uint32_t *points, uint32_t n) {
    uint32_t upper = 0, letters = 0, digits = 0, hyphens = 0, flags = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = points[i];
        int is_up = is_upper(c);
        upper += (uint32_t)is_up;
        if (is_up) flags |= i ? FLAG_INNER_CAPITAL : FLAG_CAPITAL;
        if (is_up || Py_UNICODE_ISALPHA(c)) letters++;
        else if (Py_UNICODE_ISDIGIT(c)) digits++;
        else if (is_hyphen(c)) hyphens++;
        else flags |= FLAG_OTHER;
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

static inline int is_ascii(const uint8_t *text, size_t n) {
    uint64_t all = 0, eight;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        memcpy(&eight, text + i, 8);
        all |= eight;
    }
    for (; i < n; i++) all |= text[i];
    return !(all & 0x8080808080808080ULL);
}

static inline uint8_t ascii_lower(uint8_t c) {
    return (uint8_t)(c + ((uint8_t)(c - 'A') < 26 ? 'a' - 'A' : 0));
}

static inline uint8_t ascii_shape_class(uint8_t c) {
    if ((uint8_t)(c - 'a') < 26) return 'x';
    if ((uint8_t)(c - 'A') < 26) return 'X';
    return (uint8_t)(c - '0') < 10 ? 'd' : c;
}

/* Of ASCII text, what word_views makes of these views, without the Unicode tables. */
#define ASCII_VIEWS (1u << VIEW_WORD | 1u << VIEW_LOWER | 1u << VIEW_SHAPE | 1u << VIEW_SHAPE4)

static inline void ascii_views(WordScratch *s, const uint8_t *text, uint32_t n, uint32_t wanted) {
    View *v = s->views;
    uint32_t run = 0, shape = 0, shape4 = 0;
    uint8_t before = 0;
    s->one_byte = 1;
    s->n = n;
    if (wanted >> VIEW_WORD & 1) memcpy(v[VIEW_WORD].text, text, n);
    v[VIEW_WORD].n = v[VIEW_LOWER].n = n;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t c = ascii_shape_class(text[i]);
        v[VIEW_LOWER].text[i] = ascii_lower(text[i]);
        run = c == before && i ? run + 1 : 1;
        before = c;
        v[VIEW_SHAPE].text[shape] = c;
        shape += run <= 1;
        v[VIEW_SHAPE4].text[shape4] = c;
        shape4 += run <= 4;
    }
    v[VIEW_SHAPE].n = shape;
    v[VIEW_SHAPE4].n = shape4;
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

/* The hash of one value of the word whose views were made last. A word shorter than an affix
 * gives itself whole. */
static inline uint64_t word_value(const WordScratch *s, const ValueSpec *spec) {
    const View *v = &s->views[spec->view];
    uint32_t from = 0, to = v->n, k = (uint32_t)spec->low;
    if (spec->affix == AFFIX_PREFIX && k < to) to = k;
    if (spec->affix == AFFIX_SUFFIX && k < to) from = to - k;
    return xxh64(v->text + view_at(s, v, from), view_at(s, v, to) - view_at(s, v, from), 0);
}

static inline int grams_push(WordScratch *s, uint64_t gram) {
    if (s->n_grams == s->grams_room) {
        uint32_t room = s->grams_room ? 2 * s->grams_room : 256;
        uint64_t *grams = (uint64_t *)realloc(s->grams, (size_t)room * sizeof *grams);
        if (!grams) return -1;
        s->grams = grams;
        s->grams_room = room;
    }
    s->grams[s->n_grams++] = gram;
    return 0;
}

/* Hashes of all n-grams of spec->low to spec->high code points into s->grams; the edges of the
 * word count as one character each. -1: no memory. */
static inline int word_ngrams(WordScratch *s, const ValueSpec *spec) {
    const View *v = &s->views[spec->view];
    uint32_t half = NGRAM_WORD_LIMIT / 2;
    uint32_t pieces = v->n > NGRAM_WORD_LIMIT ? 2 : 1;
    s->n_grams = 0;
    for (uint32_t piece = 0; piece < pieces; piece++) {
        uint32_t from = piece ? v->n - half : 0, to = pieces == 2 && !piece ? half : v->n;
        uint8_t text[4 * NGRAM_WORD_LIMIT + 2];
        uint32_t at[NGRAM_WORD_LIMIT + 3], n = 0, length = 0;
        at[n++] = 0;
        if (from == 0) {
            text[length++] = 2;
            at[n++] = length;
        }
        for (uint32_t i = from; i < to; i++) {
            uint32_t begin = view_at(s, v, i), bytes = view_at(s, v, i + 1) - begin;
            memcpy(text + length, v->text + begin, bytes);
            length += bytes;
            at[n++] = length;
        }
        if (to == v->n) {
            text[length++] = 3;
            at[n++] = length;
        }
        n -= 1;
        for (uint32_t k = (uint32_t)spec->low; k <= (uint32_t)spec->high && k <= n; k++)
            for (uint32_t i = 0; i + k <= n; i++)
                if (grams_push(s, xxh64(text + at[i], at[i + k] - at[i], 0)) < 0) return -1;
    }
    return 0;
}

/* Hashes of what stands between the bars of a value into s->grams. -1: no memory. */
static inline int word_pieces(WordScratch *s, const ValueSpec *spec) {
    const View *v = &s->views[spec->view];
    const uint8_t *text = v->text;
    uint32_t bytes = view_at(s, v, v->n), from = 0;
    s->n_grams = 0;
    for (uint32_t to = 0; to <= bytes; to++) {
        if (to < bytes && text[to] != '|') continue;
        if (to > from && grams_push(s, xxh64(text + from, to - from, 0)) < 0) return -1;
        from = to + 1;
    }
    return 0;
}

/* Has the value any number of hashes rather than one? */
static inline int is_many(const ValueSpec *spec) { return spec->affix >= AFFIX_NGRAMS; }

/* All hashes of such a value into s->grams; -1: no memory. */
static inline int word_many(WordScratch *s, const ValueSpec *spec) {
    return spec->affix == AFFIX_PIECES ? word_pieces(s, spec) : word_ngrams(s, spec);
}

#endif
