/* Rows of numbers, dense or compressed (CSR), and the two things that linear learners do with
 * one: take its product with weights, and add it to weights.
 *
 *   dense   values[n * width], C order; columns and starts are NULL.
 *           Weights lie class by class:      w[k * width + f], so a product runs along memory.
 *   sparse  row j is values[starts[j] .. starts[j+1]) at columns[the same]; a column may come twice.
 *           Weights lie feature by feature:  w[f * classes + k], so that a non-zero touches
 *           one contiguous run of `classes` weights: one cache line up to eight classes.
 *
 * With one weight vector (classes == 1) the two layouts are the same. Sums run in the fixed lanes
 * written here, so every machine adds in the same order and gets the same bits. */
#ifndef PERCEPTRON_NLP_VECTORS_H
#define PERCEPTRON_NLP_VECTORS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include "table/portable.h"

typedef struct {
    const double *values;
    const int32_t *columns;
    const int64_t *starts;
    int64_t width;
} rows_t;

/* Eight lanes: an add waits four cycles for the one before it, and two loads start each cycle. */
static ALWAYS_INLINE double dense_dot(const double *restrict x, const double *restrict w,
                                      int64_t n) {
    double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int l = 0; l < 8; l++) lane[l] += x[i + l] * w[i + l];
    double tail = 0;
    for (; i < n; i++) tail += x[i] * w[i];
    return ((lane[0] + lane[4]) + (lane[1] + lane[5])) +
           ((lane[2] + lane[6]) + (lane[3] + lane[7])) + tail;
}

static ALWAYS_INLINE double sparse_dot(const double *restrict x, const int32_t *restrict columns,
                                       const double *restrict w, int64_t n) {
    double a = 0, b = 0, c = 0, d = 0;
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        a += x[i] * w[columns[i]];
        b += x[i + 1] * w[columns[i + 1]];
        c += x[i + 2] * w[columns[i + 2]];
        d += x[i + 3] * w[columns[i + 3]];
    }
    for (; i < n; i++) a += x[i] * w[columns[i]];
    return (a + b) + (c + d);
}

/* `tile` classes at once, known at compile time so that the sums stay in registers. */
static ALWAYS_INLINE void sparse_tile(const double *restrict x, const int32_t *restrict columns,
                                      int64_t n, const double *restrict w, int64_t classes,
                                      int tile, double *restrict scores) {
    double sum[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        const double *restrict run = w + (int64_t)columns[i] * classes;
        for (int k = 0; k < tile; k++) sum[k] += x[i] * run[k];
    }
    for (int k = 0; k < tile; k++) scores[k] += sum[k];
}

static inline void sparse_scores(const double *x, const int32_t *columns, int64_t n,
                                 const double *w, int64_t classes, double *scores) {
    int64_t k = 0;
    for (; k + 8 <= classes; k += 8) sparse_tile(x, columns, n, w + k, classes, 8, scores + k);
    if (k + 4 <= classes) {
        sparse_tile(x, columns, n, w + k, classes, 4, scores + k);
        k += 4;
    }
    switch (classes - k) {
        case 3:
            sparse_tile(x, columns, n, w + k, classes, 3, scores + k);
            break;
        case 2:
            sparse_tile(x, columns, n, w + k, classes, 2, scores + k);
            break;
        case 1:
            sparse_tile(x, columns, n, w + k, classes, 1, scores + k);
            break;
        default:
            break;
    }
}

/* scores[k] = bias[k] + row j . w[k] */
static inline void score_row(const rows_t *rows, int64_t j, const double *w, const double *bias,
                             int64_t classes, double *scores) {
    if (rows->columns == NULL) {
        const double *x = rows->values + j * rows->width;
        for (int64_t k = 0; k < classes; k++)
            scores[k] = bias[k] + dense_dot(x, w + k * rows->width, rows->width);
        return;
    }
    const int64_t start = rows->starts[j], n = rows->starts[j + 1] - start;
    const double *x = rows->values + start;
    const int32_t *columns = rows->columns + start;
    if (classes == 1) {
        scores[0] = bias[0] + sparse_dot(x, columns, w, n);
        return;
    }
    for (int64_t k = 0; k < classes; k++) scores[k] = bias[k];
    sparse_scores(x, columns, n, w, classes, scores);
}

