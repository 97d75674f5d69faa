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
    Lane lane = {0};
    int64_t next = 0;
    if (prepare_batch(d, w) < 0) return -1;
    if (l->dense) sum_static(d, w);
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

/* Tagging with labels made of parts: pass 3 of decode.h where weights belong to parts (parts.h). */

/* The best label of a set, by the scores of its parts; the first of equal ones. */
static inline int32_t best_of_set(const Parts *x, const Worker *w, int32_t set,
                                  const int32_t *part_scores, int32_t *sums) {
    int32_t best = w->kept.labels[w->kept.starts[set]];
    whole_tree_sums(&x->parts, 0, x->parts.n, part_scores, sums);
    for (int64_t i = w->kept.starts[set]; i < w->kept.starts[set + 1]; i++)
        if (sums[x->leaf[w->kept.labels[i]]] > sums[x->leaf[best]]) best = w->kept.labels[i];
    return best;
}

/* The best of the labels that a mask leaves. */
static inline int32_t best_within(const Parts *x, const uint8_t *mask, const int32_t *part_scores,
                                  int32_t *sums) {
    int32_t best = -1;
    whole_tree_sums(&x->parts, 0, x->parts.n, part_scores, sums);
    for (int32_t k = 0; k < x->n_labels; k++)
        if (mask[k] && (best < 0 || sums[x->leaf[k]] > sums[x->leaf[best]])) best = k;
    return best;
}

/* Rows of the words of a token that comes soon are fetched. */
static inline void fetch_listed_rows(const Decoder *d, const Worker *w, int64_t place) {
    const Program *p = d->layout.program;
    for (int32_t s = 0; s < p->n_slots; s++) {
        const SlotSpec *slot = &p->slots[s];
        const int32_t type = w->types[slot->column][place + slot->offset];
        const uint32_t *range =
            w->cache.list_starts + (size_t)type * (size_t)p->n_slots + (size_t)s;
        for (uint32_t i = range[0]; i < range[1]; i++)
            frozen_prefetch_row(d->layout.table, w->cache.rows[i]);
    }
}

#define ROWS_ASKED 64

/* Add what all templates say of a token to its scores. What is not listed is looked for side by side:
 * all buckets, then all rows. */
static inline void add_all_rows(const Decoder *d, Worker *w, const TokenView *view,
                                int32_t *scores) {
    const Program *p = d->layout.program;
    const FrozenTable *t = d->layout.table;
    const int32_t n = d->n_static + d->n_open;
    uint64_t keys[ROWS_ASKED];
    uint32_t rows[ROWS_ASKED];
    if (n > ROWS_ASKED) {
        add_listed_rows(d, w, view, scores);
        add_open(d, view, (char *)scores);
        return;
    }
    for (int32_t k = 0; k < n; k++) {
        const int32_t template_id =
            k < d->n_static ? d->static_templates[k] : d->open_templates[k - d->n_static];
        keys[k] = fresh_key(t, token_key(p, template_id, view));
    }
    Listing x;
    x.scores = scores;
    x.n_met = x.most_met = 0;
    x.complete = x.n_waiting = 0;
    for (int32_t s = 0; s < p->n_slots; s++) {
        const SlotSpec *slot = &p->slots[s];
        if (!slot_applies(slot->condition, view->first, view->last)) continue;
        const int32_t type = view->types[slot->column][slot->offset];
        const uint32_t *range =
            w->cache.list_starts + (size_t)type * (size_t)p->n_slots + (size_t)s;
        for (uint32_t i = range[0]; i < range[1]; i++) listing_take(&x, t, w->cache.rows[i]);
    }
    for (int32_t k = 0; k < n; k++) {
        rows[k] = frozen_guess(t, keys[k]);
        frozen_prefetch_row(t, rows[k]);
    }
    for (int32_t k = 0; k < n; k++) {
        const uint32_t row = frozen_sure(t, keys[k], rows[k]);
        if (row) listing_take(&x, t, row);
    }
}

/* Label one sentence; scratch is that of a search. With keep_scores, the scores of the parts of
 * each token stay. */
static inline void tag_parts_of_sentence(const Decoder *d, Worker *w, int64_t sentence,
                                         int32_t *scratch) {
    const CacheLayout *l = &d->layout;
    int64_t begin = w->starts[sentence], n = w->starts[sentence + 1] - begin;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    for (int k = 0; k < MAX_HISTORY; k++) past[k] = d->label_hashes[d->parts->n_labels];
    for (int64_t step = 0; step < n; step++) {
        int64_t i = d->right_to_left ? n - 1 - step : step;
        if (!l->dense && step + 1 < n)
            fetch_listed_rows(d, w,
                              padded_place(d, sentence, begin + i + (d->right_to_left ? -1 : 1)));
        TokenView view =
            token_view(d, w, padded_place(d, sentence, begin + i), i == 0, i == n - 1, past, types);
        int32_t set = kept_set(w, begin + i);
        int32_t forced = set < 0 && l->forces ? w->cache.entries[types[0][0]].forced : FREE;
        int32_t label = set == KEPT_UNKNOWN ? d->parts->n_labels : forced;
        if (label < 0) {
            int32_t *scores = (int32_t *)(void *)token_scores(d, w, begin + i);
            if (!l->dense) {
                memset(scores, 0, (size_t)l->stride * sizeof *scores);
                add_all_rows(d, w, &view, scores);
            } else {
                add_open(d, &view, (char *)scores);
            }
            if (set >= 0)
                label = best_of_set(d->parts, w, set, scores, scratch);
            else if (forced == FREE)
                label = whole_best_but(d->parts, scores, -1, scratch);
            else
                label = best_within(d->parts, mask_of(l, forced), scores, scratch);
        }
        w->labels[begin + i] = (uint16_t)label;
        for (int k = MAX_HISTORY - 1; k > 0; k--) past[k] = past[k - 1];
        past[0] = d->label_hashes[label];
    }
}

/* Label the sentences of a batch that is prepared; -1: no memory. */
static inline int tag_parts(const Decoder *d, Worker *w) {
    int32_t *scratch = (int32_t *)malloc((size_t)parts_scratch(d->parts) * sizeof *scratch);
    if (!scratch) return -1;
    if (d->layout.dense) sum_static(d, w);
    for (int64_t s = 0; s < w->n_sentences; s++) tag_parts_of_sentence(d, w, s, scratch);
    free(scratch);
    return 0;
}

#endif
