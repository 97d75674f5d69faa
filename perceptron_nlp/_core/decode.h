/* Tagging a batch of sentences with a frozen model, in three passes:
 *
 *   1. types    every string -> its type in the worker's cache
 *   2. static   scores[token][label] = sum over what the words say (vectors of types, then
 *               templates over several words)
 *   3. labels   token after token: add what the labels just given say, take the best
 *
 * Pass 3 waits at each token for the label before, so LANES sentences go side by side. */
#ifndef PERCEPTRON_NLP_DECODE_H
#define PERCEPTRON_NLP_DECODE_H

#include "beam.h"
#include "parts.h"
#include "typecache.h"

#define LANES 8
#define BLOCK_TOKENS 16

typedef struct {
    CacheLayout layout;
    const uint64_t *label_hashes;
    int right_to_left;
    int32_t beam;           /* states kept; 1: greedy */
    const uint8_t *allowed; /* see Beam; only with a beam */
    const Parts *parts;     /* NULL where labels are whole */
    int32_t *tag_table;      /* [tag[-1]][tag[-2]][stride]; n_labels stands for "none" */
    int32_t *memo_templates; /* layout.n_memos of them */
    int32_t n_open, *open_templates; /* history templates that are looked up each time */
} Decoder;

typedef struct {
    TypeCache cache;
    uint8_t *text;
    size_t text_used, text_room;
    uint64_t *text_at; /* [token * n_columns + column] -> place in text; one more at the end */
    int64_t n_tokens, tokens_room;
    int64_t *starts; /* sentence -> its first token; one more at the end */
    int64_t n_sentences, sentences_room;
    int32_t *types[MAX_COLUMNS]; /* padded */
    int64_t padded_room;
    int keep_scores; /* scores of every token are wanted afterwards */
    int32_t *scores; /* [token][stride]; only one token at a time without keep_scores or dense */
    size_t scores_room;
    uint16_t *labels; /* what came out */
    int64_t labels_room;
    Beam search;
    int32_t *path; /* labels of one sentence as it is read */
    int64_t path_room;
} Worker;

static inline void worker_close(Worker *w) {
    cache_close(&w->cache);
    free(w->text);
    free(w->text_at);
    free(w->starts);
    for (int c = 0; c < MAX_COLUMNS; c++) free(w->types[c]);
    free(w->scores);
    free(w->labels);
    free(w->path);
    beam_close(&w->search);
    memset(w, 0, sizeof *w);
}

static inline void worker_reset(Worker *w) {
    w->text_used = 0;
    w->n_tokens = 0;
    w->n_sentences = 0;
}

/* ---- filling a batch ---- */

static inline uint8_t *worker_text(Worker *w, size_t n) {
    if (!w->text || w->text_used + n > w->text_room) {
        size_t room = 2 * w->text_room + n + 4096;
        if (grow_array((void **)&w->text, room, 1) < 0) return NULL;
        w->text_room = room;
    }
    return w->text + w->text_used;
}

/* Announce the next string (columns of a token in order); its bytes are at worker_text. */
static inline int worker_string(const Decoder *d, Worker *w, int32_t column, size_t n) {
    int64_t columns = d->layout.program->n_columns;
    if (w->n_tokens == w->tokens_room) {
        int64_t room = 2 * w->tokens_room + 1024;
        if (grow_array((void **)&w->text_at, (size_t)(room * columns + 1), 8) < 0) return -1;
        w->tokens_room = room;
    }
    w->text_at[w->n_tokens * columns + column] = w->text_used;
    w->text_used += n;
    if (column == columns - 1) w->text_at[++w->n_tokens * columns] = w->text_used;
    return 0;
}

static inline int worker_end_sentence(Worker *w) {
    if (w->n_sentences == w->sentences_room) {
        int64_t room = 2 * w->sentences_room + 256;
        if (grow_array((void **)&w->starts, (size_t)room + 1, 8) < 0) return -1;
        w->sentences_room = room;
    }
    if (w->n_sentences == 0) w->starts[0] = 0;
    w->starts[++w->n_sentences] = w->n_tokens;
    return 0;
}

/* ---- pass 1 ---- */