/* w[k] += a * row j */
static inline void add_row(const rows_t *rows, int64_t j, double a, int64_t k, int64_t classes,
                           double *w) {
    if (rows->columns == NULL) {
        const double *restrict x = rows->values + j * rows->width;
        double *restrict to = w + k * rows->width;
        for (int64_t i = 0; i < rows->width; i++) to[i] += a * x[i];
        return;
    }
    const int64_t start = rows->starts[j], n = rows->starts[j + 1] - start;
    const double *restrict x = rows->values + start;
    const int32_t *restrict columns = rows->columns + start;
    double *to = w + k;
    if (classes == 1) {
        for (int64_t i = 0; i < n; i++) to[columns[i]] += a * x[i];
    } else {
        for (int64_t i = 0; i < n; i++) to[(int64_t)columns[i] * classes] += a * x[i];
    }
}

/* w[k] += a * row j and v[k] += b * row j, of a dense row: it is read once. */
static inline void add_dense_twice(const rows_t *rows, int64_t j, double a, double b, int64_t k,
                                   double *w, double *v) {
    const double *restrict x = rows->values + j * rows->width;
    double *restrict to = w + k * rows->width, *restrict also = v + k * rows->width;
    for (int64_t i = 0; i < rows->width; i++) {
        to[i] += a * x[i];
        also[i] += b * x[i];
    }
}

/* In a shuffled order the next rows are nowhere near, and short sparse ones are over before they
 * would have come from memory: ask for a row's first lines while the rows before it are scored
 * (with 20 words a row this halves the time). The rest of a long row the processor foresees.
 * Always inline: to GCC a function that only prefetches has no effect, and it drops its calls. */
#define LINE 64

/* `lines` is a constant: a loop as long as the row would end where the processor did not expect
 * it, and cost more than lines asked for in vain. Lines beyond the array do no harm. */
static ALWAYS_INLINE void prefetch_lines(const void *from, int lines) {
    const uintptr_t p = (uintptr_t)from;
    for (int i = 0; i < lines; i++) PREFETCH((const void *)(p + (uintptr_t)(i * LINE)));
}

static ALWAYS_INLINE void prefetch_row(const rows_t *rows, int64_t j) {
    if (rows->columns == NULL) {
        prefetch_lines(rows->values + j * rows->width, 4);
    } else {
        prefetch_lines(rows->values + rows->starts[j], 4);
        prefetch_lines(rows->columns + rows->starts[j], 2);
    }
}

/* Ask for the weights of class k of a sparse row, as many as a cache keeps meanwhile. */
#define WEIGHTS_AHEAD 256
static ALWAYS_INLINE void prefetch_weights(const rows_t *rows, int64_t j, int64_t k,
                                           int64_t classes, const double *w) {
    const int64_t start = rows->starts[j], n = rows->starts[j + 1] - start;
    const int32_t *columns = rows->columns + start;
    for (int64_t i = 0; i < n && i < WEIGHTS_AHEAD; i++)
        PREFETCH(w + (int64_t)columns[i] * classes + k);
}

