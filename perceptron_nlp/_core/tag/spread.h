/* Tagging with labels made of parts whose weights are spread over units (model/units.h): pass 2 and
 * 3 of decode.h. What the words of a token say one by one are vectors of units, summed once for
 * each type and place, when a token is labeled that looks there; the rows of other templates are spread where they are met, and those met lately are
 * remembered. Where units are labels, only blocks that may hold the best one are summed.
 *
 * What templates over several words say does not depend on labels: their rows are found first. Each
 * token then waits for the label before, so several sentences go side by side, and what a stream looks
 * for was fetched when it was left. */
#ifndef PERCEPTRON_NLP_TAG_SPREAD_H
#define PERCEPTRON_NLP_TAG_SPREAD_H

#include "tag/components.h"

#define MOST_SPREAD_OPEN 16   /* history templates */
#define MOST_SPREAD_STATIC 64 /* templates over several words */
#define MOST_SPREAD_SLOTS 64  /* of templates over one word */
/* Rows of a neighbor that are remembered one by one, not as a vector of the neighbor. */
#define FEW_ROWS 2
/* Vectors of a token: the first, two for each slot, one for each row, and that of what was spilt. */
#define MOST_SAID (2 + 2 * FEW_ROWS * MOST_SPREAD_SLOTS + MOST_SPREAD_OPEN + MOST_SPREAD_STATIC)

/* Does a decoder tag in this way? */
static inline int is_spread(const Decoder *d) {
    return d->layout.spread.n_units > 0;
}

static inline int32_t spread_statics(const Decoder *d) {
    return d->pairs.n_templates + d->n_static;
}

/* Room for the rows of a batch, and for rows that are remembered. -1: no memory. */
static inline int spread_ready(const Decoder *d, Worker *w) {
    const CacheLayout *l = &d->layout;
    const size_t bytes = (size_t)l->stride * score_bytes(l);
    const size_t n = (size_t)w->n_tokens * (size_t)spread_statics(d);
    SpreadRows *r = &w->spread;
    if (d->pairs.n_groups && !w->pairs.seen && pair_blocks_open(&w->pairs, &d->pairs) < 0)
        return -1;
    if (!r->rows) {
        r->bits = 6;
        while ((bytes << (r->bits + 1)) <= SPREAD_BYTES) r->bits++;
        r->rows = (uint32_t *)calloc((size_t)1 << r->bits, sizeof *r->rows);
        r->vectors = (char *)malloc(bytes << r->bits);
        if (!r->rows || !r->vectors) {
            spread_rows_close(r);
            return -1;
        }
    }
    if (n > r->found_room) {
        if (grow_array(&r->found, n + n / 4, sizeof *r->found) < 0) return -1;
        r->found_room = n + n / 4;
    }
    if (n) memset(r->found, 0, n * sizeof *r->found);
    return 0;
}

/* The rows of templates over pairs, each at the first free place of its token. */
static inline void find_pair_rows(const Decoder *d, Worker *w) {
    const PairLayout *p = &d->pairs;
    const FrozenTable *t = d->layout.table;
    const size_t n_statics = (size_t)spread_statics(d);
    PairBlock *b = &w->pairs.blocks[0], *soon = &w->pairs.blocks[1];
    int64_t sentence = 0, next = 0;
    soon->count = take_pairs(d, w, &sentence, &next, soon->places);
    while (soon->count) {
        PairBlock *taken = b;
        b = soon;
        soon = taken;
        soon->count = take_pairs(d, w, &sentence, &next, soon->places);
        fetch_halves(soon, &d->layout, &w->cache);
        make_pair_keys(b, p, &d->layout, &w->cache);
        filter_pair_keys(b, p, t, 0);
        guess_pair_rows(b, t);
        for (int32_t i = 0; i < b->n; i++) {
            const uint32_t row = frozen_sure(t, b->keys[i], b->rows[i]);
            uint32_t *found = w->spread.found + (size_t)b->targets[i].token * n_statics;
            while (row && *found) found++;
            if (row) *found = row;
        }
    }
}

/* The rows of the other templates over several words. */
static inline void find_other_rows(const Decoder *d, Worker *w) {
    const FrozenTable *t = d->layout.table;
    const int32_t n_statics = spread_statics(d);
    const int32_t *types[MAX_COLUMNS];
    uint64_t keys[MOST_SPREAD_STATIC];
    for (int64_t s = 0; s < w->n_sentences; s++)
        for (int64_t i = w->starts[s]; i < w->starts[s + 1]; i++) {
            TokenView view = token_view(d, w, padded_place(d, s, i), i == w->starts[s],
                                        i == w->starts[s + 1] - 1, NULL, types);
            uint32_t *found = w->spread.found + i * n_statics + d->pairs.n_templates;
            for (int32_t k = 0; k < d->n_static; k++)
                keys[k] = fresh_key(t, token_key(d->layout.program, d->static_templates[k], &view));
            for (int32_t k = 0; k < d->n_static; k++)
                found[k] = frozen_sure(t, keys[k], frozen_guess(t, keys[k]));
        }
}

/* A sentence being labeled, at one of its tokens. */
typedef struct SpreadStream {
    Stream stream;
    uint64_t keys[MOST_SPREAD_OPEN]; /* of history templates, as the table has them; or … */
    uint32_t none;                   /* … a bit for each that the table surely has not */
} SpreadStream;