static inline int64_t padded_place(const Decoder *d, int64_t sentence, int64_t token) {
    return token + (2 * sentence + 1) * d->layout.program->reach;
}

static inline int find_types(const Decoder *d, Worker *w) {
    const Program *p = d->layout.program;
    TypeCache *cache = &w->cache;
    int64_t padded = w->n_tokens + 2 * p->reach * w->n_sentences;
    if (padded > w->padded_room || !w->types[0]) {
        for (int32_t c = 0; c < p->n_columns; c++)
            if (grow_array((void **)&w->types[c], (size_t)padded, sizeof(int32_t)) < 0) return -1;
        w->padded_room = padded;
    }
    if (!cache->slots || cache->n_types + (uint64_t)(w->n_tokens * p->n_columns) > cache->limit ||
        cache->text_used + w->text_used > (size_t)cache->limit * TEXT_PER_TYPE)
        if (cache_clear(cache, &d->layout) < 0) return -1;
    for (int64_t s = 0; s < w->n_sentences; s++) {
        for (int32_t c = 0; c < p->n_columns; c++) {
            int32_t *types = w->types[c];
            int64_t first = padded_place(d, s, w->starts[s]);
            int64_t after = padded_place(d, s, w->starts[s + 1]);
            for (int32_t k = 1; k <= p->reach; k++) {
                types[first - k] = pad_type(p, c, -k);
                types[after + k - 1] = pad_type(p, c, k);
            }
        }
        for (int64_t i = w->starts[s]; i < w->starts[s + 1]; i++) {
            const uint64_t *at = w->text_at + i * p->n_columns;
            for (int32_t c = 0; c < p->n_columns; c++) {
                int32_t type = type_of(cache, &d->layout, c, w->text + at[c], at[c + 1] - at[c]);
                if (type < 0) return -1;
                w->types[c][padded_place(d, s, i)] = type;
            }
        }
    }
    return 0;
}

/* ---- pass 2 ---- */

static inline void add_vector(int32_t *restrict into, const int32_t *restrict from, int32_t n) {
    for (int32_t k = 0; k < n; k++) into[k] += from[k];
}

static inline void add_type_vectors(const Decoder *d, Worker *w, int64_t place, int first, int last,
                                    int32_t *scores, int32_t stride) {
    const CacheLayout *l = &d->layout;
    size_t words = vector_words(l);
    for (int32_t v = 0; v < l->n_vectors; v++) {
        const VectorSlot *slot = &l->vectors[v];
        if (!slot_applies(slot->condition, first, last)) continue;
        int32_t type = w->types[slot->column][place + slot->offset];
        add_vector(scores, w->cache.vectors + (size_t)type * words + (size_t)v * (size_t)stride,
                   stride);
    }
}

static inline TokenView token_view(const Decoder *d, Worker *w, int64_t place, int first, int last,
                                   const uint64_t *past, const int32_t **types) {
    for (int32_t c = 0; c < d->layout.program->n_columns; c++) types[c] = w->types[c] + place;
    TokenView view = {types, w->cache.carried, past, first, last};
    return view;
}

/* Templates over several words, for a block of tokens: all keys, then all slots, then all rows,
 * so that one token does not wait for the memory of the one before. */
static inline void add_static_block(const Decoder *d, Worker *w, int64_t sentence, int64_t from,
                                    int64_t to, int32_t stride) {
    const Program *p = d->layout.program;
    const FrozenTable *t = d->layout.table;
    const int32_t *types[MAX_COLUMNS];
    uint64_t keys[BLOCK_TOKENS];
    int64_t rows[BLOCK_TOKENS];
    for (int32_t k = 0; k < p->n_static; k++) {
        for (int64_t i = from; i < to; i++) {
            TokenView view = token_view(d, w, padded_place(d, sentence, i),
                                        i == w->starts[sentence], i == w->starts[sentence + 1] - 1,
                                        NULL, types);
            keys[i - from] = token_key(p, p->static_templates[k], &view);
            frozen_prefetch(t, keys[i - from]);
        }
        for (int64_t i = from; i < to; i++) {
            int64_t row = rows[i - from] = frozen_find(t, keys[i - from]);
            if (row >= 0) PREFETCH(&t->cells[t->starts[row]]);
        }
        for (int64_t i = from; i < to; i++)
            if (rows[i - from] >= 0)
                frozen_add(t, rows[i - from], w->scores + (size_t)i * (size_t)stride);
    }
}

