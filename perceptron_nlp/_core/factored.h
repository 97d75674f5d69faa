/* Greedy learning of labels made of parts: as greedy.h, but weights belong to parts (parts.h), and
 * an update touches only the parts in which the gold label and its rival differ. */
#ifndef PERCEPTRON_NLP_FACTORED_H
#define PERCEPTRON_NLP_FACTORED_H

#include "greedy.h"
#include "parts.h"

typedef struct {
    const Program *program;
    Table *table; /* its labels are the parts */
    const Corpus *corpus;
    const Rule *rule;
    const Parts *parts;
    int right_to_left;
    int64_t *rows;      /* of the token at hand; -1 where a history feature is new */
    uint64_t *new_keys; /* keys of its history features, in order */
    double *part_scores, *nodes, *scores;
} Factored;

static inline int add_to_part(const Factored *x, size_t n, int32_t part, double step) {
    for (size_t i = 0; i < n; i++) {
        int status = x->rule->kind == RULE_ADAGRAD
                         ? table_add_adagrad(x->table, x->rows[i], part, step, x->rule->rate)
                         : table_add(x->table, x->rows[i], part, step);
        if (status < 0) return -1;
    }
    return 0;
}

/* Part the gold label from its rival; the token has n_fixed features of words and n in all. */
static inline int part_labels(const Factored *x, size_t n_fixed, size_t n, int32_t gold,
                              int32_t rival, double step) {
    const Program *p = x->program;
    for (int32_t h = 0; h < p->n_history; h++) {
        int64_t *row = &x->rows[n_fixed + (size_t)h];
        if (*row < 0)
            *row = table_insert(x->table, x->new_keys[h], (uint16_t)p->history_templates[h]);
        if (*row < 0) return -1;
    }
    PartWalk walk = parts_differing(x->parts, gold, rival);
    int32_t part;
    int side;
    while (next_difference(x->parts, &walk, &part, &side))
        if (add_to_part(x, n, part, side ? -step : step) < 0) return -1;
    return 0;
}

/* Label one token and learn from it; the label given, or -1 when there is no memory. */
static inline int32_t learn_parts(const Factored *x, const TokenView *view, int64_t place,
                                  int64_t token, Counts *counts) {
    const Program *p = x->program;
    Table *t = x->table;
    size_t n_fixed = gather_static(p, t, x->corpus, place, token, view->first, view->last,
                                   x->rows);
    size_t n = n_fixed;
    for (int32_t h = 0; h < p->n_history; h++) {
        x->new_keys[h] = token_key(p, p->history_templates[h], view);
        x->rows[n++] = table_find(t, x->new_keys[h]);
    }
    memset(x->part_scores, 0, (size_t)t->n_labels * sizeof *x->part_scores);
    for (size_t i = 0; i < n; i++)
        if (x->rows[i] >= 0) table_score(t, x->rows[i], 1, x->part_scores);
    label_scores(x->parts, x->part_scores, x->nodes, x->scores);
    int32_t n_labels = x->parts->n_labels;
    int32_t guess = best_label(x->scores, n_labels), gold = x->corpus->gold[token];
    if (gold < 0) return guess;
    double step;
    int32_t rival = rival_of(x->rule, x->scores, n_labels, gold, guess, n, &step);
    counts->examples++;
    counts->mistakes += guess != gold;
    if (rival >= 0) {
        counts->updates++;
        if (part_labels(x, n_fixed, n, gold, rival, step) < 0) return -1;
    }
    t->done++;
    return guess;
}

/* One sentence; -1: no memory. */
static inline int learn_parts_of_sentence(const Factored *x, int64_t sentence, Counts *counts) {
    const Corpus *c = x->corpus;
    const Program *p = x->program;
    int64_t begin = c->token_starts[sentence], n = c->token_starts[sentence + 1] - begin;
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY];
    for (int k = 0; k < MAX_HISTORY; k++) past[k] = no_label_hash();
    for (int64_t step = 0; step < n; step++) {
        int64_t i = x->right_to_left ? n - 1 - step : step;
        int64_t place = c->padded_starts[sentence] + i;
        for (int32_t k = 0; k < p->n_columns; k++) types[k] = c->types[k] + place;
        TokenView view = {types, c->carried, past, i == 0, i == n - 1};
        int32_t label = c->forced[types[0][0]];
        if (label < 0) label = learn_parts(x, &view, place, begin + i, counts);
        if (label < 0) return -1;
        for (int k = MAX_HISTORY - 1; k > 0; k--) past[k] = past[k - 1];
        past[0] = c->label_hashes[label];
    }
    return 0;
}

#endif
