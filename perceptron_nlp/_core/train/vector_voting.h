/* Votes of every weight vector that training went through, without keeping a single one.
 *
 * After update e the scores of a point x are those before it plus amount_e (x_row(e) . x + 1) for
 * the gold class, minus it for the rival (Freund and Schapire 1999, section 3.1, the kernel form).
 * So the products of x with the rows that were ever wrong are taken once each, and the scores
 * walk along the updates: O(rows' non-zeros + updates * classes) a point. */
#ifndef PERCEPTRON_NLP_VECTOR_VOTING_H
#define PERCEPTRON_NLP_VECTOR_VOTING_H

#include "train/vector_rows.h"

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
