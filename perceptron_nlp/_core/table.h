/* Weights of (feature, label) while training, in three forms behind one set of functions.
 *
 * Exact: probe.h gives each 64-bit key a row of its own. With few labels, a row that has learnt
 * something is one of rowstore.h and holds all of them. With many, it is a block of cells, one
 * for each label that it has met, in a pool of 8-byte words that only grows at its end: most rows
 * meet two or three labels, so nothing there costs the size of the tag set.
 *
 *   block of row r, capacity c = 2^log_cap, at pool + 8 * block[r]:
 *   | n:u32 log_cap:u32 | w:f64 * c | label:u32 * c | owed:f64 * c | [g:f64 * c]
 *     read when scoring: this far ------------------^   written by updates: the rest
 *
 * Up to LINEAR_CAP cells stand in order of arrival and are found by a look at each; above it the
 * labels form a small hash table of their own (empty cells hold NO_LABEL), at most 3/4 full.
 *
 * Fixed: 2^bits rows of all labels, laid out at the start and never again; the row of a key is
 * its top bits, so keys that meet share a row. */
#ifndef PERCEPTRON_NLP_TABLE_H
#define PERCEPTRON_NLP_TABLE_H

#include "kernels.h"
#include "probe.h"
#include "rowsums.h"

#define LINEAR_CAP 128u
#define NO_LABEL 0xFFFFFFFFu
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
    uint32_t *block; /* row -> offset in pool, in words; 0: no cells yet */
    uint64_t *pool;
    size_t pool_used, pool_room; /* words */
    uint32_t free_blocks[18];    /* by log_cap; chained through the first word; 0 ends */
    uint32_t largest;            /* log_cap of the largest block so far */
    /* fixed: [row * n_labels + label] */
    double *w, *owed, *g;
} Table;

typedef struct {
    uint32_t n, log_cap;
    double *w;
    uint32_t *label;
    double *owed;
    double *g;
} Cells;

static inline size_t block_words(uint32_t log_cap, int with_gradient) {
    size_t c = (size_t)1 << log_cap;
    return 1 + c + (c + 1) / 2 + (AVERAGED ? c : 0) + (with_gradient ? c : 0);
}

static inline uint32_t *block_head(const Table *t, uint32_t block) {
    return (uint32_t *)(t->pool + block);
}

static inline Cells cells_of(const Table *t, uint32_t block) {
    Cells x;
    uint32_t *head = block_head(t, block);
    x.n = head[0];
    x.log_cap = head[1];
    size_t c = (size_t)1 << x.log_cap;
    x.w = (double *)(t->pool + block + 1);
    x.label = (uint32_t *)(x.w + c);
    x.owed = x.w + c + (c + 1) / 2;
    x.g = t->with_gradient ? x.owed + (AVERAGED ? c : 0) : NULL;
    return x;
}

/* ---- life ---- */

static inline void table_close(Table *t) {
    index_close(&t->index);
    rowstore_close(&t->store);
    if (t->stored) free(t->stored - 1);
    free(t->block);
    free(t->group);
    free(t->pool);
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
        } else {
            t->pool_room = 1024;
            t->pool_used = 1; /* offset 0 means "none" */
            t->pool = (uint64_t *)malloc(t->pool_room * 8);
        }
        if ((t->dense ? !t->stored : !t->pool) || index_open(&t->index, multiplier, 12) < 0) {
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
    size_t rows = t->dense ? rowstore_bytes(&t->store) : t->pool_room * 8;
    return rows + (size_t)t->rows_room * (sizeof(uint32_t) + sizeof *t->group) + (size_t)t->index.capacity * 8 +
           (((size_t)1 << t->index.bits) * sizeof(Slot));
}

/* ---- keys to rows ---- */

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

/* ---- cells of an exact row ---- */

static inline uint32_t label_start(uint32_t label, uint32_t log_cap) {
    return (label * 0x9E3779B1u) >> (32 - log_cap);
}

/* Where a label's cell is, or where it would go (then *present is 0; a linear block may be full). */
static inline uint32_t cell_place(const Cells *x, uint32_t label, int *present) {
    uint32_t cap = 1u << x->log_cap;
    if (cap <= LINEAR_CAP) {
        uint32_t at = 0;
        while (at < x->n && x->label[at] != label) at++;
        *present = at < x->n;
        return at;
    }
    uint32_t at = label_start(label, x->log_cap);
    while (x->label[at] != NO_LABEL && x->label[at] != label) at = (at + 1) & (cap - 1);
    *present = x->label[at] == label;
    return at;
}

static inline int cells_full(const Cells *x) {
    uint32_t cap = 1u << x->log_cap;
    return cap <= LINEAR_CAP ? x->n == cap : 4 * (x->n + 1) > 3 * cap;
}

static inline int is_hashed(const Cells *x) { return (1u << x->log_cap) > LINEAR_CAP; }

/* How many places of a block to walk; in a hashed block empty places hold NO_LABEL. */
static inline uint32_t cells_span(const Cells *x) {
    return is_hashed(x) ? 1u << x->log_cap : x->n;
}

