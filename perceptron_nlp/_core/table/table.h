/* Weights of (feature, label) while training, in three forms behind one set of functions.
 *
 * Exact: probe.h gives each 64-bit key a row of its own. With few labels, a row that has learnt
 * something is one of rowstore.h and holds all of them; with many, it is a block of cellpool.h,
 * with a cell for each label that it has met.
 *
 * Fixed: 2^bits rows of all labels, laid out at the start and never again; the row of a key is
 * its top bits, so keys that meet share a row. */
#ifndef PERCEPTRON_NLP_TABLE_H
#define PERCEPTRON_NLP_TABLE_H

#include "table/cellpool.h"
#include "table/probe.h"
#include "table/rowsums.h"

#define MAX_LABELS 65536

typedef struct {
    int32_t n_labels;
    int fixed_bits;    /* 0: exact */
    int with_gradient; /* cells carry AdaGrad's sum of squares */
    int64_t done;      /* examples finished */
    /* exact */
    Index index;
    uint16_t *group; /* row -> template that made it */
    uint32_t rows_room;
    /* exact, few labels */
    int dense;
    RowStore store;
    uint32_t *stored; /* row -> its place in the store, 0 where it has learnt nothing; so has -1 */
    RowSums sums;
    int mixed; /* weights may have been made that are no whole numbers */
    /* exact, many labels */
    uint32_t *block; /* row -> its block in the pool; 0: no cells yet */
    CellPool pool;
    /* fixed: [row * n_labels + label] */
    double *w, *owed, *g;
} Table;

/* ---- life ---- */

static inline void table_close(Table *t) {
    index_close(&t->index);
    rowstore_close(&t->store);
    if (t->stored) free(t->stored - 1);
    cellpool_close(&t->pool);
    free(t->block);
    free(t->group);
    free(t->w);
    free(t->owed);
    free(t->g);
    memset(t, 0, sizeof *t);
}

/* `plain` asks for sums in plain C, which are the same. -1: no memory. */
static inline int table_open(Table *t, int32_t n_labels, int fixed_bits, int with_gradient,
                             uint64_t multiplier, int plain) {
    memset(t, 0, sizeof *t);
    t->n_labels = n_labels;
    t->fixed_bits = fixed_bits;
    t->with_gradient = with_gradient;
    if (!fixed_bits) {
        t->dense = n_labels <= MOST_ROW_LABELS;
        if (t->dense) {
            t->sums = row_sums(plain);
            uint32_t *first = (uint32_t *)calloc(1, sizeof *first);
            if (first) t->stored = first + 1;
            if (rowstore_open(&t->store, n_labels, with_gradient) < 0) {
                table_close(t);
                return -1;
            }
        }
        if ((t->dense ? !t->stored : cellpool_open(&t->pool, with_gradient) < 0) ||
            index_open(&t->index, multiplier, 12) < 0) {
            table_close(t);
            return -1;
        }
        return 0;
    }
    size_t cells = ((size_t)1 << fixed_bits) * (size_t)n_labels;
    t->w = (double *)calloc(cells, sizeof(double));
    t->owed = (double *)calloc(cells, sizeof(double));
    if (with_gradient) t->g = (double *)calloc(cells, sizeof(double));
    if (!t->w || !t->owed || (with_gradient && !t->g)) {
        table_close(t);
        return -1;
    }
    return 0;
}

/* Bytes asked of the system; pages of a fixed table that were never written are not resident. */
static inline size_t table_bytes(const Table *t) {
    if (t->fixed_bits)
        return (((size_t)1 << t->fixed_bits) * (size_t)t->n_labels) * (t->with_gradient ? 24 : 16);
    size_t rows = t->dense ? rowstore_bytes(&t->store) : cellpool_bytes(&t->pool);
    return rows + (size_t)t->rows_room * (sizeof(uint32_t) + sizeof *t->group) +
           (size_t)t->index.capacity * 8 + (((size_t)1 << t->index.bits) * sizeof(Slot));
}

/* ---- keys to rows ---- */

/* Rows in use (exact) or laid out (fixed). */
static inline int64_t table_n_rows(const Table *t) {
    return t->fixed_bits ? (int64_t)1 << t->fixed_bits : (int64_t)t->index.n;
}

static inline int64_t table_find(const Table *t, uint64_t key) {
    return t->fixed_bits ? (int64_t)(key >> (64 - t->fixed_bits)) : index_find(&t->index, key);
}

/* Fetch what says where the row of a key is. */
static ALWAYS_INLINE void table_prefetch_key(const Table *t, uint64_t key) {
    if (!t->fixed_bits) index_prefetch(&t->index, key);
}

