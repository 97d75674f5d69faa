/* Tagging with many labels: no vectors, but the sparse rows of the weight table themselves, summed
 * token after token. */
#ifndef PERCEPTRON_NLP_SPARSE_H
#define PERCEPTRON_NLP_SPARSE_H

#include "tag/lanes.h"

/* Add the rows of the words of one token to its scores. */
static inline void add_word_rows(const Decoder *d, const Worker *w, const TokenView *view,
                                 int32_t *scores) {
    const Program *p = d->layout.program;
    const FrozenTable *t = d->layout.table;
    for (int32_t s = 0; s < p->n_slots; s++) {
        const SlotSpec *slot = &p->slots[s];
        if (!slot_applies(slot->condition, view->first, view->last)) continue;
        int32_t type = view->types[slot->column][slot->offset];
        const uint32_t *range =
            w->cache.list_starts + (size_t)type * (size_t)p->n_slots + (size_t)s;
        for (uint32_t i = range[0]; i < range[1]; i++) add_cells(t, w->cache.rows[i], scores);
    }
}

/* Add the rows of all templates but those that look at labels. */
static inline void add_static_rows(const Decoder *d, const Worker *w, const TokenView *view,
                                   int32_t *scores) {
    const FrozenTable *t = d->layout.table;
    add_word_rows(d, w, view, scores);
    for (int32_t k = 0; k < d->n_static; k++) {
        int64_t row = frozen_find(t, token_key(d->layout.program, d->static_templates[k], view));
        if (row >= 0) add_cells(t, row, scores);
    }
}

/* The best label of a token, of those that `forced` leaves. */
static inline int32_t tag_token_sparse(const Decoder *d, Worker *w, const Lane *lane,
                                       int32_t forced) {
    const CacheLayout *l = &d->layout;
    const int32_t n = l->table->n_labels;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    int32_t *scores = (int32_t *)(void *)token_scores(d, w, lane->token);
    TokenView view = lane_view(d, w, lane, past, types);
    memset(scores, 0, (size_t)n * sizeof *scores);
    add_static_rows(d, w, &view, scores);
    add_open(d, &view, (char *)scores);
    return forced == FREE ? first_largest(scores, n)
                          : first_largest_within(scores, n, mask_of(l, forced));
}

static inline int tag_words_sparse(const Decoder *d, struct Worker *w) {
    Lane lane;
    int64_t next = 0;
    while (lane_start(d, w, &lane, &next)) {
        int32_t label;
        do {
            label = forced_label(d, w, &lane);
            if (label < 0) label = tag_token_sparse(d, w, &lane, label);
            w->labels[lane.token] = (uint16_t)label;
        } while (lane_step(d, &lane, label));
    }
    return 0;
}

#endif
