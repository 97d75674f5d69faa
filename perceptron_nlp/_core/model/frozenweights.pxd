"""What comes of a weight table, and the features that are asked about."""

from perceptron_nlp._core.table.table cimport Table

cdef freeze(const Table *t, table_bits, bint averaged)
cdef feature_keys(keys)
cdef feature_values(values, Py_ssize_t n)
