/* Learning to tag greedily: left to right or right to left, one label at a time, each from the
 * features of the words and of the labels just given.
 *
 * The hot loop of training is learn_token. On a treebank of 200,000 words with 27 templates a
 * visit scores about 27 rows of 2 to 17 cells and an update touches 54 cells; waiting for rows
 * that are not in the cache is most of the time, so rows are gathered and fetched ahead before
 * any is scored. */
#ifndef PERCEPTRON_NLP_GREEDY_H
#define PERCEPTRON_NLP_GREEDY_H

#include "program.h"
#include "table.h"

enum { RULE_PERCEPTRON, RULE_MARGIN, RULE_PASSIVE_AGGRESSIVE, RULE_ADAGRAD };

typedef struct {
    int kind;
    double rate;   /* perceptron, margin: the step; AdaGrad: its rate; PA: its aggressiveness */
    double margin; /* the gold label must lead by more than this (not the plain perceptron) */
} Rule;

/* Everything about the training sentences that does not change between epochs. */
typedef struct {
    const int32_t *const *types;       /* per column: padded type numbers */
    const int64_t *padded_starts;      /* sentence -> place of its first token in types */
    const int64_t *token_starts;       /* sentence -> number of its first token; one more at end */
    const uint64_t *carried;           /* see TokenView */
    const int32_t *const *slot_starts; /* per slot: type -> first of its rows */
    const int32_t *const *slot_rows;
    const int32_t *static_rows; /* [token * n_static + i]; -1: left out */
    const int32_t *gold;        /* token -> label; -1: not labelled */
    const int32_t *forced;      /* type -> label that needs no scores; -1: none */
    const uint64_t *label_hashes;
    int64_t n_open; /* sentences from this number on bring no features of their own */
} Corpus;

typedef struct {
    int64_t *rows;      /* rows of the token at hand; -1 where a history feature is new */
    uint64_t *new_keys; /* keys of its history features, in order */
    double *scores;          /* table_width of them */
    const double **places;   /* room for one a row */
    int32_t *guesses; /* labels given in this sentence */
} GreedyScratch;

typedef struct {
    int64_t examples, mistakes, updates;
} Counts;

static inline size_t gather_static(const Program *p, const Table *t, const Corpus *c,
                                   int64_t place, int64_t token, int first, int last,
                                   int64_t *rows) {
    size_t n = 0;
    for (int32_t s = 0; s < p->n_slots; s++) {
        const SlotSpec *slot = &p->slots[s];
        if (!slot_applies(slot->condition, first, last)) continue;
        int32_t type = c->types[slot->column][place + slot->offset];
        int32_t end = c->slot_starts[s][type + 1];
        for (int32_t i = c->slot_starts[s][type]; i < end; i++) rows[n++] = c->slot_rows[s][i];
    }
    for (int32_t i = 0; i < p->n_static; i++) {
        int32_t row = c->static_rows[token * p->n_static + i];
        if (row >= 0) rows[n++] = row;
    }
    for (size_t i = 0; i < n; i++) table_prefetch(t, rows[i]);
    return n;
}

static inline int add_all(Table *t, const Rule *rule, const int64_t *rows, size_t n, int32_t label,
                          double step) {
    for (size_t i = 0; i < n; i++) {
        int status = rule->kind == RULE_ADAGRAD
                         ? table_add_adagrad(t, rows[i], label, step, rule->rate)
                         : table_add(t, rows[i], label, step);
        if (status < 0) return -1;
    }
    return 0;
}

/* Which label the gold one must be parted from, and by what step; -1: nothing to learn. */
static inline int32_t rival_of(const Rule *rule, const double *scores, int32_t n_labels,
                               int32_t gold, int32_t guess, size_t n_features, double *step) {
    if (rule->kind == RULE_PERCEPTRON) {
        *step = rule->rate;
        return guess == gold ? -1 : guess;
    }
    int32_t rival = guess == gold ? best_other(scores, n_labels, gold) : guess;
    if (rival < 0) return -1;
    double lead = scores[gold] - scores[rival];
    switch (rule->kind) {
        case RULE_MARGIN:
            *step = rule->rate;
            return lead <= rule->margin ? rival : -1;
        case RULE_PASSIVE_AGGRESSIVE:
            *step = passive_aggressive_step(rule->margin - lead, 2.0 * (double)n_features,
                                            rule->rate);
            return lead < rule->margin ? rival : -1;
        default:
            *step = 1;
            return lead < rule->margin ? rival : -1;
    }
}

/* Label one token and learn from it; the label given, or -1 when there is no memory. */
static inline int32_t learn_token(const Program *p, Table *t, const Corpus *c, const Rule *rule,
                                  const TokenView *view, int64_t place, int64_t token,
                                  int open, GreedyScratch *s, Counts *counts) {
    size_t n_fixed = gather_static(p, t, c, place, token, view->first, view->last, s->rows);
    size_t n = n_fixed;
    for (int32_t h = 0; h < p->n_history; h++) {
        s->new_keys[h] = token_key(p, p->history_templates[h], view);
        int64_t row = table_find(t, s->new_keys[h]);
        if (row >= 0 || open) s->rows[n++] = row;
    }
    table_score_rows(t, s->rows, n, s->places, s->scores);
    int32_t guess = best_label(s->scores, t->n_labels), gold = c->gold[token];
    if (gold < 0) return guess;
    double step;
    int32_t rival = rival_of(rule, s->scores, t->n_labels, gold, guess, n, &step);
    counts->examples++;
    counts->mistakes += guess != gold;
    if (rival >= 0) {
        if (table_reserve(t, n, (uint32_t)p->n_history) < 0) return -1;
        counts->updates++;
        for (int32_t h = 0; open && h < p->n_history; h++) {
            int64_t *row = &s->rows[n_fixed + (size_t)h];
            if (*row < 0)
                *row = table_insert(t, s->new_keys[h], (uint16_t)p->history_templates[h]);
            if (*row < 0) return -1;
        }
        if (add_all(t, rule, s->rows, n, gold, step) < 0) return -1;
        if (add_all(t, rule, s->rows, n, rival, -step) < 0) return -1;
    }
    t->done++;
    return guess;
}

/* One sentence, in the direction asked for; -1: no memory. */
static inline int learn_sentence(const Program *p, Table *t, const Corpus *c, const Rule *rule,
                                 int right_to_left, int64_t sentence, GreedyScratch *s,
                                 Counts *counts) {
    int64_t begin = c->token_starts[sentence], n = c->token_starts[sentence + 1] - begin;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    for (int k = 0; k < MAX_HISTORY; k++) past[k] = no_label_hash();
    for (int64_t step = 0; step < n; step++) {
        int64_t i = right_to_left ? n - 1 - step : step;
        int64_t place = c->padded_starts[sentence] + i;
        for (int32_t k = 0; k < p->n_columns; k++) types[k] = c->types[k] + place;
        TokenView view = {types, c->carried, past, i == 0, i == n - 1};
        int32_t label = c->forced[types[0][0]];
        if (label < 0)
            label = learn_token(p, t, c, rule, &view, place, begin + i, sentence < c->n_open, s,
                                counts);
        if (label < 0) return -1;
        s->guesses[i] = label;
        for (int k = MAX_HISTORY - 1; k > 0; k--) past[k] = past[k - 1];
        past[0] = c->label_hashes[label];
    }
    return 0;
}

#endif