/* Room for more rows, made before a key goes in, so that a failure changes nothing. */
static inline int table_reserve_rows(Table *t, uint32_t more) {
    uint64_t wanted = (uint64_t)t->index.n + more;
    if (wanted <= t->rows_room) return 0;
    uint64_t room = (uint64_t)t->rows_room + t->rows_room / 2 + 64;
    if (room < wanted) room = wanted;
    if (room > INDEX_MAX_ROWS) room = INDEX_MAX_ROWS;
    if (room < wanted) return -1;
    if (t->dense) {
        uint32_t *first = (uint32_t *)realloc(t->stored - 1, ((size_t)room + 1) * sizeof *first);
        if (!first) return -1;
        t->stored = first + 1;
    } else {
        uint32_t *block = (uint32_t *)realloc(t->block, (size_t)room * sizeof *block);
        if (!block) return -1;
        t->block = block;
    }
    uint16_t *group = (uint16_t *)realloc(t->group, (size_t)room * sizeof *group);
    if (!group) return -1;
    t->group = group;
    t->rows_room = (uint32_t)room;
    return 0;
}

/* The row of a key, made if it is new and marked with its group; -1: no memory, nothing changed. */
static inline int64_t table_insert(Table *t, uint64_t key, uint16_t group) {
    if (t->fixed_bits) return table_find(t, key);
    if (table_reserve_rows(t, 1) < 0) return -1;
    uint32_t before = t->index.n;
    int64_t row = index_insert(&t->index, key);
    if (t->index.n != before) {
        if (t->dense)
            t->stored[row] = 0;
        else
            t->block[row] = 0;
        t->group[row] = group;
    }
    return row;
}

/* ---- cells ---- */

/* Weights of 16 bits, if all are such: then whole steps keep them so. Nothing to say where there is
 * no memory for it, or another form. */
static inline void table_make_whole(Table *t) {
    if (!t->dense || t->store.whole || t->mixed) return;
    t->mixed = !holds_shorts(&t->store) || rowstore_recast(&t->store, 1) < 0;
}

/* Weights of any size; -1: no memory, nothing changed. */
static inline int table_make_mixed(Table *t) {
    if (t->dense && t->store.whole && rowstore_recast(&t->store, 0) < 0) return -1;
    t->mixed = 1;
    return 0;
}

/* The place of a row in the store, made if it is new; 0: no memory. */
static inline uint32_t table_stored(Table *t, int64_t row) {
    if (!t->stored[row]) t->stored[row] = rowstore_take(&t->store);
    return t->stored[row];
}

/* The cell of (row, label), made if it is new; w is NULL when there is no memory. */
static inline Cell table_cell(Table *t, int64_t row, int32_t label) {
    Cell cell = {NULL, NULL, NULL};
    if (t->fixed_bits) {
        size_t at = (size_t)row * (size_t)t->n_labels + (size_t)label;
        cell.w = t->w + at;
        cell.owed = t->owed + at;
        if (t->g) cell.g = t->g + at;
        return cell;
    }
    if (!t->dense) return block_cell(&t->pool, &t->block[row], (uint32_t)label);
    if (!t->mixed && table_make_mixed(t) < 0) return cell;
    uint32_t at = table_stored(t, row);
    if (!at) return cell;
    cell.w = row_doubles(&t->store, at) + label;
    cell.owed = row_debts(&t->store, at) + label * debts_of_weight(&t->store);
    if (t->with_gradient) cell.g = cell.owed + AVERAGED;
    return cell;
}

/* The weights of a row of any form, to be read: `span` places, of which some may be empty. */
typedef struct {
    uint32_t span, apart;  /* apart: from one weight's debts to those of the next */
    const uint32_t *label; /* NO_LABEL: an empty place; NULL: place j is that of label j */
    int ascending;         /* labels are in order, or of few places */
    const int16_t *shorts; /* the weights, or NULL: they are in w */
    const double *w;
    const double *owed, *g; /* owed without averages, g without gradients: not to be read */
} RowView;

static inline RowView table_row(const Table *t, int64_t row) {
    RowView v = {(uint32_t)t->n_labels, 1, NULL, 1, NULL, NULL, NULL, NULL};
    if (t->fixed_bits) {
        size_t at = (size_t)row * (size_t)t->n_labels;
        v.w = t->w + at;
        v.owed = t->owed + at;
        if (t->g) v.g = t->g + at;
    } else if (t->dense) {
        uint32_t at = t->stored[row];
        if (!at) v.span = 0;
        if (t->store.whole)
            v.shorts = row_shorts(&t->store, at);
        else
            v.w = row_doubles(&t->store, at);
        v.owed = row_debts(&t->store, at);
        v.g = v.owed + AVERAGED;
        v.apart = (uint32_t)debts_of_weight(&t->store);
    } else if (!t->block[row]) {
        v.span = 0;
    } else {
        Cells x = cells_of(&t->pool, t->block[row]);
        v.span = cells_span(&x);
        v.label = x.label;
        v.ascending = !is_hashed(&x);
        v.w = x.w;
        v.owed = x.owed;
        v.g = x.g;
    }
    return v;
}

