/* Weights of parts (parts.h) as scores of what is compared in the end, its units: the labels, where
 * these are not too many, else the parts themselves.
 *
 *   a part of several units   a mask with all bits set for each of them
 *   a part of one unit        the number of the unit
 *
 * Behind the units of a vector stands the highest of each block of labels: what is summed of these
 * is no less than the score of any label of the block. Neighbors are alike, since labels are sorted. */
#ifndef PERCEPTRON_NLP_UNITS_H
#define PERCEPTRON_NLP_UNITS_H

#include "model/frozen.h"
#include "model/parts.h"

#define MOST_UNITS 512
#define BLOCK_UNITS 16
#define MOST_BLOCKS (MOST_UNITS / BLOCK_UNITS)
#define MOST_SPREAD_PARTS 1024

/* The blocks that hold all units of a mask. */
typedef struct {
    int32_t begin, end; /* units */
} MaskRange;

typedef struct {
    int32_t n_units; /* 0: weights of parts are not spread */
    int32_t n_parts, n_masks;
    int32_t width;     /* units, to whole blocks */
    int32_t n_blocks;  /* of labels */
    int32_t stride;    /* width, and what stands of blocks, to whole blocks */
    int of_labels;     /* are the units labels? */
    int32_t *place_of; /* part -> its unit; width + m: mask m has its units */
    MaskRange *ranges; /* of each mask */
    uint16_t *masks;   /* [mask][width] */
    KeyFilter filter;  /* of the keys of history templates */
} Spread;

static inline void spread_close(Spread *s) {
    free(s->place_of);
    free(s->ranges);
    free(s->masks);
    memset(s, 0, sizeof *s);
}

/* May the weights of these parts be spread? */
static inline int can_spread(const Parts *x) {
    return x->n_parts <= MOST_SPREAD_PARTS &&
           (x->n_labels <= MOST_UNITS || x->n_parts <= MOST_UNITS);
}

static inline int32_t whole_blocks(int32_t n) {
    return (n + BLOCK_UNITS - 1) / BLOCK_UNITS * BLOCK_UNITS;
}

/* Set the bits of a unit. */
static inline void mask_unit(Spread *s, int32_t mask, int32_t unit) {
    MaskRange *range = &s->ranges[mask];
    const int32_t begin = unit / BLOCK_UNITS * BLOCK_UNITS;
    if (!range->end || begin < range->begin) range->begin = begin;
    if (begin >= range->end) range->end = begin + BLOCK_UNITS;
    s->masks[(size_t)mask * (size_t)s->width + (size_t)unit] = 0xFFFF;
}

/* Lay them out. -1: no memory. */
static inline int spread_open(Spread *s, const Parts *x) {
    const size_t n = (size_t)x->n_parts + 1;
    int32_t *n_units = (int32_t *)calloc(n, sizeof *n_units);
    s->of_labels = x->n_labels <= MOST_UNITS;
    s->n_units = s->of_labels ? x->n_labels : x->n_parts;
    s->n_parts = x->n_parts;
    s->width = whole_blocks(s->n_units);
    s->n_blocks = s->of_labels ? s->width / BLOCK_UNITS : 0;
    s->stride = s->width + whole_blocks(s->n_blocks);
    s->place_of = (int32_t *)malloc(n * sizeof *s->place_of);
    s->ranges = (MaskRange *)calloc(n, sizeof *s->ranges);
    if (!s->place_of || !s->ranges || !n_units) {
        free(n_units);
        return -1;
    }
    for (int32_t p = 0; p < x->n_parts; p++) s->place_of[p] = p;
    for (int32_t k = 0; k < x->n_labels && s->of_labels; k++)
        for (int32_t node = x->leaf[k]; node >= 0; node = x->parts.parent[node]) {
            n_units[x->parts.number[node]]++;
            s->place_of[x->parts.number[node]] = k;
        }
    for (int32_t p = 0; p < x->n_parts && s->of_labels; p++) /* what no label has: an empty mask */
        if (n_units[p] != 1) s->place_of[p] = s->width + s->n_masks++;
    free(n_units);
    s->masks = (uint16_t *)calloc((size_t)s->n_masks * (size_t)s->width + 1, sizeof *s->masks);
    if (!s->masks) return -1;
    for (int32_t k = 0; k < x->n_labels && s->of_labels; k++)
        for (int32_t node = x->leaf[k]; node >= 0; node = x->parts.parent[node]) {
            const int32_t place = s->place_of[x->parts.number[node]];
            if (place >= s->width) mask_unit(s, place - s->width, k);
        }
    return 0;
}

#endif
