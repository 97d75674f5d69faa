"""Rows of history templates, remembered (history.h)."""

from libc.stdint cimport int32_t, uint32_t

from perceptron_nlp._core.features.extract cimport FeatureProgram
from perceptron_nlp._core.table.weights cimport WeightTable

cdef extern from "train/history.h" nogil:
    ctypedef struct HistoryMemo:
        int32_t n_past
        int32_t *past
        int32_t column
        int32_t offset
        uint32_t span
        const int32_t *values
        int32_t *row1


cdef class HistoryRows:
    cdef FeatureProgram program
    cdef WeightTable table
    cdef HistoryMemo *memos
    cdef object carried
    cdef list numbers, remembered
    cdef uint32_t rows_known
    cdef void begin(self)
    cdef void end(self) noexcept