/* The class of the highest score; the lowest id among equals. Skips class `but` (-1: none). */
static inline int32_t best_class(const double *scores, int64_t classes, int32_t but) {
    int32_t best = but == 0 ? 1 : 0;
    for (int32_t k = best + 1; k < classes; k++)
        if (k != but && scores[k] > scores[best]) best = k;
    return best;
}

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
static ALWAYS_INLINE int32_t judge(const learner_t *L, int64_t j) {
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
static ALWAYS_INLINE void add_debts(learner_t *L) {
    for (int i = 0; i < L->n_debts; i++) {
        const debt_t *d = &L->debts[i];
        add_row(&L->rows, d->row, d->amount, d->k, L->classes, L->owed_w);
    }
    L->n_debts = 0;
}

static ALWAYS_INLINE void add_to_class(learner_t *L, int64_t j, int32_t k, double a,
                                       double before) {
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

static ALWAYS_INLINE void correct(learner_t *L, int64_t j, int32_t rival, double rate) {
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
static ALWAYS_INLINE int64_t train_steps(learner_t *L, const int64_t *order, int64_t n,
                                         int64_t step, const double *rates, double rate,
                                         int64_t patience, int one) {
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
static inline int64_t train(learner_t *L, const int64_t *order, int64_t n, int64_t step,
                            const double *rates, double rate, int64_t patience) {
    return step == 1 ? train_steps(L, order, n, 1, rates, rate, patience, 1)
                     : train_steps(L, order, n, step, rates, rate, patience, 0);
}

/* The mean (N w - owed) / N, in place of `owed`: N w - owed is the sum of the weights after each
 * example, an integer where the data are, and one division rounds once. */
static inline void mean_of_owed(const double *restrict w, double *restrict owed, double n,
                                int64_t size) {
    for (int64_t i = 0; i < size; i++) owed[i] = (n * w[i] - owed[i]) / n;
}

/* Back again, so that training can go on from the weights and the mean alone. Where the sum was
 * an integer below 2^51, mean times n is within 1/2 of it and rounding finds it; where it was
 * not, an integer is taken only if it has the same mean. So integers stay exact, and nothing
 * else is off by more than the rounding of the mean. */
static inline void owed_of_mean(const double *restrict w, const double *restrict mean, double n,
                                int64_t size, double *restrict owed) {
    for (int64_t i = 0; i < size; i++) {
        const double sum = mean[i] * n, whole = rint(sum);
        owed[i] = n * w[i] - (whole / n == mean[i] ? whole : sum);
    }
}

/* Votes of every weight vector that training went through, without keeping a single one.
 *
 * After update e the scores of a point x are those before it plus amount_e (x_row(e) . x + 1) for
 * the gold class, minus it for the rival (Freund and Schapire 1999, section 3.1, the kernel form).
 * So the products of x with the rows that were ever wrong are taken once each, and the scores
 * walk along the updates: O(rows' non-zeros + updates * classes) a point. */

/* products[r] = x . row r, for the rows kept by columns: row ids `row_ids[starts[f]..]` hold
 * feature f with `values[the same]`. */
static inline void products_by_column(const rows_t *x, int64_t j, const int64_t *starts,
                                      const int32_t *row_ids, const double *values, int64_t columns,
                                      int64_t kept, double *products) {
    for (int64_t r = 0; r < kept; r++) products[r] = 0;
    for (int64_t i = x->starts[j]; i < x->starts[j + 1]; i++) {
        const int64_t f = x->columns[i];
        if (f >= columns) continue;
        for (int64_t p = starts[f]; p < starts[f + 1]; p++)
            products[row_ids[p]] += x->values[i] * values[p];
    }
}

static inline void products_dense(const rows_t *x, int64_t j, const rows_t *kept_rows, int64_t kept,
                                  double *products) {
    const double *row = x->values + j * x->width;
    for (int64_t r = 0; r < kept; r++)
        products[r] = dense_dot(row, kept_rows->values + r * kept_rows->width, kept_rows->width);
}

/* Walk `n` updates; votes[e] examples were seen with the weights that update e left. */
static inline void walk_votes(const double *products, double one, const int32_t *row,
                              const int32_t *gold, const int32_t *rival, const double *amount,
                              const double *votes, int64_t n, int64_t classes, double *scores,
                              double *tally) {
    for (int64_t e = 0; e < n; e++) {
        const double change = amount[e] * (products[row[e]] + one);
        if (classes == 1) {
            scores[0] += change;
            tally[scores[0] > 0] += votes[e];
            continue;
        }
        scores[gold[e]] += change;
        scores[rival[e]] -= change;
        if (votes[e] != 0) tally[best_class(scores, classes, -1)] += votes[e];
    }
}

#endif
