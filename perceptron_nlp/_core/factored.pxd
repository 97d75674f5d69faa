"""Labels made of parts (parts.h)."""

from libc.stdint cimport int32_t

cdef extern from "parts.h" nogil:
    ctypedef struct Parts:
        int32_t n_labels
        int32_t n_parts
        int32_t n_nodes
        const int32_t *parent
        const int32_t *part
        const int32_t *leaf
    void whole_label_scores(const Parts *x, const int32_t *part_scores, int32_t *nodes,
                            int32_t *scores) noexcept


cdef class LabelParts:
    cdef Parts parts
    cdef list arrays