static inline void sum_static(const Decoder *d, Worker *w, int32_t stride) {
    for (int64_t s = 0; s < w->n_sentences; s++) {
        int64_t begin = w->starts[s], end = w->starts[s + 1];
        for (int64_t i = begin; i < end; i++)
            add_type_vectors(d, w, padded_place(d, s, i), i == begin, i == end - 1,
                             w->scores + (size_t)i * (size_t)stride, stride);
        for (int64_t i = begin; i < end; i += BLOCK_TOKENS)
            add_static_block(d, w, s, i, i + BLOCK_TOKENS < end ? i + BLOCK_TOKENS : end, stride);
    }
}

/* With many labels: the rows of the words, straight into the scores of one token. */
static inline void add_listed_rows(const Decoder *d, Worker *w, const TokenView *view,
                                   int32_t *scores) {
    const Program *p = d->layout.program;
    const FrozenTable *t = d->layout.table;
    for (int32_t s = 0; s < p->n_slots; s++) {
        const SlotSpec *slot = &p->slots[s];
        if (!slot_applies(slot->condition, view->first, view->last)) continue;
        int32_t type = view->types[slot->column][slot->offset];
        const uint32_t *range =
            w->cache.list_starts + (size_t)type * (size_t)p->n_slots + (size_t)s;
        for (uint32_t i = range[0]; i < range[1]; i++) frozen_add(t, w->cache.rows[i], scores);
    }
    for (int32_t k = 0; k < p->n_static; k++) {
        int64_t row = frozen_find(t, token_key(p, p->static_templates[k], view));
        if (row >= 0) frozen_add(t, row, scores);
    }
}

/* ---- pass 3 ---- */

typedef struct {
    int64_t sentence, step, n;
    int32_t past[MAX_HISTORY]; /* labels given, the last first; n_labels for none */
} Lane;

static inline int32_t best_score(const int32_t *scores, int32_t n) {
    int32_t high = scores[0], at = 0;
    for (int32_t k = 1; k < n; k++) high = scores[k] > high ? scores[k] : high;
    while (scores[at] != high) at++;
    return at;
}

static inline void add_memos(const Decoder *d, Worker *w, const TokenView *view, int32_t previous,
                             int32_t *scores) {
    const CacheLayout *l = &d->layout;
    int32_t type = view->types[0][0];
    for (int32_t m = 0; m < l->n_memos; m++) {
        int32_t *memo = w->cache.memos + (size_t)type * memo_words(l) +
                        (size_t)m * ((size_t)l->table->n_labels + 1) + previous;
        if (*memo == MEMO_UNKNOWN) {
            int64_t row = frozen_find(l->table, token_key(l->program, d->memo_templates[m], view));
            *memo = row < 0 ? MEMO_NONE : (int32_t)row;
        }
        if (*memo >= 0) frozen_add(l->table, *memo, scores);
    }
}

/* Where a token's scores are. */
static inline int32_t *token_scores(const Decoder *d, Worker *w, int64_t token, int32_t stride) {
    int all = d->layout.dense || w->keep_scores;
    return w->scores + (all ? (size_t)token * (size_t)stride : 0);
}

/* Add what the labels just given say; `past` holds their numbers, view->past their hashes. */
static inline void add_history(const Decoder *d, Worker *w, const TokenView *view,
                               const int32_t *past, int32_t *scores, int32_t stride) {
    const CacheLayout *l = &d->layout;
    size_t n = (size_t)l->table->n_labels + 1;
    if (d->tag_table)
        add_vector(scores,
                   d->tag_table + ((size_t)past[0] * n + (size_t)past[1]) * (size_t)stride, stride);
    add_memos(d, w, view, past[0], scores);
    for (int32_t k = 0; k < d->n_open; k++) {
        int64_t row = frozen_find(l->table, token_key(l->program, d->open_templates[k], view));
        if (row >= 0) frozen_add(l->table, row, scores);
    }
}

