/* Greedy learning of labels made of parts: as greedy.h, but weights belong to parts (parts.h), and
 * an update touches only the parts in which the gold label and its rival differ. */
#ifndef PERCEPTRON_NLP_FACTORED_H
#define PERCEPTRON_NLP_FACTORED_H

#include "train/greedy.h"
#include "train/partrows.h"
#include "model/parts.h"

typedef struct {
    const Program *program;
    Table *table; /* its labels are the parts */
    PartRows *copies;
    const Corpus *corpus;
    const Rule *rule;
    const Parts *parts;
    int right_to_left;
    int32_t *rows;      /* of the token at hand; -1 where a history feature is new */
    uint64_t *new_keys; /* keys of its history features, in order */
    double *part_scores, *scratch;
    int32_t *differing; /* the parts of an update */
    double *steps;      /* of each of them */
} Factored;

/* Learn the steps in one row, whose cells are there: so it cannot fail. */
static inline void update_row(const Factored *x, int64_t row, int32_t n_differing) {
    Table *t = x->table;
    for (int32_t k = 0; k < n_differing; k++)
        if (x->rule->kind == RULE_ADAGRAD)
            table_add_adagrad(t, row, x->differing[k], x->steps[k], x->rule->rate);
        else
            table_add(t, row, x->differing[k], x->steps[k]);
    double *copy = part_row_copy(x->copies, t, row);
    if (copy)
        for (int32_t k = 0; k < n_differing; k++)
            copy[x->differing[k]] = *table_cell(t, row, x->differing[k]).w;
}

/* Part the gold label from its rival; the token has n_fixed features of words and n in all. -1: no
 * memory, no weight changed. */
static inline int part_labels(const Factored *x, size_t n_fixed, size_t n, int32_t gold,
                              int32_t rival, double step) {
    const Program *p = x->program;
    for (int32_t h = 0; h < p->n_history; h++) {
        int32_t *row = &x->rows[n_fixed + (size_t)h];
        if (*row < 0)
            *row =
                (int32_t)table_insert(x->table, x->new_keys[h], (uint16_t)p->history_templates[h]);
        if (*row < 0) return -1;
    }
    PartWalk walk = parts_differing(x->parts, gold, rival);
    int32_t n_differing = 0;
    int side;
    while (next_difference(x->parts, &walk, &x->differing[n_differing], &side))
        x->steps[n_differing++] = side ? -step : step;
    for (size_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n_differing; k++)
            if (!table_cell(x->table, x->rows[i], x->differing[k]).w) return -1;
    for (size_t i = 0; i < n; i++) update_row(x, x->rows[i], n_differing);
    return 0;
}

/* Learn from a token whose parts are scored; the label given, or -1 when there is no memory. */
static inline int32_t learn_scored(const Factored *x, size_t n_fixed, size_t n, int32_t gold,
                                   Counts *counts) {
    int32_t rival = best_but(x->parts, x->part_scores, gold, x->scratch);
    /* The rule compares two labels, in the order of their numbers, which decides ties. */
    int after = rival >= 0 && rival < gold;
    double scores[2], step;
    scores[after] = x->scratch[x->parts->leaf[gold]];
    if (rival >= 0) scores[!after] = x->scratch[x->parts->leaf[rival]];
    int32_t n_labels = rival >= 0 ? 2 : 1, best = best_label(scores, n_labels);
    int32_t guess = best == after ? gold : rival;
    counts->examples++;
    counts->mistakes += guess != gold;
    if (rival_of(x->rule, scores, n_labels, after, best, n, &step) >= 0) {
        counts->updates++;
        if (part_labels(x, n_fixed, n, gold, rival, step) < 0) return -1;
    }
    x->table->done++;
    return guess;
}

/* Label one token and learn from it; the label given, or -1 when there is no memory. */
static inline int32_t learn_parts(const Factored *x, const TokenView *view, int64_t place,
                                  int64_t token, Counts *counts) {
    const Program *p = x->program;
    Table *t = x->table;
    size_t n_fixed = gather_static(p, t, x->corpus, place, token, view->first, view->last, x->rows);
    size_t n = n_fixed;
    for (int32_t h = 0; h < p->n_history; h++) {
        x->new_keys[h] = token_key(p, p->history_templates[h], view);
        x->rows[n++] = (int32_t)table_find(t, x->new_keys[h]);
    }
    memset(x->part_scores, 0, (size_t)t->n_labels * sizeof *x->part_scores);
    for (size_t i = 0; i < n; i++)
        if (x->rows[i] >= 0) add_part_row(x->copies, t, x->rows[i], x->part_scores);
    int32_t gold = x->corpus->gold[token];
    if (gold < 0) return best_but(x->parts, x->part_scores, -1, x->scratch);
    return learn_scored(x, n_fixed, n, gold, counts);
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
