/* Tagging where some tokens have their label already: pass 3 of decode.h, one sentence after the
 * other, in plain C. Without kept labels it gives what the fast forms give. */
#ifndef PERCEPTRON_NLP_KEPT_H
#define PERCEPTRON_NLP_KEPT_H

#include "tag/decode.h"

/* The best label of a set for a token whose scores are there; the first of equal ones. */
static inline int32_t best_kept(const Decoder *d, const Worker *w, int64_t token, int32_t set) {
    const CacheLayout *l = &d->layout;
    const size_t at = (size_t)token * (size_t)l->stride;
    int32_t best = -1, high = 0;
    for (int64_t i = w->kept.starts[set]; i < w->kept.starts[set + 1]; i++) {
        int32_t label = w->kept.labels[i];
        int32_t score = l->narrow ? ((const int16_t *)(const void *)w->scores)[at + (size_t)label]
                                  : ((const int32_t *)(const void *)w->scores)[at + (size_t)label];
        if (best < 0 || score > high) {
            best = label;
            high = score;
        }
    }
    return best;
}

/* -1: no memory. Scores of the token stay, since keep_scores is on. */
static inline int32_t tag_token_plainly(const Decoder *d, Worker *w, const Lane *lane,
                                        int32_t forced) {
    const CacheLayout *l = &d->layout;
    if (!l->dense) return tag_token_listed(d, w, lane, forced);
    const int parts = l->stride / LANES, mask_words = l->table->mask_words;
    if (l->narrow) return tag_token_plain(d, w, lane, forced, parts, mask_words);
    return tag_token_wide(d, w, lane, forced, parts, mask_words);
}

/* -1: no memory. */
static inline int32_t keep_or_tag(const Decoder *d, Worker *w, const Lane *lane) {
    int32_t set = kept_set(w, lane->token);
    if (set == KEPT_UNKNOWN) return d->layout.table->n_labels;
    if (set >= 0 && w->kept.starts[set + 1] - w->kept.starts[set] == 1)
        return w->kept.labels[w->kept.starts[set]];
    int32_t label = set >= 0 ? FREE : forced_label(d, w, lane);
    if (label < 0) label = tag_token_plainly(d, w, lane, label);
    return set >= 0 && label >= 0 ? best_kept(d, w, lane->token, set) : label;
}

/* Label the batch greedily around the labels that are kept; keep_scores is on. -1: no memory. */
static inline int tag_around_kept(const Decoder *d, Worker *w) {
    const CacheLayout *l = &d->layout;
    Lane lane;
    int64_t next = 0;
    if (prepare_batch(d, w) < 0) return -1;
    if (l->dense && l->narrow) sum_static_plain(d, w, l->stride / LANES, l->table->mask_words);
    if (l->dense && !l->narrow) sum_static_wide(d, w, l->stride / LANES, l->table->mask_words);
    while (lane_start(d, w, &lane, &next)) {
        int32_t label;
        do {
            label = keep_or_tag(d, w, &lane);
            if (label < 0) return -1;
            w->labels[lane.token] = (uint16_t)label;
        } while (lane_step(d, &lane, label));
    }
    return 0;
}

#endif
