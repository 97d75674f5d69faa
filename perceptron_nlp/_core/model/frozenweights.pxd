"""Features that are asked about, checked."""

cdef feature_keys(keys)
cdef feature_values(values, Py_ssize_t n)
