/* Learning to tag whole sentences: search as in tagging, then part the gold sequence from the
 * sequence found (Collins, 2002, "Discriminative training methods for hidden Markov models").
 *
 * Two things make it work. The search may lose the gold sequence, so the update is made at the
 * prefix where the beam's best beats it by most ("max-violation": Huang, Fayong and Guo, 2012,
 * "Structured perceptron with inexact search"). And each wrong label gets `cost` on top of its
 * score while training, so that the gold sequence must win by as much as there are wrong labels
 * (Taskar, Guestrin and Koller, 2003, in the form of Tsochantaridis et al., 2004).
 *
 * The example of the averages is the sentence, weighted by its words: time moves on by the number
 * of words that were learnt from, so averages weigh text evenly, as greedy training does. */
#ifndef PERCEPTRON_NLP_STRUCTURED_H
#define PERCEPTRON_NLP_STRUCTURED_H

#include "train/beam.h"
#include "train/greedy.h"

/* One weight that an update is going to change. */
typedef struct {
    int64_t row;
    int32_t label, sign;
} Change;

typedef struct {
    const Program *program;
    Table *table;
    const Corpus *corpus;
    const Rule *rule;
    double cost;
    int right_to_left;
    const uint64_t *label_hashes; /* one more than labels: the last is for "none" */
    Beam beam;
    int32_t *rows;         /* rows of one token; after them, those of the templates of each state */
    double *fixed;         /* [label]: what the words of one token say */
    double *scores;        /* [label]: scratch */
    int32_t *gold, *guess; /* [step]: the gold sequence and the one found, as they are read */
    int partly;            /* some words of the sentence have no label */
    Change *changes;       /* of the sentence at hand */
    size_t n_changes, changes_room;
} Structured;

static inline int64_t token_of_step(const Structured *x, int64_t sentence, int64_t step) {
    const int64_t *starts = x->corpus->token_starts + sentence;
    return x->right_to_left ? starts[1] - 1 - step : starts[0] + step;
}

/* What a token looks like after the labels in `past` (numbers, the last first). */
static inline TokenView step_view(const Structured *x, int64_t sentence, int64_t token,
                                  const int32_t *past, const int32_t **types, uint64_t *hashes) {
    const Corpus *c = x->corpus;
    int64_t i = token - c->token_starts[sentence], place = c->padded_starts[sentence] + i;
    for (int32_t k = 0; k < x->program->n_columns; k++) types[k] = c->types[k] + place;
    for (int32_t k = 0; k < x->program->depth; k++) hashes[k] = x->label_hashes[past[k]];
    TokenView view = {types, c->carried, hashes, i == 0,
                      token == c->token_starts[sentence + 1] - 1};
    return view;
}

/* The label that a token has without being scored, or -1. */
static inline int32_t forced_label(const Structured *x, int64_t sentence, int64_t token) {
    const Corpus *c = x->corpus;
    int64_t i = token - c->token_starts[sentence];
    return c->forced[c->types[0][c->padded_starts[sentence] + i]];
}

static inline void past_of(const int32_t *labels, int64_t step, int32_t none, int32_t *past) {
    for (int k = 0; k < MAX_HISTORY; k++) past[k] = step - 1 - k >= 0 ? labels[step - 1 - k] : none;
}

/* Add what the history templates say after `past` to scores[label]. */
static inline void score_history(const Structured *x, int64_t sentence, int64_t token,
                                 const int32_t *past, int32_t *rows, double *scores) {
    const Program *p = x->program;
    const int32_t *types[MAX_COLUMNS];
    uint64_t hashes[MAX_HISTORY];
    TokenView view = step_view(x, sentence, token, past, types, hashes);
    for (int32_t h = 0; h < p->n_history; h++) {
        rows[h] = (int32_t)table_find(x->table, token_key(p, p->history_templates[h], &view));
        if (rows[h] >= 0) table_prefetch_rows(x->table, &rows[h], 1);
    }
    for (int32_t h = 0; h < p->n_history; h++)
        if (rows[h] >= 0) table_score(x->table, rows[h], 1, scores);
}