static inline int32_t tag_token(const Decoder *d, Worker *w, const Lane *lane, int64_t i,
                                int32_t stride) {
    const CacheLayout *l = &d->layout;
    int64_t token = w->starts[lane->sentence] + i;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    for (int32_t k = 0; k < l->program->depth; k++) past[k] = d->label_hashes[lane->past[k]];
    TokenView view = token_view(d, w, padded_place(d, lane->sentence, token), i == 0,
                                i == lane->n - 1, past, types);
    int32_t *scores = token_scores(d, w, token, stride);
    if (l->dictionary.n && w->cache.entries[types[0][0]].forced >= 0)
        return w->cache.entries[types[0][0]].forced;
    if (!l->dense) {
        memset(scores, 0, (size_t)stride * sizeof *scores);
        add_listed_rows(d, w, &view, scores);
    }
    add_history(d, w, &view, lane->past, scores, stride);
    return best_score(scores, l->table->n_labels);
}

static inline int lane_start(const Decoder *d, const Worker *w, Lane *lane, int64_t *next) {
    while (*next < w->n_sentences && w->starts[*next] == w->starts[*next + 1]) ++*next;
    if (*next == w->n_sentences) return 0;
    lane->sentence = (*next)++;
    lane->step = 0;
    lane->n = w->starts[lane->sentence + 1] - w->starts[lane->sentence];
    for (int k = 0; k < MAX_HISTORY; k++) lane->past[k] = d->layout.table->n_labels;
    return 1;
}

static inline void give_labels(const Decoder *d, Worker *w, int32_t stride) {
    Lane lanes[LANES];
    int64_t next = 0;
    int n_lanes = 0;
    while (n_lanes < LANES && lane_start(d, w, &lanes[n_lanes], &next)) n_lanes++;
    while (n_lanes) {
        for (int k = 0; k < n_lanes; k++) {
            Lane *lane = &lanes[k];
            int64_t i = d->right_to_left ? lane->n - 1 - lane->step : lane->step;
            int32_t label = tag_token(d, w, lane, i, stride);
            w->labels[w->starts[lane->sentence] + i] = (uint16_t)label;
            for (int h = MAX_HISTORY - 1; h > 0; h--) lane->past[h] = lane->past[h - 1];
            lane->past[0] = label;
            if (++lane->step == lane->n && !lane_start(d, w, lane, &next)) *lane = lanes[--n_lanes];
        }
    }
}

WIDE_CLONES static void tag_words(const Decoder *d, Worker *w) {
    /* The stride of 24 (17 labels, the universal tag set) is worth code of its own. */
    if (d->layout.stride == 24) {
        if (d->layout.dense) sum_static(d, w, 24);
        give_labels(d, w, 24);
    } else {
        if (d->layout.dense) sum_static(d, w, d->layout.stride);
        give_labels(d, w, d->layout.stride);
    }
}

/* Everything of a batch before its labels; -1: no memory. */
static inline int prepare_batch(const Decoder *d, Worker *w) {
    size_t kept = d->layout.dense || w->keep_scores ? (size_t)w->n_tokens : 1;
    size_t cells = kept * (size_t)d->layout.stride;
    if (cells > w->scores_room) {
        if (grow_array((void **)&w->scores, cells, sizeof(int32_t)) < 0) return -1;
        w->scores_room = cells;
    }
    if (w->n_tokens > w->labels_room) {
        if (grow_array((void **)&w->labels, (size_t)w->n_tokens, sizeof(uint16_t)) < 0) return -1;
        w->labels_room = w->n_tokens;
    }
    if (w->n_tokens == 0) return 0;
    if (find_types(d, w) < 0) return -1;
    memset(w->scores, 0, cells * sizeof(int32_t));
    return 0;
}

/* Label the batch; w->labels has one label a token, w->scores their scores. -1: no memory. */
static inline int tag_batch(const Decoder *d, Worker *w) {
    if (prepare_batch(d, w) < 0) return -1;
    if (w->n_tokens) tag_words(d, w);
    return 0;
}

#endif
