/* Training on rows: mistakes, updates, and what an average or a vote needs of them.
 *
 * One loop serves the six orders: the caller gives the order of the rows and the length of a step
 * (1: row by row, M: mini-batches, n: batch). The rows of a step are judged by the same weights,
 * then all its mistakes are added.
 *
 * The mean after each example of updates D_t is sum (N - t + 1) D_t / N, which is
 * (N w - owed) / N with owed = sum (t - 1) D_t: each mistake adds its row to two vectors, of sparse
 * rows to the second one mistake later (add_debts). Everything added is an integer where rates and
 * rows are, so on integers this is exactly what settling stamped weights would give.
 *
 * Dropped: one number a row instead (each D_t is a multiple of a row), with all rows ever wrong
 * added up at the end. Bags of 100 words, 20 epochs, the ways run in random order on a busy
 * machine, 2026, medians of 10 to 12 over no mean: two vectors +0.2 % at 10^4 features, +3.5 % at
 * 10^6 and +9.7 % at 10^7; one number a row +2.4 %, +4.5 % and +14.9 %. Not built: weight and sum
 * side by side, with or without stamps, since every score would read twice the memory; scoring
 * with such a stride alone took 1 % longer at 10^4 features, 20 % at 10^6 and 6 % at 10^7. */
#ifndef PERCEPTRON_NLP_VECTOR_TRAINING_H
#define PERCEPTRON_NLP_VECTOR_TRAINING_H

#include <math.h>

#include "train/vector_rows.h"

#define NO_RIVAL (-1)
#define ROWS_AHEAD 4

typedef struct {
    int64_t seen;  /* examples before the step that made the update */
    double amount; /* of the row: added to the gold class, taken from the rival */
    int32_t row;
    int32_t rival; /* class id; two classes have one vector, and `amount` carries the sign */
} update_t;

/* What a row adds to what the weights of a class owe. */
typedef struct {
    int64_t row, k;
    double amount;
} debt_t;

typedef struct {
    rows_t rows;
    const int32_t *gold; /* class id of each row */
    int64_t classes;     /* weight vectors: 1 for two classes */
    double *w, *bias;
    double *owed_w, *owed_bias; /* sum (t - 1) D_t; NULL without a mean */
    const double *class_rate;   /* factor of the rate, by gold class */
    double margin;
    int strict, intercept;
    int64_t seen, quiet;       /* examples; examples since the last update */
    int64_t updates, mistakes; /* steps that changed the weights; rows that made them */
    double *scores;            /* scratch: one a class */
    int32_t *rivals;           /* scratch: one a row of a step */
    update_t *log;             /* room for every row of a call, or NULL */
    int64_t logged;
    debt_t debts[2]; /* of the last mistake in sparse rows: still to be added */
    int n_debts;
} learner_t;

/* The class that row j is mistaken for, or NO_RIVAL. */
ROWS_INLINE int32_t judge(const learner_t *L, int64_t j) {
    const int32_t gold = L->gold[j];
    double *s = L->scores;
    score_row(&L->rows, j, L->w, L->bias, L->classes, s);
    /* A product, not a choice: which class comes next cannot be foreseen, and a wrong guess of the
     * processor costs as much as ten products of the row. */
    if (L->classes == 1) return (2 * gold - 1) * s[0] <= L->margin ? 1 - gold : NO_RIVAL;
    if (L->strict) {
        const int32_t rival = best_class(s, L->classes, gold);
        return s[gold] - s[rival] <= L->margin ? rival : NO_RIVAL;
    }
    const int32_t guess = best_class(s, L->classes, -1);
    return guess == gold ? NO_RIVAL : guess;
}

/* Weights have just been scored with and are near; what they owe is not. So that is asked for at a
 * mistake and added to at the next: at 10^7 features that took the mean from +6.4 % to +3.2 % of
 * user time (medians of 12 pairs), beside what the system takes for another 80 MB. */
ROWS_INLINE void add_debts(learner_t *L) {
    for (int i = 0; i < L->n_debts; i++) {
        const debt_t *d = &L->debts[i];
        add_row(&L->rows, d->row, d->amount, d->k, L->classes, L->owed_w);
    }
    L->n_debts = 0;
}