/* Fill the beam's local scores for one token; the words' own part stays in x->fixed. */
static inline void score_states(Structured *x, int64_t sentence, int64_t token) {
    const Corpus *c = x->corpus;
    size_t bytes = (size_t)x->table->n_labels * sizeof(double);
    int64_t i = token - c->token_starts[sentence];
    size_t n = gather_static(x->program, x->table, c, c->padded_starts[sentence] + i, token, i == 0,
                             token == c->token_starts[sentence + 1] - 1, x->rows);
    memset(x->fixed, 0, bytes);
    for (size_t k = 0; k < n; k++) table_score(x->table, x->rows[k], 1, x->fixed);
    for (int32_t s = 0; s < x->beam.n_states; s++) {
        memcpy(beam_local(&x->beam, s), x->fixed, bytes);
        score_history(x, sentence, token, x->beam.states[s].past, x->rows, beam_local(&x->beam, s));
    }
}

/* What the gold label scores at a step of the gold sequence. */
static inline double gold_score(const Structured *x, int64_t sentence, int64_t token,
                                int64_t step) {
    int32_t past[MAX_HISTORY], gold = x->gold[step];
    past_of(x->gold, step, x->table->n_labels, past);
    for (int32_t s = 0; s < x->beam.n_states; s++)
        if (!memcmp(past, x->beam.states[s].past, (size_t)x->program->depth * sizeof *past))
            return beam_local(&x->beam, s)[gold];
    memcpy(x->scores, x->fixed, (size_t)x->table->n_labels * sizeof(double));
    score_history(x, sentence, token, past, x->rows, x->scores);
    return x->scores[gold];
}

/* The gold sequence as it is read. Where words have no label, the best sequence that agrees with
 * the labels that there are takes their place. Returns the words learnt from; -1: no memory. */
static inline int64_t set_gold(Structured *x, int64_t sentence, int64_t n) {
    int64_t labelled = 0;
    int whole = 1;
    for (int64_t step = 0; step < n; step++) {
        int64_t token = token_of_step(x, sentence, step);
        int32_t forced = forced_label(x, sentence, token);
        x->gold[step] = forced >= 0 ? forced : x->corpus->gold[token];
        whole = whole && x->gold[step] >= 0;
        labelled += forced < 0 && x->gold[step] >= 0;
    }
    x->partly = !whole;
    if (whole || !labelled) return labelled;
    if (beam_begin(&x->beam, n) < 0) return -1;
    for (int64_t step = 0; step < n; step++) {
        score_states(x, sentence, token_of_step(x, sentence, step));
        beam_step(&x->beam, step, x->gold[step], step == n - 1);
    }
    beam_trace(&x->beam, n, x->gold);
    return labelled;
}

/* Does the best way to give the first `steps` labels differ from the gold sequence in a word that
 * has a label? Other differences are no mistakes: nobody has said what is right there. It leaves
 * that way in x->guess. */
static inline int is_mistaken(const Structured *x, int64_t sentence, int64_t steps) {
    beam_trace(&x->beam, steps, x->guess);
    for (int64_t step = 0; step < steps; step++)
        if (x->gold[step] != x->guess[step] &&
            x->corpus->gold[token_of_step(x, sentence, step)] >= 0)
            return 1;
    return 0;
}

/* Search; returns the length of the prefix to learn from, 0 where the gold sequence leads, and
 * leaves the rival prefix in x->guess. -1: no memory. */
static inline int64_t find_violation(Structured *x, int64_t sentence, int64_t n) {
    Beam *b = &x->beam;
    double gold_sum = 0, worst = 0;
    int64_t prefix = 0;
    if (beam_begin(b, n) < 0) return -1;
    for (int64_t step = 0; step < n; step++) {
        int64_t token = token_of_step(x, sentence, step);
        int32_t gold = x->gold[step], forced = forced_label(x, sentence, token);
        if (forced >= 0) {
            for (int32_t s = 0; s < b->n_states; s++) beam_local(b, s)[forced] = 0;
        } else {
            score_states(x, sentence, token);
            gold_sum += gold_score(x, sentence, token, step);
            if (x->corpus->gold[token] >= 0)
                for (int32_t s = 0; s < b->n_states; s++) {
                    double *local = beam_local(b, s), right = local[gold];
                    for (int32_t k = 0; k < b->n_labels; k++) local[k] += x->cost;
                    local[gold] = right;
                }
        }
        beam_step(b, step, forced, step == n - 1);
        if (b->states[0].score - gold_sum > worst &&
            (!x->partly || is_mistaken(x, sentence, step + 1))) {
            worst = b->states[0].score - gold_sum;
            prefix = step + 1;
        }
    }
    /* A tie is a mistake too if it is not the gold sequence that the search prefers. */
    if (!prefix && b->states[0].score == gold_sum) prefix = n;
    beam_trace(b, prefix, x->guess);
    if (x->partly && !is_mistaken(x, sentence, prefix)) return 0;
    return prefix && memcmp(x->gold, x->guess, (size_t)prefix * sizeof *x->gold) ? prefix : 0;
}