/* Make and fetch what the labels before a token ask for. */
static inline void spread_ask(const Decoder *d, Worker *w, SpreadStream *x) {
    const CacheLayout *l = &d->layout;
    const FrozenTable *t = l->table;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    TokenView view = stream_view(d, w, &x->stream, past, types);
    x->none = 0;
    for (int32_t k = 0; k < d->n_open; k++) {
        const uint64_t own = frozen_key(t, token_key(l->program, d->open_templates[k], &view));
        const int may_be = !l->spread.filter.words || filter_passes(&l->spread.filter, own);
        x->keys[k] = own;
        x->none |= (uint32_t)!may_be << k;
        if (may_be) PREFETCH(&t->buckets[frozen_start(t, own)]);
    }
}

/* The number of a vector of a type in the pool. */
static ALWAYS_INLINE uint32_t *spread_number(const CacheLayout *l, const TypeCache *c, int32_t type,
                                             int32_t v) {
    return c->transitions + (size_t)type * (size_t)l->n_vectors + (size_t)v;
}

/* Rows of a slot of a type. */
static ALWAYS_INLINE const uint32_t *slot_rows(const CacheLayout *l, const TypeCache *c,
                                               int32_t type, int32_t slot, uint32_t *n) {
    const uint32_t *range = c->list_starts + (size_t)type * (size_t)l->program->n_slots + slot;
    *n = range[1] - range[0];
    return c->rows + range[0];
}

/* Where a row stands among those that were met lately, if it was. */
static ALWAYS_INLINE size_t spread_place(const SpreadRows *r, uint32_t row) {
    return (size_t)((row * 0x9E3779B1u) >> (32 - r->bits));
}

/* Fetch of the vectors that the next token looks at what is needed first, the highest of blocks; and of
 * those that are still to be made, the rows. */
static inline void spread_fetch(const Decoder *d, const Worker *w, const Stream *stream) {
    const CacheLayout *l = &d->layout;
    const SpreadRows *r = &w->spread;
    const size_t width = (size_t)l->spread.width * score_bytes(l);
    const size_t bytes = (size_t)l->stride * score_bytes(l);
    const int32_t n_statics = spread_statics(d);
    const uint32_t *found = r->found + stream->token * n_statics;
    for (int32_t k = 0; k < n_statics; k++)
        if (found[k]) PREFETCH(r->vectors + spread_place(r, found[k]) * bytes + width);
    for (int32_t v = 0; v < l->n_always; v++) {
        const int32_t type = w->types[l->vectors[v].column][stream->place + l->vectors[v].offset];
        const uint32_t number = *spread_number(l, &w->cache, type, v);
        if (number == TRANSITION_UNKNOWN) {
            for (int32_t s = 0; s < l->program->n_slots; s++) {
                uint32_t n;
                if (l->slot_vector[s] != v) continue;
                const uint32_t *rows = slot_rows(l, &w->cache, type, s, &n);
                for (uint32_t i = 0; i < n; i++) {
                    frozen_prefetch_row(l->table, rows[i]);
                    if (n <= FEW_ROWS)
                        PREFETCH(r->vectors + spread_place(r, rows[i]) * bytes + width);
                }
            }
        } else if (number) {
            PREFETCH(transition_vector(l, &w->cache, number) + width);
        }
    }
}

#define BOUNDS_AT_ONCE 8
#if VECTOR_EXTENSIONS
typedef int32_t Bounds VECTOR_OF(BOUNDS_AT_ONCE * 4, 4);
#endif

#define KERNEL(name) name##_wide
#define KERNEL_TARGET
#define SCORE int32_t
#define SUM uint32_t
#include "tag/spreadkernel.h"

#define KERNEL(name) name##_narrow
#define KERNEL_TARGET
#define SCORE int16_t
#define SUM uint16_t
#include "tag/spreadkernel.h"

#if HAS_SHORT_LANES && AVX2_AT_RUN_TIME
#define KERNEL(name) name##_wide_avx2
#define KERNEL_TARGET TARGET_AVX2
#define SCORE int32_t
#define SUM uint32_t
#include "tag/spreadkernel.h"

#define KERNEL(name) name##_narrow_avx2
#define KERNEL_TARGET TARGET_AVX2
#define SCORE int16_t
#define SUM uint16_t
#include "tag/spreadkernel.h"
#endif

#define USE_SPREAD(d, form)                 \
    do {                                    \
        (d)->tag_words = tag_spread_##form; \
        (d)->sum_again = spread_sum_##form; \
    } while (0)

/* As choose_form, of decoders whose weights are spread. */
static inline void choose_spread(Decoder *d, int plain) {
    (void)plain;
    if (d->layout.narrow)
        USE_SPREAD(d, narrow);
    else
        USE_SPREAD(d, wide);
#if HAS_SHORT_LANES && AVX2_AT_RUN_TIME
    if (plain || !cpu_has_avx2()) return;
    if (d->layout.narrow)
        USE_SPREAD(d, narrow_avx2);
    else
        USE_SPREAD(d, wide_avx2);
#endif
}

/* The scores of a token's units after the labels that the batch has got, into `sum`. */
static inline void spread_again(const Decoder *d, Worker *w, int64_t sentence, int64_t token,
                                void *sum) {
    const int64_t first = w->starts[sentence], end = w->starts[sentence + 1];
    SpreadStream x;
    memset(&x, 0, sizeof x);
    x.stream.token = token;
    x.stream.first = first;
    x.stream.last = end - 1;
    x.stream.place = padded_place(d, sentence, token);
    x.stream.type = w->types[0] + x.stream.place;
    for (int k = 0; k < MAX_HISTORY; k++) {
        const int64_t before = d->right_to_left ? token + k + 1 : token - k - 1;
        x.stream.past[k] = before < first || before >= end ? d->parts->n_labels : w->labels[before];
    }
    spread_ask(d, w, &x);
    d->sum_again(d, w, &x, sum);
}

#endif
