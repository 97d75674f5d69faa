/* Learning to tag greedily: left to right or right to left, one label at a time, each from the
 * features of the words and of the labels just given.
 *
 * The hot loop of training is learn_token. On a treebank of 200,000 words with 27 templates a
 * visit adds about 27 rows and an update touches 54 weights; waiting for rows that are not in the
 * cache is most of the time. So the rows of a token are found and fetched while the token before it
 * is labelled: also those that look at that label, which is taken to be the right one and mostly
 * is; where it is not, they are found again. */
#ifndef PERCEPTRON_NLP_GREEDY_H
#define PERCEPTRON_NLP_GREEDY_H

#include "train/history.h"

enum { RULE_PERCEPTRON, RULE_MARGIN, RULE_PASSIVE_AGGRESSIVE, RULE_ADAGRAD };

typedef struct {
    int kind;
    double rate;   /* perceptron, margin: the step; AdaGrad: its rate; PA: its aggressiveness */
    double margin; /* the gold label must lead by more than this (not the plain perceptron) */
    double scale;  /* what the loss of the sentence at hand is multiplied by */
} Rule;

/* Everything about the training sentences that does not change between epochs. */
typedef struct {
    const int32_t *const *types;  /* per column: padded type numbers */
    const int64_t *padded_starts; /* sentence -> place of its first token in types */
    const int64_t *token_starts;  /* sentence -> number of its first token; one more at end */
    const uint64_t *carried;      /* see TokenView */
    const int32_t *slot_starts;   /* [type * n_slots + slot]: its first row, and so to the next */
    const int32_t *slot_rows;
    const int32_t *static_rows; /* [token * n_static + i]; -1: left out */
    int is_thinned;             /* some of them are */
    const int32_t *gold;        /* token -> label; -1: not labelled */
    const int32_t *forced;      /* type -> label that needs no scores; -1: none */
    const uint64_t *label_hashes;
    int64_t n_open; /* sentences from this number on bring no features of their own */
} Corpus;

typedef struct {
    const Program *program;
    Table *table;
    const Corpus *corpus;
    const Rule *rule;
    const HistoryMemo *memos; /* one a history template */
    int right_to_left;
    int32_t *rows, *next; /* rows of the token at hand, and those of the one after it */
    double *scores;       /* table_width of them */
} Greedy;

typedef struct {
    int64_t examples, mistakes, updates;
} Counts;

/* Row numbers are copied so many at a time: lists of them, and room for them, are longer by this. */
#define COPIED 8

static inline size_t copy_rows(int32_t *to, const int32_t *from, int32_t n) {
    for (int32_t i = 0; i < n; i += COPIED) memcpy(to + i, from + i, COPIED * sizeof *to);
    return (size_t)n;
}

/* Find the rows of a token that do not hang on labels given. */
static inline size_t find_static(const Program *p, const Corpus *c, int64_t place, int64_t token,
                                 int first, int last, int32_t *rows) {
    size_t n = 0;
    for (int32_t s = 0; s < p->n_slots; s++) {
        const SlotSpec *slot = &p->slots[s];
        if (!slot_applies(slot->condition, first, last)) continue;
        int32_t type = c->types[slot->column][place + slot->offset];
        const int32_t *start = c->slot_starts + (size_t)type * (size_t)p->n_slots + s;
        n += copy_rows(rows + n, c->slot_rows + start[0], start[1] - start[0]);
    }
    if (!c->is_thinned)
        return n + copy_rows(rows + n, c->static_rows + token * p->n_static, p->n_static);
    for (int32_t i = 0; i < p->n_static; i++) {
        int32_t row = c->static_rows[token * p->n_static + i];
        if (row >= 0) rows[n++] = row;
    }
    return n;
}

/* The same, and fetch them. */
static inline size_t gather_static(const Program *p, const Table *t, const Corpus *c, int64_t place,
                                   int64_t token, int first, int last, int32_t *rows) {
    size_t n = find_static(p, c, place, token, first, last, rows);
    table_prefetch_rows(t, rows, n);
    return n;
}

/* The table has room for it (table_reserve), and whole weights take the step. */
static inline int add_all(Table *t, const Rule *rule, const int32_t *rows, size_t n, int32_t label,
                          double step) {
    if (t->dense && t->store.whole) {
        for (size_t i = 0; i < n; i++)
            add_short(&t->store, table_stored(t, rows[i]), label, (int32_t)step, (double)t->done);
        return 0;
    }
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
        *step = rule->rate * rule->scale;
        return guess == gold ? -1 : guess;
    }
    int32_t rival = guess == gold ? best_other(scores, n_labels, gold) : guess;
    if (rival < 0) return -1;
    double lead = scores[gold] - scores[rival];
    switch (rule->kind) {
        case RULE_MARGIN:
            *step = rule->rate * rule->scale;
            return lead <= rule->margin ? rival : -1;
        case RULE_PASSIVE_AGGRESSIVE:
            *step = passive_aggressive_step(rule->margin - lead, 2.0 * (double)n_features,
                                            rule->rate * rule->scale);
            return lead < rule->margin ? rival : -1;
        default:
            *step = rule->scale;
            /* With a margin of 0, nothing would ever be learnt from the ties of the start. */
            return lead < rule->margin || guess != gold ? rival : -1;
    }
}

