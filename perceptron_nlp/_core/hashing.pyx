# cython: language_level=3, freethreading_compatible=True
"""The 64-bit hash of feature strings, for tests and for callers outside the hot loops."""

from libc.stdint cimport uint8_t, uint64_t


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
