# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Numbers out of Rice codes (ricecodes.h)."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef extern from "ricecodes.h" nogil:
    const int RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED
    int rice_numbers(const uint8_t *data, int64_t size, int64_t length, int low_bits,
                     uint64_t *out) noexcept

_WRONG = {
    RICE_SHORT: "fewer numbers than it says",
    RICE_LONG: "more bits than its numbers take",
    RICE_WIDE: "a number beyond 64 bits",
    RICE_FILLED: "bits after its end",
}


def rice_decoded(data, length, low_bits):
    """The numbers of a Rice code.

    Parameters
    ----------
    data : uint8[n]
    length : how many there are
    low_bits : 0 to 63

    Returns
    -------
    uint64[length]

    Raises
    ------
    ValueError : the bits are not those of so many numbers
    """
    cdef const uint8_t[::1] view = np.ascontiguousarray(data, np.uint8)
    cdef int64_t size = view.shape[0], n
    cdef int low, status
    cdef uint64_t[::1] out
    # Each number has a bit in unary, so nothing is made that the bytes are too few for.
    if not 0 <= low_bits <= 63 or not 0 <= length * (low_bits + 1) <= 8 * size:
        raise ValueError("its length or its low bits are out of range")
    if length == 0:
        if size:
            raise ValueError(_WRONG[RICE_LONG])
        return np.empty(0, np.uint64)
    n, low = length, low_bits
    numbers = out = np.empty(n, np.uint64)
    with nogil:
        status = rice_numbers(&view[0], size, n, low, &out[0])
    if status != RICE_GOOD:
        raise ValueError(_WRONG[status])
    return numbers
