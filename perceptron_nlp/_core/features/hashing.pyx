# cython: language_level=3, freethreading_compatible=True
"""The 64-bit hash of feature strings, for tests and for callers outside the hot loops."""

import os

from libc.stdint cimport uint8_t, uint64_t


cdef uint64_t draw_secret() except? 0:
    """A number that nobody else knows. Where in a table a key is looked for depends on such
    numbers, since strangers choose words and feature names; nothing saved may."""
    return int.from_bytes(os.urandom(8), "little")


def hash64(data not None, seed=0):
    """XXH64 of some bytes.

    Parameters
    ----------
    data : bytes, bytearray or memoryview
    seed : int, 0 <= seed < 2**64

    Returns
    -------
    int, 0 <= hash < 2**64
    """
    cdef const uint8_t[::1] view = data
    cdef uint64_t s = seed
    if view.shape[0] == 0:
        return xxh64(NULL, 0, s)
    return xxh64(&view[0], view.shape[0], s)


def hash64_each(strings not None):
    """XXH64 of each of some byte strings.

    Parameters
    ----------
    strings : sequence of bytes, n of them

    Returns
    -------
    uint64[n], as a memoryview
    """
    cdef Py_ssize_t i, n = len(strings)
    cdef bytes data
    cdef const unsigned char *text
    out = memoryview(bytearray(8 * n)).cast("Q")
    cdef uint64_t[::1] hashes = out
    for i in range(n):
        data = strings[i]
        text = data
        hashes[i] = xxh64(text, len(data), 0)
    return out
