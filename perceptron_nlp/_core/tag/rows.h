/* Tagging where labels are many or made of parts (parts.h): token after token its scores are summed, and
 * the best label is taken. There is a score for each part; a label has the sum of its parts.
 *
 * Where there are no vectors, rows of the table are summed: those that the types of its words list, and
 * those of templates over several words, which do not depend on labels, and are found first. */
#pragma once

#include "tag/decode.h"
#include "tag/settle.h"

#define ROWS_ASKED 32 /* rows that are looked for together: all buckets, then all rows */

/* ---- templates over several words ---- */

static inline int32_t static_rows(const Decoder *d) {
    return d->pairs.n_templates + d->n_static;
}

/* The rows of templates over pairs, each at the first free place of its token. */
static inline void find_pair_rows(const Decoder *d, Worker *w) {
    const PairLayout *p = &d->pairs;
    const FrozenTable *t = d->layout.table;
    const size_t n_rows = (size_t)static_rows(d);
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
        filter_pair_keys(b, p, t);
        guess_pair_rows(b, t);
        for (int32_t i = 0; i < b->n; i++) {
            const uint32_t row = frozen_sure(t, b->keys[i], b->rows[i]);
            uint32_t *found = w->found + (size_t)b->targets[i].token * n_rows;
            while (row && *found) found++;
            if (row) *found = row;
        }
    }
}

/* The rows of the other templates over several words. */
static inline void find_other_rows(const Decoder *d, Worker *w) {
    const FrozenTable *t = d->layout.table;
    const int32_t n_rows = static_rows(d);
    const int32_t *types[MAX_COLUMNS];
    uint64_t keys[ROWS_ASKED];
    for (int64_t s = 0; s < w->n_sentences; s++)
        for (int64_t i = w->starts[s]; i < w->starts[s + 1]; i++) {
            if (!is_open_token(w, i)) continue;
            TokenView view = token_view(d, w, padded_place(d, s, i), i == w->starts[s],
                                        i == w->starts[s + 1] - 1, NULL, types);
            uint32_t *found = w->found + i * n_rows + d->pairs.n_templates;
            for (int32_t from = 0; from < d->n_static; from += ROWS_ASKED) {
                const int32_t left = d->n_static - from, n = left < ROWS_ASKED ? left : ROWS_ASKED;
                for (int32_t k = 0; k < n; k++)
                    keys[k] = fresh_key(
                        t, token_key(d->layout.program, d->static_templates[from + k], &view));
                for (int32_t k = 0; k < n; k++)
                    *found++ = frozen_sure(t, keys[k], frozen_guess(t, keys[k]));
            }
        }
}

/* Find them all for the batch, where there are no vectors. -1: no memory. */
static inline int find_static_rows(const Decoder *d, Worker *w) {
    const size_t n = (size_t)w->n_tokens * (size_t)static_rows(d);
    if (d->pairs.n_templates && pair_blocks_open(&w->pairs, &d->pairs) < 0) return -1;
    if (n > w->found_room) {
        if (grow_array(&w->found, n + n / 4, sizeof *w->found) < 0) return -1;
        w->found_room = n + n / 4;
    }
    if (n) memset(w->found, 0, n * sizeof *w->found);
    if (d->pairs.n_templates) find_pair_rows(d, w);
    if (d->n_static) find_other_rows(d, w);
    return 0;
}

/* ---- sums without vectors ---- */

/* What a slot of a token's words says. */
typedef struct {
    const uint32_t *rows;
    uint32_t n;
    uint32_t *sum; /* see TypeCache */
} SlotRows;

static ALWAYS_INLINE SlotRows slot_rows(const CacheLayout *l, const TypeCache *c,
                                        const TokenView *view, int32_t slot) {
    const SlotSpec *spec = &l->program->slots[slot];
    const size_t type = (size_t)view->types[spec->column][spec->offset];
    const size_t at = type * (size_t)l->program->n_slots + (size_t)slot;
    const uint32_t *range = c->list_starts + at;
    const int applies = slot_applies(spec->condition, view->first, view->last);
    return (SlotRows){c->rows + range[0], applies ? range[1] - range[0] : 0, c->sums + at};
}

/* What they come to, where they are summed. */
static ALWAYS_INLINE const int16_t *slot_sum(const CacheLayout *l, const TypeCache *c,
                                             const SlotRows *own) {
    return c->summed + (size_t)*own->sum * (size_t)l->stride;
}

/* Fetch what words say of the token after that of a stream. */
static inline void fetch_next(const Decoder *d, Worker *w, const Stream *stream) {
    const CacheLayout *l = &d->layout;
    const int step = d->right_to_left ? -1 : 1;
    const int64_t token = stream->token + step;
    const int32_t *types[MAX_COLUMNS];
    TokenView view = token_view(d, w, stream->place + step, token == stream->first,
                                token == stream->last, NULL, types);
    const int32_t n_rows = static_rows(d);
    const uint32_t *found = w->found + token * n_rows;
    if (!is_open_token(w, token)) return;
    for (int32_t s = 0; s < l->program->n_slots; s++) {
        const SlotRows own = slot_rows(l, &w->cache, &view, s);
        if (*own.sum >= FIRST_SUM)
            PREFETCH(slot_sum(l, &w->cache, &own));
        else
            for (uint32_t k = 0; k < own.n; k++) frozen_prefetch_row(l->table, own.rows[k]);
    }
    for (int32_t k = 0; k < n_rows; k++)
        if (found[k]) frozen_prefetch_row(l->table, found[k]);
}

/* Sum rows that are asked for again. They stay as they are where they are few, where a sum leaves 16
 * bits, or where there is no memory, or sums take what the cache may. */
