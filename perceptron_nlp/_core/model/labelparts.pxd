"""Labels made of parts (parts.h)."""

from libc.stdint cimport int32_t, int64_t

cdef extern from "model/parts.h" nogil:
    ctypedef struct Tree:
        int32_t n
        const int32_t *parent
        const int32_t *number
    ctypedef struct Parts:
        int32_t n_labels
        int32_t n_parts
        int32_t n_pieces
        int32_t n_slots
        int32_t n_runs
        int32_t n_families
        int32_t n_optional
        Tree parts
        const int32_t *leaf
        const int32_t *run_slot
        const int32_t *run_start
        Tree slots
        const int32_t *family_leaf
        const int32_t *family
        const int32_t *family_nodes
        const int32_t *family_labels
        const int32_t *members
    ctypedef struct PartWalk:
        int32_t *at
    PartWalk parts_differing(const Parts *x, int32_t one, int32_t two) noexcept
    int next_difference(const Parts *x, PartWalk *walk, int32_t *part, int *side) noexcept
    int32_t parts_scratch(const Parts *x) noexcept
    int32_t best_but(const Parts *x, const double *part_scores, int32_t but,
                     double *scratch) noexcept
    int32_t whole_best_but(const Parts *x, const int32_t *part_scores, int32_t but,
                           int32_t *scratch) noexcept
    void whole_label_scores(const Parts *x, const int32_t *part_scores, int32_t *sums,
                            int32_t *scores) noexcept


cdef class LabelParts:
    cdef Parts parts
    cdef list arrays
    cdef const int32_t *_keep(self, numbers) except NULL