/* Where a step of a sentence is, and what its token looks like after the labels given. */
typedef struct {
    int64_t token, place;
    int32_t forced; /* the label that it has without being scored, or -1 */
    const int32_t *types[MAX_COLUMNS];
    uint64_t past[MAX_HISTORY]; /* hashes of the labels given, the last first */
    int32_t given[MAX_HISTORY]; /* their numbers; as many as there are labels for "none" */
    TokenView view;
    int open;
    size_t n_fixed, n; /* rows: those of its words, and all */
} Visit;

static inline void visit(const Greedy *x, int64_t sentence, int64_t step, Visit *v) {
    const Corpus *c = x->corpus;
    int64_t begin = c->token_starts[sentence], n = c->token_starts[sentence + 1] - begin;
    int64_t i = x->right_to_left ? n - 1 - step : step;
    v->token = begin + i;
    v->place = c->padded_starts[sentence] + i;
    for (int32_t k = 0; k < x->program->n_columns; k++) v->types[k] = c->types[k] + v->place;
    v->view = (TokenView){v->types, c->carried, v->past, i == 0, i == n - 1};
    v->forced = c->forced[v->types[0][0]];
    v->open = sentence < c->n_open;
}

static inline void visit_first(const Greedy *x, Visit *v) {
    for (int k = 0; k < MAX_HISTORY; k++) {
        v->past[k] = no_label_hash();
        v->given[k] = x->table->n_labels;
    }
}

/* Come after a visit that gave this label. */
static inline void visit_after(const Greedy *x, const Visit *before, int32_t label, Visit *v) {
    for (int k = MAX_HISTORY - 1; k > 0; k--) {
        v->past[k] = before->past[k - 1];
        v->given[k] = before->given[k - 1];
    }
    v->past[0] = x->corpus->label_hashes[label];
    v->given[0] = label;
}

/* Find the rows that hang on the labels given. */
static inline void visit_history(const Greedy *x, Visit *v, int32_t *rows) {
    const Program *p = x->program;
    v->n = v->n_fixed;
    for (int32_t h = 0; v->forced < 0 && h < p->n_history; h++) {
        int64_t row =
            history_row(p, x->table, &x->memos[h], p->history_templates[h], &v->view, v->given);
        if (row >= 0 || v->open) rows[v->n++] = (int32_t)row;
    }
}

/* Find and fetch all rows. */
static inline void visit_rows(const Greedy *x, Visit *v, int32_t *rows) {
    v->n_fixed = v->forced >= 0 ? 0
                                : find_static(x->program, x->corpus, v->place, v->token,
                                              v->view.first, v->view.last, rows);
    visit_history(x, v, rows);
    table_prefetch_rows(x->table, rows, v->n);
}

/* Part the gold label from its rival. -1: no memory, and no weight has changed. */
static inline int learn_mistake(const Greedy *x, const Visit *v, int32_t gold, int32_t rival,
                                double step) {
    const Program *p = x->program;
    Table *t = x->table;
    if (t->dense && t->store.whole && !takes_step(&t->store, step, v->n) && table_make_mixed(t) < 0)
        return -1;
    if (table_reserve(t, v->n, (uint32_t)p->n_history) < 0) return -1;
    for (int32_t h = 0; v->open && h < p->n_history; h++) {
        int32_t *row = &x->rows[v->n_fixed + (size_t)h];
        if (*row < 0)
            *row = (int32_t)history_insert(p, t, &x->memos[h], p->history_templates[h], &v->view,
                                           v->given);
        if (*row < 0) return -1;
    }
    if (add_all(t, x->rule, x->rows, v->n, gold, step) < 0) return -1;
    return add_all(t, x->rule, x->rows, v->n, rival, -step);
}

/* The best label of a token of n rows; scores are left behind for rules that look at them. */
static inline int32_t score_token(const Greedy *x, size_t n) {
    const Table *t = x->table;
    if (!t->dense || !sums_are_short(&t->store, n)) {
        table_score_rows(t, x->rows, n, x->scores);
        return best_label(x->scores, t->n_labels);
    }
    int16_t sums[MOST_ROW_LABELS];
    int32_t best = t->sums.best(&t->store, t->stored, x->rows, n, sums);
    for (int32_t k = 0; x->rule->kind != RULE_PERCEPTRON && k < t->n_labels; k++)
        x->scores[k] = sums[k];
    return best;
}

/* Label a token and learn from it; the label given, or -1 when there is no memory. */
static inline int32_t learn_token(const Greedy *x, const Visit *v, Counts *counts) {
    Table *t = x->table;
    int32_t guess = score_token(x, v->n), gold = x->corpus->gold[v->token];
    if (gold < 0) return guess;
    double step;
    int32_t rival = rival_of(x->rule, x->scores, t->n_labels, gold, guess, v->n, &step);
    counts->examples++;
    counts->mistakes += guess != gold;
    if (rival >= 0) {
        if (learn_mistake(x, v, gold, rival, step) < 0) return -1;
        counts->updates++;
    }
    t->done++;
    return guess;
}