/* Note a change of one weight, and make its cell. -1: no memory. */
static inline int note_change(Structured *x, int64_t row, int32_t label, int32_t sign) {
    if (x->n_changes == x->changes_room) {
        size_t room = 2 * x->changes_room + 256;
        Change *changes = (Change *)realloc(x->changes, room * sizeof *changes);
        if (!changes) return -1;
        x->changes = changes;
        x->changes_room = room;
    }
    if (!table_cell(x->table, row, label).w) return -1;
    x->changes[x->n_changes++] = (Change){row, label, sign};
    return 0;
}

/* Make the changes that were noted, in their order. Their cells are there, so none can fail. */
static inline void make_changes(const Structured *x) {
    const Rule *rule = x->rule;
    for (size_t i = 0; i < x->n_changes; i++) {
        const Change *c = &x->changes[i];
        if (rule->kind == RULE_ADAGRAD)
            table_add_adagrad(x->table, c->row, c->label, c->sign, rule->rate);
        else
            table_add(x->table, c->row, c->label, c->sign * rule->rate);
    }
}

/* Note what parts gold and rival at one step; features that both have with the same label are left
 * alone. */
static inline int part_step(Structured *x, int64_t sentence, int64_t step) {
    const Program *p = x->program;
    int32_t gold = x->gold[step], guess = x->guess[step], none = x->table->n_labels;
    int32_t past[2][MAX_HISTORY];
    const int32_t *types[MAX_COLUMNS];
    uint64_t hashes[2][MAX_HISTORY];
    int64_t token = token_of_step(x, sentence, step);
    past_of(x->gold, step, none, past[0]);
    past_of(x->guess, step, none, past[1]);
    TokenView right = step_view(x, sentence, token, past[0], types, hashes[0]), wrong = right;
    for (int32_t k = 0; k < p->depth; k++) hashes[1][k] = x->label_hashes[past[1][k]];
    wrong.past = hashes[1];
    if (gold != guess) {
        int64_t place =
            x->corpus->padded_starts[sentence] + token - x->corpus->token_starts[sentence];
        size_t n =
            gather_static(p, x->table, x->corpus, place, token, right.first, right.last, x->rows);
        for (size_t i = 0; i < n; i++)
            if (note_change(x, x->rows[i], gold, 1) < 0 ||
                note_change(x, x->rows[i], guess, -1) < 0)
                return -1;
    }
    for (int32_t h = 0; h < p->n_history; h++) {
        int32_t template_id = p->history_templates[h];
        uint64_t one = token_key(p, template_id, &right), two = token_key(p, template_id, &wrong);
        if (one == two && gold == guess) continue;
        int64_t row = table_insert(x->table, one, (uint16_t)template_id);
        if (row < 0 || note_change(x, row, gold, 1) < 0) return -1;
        row = one == two ? row : table_insert(x->table, two, (uint16_t)template_id);
        if (row < 0 || note_change(x, row, guess, -1) < 0) return -1;
    }
    return 0;
}

/* One sentence; -1: no memory, and no weight or average has changed (cells of zero may be new).
 * Mistakes are counted in the sequence parted from, so its cost is in them. */
static inline int learn_sequence(Structured *x, int64_t sentence, Counts *counts) {
    const Corpus *c = x->corpus;
    int64_t n = c->token_starts[sentence + 1] - c->token_starts[sentence], wrong = 0;
    int64_t labelled = set_gold(x, sentence, n);
    if (labelled <= 0) return (int)labelled;
    int64_t prefix = find_violation(x, sentence, n);
    if (prefix < 0) return -1;
    x->n_changes = 0;
    for (int64_t step = 0; step < prefix; step++) {
        int64_t token = token_of_step(x, sentence, step);
        if (forced_label(x, sentence, token) >= 0) continue;
        wrong += c->gold[token] >= 0 && x->gold[step] != x->guess[step];
        if (part_step(x, sentence, step) < 0) return -1;
    }
    make_changes(x);
    counts->mistakes += wrong;
    counts->updates += wrong;
    counts->examples += labelled;
    x->table->done += labelled;
    return 0;
}

#endif
