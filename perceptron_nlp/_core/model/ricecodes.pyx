# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""Numbers out of Rice codes (ricecodes.h)."""

from libc.stdint cimport int64_t, uint8_t, uint64_t

cdef extern from "model/ricecodes.h" nogil:
    const int RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED, RICE_BEYOND
    const int RICE_AS_IT_IS, RICE_POSITIVE, RICE_SIGNED, RICE_ASCENDING
    ctypedef struct RiceReader:
        pass
    ctypedef struct RiceMaker:
        const int64_t *starts
        int64_t row, place
        uint64_t last, limit
    RiceReader rice_open(const uint8_t *data, int64_t size, int64_t length,
                         int low_bits) noexcept
    int rice_numbers(RiceReader *r, RiceMaker *m, int kind, int item, uint8_t *out) noexcept

_WRONG = {
    RICE_SHORT: "fewer numbers than it says",
    RICE_LONG: "more bits than its numbers take",
    RICE_WIDE: "a number beyond 64 bits",
    RICE_FILLED: "bits after its end",
}
_KINDS = {"codes": RICE_AS_IT_IS, "positive": RICE_POSITIVE, "signed": RICE_SIGNED,
          "ascending": RICE_ASCENDING, "in_rows": RICE_ASCENDING}
_ITEMS = {"B": 1, "H": 2, "I": 4, "Q": 8, "b": 1, "h": 2, "i": 4, "q": 8}
_OTHER_ROWS = "its rows are of another size"


def rice_decoded(data, length, low_bits, code="Q", kind="codes", starts=None):
    """The numbers of a Rice code.

    Parameters
    ----------
    data : uint8[n], a buffer
    length : how many there are
    low_bits : 0 to 63
    code : of the numbers, a type of whole numbers as memoryviews name it: one of "BHIQbhiq"
    kind : what they are made of the codes by: "codes" for these, or one of the kinds of
        formats/tensorarrays.py
    starts : of the kind "in_rows", int64[rows + 1]: where rows begin, from 0 to length, rising

    Returns
    -------
    a memoryview of so many numbers of the type

    Raises
    ------
    ValueError : the bits are not those of so many numbers, a number is beyond the type, or rows are
        of another size
    """
    cdef const uint8_t[::1] view = data
    cdef const int64_t[::1] rows
    cdef int64_t size = view.shape[0], n
    cdef int low, status, item = _ITEMS[code], how = _KINDS[kind]
    cdef uint8_t[::1] out
    cdef RiceReader reader
    cdef RiceMaker maker
    # Each number has a bit in unary, so nothing is made that the bytes are too few for.
    if not 0 <= low_bits <= 63 or not 0 <= length * (low_bits + 1) <= 8 * size:
        raise ValueError("its length or its low bits are out of range")
    if kind != "in_rows":
        whole = memoryview(bytearray(16)).cast("q")
        whole[1] = length
        starts = whole
    rows = starts
    if not length:
        if size:
            raise ValueError(_WRONG[RICE_LONG])
        if kind == "in_rows" and len(starts) != 1:
            raise ValueError(_OTHER_ROWS)
        return memoryview(b"").cast(code)
    if rows[0] != 0 or rows[rows.shape[0] - 1] != length or not _rising(rows):
        raise ValueError(_OTHER_ROWS)
    n, low = length, low_bits
    numbers = memoryview(bytearray(item * n))
    out = numbers
    maker.starts, maker.row, maker.place, maker.last = &rows[0], 0, 0, 0
    maker.limit = (<uint64_t>1 << (8 * item - 1)) - 1
    if code.isupper():
        maker.limit = 2 * maker.limit + 1
    reader = rice_open(&view[0], size, n, low)
    with nogil:
        status = rice_numbers(&reader, &maker, how, item, &out[0])
    if status == RICE_BEYOND:
        raise ValueError(f"a number beyond {8 * item} bits")
    if status != RICE_GOOD:
        raise ValueError(_WRONG[status])
    return numbers.cast(code)


cdef bint _rising(const int64_t[::1] starts) noexcept:
    cdef int64_t k
    for k in range(starts.shape[0] - 1):
        if starts[k] >= starts[k + 1]:
            return False
    return True
