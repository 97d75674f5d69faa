/* The views of a word of ASCII, without the Unicode tables: what views.h makes of it. */
#ifndef PERCEPTRON_NLP_ASCIIVIEWS_H
#define PERCEPTRON_NLP_ASCIIVIEWS_H

#include "table/portable.h"
#if defined(__SSE2__)
#include <emmintrin.h>
#endif
#include "features/wordscratch.h"

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

#endif
