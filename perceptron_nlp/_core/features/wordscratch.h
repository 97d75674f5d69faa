/* Memory for the views of one word at a time: as written, lower-cased, its shape, … */
#ifndef PERCEPTRON_NLP_WORDSCRATCH_H
#define PERCEPTRON_NLP_WORDSCRATCH_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

#endif
