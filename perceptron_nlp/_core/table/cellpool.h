/* Rows that hold a cell for each label that they have met, for tables with many labels: most rows
 * meet two or three of them, so nothing here costs the size of the tag set.
 *
 *   block of a row, capacity c = 2^log_cap, at words + block, in a pool that only grows at its end:
 *   | n:u32 log_cap:u32 | w:f64 * c | label:u32 * c | owed:f64 * c | [g:f64 * c]
 *     read when scoring: this far ------------------^   written by updates: the rest
 *
 * Up to LINEAR_CAP cells stand in order of arrival and are found by a look at each; above it the
 * labels form a small hash table of their own (empty cells hold NO_LABEL), at most 3/4 full. */
#ifndef PERCEPTRON_NLP_CELLPOOL_H
#define PERCEPTRON_NLP_CELLPOOL_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "table/kernels.h"

#define LINEAR_CAP 128u
#define NO_LABEL 0xFFFFFFFFu

typedef struct {
    uint64_t *words;
    size_t used, room;        /* words */
    uint32_t free_blocks[18]; /* by log_cap; chained through the first word; 0 ends */
    uint32_t largest;         /* log_cap of the largest block so far */
    int with_gradient;
} CellPool;

/* One weight: pointers to its parts. g is NULL in a table without gradients. */
typedef struct {
    double *w, *owed, *g;
} Cell;

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

static inline void cellpool_close(CellPool *p) {
    free(p->words);
    memset(p, 0, sizeof *p);
}

/* -1: no memory. */
static inline int cellpool_open(CellPool *p, int with_gradient) {
    memset(p, 0, sizeof *p);
    p->with_gradient = with_gradient;
    p->room = 1024;
    p->used = 1; /* offset 0 means "none" */
    p->words = (uint64_t *)malloc(p->room * 8);
    return p->words ? 0 : -1;
}

static inline size_t cellpool_bytes(const CellPool *p) {
    return p->room * 8;
}

static inline uint32_t *block_head(const CellPool *p, uint32_t block) {
    return (uint32_t *)(p->words + block);
}

static inline Cells cells_of(const CellPool *p, uint32_t block) {
    Cells x;
    uint32_t *head = block_head(p, block);
    x.n = head[0];
    x.log_cap = head[1];
    size_t c = (size_t)1 << x.log_cap;
    x.w = (double *)(p->words + block + 1);
    x.label = (uint32_t *)(x.w + c);
    x.owed = x.w + c + (c + 1) / 2;
    x.g = p->with_gradient ? x.owed + (AVERAGED ? c : 0) : NULL;
    return x;
}

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

static inline int is_hashed(const Cells *x) {
    return (1u << x->log_cap) > LINEAR_CAP;
}

/* How many places of a block to walk; in a hashed block empty places hold NO_LABEL. */
static inline uint32_t cells_span(const Cells *x) {
    return is_hashed(x) ? 1u << x->log_cap : x->n;
}

/* Room for more words at the end of the pool; -1: no memory, nothing changed. */
static inline int cellpool_reserve(CellPool *p, size_t words) {
    if (p->used + words <= p->room) return 0;
    size_t room = p->room + p->room / 2;
    if (room < p->used + words) room = p->used + words;
    if (room > 0xFFFFFFFFu) room = 0xFFFFFFFFu;
    if (room < p->used + words) return -1;
    uint64_t *bigger = (uint64_t *)realloc(p->words, room * 8);
    if (!bigger) return -1;
    p->words = bigger;
    p->room = room;
    return 0;
}

/* Room for n blocks to become twice as large as the largest; -1: no memory, nothing changed. */
static inline int blocks_reserve(CellPool *p, size_t n) {
    return cellpool_reserve(p, n * block_words(p->largest + 1, p->with_gradient));
}

/* An empty block of a capacity; 0: no memory, nothing changed. */
static inline uint32_t block_new(CellPool *p, uint32_t log_cap) {
    size_t words = block_words(log_cap, p->with_gradient);
    uint32_t block = p->free_blocks[log_cap];
    if (block) {
        p->free_blocks[log_cap] = *block_head(p, block);
    } else {
        if (cellpool_reserve(p, words) < 0) return 0;
        block = (uint32_t)p->used;
        p->used += words;
    }
    memset(p->words + block, 0, words * 8);
    block_head(p, block)[1] = log_cap;
    if (log_cap > p->largest) p->largest = log_cap;
    if ((1u << log_cap) > LINEAR_CAP) {
        Cells x = cells_of(p, block);
        memset(x.label, 0xFF, ((size_t)1 << log_cap) * sizeof *x.label);
    }
    return block;
}

static inline void block_free(CellPool *p, uint32_t block) {
    uint32_t log_cap = block_head(p, block)[1];
    *block_head(p, block) = p->free_blocks[log_cap];
    p->free_blocks[log_cap] = block;
}

static inline void cell_copy(Cells *to, uint32_t i, const Cells *from, uint32_t j) {
    to->label[i] = from->label[j];
    to->w[i] = from->w[j];
    if (AVERAGED) to->owed[i] = from->owed[j];
    if (to->g) to->g[i] = from->g[j];
}

/* A block twice as large with the same cells; 0: no memory, nothing changed. */
static inline uint32_t block_grow(CellPool *p, uint32_t block) {
    uint32_t bigger = block_new(p, block_head(p, block)[1] + 1);
    if (!bigger) return 0;
    Cells from = cells_of(p, block), to = cells_of(p, bigger);
    uint32_t span = cells_span(&from);
    for (uint32_t j = 0; j < span; j++) {
        int present;
        if (from.label[j] == NO_LABEL) continue;
        cell_copy(&to, cell_place(&to, from.label[j], &present), &from, j);
        to.n++;
    }
    block_head(p, bigger)[0] = to.n;
    block_free(p, block);
    return bigger;
}

/* The cell of a label in a row's block, made if it is new, as may be the block (0: none yet); w is
 * NULL when there is no memory. */
static inline Cell block_cell(CellPool *p, uint32_t *of_row, uint32_t label) {
    Cell cell = {NULL, NULL, NULL};
    uint32_t block = *of_row;
    /* A mistake writes the gold label and the rival, so two cells are the smallest useful block. */
    if (!block) {
        block = block_new(p, 1);
        if (!block) return cell;
        *of_row = block;
    }
    Cells x = cells_of(p, block);
    int present;
    uint32_t at = cell_place(&x, label, &present);
    if (!present) {
        if (cells_full(&x)) {
            block = block_grow(p, block);
            if (!block) return cell;
            *of_row = block;
            x = cells_of(p, block);
            at = cell_place(&x, label, &present);
        }
        x.label[at] = label;
        block_head(p, block)[0] = x.n + 1;
    }
    cell.w = x.w + at;
    cell.owed = x.owed + at;
    if (x.g) cell.g = x.g + at;
    return cell;
}

/* scores[label] += value * w for every cell of the block. */
static inline void block_score(const CellPool *p, uint32_t block, double value, double *scores) {
    const uint32_t *head = block_head(p, block);
    uint32_t n = head[0], log_cap = head[1];
    const double *w = (const double *)(p->words + block + 1);
    const uint32_t *label = (const uint32_t *)(w + ((size_t)1 << log_cap));
    if ((1u << log_cap) <= LINEAR_CAP) {
        for (uint32_t j = 0; j < n; j++) scores[label[j]] += value * w[j];
    } else {
        for (uint32_t j = 0; j < (1u << log_cap); j++)
            if (label[j] != NO_LABEL) scores[label[j]] += value * w[j];
    }
}

#endif