/* Fetching goes in steps, each some tokens before the next, as each follows what the one before has
 * fetched: where the rows of a type begin, the rows, what is remembered of labels; then, one token
 * ahead, weights. A type is first looked at by the neighbour that is farthest before it. */
static inline int64_t place_of(const Greedy *x, int64_t sentence, int64_t step) {
    const int64_t *starts = x->corpus->token_starts + sentence;
    int64_t i = x->right_to_left ? starts[1] - starts[0] - 1 - step : step;
    return x->corpus->padded_starts[sentence] + i;
}

static ALWAYS_INLINE void fetch_starts(const Greedy *x, int64_t place) {
    const Corpus *c = x->corpus;
    for (int32_t k = 0; k < x->program->n_columns; k++)
        PREFETCH(c->slot_starts + (size_t)c->types[k][place] * (size_t)x->program->n_slots);
}

static ALWAYS_INLINE void fetch_numbers(const Greedy *x, int64_t place) {
    const Corpus *c = x->corpus;
    const int32_t a_line = CACHE_LINE / (int32_t)sizeof(int32_t);
    for (int32_t k = 0; k < x->program->n_columns; k++) {
        const int32_t *rows =
            c->slot_rows + c->slot_starts[(size_t)c->types[k][place] * (size_t)x->program->n_slots];
        PREFETCH(rows);
        PREFETCH(rows + a_line);
    }
}

static ALWAYS_INLINE void fetch_remembered(const Greedy *x, int64_t place) {
    const Corpus *c = x->corpus;
    for (int32_t h = 0; h < x->program->n_history; h++) {
        const HistoryMemo *m = &x->memos[h];
        if (!m->row1 || !m->values) continue;
        const int32_t *first =
            m->row1 + (size_t)m->values[c->types[m->column][place + m->offset]] * m->span;
        PREFETCH(first);
        PREFETCH(first + (m->span > 1 ? m->span - 1 : 0));
    }
}

static ALWAYS_INLINE void fetch_ahead(const Greedy *x, int64_t sentence, int64_t step, int64_t n) {
    const int64_t first = x->program->reach + 2;
    if (step + 2 < n) fetch_remembered(x, place_of(x, sentence, step + 2));
    if (step + first < n) fetch_numbers(x, place_of(x, sentence, step + first));
    if (step + first + 1 < n) fetch_starts(x, place_of(x, sentence, step + first + 1));
}

/* What stands where a sentence begins: two sentences ahead. */
static ALWAYS_INLINE void fetch_sentence(const Greedy *x, int64_t sentence) {
    const Corpus *c = x->corpus;
    int64_t token = c->token_starts[sentence + x->right_to_left];
    int64_t place = place_of(x, sentence, 0);
    for (int32_t k = 0; k < x->program->n_columns; k++) PREFETCH(c->types[k] + place);
    PREFETCH(c->static_rows + token * x->program->n_static);
    PREFETCH(c->gold + token);
}

/* Where the rows of its first types begin: one sentence ahead. */
static ALWAYS_INLINE void fetch_first_starts(const Greedy *x, int64_t sentence) {
    const int64_t *starts = x->corpus->token_starts + sentence;
    for (int64_t step = 0; step < x->program->reach + 3 && step < starts[1] - starts[0]; step++)
        fetch_starts(x, place_of(x, sentence, step));
}

/* One sentence, in the direction asked for; -1: no memory. */
static inline int learn_sentence(Greedy *x, int64_t sentence, Counts *counts) {
    const Corpus *c = x->corpus;
    int64_t n = c->token_starts[sentence + 1] - c->token_starts[sentence];
    if (!n) return 0;
    Visit visits[2];
    for (int64_t step = 0; step < x->program->reach + 2 && step < n; step++)
        fetch_numbers(x, place_of(x, sentence, step));
    visit(x, sentence, 0, &visits[0]);
    visit_first(x, &visits[0]);
    visit_rows(x, &visits[0], x->next);
    for (int64_t step = 0; step < n; step++) {
        Visit *now = &visits[step % 2], *then = &visits[(step + 1) % 2];
        int32_t *rows = x->next;
        x->next = x->rows;
        x->rows = rows;
        int32_t expected = now->forced >= 0 ? now->forced : c->gold[now->token];
        fetch_ahead(x, sentence, step, n);
        if (step + 1 < n) {
            visit(x, sentence, step + 1, then);
            visit_after(x, now, expected < 0 ? 0 : expected, then);
            visit_rows(x, then, x->next);
        }
        int64_t updates = counts->updates;
        int32_t label = now->forced;
        if (label < 0) label = learn_token(x, now, counts);
        if (label < 0) return -1;
        /* An update may have made rows that were not there. */
        if (step + 1 < n && (label != expected || counts->updates != updates)) {
            visit_after(x, now, label, then);
            visit_history(x, then, x->next);
        }
    }
    return 0;
}

#endif
