/* The views of a word: texts that are made of it, whose parts are what templates look at.
 *
 * Needs Python.h for the Unicode tables of the interpreter: they are plain lookups of a code
 * point, and safe without the interpreter lock. */
#pragma once

#include <Python.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "features/utf8.h"
#include "table/portable.h"

/* Memory for the views of one word at a time: as written, lower-cased, its shape, … */

enum {
    VIEW_WORD,
    VIEW_LOWER,
    VIEW_NORM,
    VIEW_SHAPE,
    VIEW_SHAPE4,
    VIEW_FOLDED,
    VIEW_FLAGS,
    VIEW_CAPITAL,
    VIEW_ALLCAPS,
    VIEW_DIGIT,
    VIEW_HYPHEN,
    N_VIEWS
};

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
    uint32_t n_grams;
    size_t grams_room;
    uint8_t entity[4]; /* what a word that is one stands for */
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

/* The views of a word of ASCII, without the Unicode tables: what views.h makes of it. */

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

/* Lengths of words cannot be foreseen: what is shorter than a load is read by two that overlap,
 * without a loop. */
static inline int is_ascii(const uint8_t *text, size_t n) {
    uint64_t all, eight;
    uint32_t four[2];
    if (n < 4) {
        all = n ? text[0] | text[n / 2] | text[n - 1] : 0;
    } else if (n < 8) {
        memcpy(&four[0], text, 4);
        memcpy(&four[1], text + n - 4, 4);
        all = four[0] | four[1];
    } else {
        memcpy(&all, text + n - 8, 8);
        for (size_t i = 0; i + 8 < n; i += 8) {
            memcpy(&eight, text + i, 8);
            all |= eight;
        }
    }
    return !(all & 0x8080808080808080ULL);
}

/* Copy up to 16 bytes. */
static inline void copy_short(uint8_t *out, const uint8_t *text, size_t n) {
    if (n >= 8) {
        memcpy(out + n - 8, text + n - 8, 8);
        memcpy(out, text, 8);
    } else if (n >= 4) {
        memcpy(out + n - 4, text + n - 4, 4);
        memcpy(out, text, 4);
    } else if (n) {
        out[n / 2] = text[n / 2];
        out[n - 1] = text[n - 1];
        out[0] = text[0];
    }
}

static inline uint8_t ascii_lower(uint8_t c) {
    return (uint8_t)(c + ((uint8_t)(c - 'A') < 26 ? 'a' - 'A' : 0));
}

static inline uint8_t ascii_shape_class(uint8_t c) {
    if ((uint8_t)(c - 'a') < 26) return 'x';
    if ((uint8_t)(c - 'A') < 26) return 'X';
    return (uint8_t)(c - '0') < 10 ? 'd' : c;
}

#if defined(__SSE2__)
/* The characters named by the bits. */
static inline void view_kept(View *v, const uint8_t *text, uint32_t bits) {
    uint32_t n = 0;
    for (; bits; bits &= bits - 1) v->text[n++] = text[lowest_bit(bits)];
    v->n = n;
}

/* The same for up to 16 bytes at once. */
static inline void short_ascii_views(View *v, const uint8_t *text, uint32_t n) {
#define BYTES(c) _mm_set1_epi8(c)
#define WITHIN(x, low, high) \
    _mm_and_si128(_mm_cmpgt_epi8(x, BYTES((low) - 1)), _mm_cmplt_epi8(x, BYTES((high) + 1)))
#define CHOOSE(where, c, x) _mm_or_si128(_mm_and_si128(where, BYTES(c)), _mm_andnot_si128(where, x))
    uint8_t classes[16] = {0};
    copy_short(classes, text, n);
    const __m128i word = _mm_loadu_si128((const __m128i *)(const void *)classes);
    const __m128i upper = WITHIN(word, 'A', 'Z');
    const __m128i lower = _mm_or_si128(word, _mm_and_si128(upper, BYTES('a' - 'A')));
    __m128i class = CHOOSE(upper, 'X', word);
    class = CHOOSE(WITHIN(word, 'a', 'z'), 'x', class);
    class = CHOOSE(WITHIN(word, '0', '9'), 'd', class);
    const __m128i before = _mm_slli_si128(class, 1);
    const uint32_t all = (1u << n) - 1;
    const uint32_t same = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(class, before)) & all & ~1u;
    _mm_storeu_si128((__m128i *)(void *)v[VIEW_WORD].text, word);
    _mm_storeu_si128((__m128i *)(void *)v[VIEW_LOWER].text, lower);
    _mm_storeu_si128((__m128i *)(void *)classes, class);
    view_kept(&v[VIEW_SHAPE], classes, all & ~same);
    view_kept(&v[VIEW_SHAPE4], classes, all & ~(same & same << 1 & same << 2 & same << 3));
#undef BYTES
#undef WITHIN
#undef CHOOSE
}
#endif

/* Of ASCII text, what word_views makes of these views, without the Unicode tables. */
#define ASCII_VIEWS (1u << VIEW_WORD | 1u << VIEW_LOWER | 1u << VIEW_SHAPE | 1u << VIEW_SHAPE4)

static inline void ascii_views(WordScratch *s, const uint8_t *text, uint32_t n, uint32_t wanted) {
    View *v = s->views;
    uint32_t run = 0, shape = 0, shape4 = 0;
    uint8_t before = 0;
    s->one_byte = 1;
    s->n = n;
    v[VIEW_WORD].n = v[VIEW_LOWER].n = n;
#if defined(__SSE2__)
    if (n <= 16) {
        short_ascii_views(v, text, n);
        return;
    }
#endif
    if (wanted >> VIEW_WORD & 1) memcpy(v[VIEW_WORD].text, text, n);
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
    if (!(wanted & ~ASCII_VIEWS) && is_ascii(text, n) && !has_entity(text, n)) {
        ascii_views(s, text, (uint32_t)n, wanted);
        return 0;
    }
    s->one_byte = 0;
    s->n = visible_points(text, n, s->points);
    for (uint32_t i = 0; i < s->n; i++) {
        const uint32_t own = seen_point(s->points[i]);
        if (own != NOT_SEEN) s->points[i] = own;
    }
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
