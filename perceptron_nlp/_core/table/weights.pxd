"""Weights while training: ``Table`` (table.h) holds them, ``WeightTable`` owns one and checks
arguments."""

from perceptron_nlp._core.table.table cimport Table


cdef class WeightTable:
    cdef Table table
    cdef readonly object table_bits

    cdef int _reserve(self, Py_ssize_t n) except -1
