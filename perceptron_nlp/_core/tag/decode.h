/* Tagging a batch of sentences with a frozen model, in three passes:
 *
 *   1. types    every string -> its type in the worker's cache (batch.h)
 *   2. static   scores[token][label] = sum over what the words say (vectors of types, vectors of
 *               pairs of types, then other templates over several words)
 *   3. labels   token after token: add what the labels just given say, take the best
 *
 * Passes 2 and 3 are compiled for scores of 16 bits (where no sum can leave them) in up to three
 * forms, and for scores of 32 bits (kernel.h); all give the same labels. With more than
 * DENSE_LABELS labels there are no vectors, and one loop does both. */
#ifndef PERCEPTRON_NLP_DECODE_H
#define PERCEPTRON_NLP_DECODE_H

#include "tag/streams.h"

/* ---- forms of the dense passes ---- */

#define KERNEL(name) name##_wide
#define KERNEL_TARGET
#define MOST_USED 1
#define SCORE int32_t
#define LOWEST INT32_MIN
#define PART PlainInts
#define PART_ADD PLAIN_ADD
#define PART_TAKE PLAIN_TAKE
#define PART_DROP(parts, n_parts, label) ((SCORE *)(void *)(parts))[label] = LOWEST
#define PART_ROW add_packed_ints
#define PART_BEST best_plain_ints
#include "tag/kernel.h"

#define KERNEL(name) name##_plain
#define KERNEL_TARGET
#define MOST_USED !HAS_SHORT_LANES
#define SCORE int16_t
#define LOWEST INT16_MIN
#define PART PlainShorts
#define PART_ADD PLAIN_ADD
#define PART_TAKE PLAIN_TAKE
#define PART_DROP(parts, n_parts, label) ((SCORE *)(void *)(parts))[label] = LOWEST
#define PART_ROW add_packed_plain
#define PART_BEST best_plain_shorts
#include "tag/kernel.h"

#if HAS_SHORT_LANES
#define KERNEL(name) name##_lanes
#define KERNEL_TARGET
#define MOST_USED !AVX2_AT_RUN_TIME
#define SCORE int16_t
#define LOWEST INT16_MIN
#define PART Shorts
#define PART_ADD VECTOR_ADD
#define PART_TAKE VECTOR_TAKE
#define PART_DROP DROP_SHORT
#define PART_ROW add_packed_shorts
#define PART_BEST best_shorts
#include "tag/kernel.h"
#endif

#if HAS_SHORT_LANES && AVX2_AT_RUN_TIME
#define KERNEL(name) name##_avx2
#define KERNEL_TARGET TARGET_AVX2
#define MOST_USED 1
#define SCORE int16_t
#define LOWEST INT16_MIN
#define PART Shorts
#define PART_ADD VECTOR_ADD
#define PART_TAKE VECTOR_TAKE
#define PART_DROP DROP_SHORT
#define PART_ROW add_packed_avx2
#define PART_BEST best_shorts_avx2
#include "tag/kernel.h"
#endif

/* ---- many labels: the sparse rows of the table, summed token after token ---- */

/* The rows of the words of one token: fetched, or, with scores, added to these. */
static ALWAYS_INLINE void each_word_row(const Decoder *d, const Worker *w, const TokenView *view,
                                        int32_t *scores) {
    const Program *p = d->layout.program;
    const FrozenTable *t = d->layout.table;
    for (int32_t s = 0; s < p->n_slots; s++) {
        const SlotSpec *slot = &p->slots[s];
        if (!slot_applies(slot->condition, view->first, view->last)) continue;
        int32_t type = view->types[slot->column][slot->offset];
        const uint32_t *range =
            w->cache.list_starts + (size_t)type * (size_t)p->n_slots + (size_t)s;
        for (uint32_t i = range[0]; i < range[1]; i++) {
            if (scores)
                add_cells(t, w->cache.rows[i], scores);
            else
                frozen_prefetch_row(t, w->cache.rows[i]);
        }
    }
}

#define ROWS_ASKED 32

/* Add what words say of a token to its scores, and the first of static and then open templates. Rows
 * that no cache names are looked for together: all buckets, then all rows. */
static inline void add_rows_of(const Decoder *d, const Worker *w, const TokenView *view,
                               int32_t n_templates, int32_t *scores) {
    const FrozenTable *t = d->layout.table;
    uint64_t keys[ROWS_ASKED];
    uint32_t rows[ROWS_ASKED];
    int32_t from = 0;
    do {
        const int32_t left = n_templates - from, n = left < ROWS_ASKED ? left : ROWS_ASKED;
        for (int32_t k = 0; k < n; k++) {
            const int32_t at = from + k;
            const int32_t template_id =
                at < d->n_static ? d->static_templates[at] : d->open_templates[at - d->n_static];
            keys[k] = fresh_key(t, token_key(d->layout.program, template_id, view));
        }
        if (!from) each_word_row(d, w, view, NULL);
        for (int32_t k = 0; k < n; k++) {
            rows[k] = frozen_guess(t, keys[k]);
            frozen_prefetch_row(t, rows[k]);
        }
        if (!from) each_word_row(d, w, view, scores);
        for (int32_t k = 0; k < n; k++) {
            const uint32_t row = frozen_sure(t, keys[k], rows[k]);
            if (row) add_cells(t, row, scores);
        }
        from += n;
    } while (from < n_templates);
}

