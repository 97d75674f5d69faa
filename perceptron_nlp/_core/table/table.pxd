"""The weights themselves, while training (table.h), and what an average takes (kernels.h)."""

from libc.stddef cimport size_t
from libc.stdint cimport int32_t, int64_t, uint16_t, uint32_t, uint64_t

cdef extern from "table/table.h" nogil:
    ctypedef struct Index:
        uint64_t *keys
        uint32_t n
    ctypedef struct RowStore:
        uint32_t n_rows
    ctypedef struct Table:
        int32_t n_labels
        int fixed_bits
        int with_gradient
        int64_t done
        Index index
        uint16_t *group
        bint mixed
        bint dense
        RowStore store
    ctypedef struct RowView:
        uint32_t span
        bint ascending
    ctypedef struct Cell:
        double *w
        double *owed
        double *g
    const int MAX_LABELS
    int table_open(Table *t, int32_t n_labels, int fixed_bits, int with_gradient,
                   uint64_t multiplier, int plain) noexcept
    void table_close(Table *t) noexcept
    size_t table_bytes(const Table *t) noexcept
    int64_t table_n_rows(const Table *t) noexcept
    int64_t table_find(const Table *t, uint64_t key) noexcept
    size_t table_width(const Table *t) noexcept
    int table_reserve(Table *t, size_t n_rows, uint32_t new_rows) noexcept
    int64_t table_insert(Table *t, uint64_t key, uint16_t group) noexcept
    Cell table_cell(Table *t, int64_t row, int32_t label) noexcept
    void table_score(const Table *t, int64_t row, double value, double *scores) noexcept
    int table_add(Table *t, int64_t row, int32_t label, double delta) noexcept
    int table_add_adagrad(Table *t, int64_t row, int32_t label, double gradient,
                          double rate) noexcept
    void table_make_whole(Table *t) noexcept
    void table_prefetch_key(const Table *t, uint64_t key) noexcept
    void table_clear_row(Table *t, int64_t row) noexcept
    RowView table_row(const Table *t, int64_t row) noexcept
    double view_weight(const RowView *v, uint32_t j) noexcept
    double view_owed(const RowView *v, uint32_t j) noexcept
    double view_gradient(const Table *t, const RowView *v, uint32_t j) noexcept
    int32_t row_label(const Table *t, const RowView *v, uint32_t j) noexcept

cdef extern from "table/kernels.h" nogil:
    const int AVERAGED
    double mean_weight(double w, double owed, double done) noexcept
