/* Several columns tagged together, whose labels make combinations that training has met.
 *
 * Each column is labeled by itself. Where the labels of a token were never met together, it gets,
 * of the combinations that were, the one whose scores sum to the most, each column's in units of
 * its weights, times what the column counts. The columns look at words alone, so one batch is read for all of them.
 *
 * A combination is a prefix, the labels of all columns but the last, and a label of the last.
 *
 * Columns are labeled in turn. Where a word and its labels so far settle the next one (settle.h), this
 * is not scored, and the column is held to it. */
#pragma once

#include <float.h>

#include "tag/search.h"
#include "tag/settle.h"

typedef struct Agreement {
    int32_t n_columns; /* 2 to MAX_AGREEING */
    const Decoder *decoders[MAX_AGREEING];
    double scales[MAX_AGREEING];  /* of the columns' scores */
    double weights[MAX_AGREEING]; /* how much a column counts where scores are summed */
    int32_t n_labels[MAX_AGREEING];
    int32_t n_prefixes;
    const int32_t *prefix_of;     /* labels, the first column's slowest -> their prefix; -1: none */
    const uint16_t *prefix_label; /* [prefix][column but the last] */
    const int64_t *starts;        /* prefix -> the first of its combinations; one more at the end */
    const uint16_t *last;         /* of each combination, ascending within a prefix */
    int32_t n_able;
    const uint16_t *able; /* the labels of the last column in combinations, each once */
    const uint8_t *met;   /* [prefix][label of the last column / 8], a bit for each */
    const Settled *settled[MAX_AGREEING]; /* NULL: none is */
    Constraints met_with[MAX_AGREEING];   /* the labels met with each of the first column */
} Agreement;

static inline Worker *agreeing_worker(Worker *w, int32_t column) {
    return column ? w->agreeing[column - 1] : w;
}

/* ---- what is settled ---- */

/* Empty what is remembered of types that have other numbers now. -1: no memory. */
static inline int memo_ready(Worker *w) {
    if (w->memo && w->memo_cleared == w->cache.times_cleared) return 0;
    w->memo_cleared = w->cache.times_cleared;
    if (w->memo)
        memset(w->memo, 0, sizeof *w->memo << MEMO_BITS);
    else
        w->memo = (SettledMemo *)calloc((size_t)1 << MEMO_BITS, sizeof *w->memo);
    return w->memo ? 0 : -1;
}

/* The label of a column that a word, a type of the first worker, and its labels before settle. */
static inline int32_t settled_type(const Agreement *a, Worker *w, int32_t column, int32_t type,
                                   const int32_t *labels) {
    const Settled *s = a->settled[column];
    uint64_t before[MOST_BEFORE] = {0};
    uint8_t small[WORD_SMALL];
    int by_ending;
    if (!s) return NOT_SETTLED;
    for (int32_t k = 0; k < column; k++) {
        if (labels[k] < 0 || labels[k] >= a->n_labels[k]) return NOT_SETTLED;
        before[k] = s->hashes[k][labels[k]];
    }
    const WordRef *word = &w->cache.entries[type].word;
    return settled_label(s, &w->cache.words, word_bytes(word, w->cache.text, small),
                         (size_t)word->length, 0, before, &by_ending);
}

/* A column, a type and its labels before, of at most two columns; 0 is none. */
static ALWAYS_INLINE uint64_t memo_key(int32_t column, int32_t type, const int32_t *labels) {
    return ((uint64_t)type << 34 | (uint64_t)column << 32 | (uint64_t)labels[0] << 16 |
            (uint64_t)(column > 1 ? labels[1] : 0)) +
           1;
}

static ALWAYS_INLINE SettledMemo *memo_place(const Worker *w, uint64_t key) {
    return &w->memo[(key * XXH_P1) >> (64 - MEMO_BITS)];
}

/* What settled_type says, as it is remembered. */
static inline int32_t settled_memo(const Agreement *a, Worker *w, int32_t column, int32_t type,
                                   const int32_t *labels) {
    const uint64_t key = memo_key(column, type, labels);
    SettledMemo *memo = memo_place(w, key);
    if (memo->key != key) *memo = (SettledMemo){key, settled_type(a, w, column, type, labels)};
    return memo->label;
}