static inline void add_all_rows(const Decoder *d, const Worker *w, const TokenView *view,
                                int32_t *scores) {
    add_rows_of(d, w, view, d->n_static + d->n_open, scores);
}

/* The best label of a token, of those that `forced` leaves. */
static inline int32_t tag_token_sparse(const Decoder *d, Worker *w, const Stream *stream,
                                       int32_t forced) {
    const CacheLayout *l = &d->layout;
    const int32_t n = l->table->n_labels;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    int32_t *scores = (int32_t *)(void *)token_scores(d, w, stream->token);
    TokenView view = stream_view(d, w, stream, past, types);
    memset(scores, 0, (size_t)n * sizeof *scores);
    add_all_rows(d, w, &view, scores);
    return forced == FREE ? first_largest(scores, n)
                          : first_largest_within(scores, n, mask_of(l, forced));
}

static inline int tag_words_sparse(const Decoder *d, struct Worker *w) {
    Stream stream;
    int64_t next = 0;
    while (stream_start(d, w, &stream, &next)) {
        int32_t label;
        do {
            label = forced_label(d, w, &stream);
            if (label < 0) label = tag_token_sparse(d, w, &stream, label);
            w->labels[stream.token] = (uint16_t)label;
        } while (stream_step(d, &stream, label));
    }
    return 0;
}

/* ---- all of it ---- */

#define USE_FORM(d, form)                         \
    do {                                          \
        (d)->tag_words = tag_words_##form;        \
        (d)->sum_words = sum_words_##form;        \
        (d)->layout.sum_fresh = sum_fresh_##form; \
    } while (0)

/* Choose the form of the passes: the widest that this processor has, or plain C on request. */
static inline void choose_form(Decoder *d, int plain) {
    (void)plain;
    if (!d->layout.dense) {
        d->tag_words = tag_words_sparse;
    } else if (!d->layout.narrow) {
        USE_FORM(d, wide);
    } else {
        USE_FORM(d, plain);
#if HAS_SHORT_LANES
        if (!plain) USE_FORM(d, lanes);
#if AVX2_AT_RUN_TIME
        if (!plain && cpu_has_avx2()) USE_FORM(d, avx2);
#endif
#endif
    }
}

/* Add what the labels just given say, for search.h: `past` holds their numbers, view->past their hashes.
 * -1: no memory. */
static inline int add_history(const Decoder *d, Worker *w, const TokenView *view,
                              const int32_t *past, char *scores) {
    const CacheLayout *l = &d->layout;
    const size_t n = (size_t)l->table->n_labels + 1, bytes = (size_t)l->stride * score_bytes(l);
    const int parts = l->stride / LANES;
    void (*add)(char *, const char *, int) = l->narrow ? add_plain : add_wide;
    if (d->tag_table)
        add(scores, (const char *)d->tag_table + ((size_t)past[0] * n + (size_t)past[1]) * bytes,
            parts);
    if (l->n_transitions) {
        uint32_t *transition =
            w->cache.transitions + (size_t)view->types[0][0] * n + (size_t)past[0];
        if (*transition == TRANSITION_UNKNOWN &&
            transition_fill(l, &w->cache, view, past[0], transition) < 0)
            return -1;
        add(scores, transition_vector(l, &w->cache, *transition), parts);
    }
    add_open(d, view, scores);
    return 0;
}

/* Bytes that a worker's caches take for each word. */
static inline size_t worker_cost(const Decoder *d) {
    return type_share(&d->layout) + pair_cost(&d->pairs, &d->layout);
}

/* Everything of a batch before its labels, which get one place a token; w->scores has their
 * scores. -1: no memory. */
static inline int prepare_batch(const Decoder *d, Worker *w) {
    const CacheLayout *l = &d->layout;
    size_t scored = l->dense || w->keep_scores ? (size_t)w->n_tokens : 1;
    size_t bytes = scored * (size_t)l->stride * score_bytes(l);
    if (bytes > w->scores_room) {
        if (grow_array(&w->scores, bytes, 1) < 0) return -1;
        w->scores_room = bytes;
    }
    /* Words of one label are not scored. */
    if (w->keep_scores && !l->dense) memset(w->scores, 0, bytes);
    if (w->n_tokens > w->labels_room) {
        if (grow_array(&w->labels, (size_t)w->n_tokens, sizeof(uint16_t)) < 0) return -1;
        w->labels_room = w->n_tokens;
    }
    const size_t back = has_fast_beam(d) ? (size_t)w->n_tokens * (size_t)d->beam : 0;
    if (back > w->back_room) {
        if (grow_array(&w->back, back, sizeof *w->back) < 0) return -1;
        w->back_room = back;
    }
    if (w->n_tokens == 0) return 0;
    if (d->pairs.n_groups && !l->spread.n_units && choose_pair_way(&w->pairs, &d->pairs, l) < 0)
        return -1;
    return find_types(d, w);
}

#endif
