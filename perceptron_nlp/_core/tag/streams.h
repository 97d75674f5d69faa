/* Where tagging is: sentences that go side by side, each at one of its tokens, and what is looked up
 * for it. For pass 3 of decode.h, in all of its forms. */
#pragma once

#include "tag/batch.h"
#include "tag/neighbors.h"

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
    return d->layout.n_labels;
}

/* To the first of the n tokens of its sentence, wherever in it or behind it that is done. */
static inline void stream_again(const Decoder *d, Stream *stream, int64_t n) {
    const int64_t token = d->right_to_left ? stream->last : stream->first;
    const int64_t step = token - stream->token;
    stream->left = n;
    stream->token = token;
    stream->place += step;
    stream->type += step;
    for (int k = 0; k < MAX_HISTORY; k++) stream->past[k] = no_label(d);
    stream->asked = ASKED_NOTHING;
}

static inline int stream_start(const Decoder *d, const Worker *w, Stream *stream, int64_t *next) {
    while (*next < w->n_sentences && w->starts[*next] == w->starts[*next + 1]) ++*next;
    if (*next == w->n_sentences) return 0;
    int64_t sentence = (*next)++;
    stream->first = w->starts[sentence];
    stream->last = w->starts[sentence + 1] - 1;
    stream->token = stream->first;
    stream->place = padded_place(d, sentence, stream->first);
    stream->type = w->types[0] + stream->place;
    stream_again(d, stream, stream->last - stream->first + 1);
    return 1;
}

