/* Gaps in a text, and strings put into them. */
#ifndef PERCEPTRON_NLP_GAPS_H
#define PERCEPTRON_NLP_GAPS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    size_t begin, end; /* of the field in the text */
} Gap;

/* What may be put into a gap; those of up to this many bytes are copied as a whole. */
#define SHORT_STRING 16

typedef struct {
    const char *text;
    size_t length;
    char padded[SHORT_STRING]; /* the text, where it is short */
} GapText;

static inline GapText gap_text(const char *text, size_t length) {
    GapText t = {text, length, {0}};
    if (length <= SHORT_STRING) memcpy(t.padded, text, length);
    return t;
}

/* Behind what is written this many bytes more may be. */
#define GAP_SLACK 32

/* Copy n bytes, and read and write up to a block more: mostly two or three lines' worth, for which
 * a call of memcpy takes longer. */
static inline void copy_blocks(char *to, const char *from, size_t n) {
    for (size_t k = 0; k < n; k += GAP_SLACK) memcpy(to + k, from + k, GAP_SLACK);
}

/* Write `text` from `at` to `end` to `to`, strings in place of the gaps. Where it ends. There is
 * room, and for GAP_SLACK bytes more. */
static inline char *write_filled(char *to, const char *text, size_t at, size_t end, const Gap *gaps,
                                 const uint16_t *chosen, int64_t n, const GapText *texts) {
    for (int64_t i = 0; i < n; i++) {
        const GapText *put = &texts[chosen[i]];
        size_t before = gaps[i].begin - at;
        if (gaps[i].begin + GAP_SLACK <= end)
            copy_blocks(to, text + at, before);
        else
            memcpy(to, text + at, before);
        to += before;
        if (put->length <= SHORT_STRING)
            memcpy(to, put->padded, SHORT_STRING);
        else
            memcpy(to, put->text, put->length);
        to += put->length;
        at = gaps[i].end;
    }
    memcpy(to, text + at, end - at);
    return to + (end - at);
}

#endif