/* Does the label of a token in the first column, which is dense, lead all others by as much? */
static inline int leads_by(const Agreement *a, const Worker *w, int64_t token, double lead) {
    const CacheLayout *l = &a->decoders[0]->layout;
    const size_t at = (size_t)token * (size_t)l->stride;
    const int16_t *narrow = (const int16_t *)(const void *)w->scores + at;
    const int32_t *wide = (const int32_t *)(const void *)w->scores + (l->narrow ? 0 : at);
    int32_t others[DENSE_LABELS], most = INT32_MIN / 2;
    for (int32_t k = 0; k < a->n_labels[0]; k++) others[k] = l->narrow ? narrow[k] : wide[k];
    const int32_t score = others[w->labels[token]];
    others[w->labels[token]] = most;
    for (int32_t k = 0; k < a->n_labels[0]; k++) most = others[k] > most ? others[k] : most;
    return (double)score - (double)most >= lead;
}

#define MEMO_AHEAD 8 /* tokens between fetching what is remembered and reading it */

/* Have a column that is to be labeled after others know what is settled of the batch of the first
 * worker. -1: no memory. */
static inline int settle_column(const Agreement *a, Worker *w, int32_t column) {
    Worker *own = agreeing_worker(w, column);
    const Decoder *first = a->decoders[0];
    own->settles = column && a->settled[column] && !a->decoders[column]->layout.lexicon.n;
    own->held = &a->met_with[column];
    if (!own->settles) return 0;
    const size_t n_tokens = (size_t)w->n_tokens;
    if (array_room(&own->settled, &own->settled_room, n_tokens, sizeof *own->settled) < 0)
        return -1;
    const uint16_t *second = column > 1 ? w->agreeing[0]->labels : NULL;
    const Worker *before = agreeing_worker(w, column - 1);
    const double lead = a->settled[column]->lead;
    const int holds = a->decoders[column]->parts && lead > 0;
    const int64_t *met = a->met_with[column].starts;
    const int is_asked = !before->settles || a->settled[column - 1]->lead != lead;
    if (memo_ready(w) < 0) return -1;
    for (int64_t s = 0; s < w->n_sentences; s++) {
        const int32_t *types = w->types[0] + padded_place(first, s, 0);
        for (int64_t i = w->starts[s]; i < w->starts[s + 1]; i++) {
            const int64_t soon = i + MEMO_AHEAD;
            const int32_t labels[MAX_AGREEING] = {w->labels[i], second ? second[i] : 0};
            if (soon < w->starts[s + 1]) {
                const int32_t its[MAX_AGREEING] = {w->labels[soon], second ? second[soon] : 0};
                PREFETCH(memo_place(w, memo_key(column, types[soon], its)));
            }
            const int is_sure = is_asked ? labels[0] < a->n_labels[0] && leads_by(a, w, i, lead)
                                         : before->settled[i] != UNSURE;
            own->settled[i] = is_sure ? settled_memo(a, w, column, types[i], labels) : UNSURE;
            if (holds && own->settled[i] == NOT_SETTLED && met[labels[0]] < met[labels[0] + 1])
                own->settled[i] = HELD - labels[0];
        }
    }
    return 0;
}

/* Were these labels met together? One that a column does not have was met with none. */
static inline int labels_met(const Agreement *a, const uint16_t *labels) {
    int64_t at = 0;
    const int32_t last = a->n_columns - 1;
    for (int32_t c = 0; c <= last; c++)
        if (labels[c] >= a->n_labels[c]) return 0;
    for (int32_t c = 0; c < last; c++) at = at * a->n_labels[c] + labels[c];
    const int32_t prefix = a->prefix_of[at];
    if (prefix < 0) return 0;
    const size_t bytes = (size_t)a->n_labels[last] / 8 + 1;
    return a->met[(size_t)prefix * bytes + labels[last] / 8] >> (labels[last] % 8) & 1;
}

/* What a token is held to in a column: label `only`, or, if that is -1, those of a mask, or all.
 * Where labels are made of parts and none is held, few of thousands are asked for, and each is summed
 * when it is. */
