/* Weights of parts (parts.h) as scores of what is compared in the end, its units: the labels, where
 * these are not too many, else the parts themselves.
 *
 *   a part of several units   a mask with all bits set for each of them
 *   a part of one unit        the number of the unit */
#ifndef PERCEPTRON_NLP_SPREAD_H
#define PERCEPTRON_NLP_SPREAD_H

#include "model/frozen.h"
#include "model/parts.h"

#define MOST_UNITS 512
#define UNITS_AT_ONCE 16
#define MOST_SPREAD_PARTS 1024

typedef struct {
    int32_t n_units; /* 0: weights of parts are not spread */
    int32_t n_parts, n_masks, n_alone, stride;
    int of_labels;       /* are the units labels? */
    int32_t *unit_of;    /* part -> its unit; -1 - m: mask m has its units */
    int32_t *masked;     /* mask -> its part */
    int32_t *alone;      /* parts of one unit, ascending */
    int32_t *alone_unit; /* the unit of each of these */
    uint16_t *masks;     /* [mask][stride] */
    KeyFilter filter;    /* of the keys of history templates */
} Spread;

static inline void spread_close(Spread *s) {
    free(s->unit_of);
    free(s->masked);
    free(s->alone);
    free(s->alone_unit);
    free(s->masks);
    free(s->filter.words);
    memset(s, 0, sizeof *s);
}

/* May the weights of these parts be spread? */
static inline int can_spread(const Parts *x) {
    return x->n_parts <= MOST_SPREAD_PARTS &&
           (x->n_labels <= MOST_UNITS || x->n_parts <= MOST_UNITS);
}

/* Lay them out. -1: no memory. */
static inline int spread_open(Spread *s, const Parts *x) {
    const size_t n = (size_t)x->n_parts + 1;
    s->of_labels = x->n_labels <= MOST_UNITS;
    s->n_units = s->of_labels ? x->n_labels : x->n_parts;
    s->n_parts = x->n_parts;
    const int32_t stride = s->stride =
        (s->n_units + UNITS_AT_ONCE - 1) / UNITS_AT_ONCE * UNITS_AT_ONCE;
    s->unit_of = (int32_t *)malloc(n * sizeof *s->unit_of);
    s->masked = (int32_t *)malloc(n * sizeof *s->masked);
    s->alone = (int32_t *)malloc(n * sizeof *s->alone);
    s->alone_unit = (int32_t *)malloc(n * sizeof *s->alone_unit);
    int32_t *n_units = (int32_t *)calloc(n, sizeof *n_units);
    if (!s->unit_of || !s->masked || !s->alone || !s->alone_unit || !n_units) {
        free(n_units);
        return -1;
    }
    for (int32_t p = 0; p < x->n_parts && !s->of_labels; p++) {
        n_units[p] = 1;
        s->unit_of[p] = p;
    }
    for (int32_t k = 0; k < x->n_labels && s->of_labels; k++)
        for (int32_t node = x->leaf[k]; node >= 0; node = x->parts.parent[node]) {
            n_units[x->parts.number[node]]++;
            s->unit_of[x->parts.number[node]] = k;
        }
    for (int32_t p = 0; p < x->n_parts; p++) {
        if (n_units[p] == 1) {
            s->alone[s->n_alone] = p;
            s->alone_unit[s->n_alone++] = s->unit_of[p];
        } else { /* one that no label has gets an empty mask */
            s->masked[s->n_masks] = p;
            s->unit_of[p] = -1 - s->n_masks++;
        }
    }
    free(n_units);
    s->masks = (uint16_t *)calloc((size_t)s->n_masks * (size_t)stride + 1, sizeof *s->masks);
    if (!s->masks) return -1;
    for (int32_t k = 0; k < x->n_labels && s->of_labels; k++)
        for (int32_t node = x->leaf[k]; node >= 0; node = x->parts.parent[node]) {
            const int32_t unit = s->unit_of[x->parts.number[node]];
            if (unit < 0) s->masks[(size_t)(-1 - unit) * (size_t)stride + (size_t)k] = 0xFFFF;
        }
    return 0;
}

#endif
