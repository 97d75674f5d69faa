/* Tagging by beam search with a frozen model where kernel.h does not: with wide beams, many labels,
 * and where tokens have labels already; then a greedy model is searched by a beam of one.
 *
 * Scores of single tokens are whole numbers of 16 or 32 bits and their sums along a sentence are kept
 * in doubles, which hold whole numbers exactly up to 2^53: so sums are exact here too. */
#pragma once

#include "tag/rows.h"

/* Words of the sentence that is searched, one step after the other. */
typedef struct {
    int64_t begin, n, step, token;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
} Walk;

static inline TokenView walk_view(const Decoder *d, Worker *w, Walk *walk, int64_t sentence,
                                  const int32_t *past) {
    int64_t i = d->right_to_left ? walk->n - 1 - walk->step : walk->step;
    walk->token = walk->begin + i;
    for (int32_t k = 0; k < d->layout.program->depth; k++) walk->past[k] = d->label_hashes[past[k]];
    return token_view(d, w, padded_place(d, sentence, walk->token), i == 0, i == walk->n - 1,
                      walk->past, walk->types);
}

/* Local scores of all states for the token at hand; `sum` has room for one token's scores. -1: no
 * memory. */
static inline int fill_states(const Decoder *d, Worker *w, Walk *walk, int64_t sentence,
                              char *sum) {
    const CacheLayout *l = &d->layout;
    const size_t bytes = (size_t)l->stride * score_bytes(l);
    Beam *b = &w->search;
    char *fixed = token_scores(d, w, walk->token);
    if (!l->dense) {
        TokenView view = walk_view(d, w, walk, sentence, b->states[0].past);
        memset(fixed, 0, bytes);
        add_static_rows(d, w, &view, walk->token, (int32_t *)(void *)fixed);
    }
    for (int32_t s = 0; s < b->n_states; s++) {
        TokenView view = walk_view(d, w, walk, sentence, b->states[s].past);
        memcpy(sum, fixed, bytes);
        if (add_history(d, w, &view, b->states[s].past, sum) < 0) return -1;
        double *local = beam_local(b, s);
        for (int32_t k = 0; k < b->n_labels; k++)
            local[k] = l->narrow ? ((const int16_t *)(const void *)sum)[k]
                                 : ((const int32_t *)(const void *)sum)[k];
    }
    return 0;
}

static inline int32_t walk_forced(const Decoder *d, const Worker *w, const Walk *walk) {
    if (!is_open_token(w, walk->token)) return w->settled[walk->token];
    return d->layout.forces ? w->cache.entries[walk->types[0][0]].forced : FREE;
}

static inline int search_sentence(const Decoder *d, Worker *w, int64_t sentence, char *sum) {
    Beam *b = &w->search;
    Walk walk = {.begin = w->starts[sentence], .n = w->starts[sentence + 1] - w->starts[sentence]};
    if (beam_begin(b, walk.n) < 0) return -1;
    for (walk.step = 0; walk.step < walk.n; walk.step++) {
        walk_view(d, w, &walk, sentence, b->states[0].past);
        int32_t set = constraint_of(w, walk.token);
        if (set == UNKNOWN_LABEL) {
            beam_step_none(b, walk.step);
            continue;
        }
        int32_t forced = set < 0 ? walk_forced(d, w, &walk) : FREE;
        /* Without a choice nothing has to be scored. */
        if (set >= 0 && d->beam == 1 &&
            w->constraints.starts[set + 1] - w->constraints.starts[set] == 1)
            forced = w->constraints.labels[w->constraints.starts[set]];
        if (forced < 0 && fill_states(d, w, &walk, sentence, sum) < 0) return -1;
        for (int32_t s = 0; forced >= 0 && s < b->n_states; s++) beam_local(b, s)[forced] = 0;
        b->within = forced < FREE ? mask_of(&d->layout, forced) : NULL;
        if (set < 0)
            beam_step(b, walk.step, forced, walk.step == walk.n - 1);
        else
            beam_step_among(b, walk.step, w->constraints.labels + w->constraints.starts[set],
                            (int32_t)(w->constraints.starts[set + 1] - w->constraints.starts[set]),
                            walk.step == walk.n - 1);
    }
    beam_trace(b, walk.n, w->path);
    int32_t past[MAX_HISTORY];
    for (int k = 0; k < MAX_HISTORY; k++) past[k] = b->n_labels;
    for (walk.step = 0; walk.step < walk.n; walk.step++) {
        TokenView view = walk_view(d, w, &walk, sentence, past);
        w->labels[walk.token] = (uint16_t)w->path[walk.step];
        if (w->keep_scores && walk_forced(d, w, &walk) < 0 &&
            add_history(d, w, &view, past, token_scores(d, w, walk.token)) < 0)
            return -1;
        for (int k = MAX_HISTORY - 1; k > 0; k--) past[k] = past[k - 1];
        past[0] = w->path[walk.step];
    }
    return 0;
}

/* The best sequences that the beam finds; with keep_scores, what their words scored after the
 * labels before them. -1: no memory. */
static inline int search_words(const Decoder *d, Worker *w) {
    int64_t longest = 0;
    w->search.width = d->beam;
    w->search.n_labels = d->layout.table->n_labels;
    w->search.depth = d->layout.program->depth;
    w->search.allowed = d->allowed;
    for (int64_t s = 0; s < w->n_sentences; s++)
        if (w->starts[s + 1] - w->starts[s] > longest) longest = w->starts[s + 1] - w->starts[s];
    if (longest > w->path_room) {
        if (grow_array(&w->path, (size_t)longest, sizeof(int32_t)) < 0) return -1;
        w->path_room = longest;
    }
    char *sum = (char *)malloc((size_t)d->layout.stride * score_bytes(&d->layout));
    if (!sum) return -1;
    if (d->layout.dense) d->sum_words(d, w);
    int status = 0;
    for (int64_t s = 0; s < w->n_sentences && status == 0; s++)
        if (w->starts[s] < w->starts[s + 1]) status = search_sentence(d, w, s, sum);
    free(sum);
    return status;
}

/* Label the batch in the decoder's way; -1: no memory. */
static inline int run_batch(const Decoder *d, Worker *w) {
    const int is_free = !w->constraints.of && !d->parts;
    if (prepare_batch(d, w) < 0) return -1;
    if (!w->n_tokens) return 0;
    if (!d->layout.dense && find_static_rows(d, w) < 0) return -1;
    if (is_free && d->layout.dense && (d->beam == 1 || has_fast_beam(d))) return d->tag_words(d, w);
    return d->parts || (is_free && d->beam == 1) ? tag_by_rows(d, w) : search_words(d, w);
}

/* Choose how the decoder labels: by the widest instructions that this processor has, or in plain C on
 * request. */
static inline void choose_kernels(Decoder *d, int plain) {
    d->run = run_batch;
    choose_form(d, plain);
}
