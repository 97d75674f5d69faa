/* Where tagging is: sentences that go side by side, each at one of its tokens, and what is looked up
 * for it. For pass 3 of decode.h, in all of its forms. */
#ifndef PERCEPTRON_NLP_STREAMS_H
#define PERCEPTRON_NLP_STREAMS_H

#include "tag/batch.h"
#include "tag/remembered.h"

#define SIDE_BY_SIDE 8
#define TOKEN_BLOCK 16

/* A sentence being labeled, at one of its tokens. */
typedef struct {
    int64_t token, left; /* its number in the batch; how many are to be labeled with it */
    int64_t first, last; /* tokens of the sentence */
    const int32_t *type; /* in column 0 */
    int64_t place;
    int32_t past[MAX_HISTORY]; /* labels given, the last first; n_labels for none */
    /* What of the first transition template was worked out ahead: NOTHING, its key, and its row by
     * frozen_guess, too. */
    enum { ASKED_NOTHING, ASKED_KEY, ASKED_ROW } asked;
    uint32_t row;
    uint64_t key; /* as the table has it */
} Stream;

/* What stands for the label before the first. */
static inline int32_t no_label(const Decoder *d) {
    return d->parts ? d->parts->n_labels : d->layout.table->n_labels;
}

static inline int stream_start(const Decoder *d, const Worker *w, Stream *stream, int64_t *next) {
    while (*next < w->n_sentences && w->starts[*next] == w->starts[*next + 1]) ++*next;
    if (*next == w->n_sentences) return 0;
    int64_t sentence = (*next)++;
    stream->first = w->starts[sentence];
    stream->last = w->starts[sentence + 1] - 1;
    stream->left = stream->last - stream->first + 1;
    stream->token = d->right_to_left ? stream->last : stream->first;
    stream->place = padded_place(d, sentence, stream->token);
    stream->type = w->types[0] + stream->place;
    for (int k = 0; k < MAX_HISTORY; k++) stream->past[k] = no_label(d);
    stream->asked = ASKED_NOTHING;
    return 1;
}

/* To the next token; 0: that was the last. */
static inline int stream_step(const Decoder *d, Stream *stream, int32_t label) {
    int step = d->right_to_left ? -1 : 1;
    for (int h = MAX_HISTORY - 1; h > 0; h--) stream->past[h] = stream->past[h - 1];
    stream->past[0] = label;
    stream->asked = ASKED_NOTHING;
    stream->token += step;
    stream->place += step;
    stream->type += step;
    return --stream->left > 0;
}

/* Where a token's scores are. */
static inline char *token_scores(const Decoder *d, Worker *w, int64_t token) {
    const int all = d->layout.dense || w->keep_scores;
    const size_t bytes = (size_t)d->layout.stride * score_bytes(&d->layout);
    return w->scores + (all ? (size_t)token * bytes : 0);
}

#define TYPES_AHEAD 8 /* tokens between fetching a type's vectors and adding them */
#define CACHE_LINE 64
#define HELD_SOURCES 8 /* vectors of a token for which the place of their types is held */

static inline int32_t forced_label(const Decoder *d, const Worker *w, const Stream *stream) {
    return d->layout.forces ? w->cache.entries[*stream->type].forced : FREE;
}

static inline TokenView stream_view(const Decoder *d, Worker *w, const Stream *stream,
                                    uint64_t *past, const int32_t **types) {
    for (int32_t k = 0; k < d->layout.program->depth; k++)
        past[k] = d->label_hashes[stream->past[k]];
    return token_view(d, w, stream->place, stream->token == stream->first,
                      stream->token == stream->last, past, types);
}

static int stream_transition(const Decoder *d, Worker *w, const Stream *stream,
                             uint32_t *transition) {
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    TokenView view = stream_view(d, w, stream, past, types);
    return transition_fill(&d->layout, &w->cache, &view, stream->past[0], transition);
}

/* History templates that have no table of their own. */
static inline void add_open(const Decoder *d, const TokenView *view, char *scores) {
    const CacheLayout *l = &d->layout;
    for (int32_t k = 0; k < d->n_open; k++) {
        int64_t row = frozen_find(l->table, token_key(l->program, d->open_templates[k], view));
        if (row >= 0) add_row(l, row, scores);
    }
}

static inline void stream_open(const Decoder *d, Worker *w, const Stream *stream, char *scores) {
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    TokenView view = stream_view(d, w, stream, past, types);
    add_open(d, &view, scores);
}

/* The next pairs of the batch, up to PAIR_BLOCK; how many, 0 at its end. Pair j of a sentence is of
 * its words j and j + 1; *sentence and *next, both 0 at first, say how many came before. */
static inline int32_t take_pairs(const Decoder *d, const Worker *w, int64_t *sentence,
                                 int64_t *next, PairPlace *places) {
    const PairLayout *p = &d->pairs;
    const int64_t low = p->offsets[0], high = p->offsets[p->n_groups - 1], span = high - low;
    const uint32_t all = ((uint32_t)1 << p->n_groups) - 1;
    int32_t count = 0;
    for (; *sentence < w->n_sentences; ++*sentence, *next = 0) {
        const int64_t begin = w->starts[*sentence], n = w->starts[*sentence + 1] - begin;
        const int32_t *types = w->types[0] + padded_place(d, *sentence, begin);
        for (; n && *next < n + span; ++*next) {
            if (count == PAIR_BLOCK) return count;
            const int64_t j = low + *next;
            PairPlace *place = &places[count++];
            *place = (PairPlace){types + j, begin + j, all};
            if (j >= high && j < n + low) continue;
            place->groups = 0;
            for (int32_t g = 0; g < p->n_groups; g++) {
                const int64_t token = j - p->offsets[g];
                place->groups |= (uint32_t)((token >= 0) & (token < n)) << g;
            }
        }
    }
    return count;
}

#endif