typedef struct {
    int32_t only;
    const uint8_t *mask;
    const Parts *parts; /* NULL: the scores of labels are there */
    const int32_t *part_scores;
    double scale, weight; /* of a label's sum */
    double top;           /* what no label is above */
} Held;

/* What a label of so many steps adds to the sum of a combination. */
static ALWAYS_INLINE double scaled(int32_t score, double scale, double weight) {
    return score / scale * weight;
}

/* What a label adds to the sum of a combination; -DBL_MAX: it cannot be. Of a label that is held,
 * nothing but that is known. */
static inline double label_adds(const Held *held, const double *scores, int32_t label) {
    if (held->only >= 0) return held->only == label ? 0 : -DBL_MAX;
    if (held->parts)
        return scaled(whole_label_score(held->parts, held->part_scores, label), held->scale,
                      held->weight);
    return held->mask && !held->mask[label] ? -DBL_MAX : scores[label];
}

/* What the labels of a prefix add; -DBL_MAX: they cannot be. */
static inline double prefix_adds(const Agreement *a, const Held *held, double *const *scores,
                                 int32_t prefix) {
    const int32_t last = a->n_columns - 1;
    const uint16_t *labels = a->prefix_label + (size_t)prefix * (size_t)last;
    double sum = 0;
    for (int32_t c = 0; c < last; c++) {
        const double score = label_adds(&held[c], scores[c], labels[c]);
        if (score == -DBL_MAX) return score;
        sum += score;
    }
    return sum;
}

/* A combination, and what its labels come to. */
typedef struct {
    int32_t prefix; /* -1: none */
    int64_t place;
    double sum;
} Combined;

/* Have the best combination beat those of a prefix, whose labels add `sum`; of equal ones the first
 * stays. */
static inline void try_prefix(const Agreement *a, const Held *held, double *const *scores,
                              int32_t prefix, double sum, Combined *best) {
    const int32_t last = a->n_columns - 1;
    for (int64_t i = a->starts[prefix]; i < a->starts[prefix + 1]; i++) {
        const double score = label_adds(&held[last], scores[last], a->last[i]);
        if (score == -DBL_MAX || (best->prefix >= 0 && sum + score < best->sum)) continue;
        if (best->prefix >= 0 && sum + score == best->sum && i > best->place) continue;
        *best = (Combined){prefix, i, sum + score};
    }
}

/* The best combination that was met, into `labels`; 0: what is held leaves none. The prefix that adds
 * the most is looked at first: then most of the others cannot come up to it. */
static inline int best_met(const Agreement *a, const Held *held, double *const *scores,
                           uint16_t *labels) {
    const int32_t last = a->n_columns - 1;
    double top = -DBL_MAX, most = -DBL_MAX;
    int32_t first = -1;
    Combined best = {-1, 0, 0};
    for (int32_t k = 0; k < a->n_able && !held[last].parts; k++) {
        const double score = label_adds(&held[last], scores[last], a->able[k]);
        if (score > top) top = score;
    }
    if (held[last].parts) top = held[last].top;
    for (int32_t p = 0; p < a->n_prefixes; p++) {
        const double sum = prefix_adds(a, held, scores, p);
        if (sum > most) {
            most = sum;
            first = p;
        }
    }
    if (first >= 0) try_prefix(a, held, scores, first, most, &best);
    for (int32_t p = 0; first >= 0 && p < a->n_prefixes; p++) {
        if (p == first) continue;
        const double sum = prefix_adds(a, held, scores, p);
        if (sum == -DBL_MAX || (best.prefix >= 0 && sum + top < best.sum)) continue;
        try_prefix(a, held, scores, p, sum, &best);
    }
    if (best.prefix < 0) return 0;
    const uint16_t *prefix = a->prefix_label + (size_t)best.prefix * (size_t)last;
    for (int32_t c = 0; c < last; c++) labels[c] = prefix[c];
    labels[last] = a->last[best.place];
    return 1;
}

/* Are the scores of all tokens there after a batch? Where no vectors are, rows are summed again. */
static inline int keeps_scores(const Decoder *d) {
    return d->layout.dense || d->beam > 1;
}

