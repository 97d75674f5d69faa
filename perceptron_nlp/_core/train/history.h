/* Rows of the templates that look at past labels, remembered by what they are made of, so that a
 * template over a few labels and one value is hashed once for each of them and not once a visit.
 *
 * The place of a row is a number written in base n_labels + 1 behind the number of the value; the
 * last digit of the base stands for "none". Equal keys have one place each, since values are
 * numbered by what they are, not by whose they are. */
#ifndef PERCEPTRON_NLP_HISTORY_H
#define PERCEPTRON_NLP_HISTORY_H

#include "features/program.h"
#include "table/table.h"

#define ROW_ABSENT (-1)

typedef struct {
    int32_t n_past, past[MAX_ATOMS]; /* which of the labels given: 0 is the last */
    int32_t column, offset;
    uint32_t span;         /* places of one value: all labels that it can stand behind */
    const int32_t *values; /* type -> number of its value; NULL: it looks at labels alone */
    int32_t *row1;         /* row + 1, ROW_ABSENT, or 0: not looked for. NULL: not remembered */
} HistoryMemo;

static inline int32_t *history_place(const HistoryMemo *m, const TokenView *view,
                                     const int32_t *given, int32_t n_labels) {
    if (!m->row1) return NULL;
    size_t at = m->values ? (size_t)m->values[view->types[m->column][m->offset]] : 0;
    for (int32_t k = 0; k < m->n_past; k++)
        at = at * (size_t)(n_labels + 1) + (size_t)given[m->past[k]];
    return m->row1 + at;
}

/* The row of a history template of a token after the labels given, or -1. */
static inline int64_t history_row(const Program *p, const Table *t, const HistoryMemo *m,
                                  int32_t template_id, const TokenView *view,
                                  const int32_t *given) {
    int32_t *place = history_place(m, view, given, t->n_labels);
    if (place && *place) return *place == ROW_ABSENT ? -1 : (int64_t)*place - 1;
    int64_t row = table_find(t, token_key(p, template_id, view));
    if (place) *place = row < 0 ? ROW_ABSENT : (int32_t)(row + 1);
    return row;
}

/* The same row, made if it is new; -1: no memory. */
static inline int64_t history_insert(const Program *p, Table *t, const HistoryMemo *m,
                                     int32_t template_id, const TokenView *view,
                                     const int32_t *given) {
    int64_t row = table_insert(t, token_key(p, template_id, view), (uint16_t)template_id);
    int32_t *place = history_place(m, view, given, t->n_labels);
    if (place && row >= 0) *place = (int32_t)(row + 1);
    return row;
}

#endif