static inline double view_weight(const RowView *v, uint32_t j) {
    return v->shorts ? v->shorts[j] : v->w[j];
}
static inline double view_owed(const RowView *v, uint32_t j) {
    return AVERAGED ? v->owed[j * v->apart] : 0;
}
static inline double view_gradient(const Table *t, const RowView *v, uint32_t j) {
    return t->with_gradient ? v->g[j * v->apart] : 0;
}

/* The label of a place whose weight has learnt something, or -1. */
static inline int32_t row_label(const Table *t, const RowView *v, uint32_t j) {
    if (v->label && v->label[j] == NO_LABEL) return -1;
    int idle = view_weight(v, j) == 0 && view_owed(v, j) == 0 && view_gradient(t, v, j) == 0;
    return idle ? -1 : v->label ? (int32_t)v->label[j] : (int32_t)j;
}

/* Forget what a row has learnt. */
static inline void table_clear_row(Table *t, int64_t row) {
    RowView v = table_row(t, row);
    for (uint32_t j = 0; j < v.span; j++) {
        if (v.shorts)
            ((int16_t *)v.shorts)[j] = 0;
        else
            ((double *)v.w)[j] = 0;
        if (AVERAGED) ((double *)v.owed)[j * v.apart] = 0;
        if (t->with_gradient) ((double *)v.g)[j * v.apart] = 0;
    }
}

/* Room for one update, which gives each of n_rows rows at most two labels, `new_rows` of them
 * rows that are not there yet: so that no update fails halfway. A row grows at most once in it,
 * to at most twice the largest block. -1: no memory, nothing changed. */
static inline int table_reserve(Table *t, size_t n_rows, uint32_t new_rows) {
    if (t->fixed_bits) return 0;
    if (t->dense ? rowstore_reserve(&t->store, n_rows) < 0 : blocks_reserve(&t->pool, n_rows) < 0)
        return -1;
    if (table_reserve_rows(t, new_rows) < 0) return -1;
    return index_reserve(&t->index, new_rows);
}

/* ---- the two things that learning does with a row ---- */

/* scores[label] += value * w for every weight of the row. */
static inline void table_score(const Table *t, int64_t row, double value, double *scores) {
    if (t->fixed_bits || t->dense) {
        RowView v = table_row(t, row);
        for (uint32_t k = 0; k < v.span; k++) scores[k] += value * view_weight(&v, k);
        return;
    }
    if (t->block[row]) block_score(&t->pool, t->block[row], value, scores);
}

/* scores[label] = the sum over n rows, of which those that are -1 do not count; `scores` has room
 * for table_width labels. */
static inline void table_score_rows(const Table *t, const int32_t *rows, size_t n, double *scores) {
    if (t->dense) {
        if (t->store.whole)
            sum_shorts_wide(&t->store, t->stored, rows, n, scores);
        else
            t->sums.doubles(&t->store, t->stored, rows, n, scores);
        return;
    }
    memset(scores, 0, (size_t)t->n_labels * sizeof *scores);
    for (size_t i = 0; i < n; i++)
        if (rows[i] >= 0) table_score(t, rows[i], 1, scores);
}

static inline size_t table_width(const Table *t) {
    return t->dense ? MOST_ROW_LABELS : (size_t)t->n_labels;
}

/* w(row, label) += delta, its average kept right; -1: no memory. */
static inline int table_add(Table *t, int64_t row, int32_t label, double delta) {
    Cell cell = table_cell(t, row, label);
    if (!cell.w) return -1;
    step_weight(cell.w, cell.owed, delta, (double)t->done);
    return 0;
}

/* The same with AdaGrad's own step along `gradient`. */
static inline int table_add_adagrad(Table *t, int64_t row, int32_t label, double gradient,
                                    double rate) {
    Cell cell = table_cell(t, row, label);
    if (!cell.w) return -1;
    step_weight(cell.w, cell.owed, adagrad_step(gradient, rate, cell.g), (double)t->done);
    return 0;
}

/* Fetch the weights of n rows, of which some may be -1. */
static ALWAYS_INLINE void table_prefetch_rows(const Table *t, const int32_t *rows, size_t n) {
    if (t->dense) {
        prefetch_rows(&t->store, t->stored, rows, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (rows[i] < 0) continue;
        if (t->fixed_bits)
            PREFETCH(t->w + (size_t)rows[i] * (size_t)t->n_labels);
        else
            PREFETCH(t->pool.words + t->block[rows[i]]);
    }
}

#endif
