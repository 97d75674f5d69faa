/* Tagging a batch of sentences with a frozen model, in three passes:
 *
 *   1. types    every string -> its type in the worker's cache (batch.h)
 *   2. static   scores[token][label] = sum over what the words say (vectors of types, vectors of
 *               pairs of types, then other templates over several words)
 *   3. labels   token after token: add what the labels just given say, take the best
 *
 * Passes 2 and 3 are compiled for scores of 16 bits (where no sum can leave them) in up to three
 * forms, and for scores of 32 bits (kernel.h); all give the same labels. Where there are more than
 * DENSE_LABELS labels, or parts of these, there are no vectors (rows.h). */
#pragma once

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
    d->layout.add_sum = add_sum_plain;
#if AVX2_AT_RUN_TIME
    if (!plain && cpu_has_avx2()) d->layout.add_sum = add_sum_avx2;
#endif
    if (!d->layout.dense) return; /* rows.h */
    if (!d->layout.narrow) {
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

/* Everything of a batch before its labels, which get one place a token; w->scores has their
 * scores. -1: no memory. */
static inline int prepare_batch(const Decoder *d, Worker *w) {
    const CacheLayout *l = &d->layout;
    size_t scored = l->dense || w->keep_scores ? (size_t)w->n_tokens : 1;
    size_t bytes = scored * (size_t)l->stride * score_bytes(l);
    if (array_room(&w->scores, &w->scores_room, bytes, 1) < 0) return -1;
    /* Words of one label are not scored. */
    if (w->keep_scores && !l->dense) memset(w->scores, 0, bytes);
    const size_t n_tokens = (size_t)w->n_tokens;
    if (array_room(&w->labels, &w->labels_room, n_tokens, sizeof *w->labels) < 0) return -1;
    const size_t back = has_fast_beam(d) ? (size_t)w->n_tokens * (size_t)d->beam : 0;
    if (array_room(&w->back, &w->back_room, back, sizeof *w->back) < 0) return -1;
    if (w->n_tokens == 0) return 0;
    if (l->dense && d->pairs.n_templates && pair_blocks_open(&w->pairs, &d->pairs) < 0) return -1;
    return find_types(d, w);
}
