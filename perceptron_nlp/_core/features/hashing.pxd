from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint64_t

cdef extern from "features/hashing.h" nogil:
    uint64_t xxh64(const uint8_t *p, size_t n, uint64_t seed) noexcept
    uint64_t xxh64_words(const uint64_t *words, int n, uint64_t seed) noexcept

cdef uint64_t draw_secret() except? 0