/* The scores of a token after the labels that the batch has got; where the table has no vectors. */
static inline const int32_t *summed_again(const Decoder *d, Worker *w, int64_t sentence,
                                          int64_t token) {
    const int64_t first = w->starts[sentence], end = w->starts[sentence + 1];
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    for (int k = 0; k < MAX_HISTORY; k++) {
        const int64_t before = d->right_to_left ? token + k + 1 : token - k - 1;
        past[k] =
            d->label_hashes[before < first || before >= end ? no_label(d) : w->labels[before]];
    }
    TokenView view = token_view(d, w, padded_place(d, sentence, token), token == first,
                                token == end - 1, past, types);
    int32_t *scores = (int32_t *)(void *)w->scores;
    sum_by_rows(d, w, &view, token, scores);
    return scores;
}

/* The scores of a token's labels in a column, into `out`; or, of parts of labels, into `units`, for
 * what is held. `nodes` is scratch for a search of parts. */
static inline void scaled_scores(const Agreement *a, int32_t column, Worker *w, int64_t sentence,
                                 int64_t token, int32_t *units, int32_t *nodes, Held *held,
                                 double *out) {
    const Decoder *d = a->decoders[column];
    const CacheLayout *l = &d->layout;
    const size_t at = (size_t)token * (size_t)l->stride;
    const double scale = a->scales[column], weight = a->weights[column];
    const int16_t *narrow = (const int16_t *)(const void *)w->scores + (l->narrow ? at : 0);
    const int32_t *wide = NULL;
    if (!l->narrow)
        wide = keeps_scores(d) ? (const int32_t *)(const void *)w->scores + at
                               : summed_again(d, w, sentence, token);
    if (!d->parts) {
        for (int32_t k = 0; k < a->n_labels[column]; k++)
            out[k] = scaled(l->narrow ? narrow[k] : wide[k], scale, weight);
        return;
    }
    memcpy(units, wide, (size_t)d->parts->n_parts * sizeof *units);
    if (held->mask || column < a->n_columns - 1) {
        whole_tree_sums(&d->parts->parts, 0, d->parts->parts.n, units, nodes);
        for (int32_t k = 0; k < a->n_labels[column]; k++)
            out[k] = scaled(nodes[d->parts->leaf[k]], scale, weight);
        return;
    }
    const int32_t best = whole_best_but(d->parts, units, -1, nodes);
    const double top = scaled(nodes[d->parts->leaf[best]], scale, weight);
    *held = (Held){.only = -1,
                   .parts = d->parts,
                   .part_scores = units,
                   .scale = scale,
                   .weight = weight,
                   .top = top};
}

/* Give a token, whose labels were never met together, the best that were: what tag dictionaries hold
 * it to gives way if no combination has it; what is held firmly stays even then, and the other
 * columns agree among themselves. */
static inline void agree_within(const Agreement *a, Held *held, const int *firm,
                                double *const *scores, uint16_t *labels) {
    enum { ALL_HELD, FIRM_HELD, NONE_HELD };
    uint16_t best[MAX_AGREEING];
    int free = 0;
    for (int32_t c = 0; c < a->n_columns; c++) free += !firm[c];
    for (int stage = ALL_HELD; stage <= NONE_HELD; stage++) {
        for (int32_t c = 0; c < a->n_columns; c++) {
            const int is_held = held[c].only >= 0 || held[c].mask;
            if (!is_held || stage != (firm[c] ? NONE_HELD : FIRM_HELD)) continue;
            held[c] = (Held){.only = -1};
            for (int32_t k = 0; k < a->n_labels[c]; k++) scores[c][k] = 0;
        }
        if (stage == NONE_HELD && free < 2) return;
        if (!best_met(a, held, scores, best)) continue;
        for (int32_t c = 0; c < a->n_columns; c++)
            if (stage != NONE_HELD || !firm[c]) labels[c] = best[c];
        return;
    }
}

