# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, freethreading_compatible=True
"""Seeded shuffles in linear time: SplitMix64 keys, sorted, as the sampling module defines them.

An epoch over short sparse rows takes no longer than sorting n keys by comparison, so the shuffle
has to be cheap.
"""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t

from perceptron_nlp.errors import ArgumentError

cdef uint64_t GAMMA = 0x9E3779B97F4A7C15
cdef uint64_t PERMUTATION = 1

cdef struct Keyed:
    uint64_t key
    int64_t number


def permutation(int64_t n, uint64_t seed, uint64_t epoch):
    """The numbers 0 … n-1 in the order of `seed` and `epoch`, as the sampling module gives it."""
    if n < 0:
        raise ArgumentError(f"n must be 0 or more, got {n}")
    cdef int bits = max(1, int(n).bit_length())
    cdef int64_t[::1] buckets = np.zeros((1 << bits) + 1, dtype=np.int64)
    cdef uint8_t[::1] room = np.empty(max(n, 1) * sizeof(Keyed), dtype=np.uint8)
    result = np.empty(n, dtype=np.int64)
    cdef int64_t[::1] order = result
    if n:
        with nogil:
            _permute(n, seed, epoch, bits, &buckets[0], <Keyed *>&room[0], &order[0])
    return result


cdef inline uint64_t _mix(uint64_t z) noexcept nogil:
    z = (z ^ (z >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    z = (z ^ (z >> 27)) * <uint64_t>0x94D049BB133111EB
    return z ^ (z >> 31)


cdef void _permute(int64_t n, uint64_t seed, uint64_t epoch, int bits, int64_t *buckets,
                   Keyed *sorted_, int64_t *order) noexcept nogil:
    """Sort numbers by their keys, stably: buckets are filled in the order of numbers.

    `buckets` holds 2^bits + 1 counters, all zero; about one key falls into each bucket, where an
    insertion sort ends the work.
    """
    cdef uint64_t state = _mix(_mix(_mix(seed + GAMMA) + (PERMUTATION + 1) * GAMMA)
                               + (epoch + 1) * GAMMA)
    cdef uint64_t counter = state
    cdef int shift = 64 - bits
    cdef int64_t i, at
    cdef int64_t *bucket
    cdef Keyed item
    for i in range(n):
        counter += GAMMA
        buckets[(_mix(counter) >> shift) + 1] += 1
    for i in range(<int64_t>1 << bits):
        buckets[i + 1] += buckets[i]
    counter = state
    for i in range(n):
        counter += GAMMA
        item.key, item.number = _mix(counter), i
        bucket = &buckets[item.key >> shift]
        sorted_[bucket[0]] = item
        bucket[0] += 1
    for i in range(1, n):
        item, at = sorted_[i], i
        while at > 0 and sorted_[at - 1].key > item.key:
            sorted_[at] = sorted_[at - 1]
            at -= 1
        sorted_[at] = item
    for i in range(n):
        order[i] = sorted_[i].number