static inline void sum_slot(const CacheLayout *l, TypeCache *c, const SlotRows *own) {
    const size_t stride = (size_t)l->stride;
    uint64_t n_cells = 0;
    int32_t beyond = 0;
    for (uint32_t k = 0; k < own->n; k++) n_cells += frozen_row(l->table, own->rows[k])->n;
    *own->sum = FEW_ROWS;
    if (4 * n_cells < stride) return;
    if ((size_t)c->summed_used * stride * sizeof *c->summed >= cache_most(l)) return;
    if (c->summed_used >= c->summed_room) {
        const size_t room = 2 * (size_t)c->summed_room + 64;
        if (room > 0xFFFFFFFFu || grow_array(&c->summed, room * stride, sizeof *c->summed) < 0)
            return;
        c->summed_room = (uint32_t)room;
    }
    int16_t *to = c->summed + (size_t)c->summed_used * stride;
    memset(c->sum, 0, stride * sizeof *c->sum);
    for (uint32_t k = 0; k < own->n; k++) add_cells(l->table, own->rows[k], c->sum);
    for (size_t k = 0; k < stride; k++) {
        to[k] = (int16_t)c->sum[k];
        beyond |= to[k] ^ c->sum[k];
    }
    if (!beyond) *own->sum = c->summed_used++;
}

/* Add to a token's scores what its words say. */
static inline void add_static_rows(const Decoder *d, Worker *w, const TokenView *view,
                                   int64_t token, int32_t *restrict scores) {
    const CacheLayout *l = &d->layout;
    const int32_t n_rows = static_rows(d);
    const uint32_t *found = w->found + token * n_rows;
    for (int32_t s = 0; s < l->program->n_slots; s++) {
        const SlotRows own = slot_rows(l, &w->cache, view, s);
        if (!own.n) continue;
        if (*own.sum == ASKED_ONCE) sum_slot(l, &w->cache, &own);
        if (*own.sum == NOT_ASKED) *own.sum = ASKED_ONCE;
        if (*own.sum >= FIRST_SUM)
            l->add_sum(slot_sum(l, &w->cache, &own), l->stride, scores);
        else
            for (uint32_t k = 0; k < own.n; k++) add_cells(l->table, own.rows[k], scores);
    }
    for (int32_t k = 0; k < n_rows; k++)
        if (found[k]) add_cells(l->table, found[k], scores);
}

/* Set its scores to what its words and the labels before say. */
static inline void sum_by_rows(const Decoder *d, Worker *w, const TokenView *view, int64_t token,
                               int32_t *scores) {
    OpenKeys asked = {.n = 0};
    ask_open(d, view, &asked);
    memset(scores, 0, (size_t)d->layout.stride * sizeof *scores);
    add_static_rows(d, w, view, token, scores);
    add_asked(d, view, &asked, (char *)scores);
}

/* ---- labels ---- */

/* The best of the labels of a set, the first of equal ones. */
static inline int32_t best_among(const Decoder *d, const Constraints *sets, int32_t set,
                                 const int32_t *scores) {
    int32_t best = -1, highest = 0;
    for (int64_t i = sets->starts[set]; i < sets->starts[set + 1]; i++) {
        const int32_t label = sets->labels[i];
        const int32_t score = d->parts ? whole_label_score(d->parts, scores, label) : scores[label];
        if (best >= 0 && score <= highest) continue;
        best = label;
        highest = score;
    }
    return best;
}

/* The label of the token that a stream is at, which is not settled: of those of a set, or of those that
 * `forced` leaves. `sums` is scratch of a search of parts. */
static inline int32_t label_by_rows(const Decoder *d, Worker *w, const Stream *stream, int32_t set,
                                    int32_t forced, int32_t *sums) {
    const CacheLayout *l = &d->layout;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    int32_t *scores = (int32_t *)(void *)token_scores(d, w, stream->token);
    TokenView view = stream_view(d, w, stream, past, types);
    if (l->dense)
        add_open(d, &view, (char *)scores);
    else
        sum_by_rows(d, w, &view, stream->token, scores);
    if (set >= 0) return best_among(d, &w->constraints, set, scores);
    if (d->parts && forced == FREE) {
        const int32_t held = w->settles ? HELD - w->settled[stream->token] : -1;
        return held < 0 ? whole_best_but(d->parts, scores, -1, sums)
                        : best_among(d, w->held, held, scores);
    }
    if (forced == FREE) return first_largest(scores, l->table->n_labels);
    if (d->parts) {
        whole_label_scores(d->parts, scores, sums, sums + d->parts->parts.n);
        scores = sums + d->parts->parts.n;
    }
    return first_largest_within(scores, l->n_labels, mask_of(l, forced));
}

/* Label a batch that is prepared. With keep_scores, the scores of each token stay. -1: no memory. */
static inline int tag_by_rows(const Decoder *d, Worker *w) {
    const size_t n_sums =
        d->parts ? (size_t)parts_scratch(d->parts) + (size_t)d->layout.n_labels : 1;
    int32_t *sums = (int32_t *)malloc(n_sums * sizeof *sums);
    Stream stream;
    int64_t next = 0;
    if (!sums) return -1;
    if (d->layout.dense) d->sum_words(d, w);
    while (stream_start(d, w, &stream, &next)) {
        int32_t label;
        do {
            const int32_t set = constraint_of(w, stream.token);
            const int32_t forced = set < 0 ? forced_label(d, w, &stream) : FREE;
            if (!d->layout.dense && stream.left > 1) fetch_next(d, w, &stream);
            label = set == UNKNOWN_LABEL ? no_label(d) : forced;
            if (label < 0) label = label_by_rows(d, w, &stream, set, forced, sums);
            w->labels[stream.token] = (uint16_t)label;
        } while (stream_step(d, &stream, label));
    }
    free(sums);
    return 0;
}