/* Make the labels of a token of the batch agree. */
static inline void agree_on(const Agreement *a, Worker *w, int64_t sentence, int64_t token,
                            uint16_t *labels, double *scratch, int32_t *units, int32_t *nodes) {
    Held held[MAX_AGREEING];
    double *scores[MAX_AGREEING];
    int by_lexicon[MAX_AGREEING];
    for (int32_t c = 0; c < a->n_columns; c++) {
        const Decoder *d = a->decoders[c];
        Worker *own = agreeing_worker(w, c);
        if (!is_open_token(own, token)) {
            held[c] = (Held){.only = labels[c]};
            by_lexicon[c] = 0;
            scores[c] = scratch;
            scratch += a->n_labels[c];
            continue;
        }
        const int32_t type = own->types[0][padded_place(d, sentence, token)];
        const int32_t forced = d->layout.forces ? own->cache.entries[type].forced : FREE;
        held[c] = (Held){.only = forced > FREE ? forced : -1,
                         .mask = forced < FREE ? mask_of(&d->layout, forced) : NULL};
        by_lexicon[c] = forced != FREE && d->layout.lexicon.n;
        scores[c] = scratch;
        scratch += a->n_labels[c];
        if (forced <= FREE)
            scaled_scores(a, c, own, sentence, token, units, nodes, &held[c], scores[c]);
    }
    agree_within(a, held, by_lexicon, scores, labels);
    for (int32_t c = 0; c < a->n_columns; c++) agreeing_worker(w, c)->labels[token] = labels[c];
}

/* Another column labels the words of a batch that is not its own. */
static inline void batch_borrow(Batch *to, const Batch *from) {
    to->words = from->words;
    to->text = from->text;
    to->text_used = from->text_used;
    to->starts = from->starts;
    to->n_tokens = from->n_tokens;
    to->n_sentences = from->n_sentences;
}

static inline void batch_return(Batch *b) {
    b->words = NULL;
    b->text = NULL;
    b->text_used = 0;
    b->starts = NULL;
}

static inline int agree_on_batch(const Agreement *a, Worker *w) {
    size_t n = 0, most_units = 1, most_nodes = 1;
    for (int32_t c = 0; c < a->n_columns; c++) {
        const Parts *parts = a->decoders[c]->parts;
        n += (size_t)a->n_labels[c];
        if (!parts) continue;
        if ((size_t)parts->n_parts > most_units) most_units = (size_t)parts->n_parts;
        if ((size_t)parts_scratch(parts) > most_nodes) most_nodes = (size_t)parts_scratch(parts);
    }
    double *scratch = (double *)malloc(n * sizeof *scratch);
    int32_t *units = (int32_t *)malloc((most_units + most_nodes) * sizeof *units);
    for (int64_t s = 0; scratch && units && s < w->n_sentences; s++)
        for (int64_t i = w->starts[s]; i < w->starts[s + 1]; i++) {
            uint16_t labels[MAX_AGREEING] = {0};
            for (int32_t c = 0; c < a->n_columns; c++) labels[c] = agreeing_worker(w, c)->labels[i];
            if (!labels_met(a, labels))
                agree_on(a, w, s, i, labels, scratch, units, units + most_units);
        }
    const int status = scratch && units ? 0 : -1;
    free(scratch);
    free(units);
    return status;
}

/* Label the batch in all columns; -1: no memory. */
static inline int run_columns(const Agreement *a, Worker *w) {
    int status = 0;
    for (int32_t c = 0; c < a->n_columns && status == 0; c++) {
        Worker *own = agreeing_worker(w, c);
        if (c) batch_borrow(&own->batch, &w->batch);
        own->keep_scores = keeps_scores(a->decoders[c]);
        status = settle_column(a, w, c);
        if (status == 0) status = a->decoders[c]->run(a->decoders[c], own);
        own->keep_scores = 0;
    }
    if (status == 0) status = agree_on_batch(a, w);
    for (int32_t c = 0; c < a->n_columns && status < 0; c++) /* as after any batch that failed */
        cache_spoil(&agreeing_worker(w, c)->cache);
    for (int32_t c = 0; c < a->n_columns; c++) agreeing_worker(w, c)->settles = 0;
    for (int32_t c = 1; c < a->n_columns; c++) batch_return(&agreeing_worker(w, c)->batch);
    return status;
}
