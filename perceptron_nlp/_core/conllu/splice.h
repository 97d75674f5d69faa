/* Gaps in a text, and strings put into them. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "conllu/scan.h"
#include "features/utf8.h"
#include "tag/batch.h"

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
                                 const uint32_t *chosen, int64_t n, const GapText *texts) {
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

/* The words of CoNLL-U text taken into a batch, and the field of each that is to be filled in. */

/* The columns to be filled, ascending. */
typedef struct {
    int n;
    int of[CONLLU_COLUMNS];
} FilledColumns;

/* Take the words of one sentence into the batch, and the gaps to be filled. `at` is where its
 * lines begin. Where it ends; NULL: unusual. *status is set to -1 where there is no memory. */
static inline const uint8_t *scan_sentence(const Decoder *d, Worker *w, ConlluSentence *s,
                                           const uint8_t *text, const uint8_t *at,
                                           const uint8_t *end, const FilledColumns *columns,
                                           Gap *gaps, int *status) {
    Field fields[CONLLU_COLUMNS];
    int more;
    sentence_begin(s);
    while ((more = next_word(s, &at, end, fields)) > 0) {
        Gap *gap = &gaps[w->n_tokens * columns->n];
        for (int c = 0; c < columns->n; c++, gap++) {
            const Field *field = &fields[columns->of[c]];
            gap->begin = (size_t)(field->text - text);
            gap->end = gap->begin + field->length;
        }
        const uint8_t *form = fields[C_FORM].text;
        WordRef word = word_ref_within(text, form, fields[C_FORM].length, d->secrets);
        if (batch_room(d, &w->batch, 1) < 0 || batch_word(d, &w->batch, 0, word, form) < 0) {
            *status = -1;
            return NULL;
        }
    }
    return more < 0 ? NULL : at;
}
