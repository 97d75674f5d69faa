# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
# cython: freethreading_compatible=True
"""Numbers out of Rice codes (ricecodes.h)."""

import numpy as np

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef extern from "ricecodes.h" nogil:
    const int RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED
    int rice_numbers(const uint8_t *data, int64_t size, int64_t length, int low_bits,
                     uint64_t *out) noexcept
    int rice_positive(uint64_t *codes, int64_t length, uint64_t limit) noexcept
    int rice_signed(uint64_t *codes, int64_t length, uint64_t limit) noexcept
    int rice_ascending(uint64_t *codes, const int64_t *starts, int64_t n_rows,
                       uint64_t limit) noexcept

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


def positive_from(uint64_t[::1] codes, uint64_t limit):
    """Make numbers above 0 of codes uint64[n], in their place; tells whether none is above limit."""
    return not codes.shape[0] or bool(rice_positive(&codes[0], codes.shape[0], limit))


def signed_from(uint64_t[::1] codes, uint64_t limit):
    """Make numbers other than 0 of codes uint64[n], in their place, as int64 in two's complement;
    tells whether all are within -limit to limit."""
    return not codes.shape[0] or bool(rice_signed(&codes[0], codes.shape[0], limit))


def ascending_from(uint64_t[::1] codes, const int64_t[::1] starts, uint64_t limit):
    """Make numbers that rise within each row of codes uint64[n], in their place; tells whether none
    is above limit.

    Parameters
    ----------
    codes : how much each number is above the one before, less 1; the first of a row as it is
    starts : int64[rows + 1], where rows begin, from 0 to n, rising: no row is empty

    Raises
    ------
    ValueError : starts are not so
    """
    cdef int64_t n_rows = starts.shape[0] - 1, row
    cdef bint rising = n_rows >= 0
    if not rising or starts[0] != 0 or starts[n_rows] != codes.shape[0]:
        raise ValueError("its rows are of another size")
    for row in range(n_rows):
        rising = rising and starts[row] < starts[row + 1]
    if not rising:
        raise ValueError("its rows are of another size")
    return not n_rows or bool(rice_ascending(&codes[0], &starts[0], n_rows, limit))
