/* Copies of the weights of rows that have met many parts, one array of all parts to a row.
 *
 * Few rows are such, but they belong to frequent features, and most of the time of training with
 * parts would go into walking their cells; an array is added to the scores many weights at once.
 * A copy is made when an update finds that its row has grown enough, and each update writes it,
 * too, so it always agrees with the table; without memory for it, the row does without. Adding a
 * copy gives the sums that adding the cells gives, to the last bit: what a row has no cell for
 * is 0. */
#ifndef PERCEPTRON_NLP_PARTROWS_H
#define PERCEPTRON_NLP_PARTROWS_H

#include "table/table.h"

/* A row of more cells than this stands in a hash table, and is slow to walk. */
#define FEW_CELLS LINEAR_CAP

typedef struct {
    double **copy; /* row -> weights of all parts; NULL: none */
    int64_t room;
    int64_t done; /* of the table, when the copies were last known to agree */
} PartRows;

static inline void partrows_clear(PartRows *x) {
    for (int64_t row = 0; row < x->room; row++) free(x->copy[row]);
    free(x->copy);
    memset(x, 0, sizeof *x);
}

/* Room for copies of all rows of a table, as far as there is memory; copies of a table in
 * another state than it was left in are dropped. */
static inline void partrows_begin(PartRows *x, const Table *t) {
    if (x->done != t->done) partrows_clear(x);
    x->done = t->done;
    int64_t rows = t->fixed_bits ? 0 : (int64_t)t->index.n;
    if (rows <= x->room) return;
    double **copy = (double **)realloc(x->copy, (size_t)rows * sizeof *copy);
    if (!copy) return;
    memset(copy + x->room, 0, (size_t)(rows - x->room) * sizeof *copy);
    x->copy = copy;
    x->room = rows;
}

/* scores[part] += the weights of the row. */
static inline void add_part_row(const PartRows *x, const Table *t, int64_t row, double *scores) {
    const double *copy = row < x->room ? x->copy[row] : NULL;
    if (!copy) {
        table_score(t, row, 1, scores);
        return;
    }
    for (int32_t k = 0; k < t->n_labels; k++) scores[k] += copy[k];
}

/* Is the row hashed, or are its cells slower to walk than all parts are to add? */
static inline int is_worth_a_copy(const Table *t, int64_t row) {
    if (t->dense) return 0;
    uint32_t n = cells_of(&t->pool, t->block[row]).n;
    return n > FEW_CELLS || 3 * n > (uint32_t)t->n_labels;
}

/* The copy of a row that was just updated, made where it is worth it; NULL: none. */
static inline double *part_row_copy(PartRows *x, const Table *t, int64_t row) {
    if (row >= x->room) return NULL;
    if (x->copy[row] || !is_worth_a_copy(t, row)) return x->copy[row];
    x->copy[row] = (double *)calloc((size_t)t->n_labels, sizeof(double));
    if (x->copy[row]) table_score(t, row, 1, x->copy[row]);
    return x->copy[row];
}

#endif
