/* Tagging with labels made of parts: pass 3 of decode.h where weights belong to parts (parts.h). */
#ifndef PERCEPTRON_NLP_COMPONENTS_H
#define PERCEPTRON_NLP_COMPONENTS_H

#include "tag/decode.h"

/* The best label of a set, by the scores of its parts; the first of equal ones. */
static inline int32_t best_of_set(const Parts *x, const Worker *w, int32_t set,
                                  const int32_t *part_scores, int32_t *sums) {
    int32_t best = w->constraints.labels[w->constraints.starts[set]];
    whole_tree_sums(&x->parts, 0, x->parts.n, part_scores, sums);
    for (int64_t i = w->constraints.starts[set]; i < w->constraints.starts[set + 1]; i++)
        if (sums[x->leaf[w->constraints.labels[i]]] > sums[x->leaf[best]])
            best = w->constraints.labels[i];
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
static inline void fetch_word_rows(const Decoder *d, const Worker *w, int64_t place) {
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
            fetch_word_rows(d, w,
                            padded_place(d, sentence, begin + i + (d->right_to_left ? -1 : 1)));
        TokenView view =
            token_view(d, w, padded_place(d, sentence, begin + i), i == 0, i == n - 1, past, types);
        int32_t set = constraint_of(w, begin + i);
        int32_t forced = set < 0 && l->forces ? w->cache.entries[types[0][0]].forced : FREE;
        if (set < 0 && !is_open_token(w, begin + i)) forced = w->settled[begin + i];
        int32_t label = set == UNKNOWN_LABEL ? d->parts->n_labels : forced;
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
    if (d->layout.dense) d->sum_words(d, w);
    for (int64_t s = 0; s < w->n_sentences; s++) tag_parts_of_sentence(d, w, s, scratch);
    free(scratch);
    return 0;
}

#endif
