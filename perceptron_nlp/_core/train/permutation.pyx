# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: freethreading_compatible=True
"""Seeded shuffles in linear time: the numbers of learning.sampling, which defines them."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t

from perceptron_nlp.errors import ArgumentError


cdef extern from "train/permutation.h" nogil:
    ctypedef struct keyed_t:
        pass
    void permute(int64_t, uint64_t, uint64_t, int, int64_t *, keyed_t *, int64_t *)


def permutation(int64_t n, uint64_t seed, uint64_t epoch):
    """The numbers 0 … n-1 in the order of `seed` and `epoch`, as learning.sampling gives it."""
    if n < 0:
        raise ArgumentError(f"n must be 0 or more, got {n}")
    cdef int bits = max(1, int(n).bit_length())
    cdef int64_t[::1] buckets = np.zeros((1 << bits) + 1, dtype=np.int64)
    cdef uint8_t[::1] room = np.empty(max(n, 1) * sizeof(keyed_t), dtype=np.uint8)
    result = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] order = result
    if n:
        with nogil:
            permute(n, seed, epoch, bits, &buckets[0], <keyed_t *> &room[0], &order[0])
    return result