/* To the next token, behind a label, or -1: no history is kept. 0: that was the last. */
static inline int stream_step(const Decoder *d, Stream *stream, int32_t label) {
    int step = d->right_to_left ? -1 : 1;
    if (label >= 0) {
        for (int h = MAX_HISTORY - 1; h > 0; h--) stream->past[h] = stream->past[h - 1];
        stream->past[0] = label;
    }
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

/* ---- beams ---- */

#define BEAMS_SIDE_BY_SIDE 6
#define FAST_BEAM 8 /* states, at most */
#define BEAM_LABELS 64
#define BEAM_RANKS (FAST_BEAM * FAST_BEAM)
#define BEAM_UNIT (BEAM_LABELS * BEAM_RANKS)

/* A sentence that a beam goes through. A group are the states that remember the same but for the label
 * farthest back: of their extensions by one label only the best counts.
 *
 * What is to be taken first is the largest number: BEAM_UNIT times the score; below that 63 less the
 * label, which states do not have; then 7 less the first state of the group, and 7 less the state. */
typedef struct {
    Stream stream; /* but for its past */
    int n;         /* states, the best first */
    int64_t ranks[FAST_BEAM];
    uint64_t past[FAST_BEAM]; /* labels, a byte each, the last one lowest */
} BeamStream;

static inline int32_t beam_label(int64_t rank) {
    return BEAM_LABELS - 1 - (int32_t)((rank & (BEAM_UNIT - 1)) / BEAM_RANKS);
}

static inline int beam_group(int64_t rank) {
    return FAST_BEAM - 1 - (int)((rank & (BEAM_RANKS - 1)) / FAST_BEAM);
}

/* A stream is where the labels before were these. */
static ALWAYS_INLINE void stream_remember(const Decoder *d, Stream *stream, uint64_t past) {
    stream->past[0] = (int32_t)(past & 255);
    stream->past[1] = (int32_t)(past >> 8 & 255);
    for (int32_t k = 2; k < d->layout.program->depth; k++)
        stream->past[k] = (int32_t)(past >> 8 * k & 255);
}

/* Is the decoder's beam searched by kernel.h, where no token has labels already? */
static inline int has_fast_beam(const Decoder *d) {
    return d->layout.dense && d->beam > 1 && d->beam <= FAST_BEAM;
}

static inline int beam_start(const Decoder *d, const Worker *w, BeamStream *b, int64_t *next) {
    if (!stream_start(d, w, &b->stream, next)) return 0;
    b->n = 1;
    b->ranks[0] = BEAM_RANKS - 1;
    b->past[0] = (uint64_t)no_label(d) * 0x0101010101010101;
    return 1;
}

/* What was chosen becomes the states; where each came from is written to `back`. */
static inline void beam_take(const Decoder *d, BeamStream *b, const int64_t *chosen, int n,
                             uint16_t *back) {
    const int32_t depth = d->layout.program->depth;
    const uint64_t same = depth > 1 ? ((uint64_t)1 << 8 * (depth - 1)) - 1 : 0;
    uint64_t past[FAST_BEAM];
    memcpy(past, b->past, sizeof past);
    b->n = n;
    for (int s = 0; s < n; s++) {
        const int parent = FAST_BEAM - 1 - (int)(chosen[s] & (FAST_BEAM - 1));
        const int32_t label = beam_label(chosen[s]);
        int group = 0;
        b->past[s] = past[parent] << 8 | (uint64_t)label;
        back[s] = (uint16_t)(label * FAST_BEAM + parent);
        while ((b->past[group] ^ b->past[s]) & same) group++;
        b->ranks[s] = (chosen[s] & -(int64_t)BEAM_UNIT) + (FAST_BEAM - 1 - group) * FAST_BEAM +
                      FAST_BEAM - 1 - s;
    }
}

#define TYPES_AHEAD 8 /* tokens between fetching a type's vectors and adding them */
#define CACHE_LINE 64
#define HELD_SOURCES 8 /* vectors of a token for which the place of their types is held */

static inline int32_t forced_label(const Decoder *d, const Worker *w, const Stream *stream) {
    if (!is_open_token(w, stream->token)) return w->settled[stream->token];
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

/* Keys of history templates that have no table of their own, as the table has them, whose buckets were
 * fetched. */
#define OPEN_ASKED 16
typedef struct {
    int32_t n, next; /* keys; the template after theirs */
    uint64_t keys[OPEN_ASKED];
} OpenKeys;

/* Make the next keys; none where all were made. */
static inline void ask_open(const Decoder *d, const TokenView *view, OpenKeys *asked) {
    const CacheLayout *l = &d->layout;
    const FrozenTable *t = l->table;
    const KeyFilter filter = d->open_filter;
    for (asked->n = 0; asked->next < d->n_open && asked->n < OPEN_ASKED; asked->next++) {
        const uint64_t own =
            frozen_key(t, token_key(l->program, d->open_templates[asked->next], view));
        if (filter.words && !filter_passes(&filter, own)) continue;
        PREFETCH(&t->buckets[frozen_start(t, own)]);
        asked->keys[asked->n++] = own;
    }
}

/* Add the rows of those that were made, and of all after them. */
static inline void add_asked(const Decoder *d, const TokenView *view, OpenKeys *asked,
                             char *scores) {
    const FrozenTable *t = d->layout.table;
    for (; asked->n; ask_open(d, view, asked))
        for (int32_t k = 0; k < asked->n; k++) {
            const uint32_t row = frozen_sure(t, asked->keys[k], frozen_guess(t, asked->keys[k]));
            if (row) add_row(&d->layout, row, scores);
        }
}

static inline void add_open(const Decoder *d, const TokenView *view, char *scores) {
    OpenKeys asked = {.n = 0};
    ask_open(d, view, &asked);
    add_asked(d, view, &asked, scores);
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
            if (!w->settles && j >= high && j < n + low) continue;
            place->groups = 0;
            for (int32_t g = 0; g < p->n_groups; g++) {
                const int64_t token = j - p->offsets[g];
                if (token >= 0 && token < n && is_open_token(w, begin + token))
                    place->groups |= (uint32_t)1 << g;
            }
            count -= !place->groups;
        }
    }
    return count;
}