/* Room for more words at the end of the pool; -1: no memory, nothing changed. */
static inline int pool_reserve(Table *t, size_t words) {
    if (t->pool_used + words <= t->pool_room) return 0;
    size_t room = t->pool_room + t->pool_room / 2;
    if (room < t->pool_used + words) room = t->pool_used + words;
    if (room > 0xFFFFFFFFu) room = 0xFFFFFFFFu;
    if (room < t->pool_used + words) return -1;
    uint64_t *pool = (uint64_t *)realloc(t->pool, room * 8);
    if (!pool) return -1;
    t->pool = pool;
    t->pool_room = room;
    return 0;
}

/* An empty block of a capacity; 0: no memory, nothing changed. */
static inline uint32_t block_new(Table *t, uint32_t log_cap) {
    size_t words = block_words(log_cap, t->with_gradient);
    uint32_t block = t->free_blocks[log_cap];
    if (block) {
        t->free_blocks[log_cap] = *(uint32_t *)(t->pool + block);
    } else {
        if (pool_reserve(t, words) < 0) return 0;
        block = (uint32_t)t->pool_used;
        t->pool_used += words;
    }
    memset(t->pool + block, 0, words * 8);
    uint32_t *head = block_head(t, block);
    head[1] = log_cap;
    if (log_cap > t->largest) t->largest = log_cap;
    if ((1u << log_cap) > LINEAR_CAP) {
        Cells x = cells_of(t, block);
        memset(x.label, 0xFF, ((size_t)1 << log_cap) * sizeof *x.label);
    }
    return block;
}

static inline void block_free(Table *t, uint32_t block) {
    uint32_t log_cap = block_head(t, block)[1];
    *(uint32_t *)(t->pool + block) = t->free_blocks[log_cap];
    t->free_blocks[log_cap] = block;
}

static inline void cell_copy(Cells *to, uint32_t i, const Cells *from, uint32_t j) {
    to->label[i] = from->label[j];
    to->w[i] = from->w[j];
    if (AVERAGED) to->owed[i] = from->owed[j];
    if (to->g) to->g[i] = from->g[j];
}

/* A block twice as large with the same cells; 0: no memory, nothing changed. */
static inline uint32_t block_grow(Table *t, uint32_t block) {
    uint32_t bigger = block_new(t, block_head(t, block)[1] + 1);
    if (!bigger) return 0;
    Cells from = cells_of(t, block), to = cells_of(t, bigger);
    uint32_t span = cells_span(&from);
    for (uint32_t j = 0; j < span; j++) {
        int present;
        if (from.label[j] == NO_LABEL) continue;
        cell_copy(&to, cell_place(&to, from.label[j], &present), &from, j);
        to.n++;
    }
    block_head(t, bigger)[0] = to.n;
    block_free(t, block);
    return bigger;
}

/* One weight: pointers to its parts. g is NULL in a table without gradients. */
typedef struct {
    double *w, *owed, *g;
} Cell;

static inline Cell block_cell(Table *t, int64_t row, int32_t label) {
    Cell cell = {NULL, NULL, NULL};
    uint32_t block = t->block[row];
    /* A mistake writes the gold label and the rival, so two cells are the smallest useful block. */
    if (!block) {
        block = block_new(t, 1);
        if (!block) return cell;
        t->block[row] = block;
    }
    Cells x = cells_of(t, block);
    int present;
    uint32_t at = cell_place(&x, (uint32_t)label, &present);
    if (!present) {
        if (cells_full(&x)) {
            block = block_grow(t, block);
            if (!block) return cell;
            t->block[row] = block;
            x = cells_of(t, block);
            at = cell_place(&x, (uint32_t)label, &present);
        }
        x.label[at] = (uint32_t)label;
        block_head(t, block)[0] = x.n + 1;
    }
    cell.w = x.w + at;
    cell.owed = x.owed + at;
    if (x.g) cell.g = x.g + at;
    return cell;
}

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
    if (!t->dense) return block_cell(t, row, label);
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
        Cells x = cells_of(t, t->block[row]);
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
    if (t->dense ? rowstore_reserve(&t->store, n_rows) < 0
                 : pool_reserve(t, n_rows * block_words(t->largest + 1, t->with_gradient)) < 0)
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
    uint32_t block = t->block[row];
    if (!block) return;
    const uint32_t *head = block_head(t, block);
    uint32_t n = head[0], log_cap = head[1];
    const double *w = (const double *)(t->pool + block + 1);
    const uint32_t *label = (const uint32_t *)(w + ((size_t)1 << log_cap));
    if ((1u << log_cap) <= LINEAR_CAP) {
        for (uint32_t j = 0; j < n; j++) scores[label[j]] += value * w[j];
    } else {
        for (uint32_t j = 0; j < (1u << log_cap); j++)
            if (label[j] != NO_LABEL) scores[label[j]] += value * w[j];
    }
}

/* scores[label] = the sum over n rows, of which those that are -1 do not count; `scores` has room
 * for table_width labels. */
static inline void table_score_rows(const Table *t, const int32_t *rows, size_t n,
                                    double *scores) {
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
            PREFETCH(t->pool + t->block[rows[i]]);
    }
}

#endif
