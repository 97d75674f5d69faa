/* Lines of CoNLL-U as fields, found sixteen bytes at a time where the processor can. */
#ifndef PERCEPTRON_NLP_CONLLU_LINES_H
#define PERCEPTRON_NLP_CONLLU_LINES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define MARKED_AT_ONCE 16
#define LOWEST_BIT(marks) __builtin_ctz(marks)
#else
#define MARKED_AT_ONCE 1
#define LOWEST_BIT(marks) 0
#endif

#define CONLLU_COLUMNS 10

typedef struct {
    const uint8_t *text;
    size_t length;
} Field;

/* Ten fields of a line, none empty; *at moves behind its line feed. 1: none holds a space, a
 * control character or a no-break space; 2: some may; 0: unusual. */
static inline int split_line(const uint8_t **at, const uint8_t *end, Field *fields) {
    const uint8_t *p = *at, *begin = p;
    int n = 0, unsure = 0;
    while (p < end) {
        /* Bit k of `marks`: byte k is no more than a space. */
#if defined(__SSE2__)
        const __m128i space = _mm_set1_epi8(' '), c2 = _mm_set1_epi8((char)0xC2);
        uint8_t last[16];
        const uint8_t *from = p;
        if (end - p < 16) {
            memset(last, 'x', sizeof last);
            memcpy(last, p, (size_t)(end - p));
            from = last;
        }
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)from);
        unsigned marks =
            (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, space), bytes));
        unsure |= _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, c2));
#else
        unsigned marks = *p <= ' ';
        unsure |= *p == 0xC2;
#endif
        for (; marks; marks &= marks - 1) {
            const uint8_t *mark = p + LOWEST_BIT(marks);
            if (*mark == '\t' || *mark == '\n') {
                if (mark == begin || n == CONLLU_COLUMNS) return 0;
                fields[n].text = begin;
                fields[n++].length = (size_t)(mark - begin);
                begin = mark + 1;
                if (*mark == '\t') continue;
                *at = begin;
                return n != CONLLU_COLUMNS ? 0 : unsure ? 2 : 1;
            }
            if (*mark == '\r' || *mark == 0) return 0;
            unsure = 1;
        }
        p += MARKED_AT_ONCE;
    }
    return 0;
}

/* Is there no whole line at `at`? */
static inline int no_line(const uint8_t *at, const uint8_t *end) {
    return at == end || !memchr(at, '\n', (size_t)(end - at));
}

/* The end of the line at `at`; NULL: it holds a carriage return or a NUL, or is not whole. */
static inline const uint8_t *line_end_of(const uint8_t *at, const uint8_t *end) {
#if defined(__SSE2__)
    const __m128i highest = _mm_set1_epi8('\r');
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        unsigned marks =
            (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_min_epu8(bytes, highest), bytes));
        for (; marks; marks &= marks - 1) {
            const uint8_t *mark = at + LOWEST_BIT(marks);
            if (*mark == '\n') return mark;
            if (*mark == '\r' || *mark == 0) return NULL;
        }
    }
#endif
    for (; at < end; at++) {
        if (*at == '\n') return at;
        if (*at == '\r' || *at == 0) return NULL;
    }
    return NULL;
}

/* Move *at behind empty lines and comments; 0: unusual, or a line that is not whole. */
static inline int skip_comments(const uint8_t **at, const uint8_t *end) {
    while (*at < end && (**at == '\n' || **at == '#')) {
        const uint8_t *line_end = line_end_of(*at, end);
        if (!line_end) return 0;
        *at = line_end + 1;
    }
    return 1;
}

/* Strings that were judged to be in order: the same few hundred come again and again. */
#define JUDGED_BITS 9
#define JUDGED_LONGEST 95

typedef struct {
    struct {
        uint8_t length, text[JUDGED_LONGEST];
    } places[1 << JUDGED_BITS];
} Judged;

/* Of a string of at least eight bytes; looks at five places, since features of verbs differ in the
 * middle only. */
static inline unsigned judged_place(const Field *f) {
    static const uint64_t factors[5] = {3, 5, 7, 11, 1};
    uint64_t mix = f->length;
    for (size_t k = 0; k < 5; k++) {
        uint64_t eight;
        memcpy(&eight, f->text + (f->length - 8) * k / 4, 8);
        mix += eight * factors[k];
    }
    return (unsigned)(mix * 0x9E3779B97F4A7C15ULL >> (64 - JUDGED_BITS));
}

static inline int was_judged(const Judged *j, const Field *f) {
    if (f->length < 8 || f->length > JUDGED_LONGEST) return 0;
    unsigned at = judged_place(f);
    return j->places[at].length == f->length && memcmp(j->places[at].text, f->text, f->length) == 0;
}

static inline void keep_judged(Judged *j, const Field *f) {
    if (f->length < 8 || f->length > JUDGED_LONGEST) return;
    unsigned at = judged_place(f);
    j->places[at].length = (uint8_t)f->length;
    memcpy(j->places[at].text, f->text, f->length);
}

#endif
