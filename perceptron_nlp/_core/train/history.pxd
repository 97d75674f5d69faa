# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""Rows of the templates that look at past labels, remembered by what they are made of, so that a
template over a few labels and one value is hashed once for each of them and not once a visit.

The place of a row is a number written in base `digits` behind the number of the value; the last
digit of the base stands for "none". Equal keys have one place each, since values are numbered by
what they are, not by whose they are.
"""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t

from perceptron_nlp._core.features.extract cimport (
    FeatureProgram, MAX_ATOMS, Program, TokenView, token_key,
)
from perceptron_nlp._core.table.weights cimport Table, WeightTable, find, insert

cdef enum:
    ROW_ABSENT = -1


cdef struct HistoryCache:
    int32_t n_past
    int32_t past[MAX_ATOMS]  # which of the labels given: 0 is the last
    int32_t column, offset
    uint32_t digits          # of a label given: one for each, and one for "none"
    uint32_t span            # places of one value: all labels that it can stand behind
    const int32_t *values    # type -> number of its value; NULL: it looks at labels alone
    int32_t *row1            # row + 1, ROW_ABSENT, or 0: not looked for. NULL: not remembered


cdef inline int32_t *history_place(const HistoryCache *m, const TokenView *view,
                                   const int32_t *given) noexcept nogil:
    cdef size_t at = 0
    cdef int32_t k
    if m.row1 == NULL:
        return NULL
    if m.values != NULL:
        at = <size_t>m.values[view.types[m.column][m.offset]]
    for k in range(m.n_past):
        at = at * m.digits + <size_t>given[m.past[k]]
    return m.row1 + at


cdef inline int64_t history_row(const Program *p, const Table *t, const HistoryCache *m,
                                int32_t template_id, const TokenView *view,
                                const int32_t *given) noexcept nogil:
    """The row of a history template of a token after the labels given, or -1."""
    cdef int32_t *place = history_place(m, view, given)
    cdef int64_t row
    if place != NULL and place[0]:
        return -1 if place[0] == ROW_ABSENT else <int64_t>place[0] - 1
    row = find(t, token_key(p, template_id, view))
    if place != NULL:
        place[0] = ROW_ABSENT if row < 0 else <int32_t>(row + 1)
    return row


cdef inline int64_t history_insert(const Program *p, Table *t, const HistoryCache *m,
                                   int32_t template_id, const TokenView *view,
                                   const int32_t *given) noexcept nogil:
    """The same row, made if it is new; -1: no memory."""
    cdef int64_t row = insert(t, token_key(p, template_id, view), <uint16_t>template_id)
    cdef int32_t *place = history_place(m, view, given)
    if place != NULL and row >= 0:
        place[0] = <int32_t>(row + 1)
    return row


cdef class HistoryRows:
    cdef FeatureProgram program
    cdef WeightTable table
    cdef HistoryCache *caches
    cdef object carried
    cdef list numbers, remembered
    cdef uint32_t rows_known
    cdef void begin(self)
    cdef void end(self) noexcept