ROWS_INLINE void add_to_class(learner_t *L, int64_t j, int32_t k, double a, double before) {
    if (L->intercept) L->bias[k] += a;
    if (L->owed_w == NULL) {
        add_row(&L->rows, j, a, k, L->classes, L->w);
        return;
    }
    if (L->intercept) L->owed_bias[k] += a * before;
    if (L->rows.columns == NULL) {
        add_dense_twice(&L->rows, j, a, a * before, k, L->w, L->owed_w);
        return;
    }
    const debt_t debt = {j, k, a * before};
    prefetch_weights(&L->rows, j, k, L->classes, L->owed_w);
    add_row(&L->rows, j, a, k, L->classes, L->w);
    L->debts[L->n_debts++] = debt;
}

ROWS_INLINE void correct(learner_t *L, int64_t j, int32_t rival, double rate) {
    const int32_t gold = L->gold[j];
    const double before = (double)L->seen;
    double a = rate * L->class_rate[gold];
    add_debts(L);
    if (L->classes == 1) {
        a *= 2 * gold - 1;
        add_to_class(L, j, 0, a, before);
    } else {
        add_to_class(L, j, gold, a, before);
        add_to_class(L, j, rival, -a, before);
    }
    if (L->log != NULL) {
        const update_t entry = {L->seen, a, (int32_t)j, rival};
        L->log[L->logged++] = entry;
    }
    L->mistakes++;
}

/* The loop of `train`; `one` says at compile time that steps are of one row. */
ROWS_INLINE int64_t train_steps(learner_t *L, const int64_t *order, int64_t n, int64_t step,
                                const double *rates, double rate, int64_t patience, int one) {
    const rows_t rows = L->rows;
    int64_t done = 0;
    while (done < n) {
        const int64_t size = one ? 1 : step < n - done ? step : n - done;
        const int64_t before = L->mistakes;
        int32_t rival = NO_RIVAL;
        for (int64_t i = 0; i < size; i++) {
            if (done + i + ROWS_AHEAD < n) prefetch_row(&rows, order[done + i + ROWS_AHEAD]);
            rival = judge(L, order[done + i]);
            if (!one) L->rivals[i] = rival;
        }
        if (!one || rival != NO_RIVAL) {
            if (rates != NULL) rate = rates[one ? done : done / step];
            for (int64_t i = 0; i < size; i++) {
                if (!one) rival = L->rivals[i];
                if (rival != NO_RIVAL) correct(L, order[done + i], rival, rate);
            }
        }
        L->seen += size;
        done += size;
        L->quiet = L->mistakes == before ? L->quiet + size : 0;
        L->updates += L->mistakes != before;
        if (patience >= 0 && L->quiet >= patience) break;
    }
    add_debts(L);
    return done;
}

/* Train on order[0 .. n) in steps of `step` rows; step i has rates[i], or `rate` if rates is
 * NULL. Stops after the step that completes `patience` examples without an update (< 0: never).
 * Returns the number of examples taken. */
static int64_t train(learner_t *L, const int64_t *order, int64_t n, int64_t step,
                     const double *rates, double rate, int64_t patience) {
    return step == 1 ? train_steps(L, order, n, 1, rates, rate, patience, 1)
                     : train_steps(L, order, n, step, rates, rate, patience, 0);
}

/* The mean (N w - owed) / N, in place of `owed`: N w - owed is the sum of the weights after each
 * example, an integer where the data are, and one division rounds once. */
static void mean_of_owed(const double *restrict w, double *restrict owed, double n, int64_t size) {
    for (int64_t i = 0; i < size; i++) owed[i] = (n * w[i] - owed[i]) / n;
}

/* Back again, so that training can go on from the weights and the mean alone. Where the sum was
 * an integer below 2^51, mean times n is within 1/2 of it and rounding finds it; where it was
 * not, an integer is taken only if it has the same mean. So integers stay exact, and nothing
 * else is off by more than the rounding of the mean. */
static void owed_of_mean(const double *restrict w, const double *restrict mean, double n,
                         int64_t size, double *restrict owed) {
    for (int64_t i = 0; i < size; i++) {
        const double sum = mean[i] * n, whole = rint(sum);
        owed[i] = n * w[i] - (whole / n == mean[i] ? whole : sum);
    }
}

#endif
