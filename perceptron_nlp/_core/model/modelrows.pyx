# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, freethreading_compatible=True
"""The numbers of a model file looked over: where rows begin, and whether all is as it must be; and
numbers out of Rice codes (ricecodes.h).

Numbers are memoryviews of one dimension; whoever calls has checked their types.
"""

from cpython.buffer cimport PyBuffer_FillInfo
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free
from libc.string cimport memcmp, memset

cdef extern from "model/ricecodes.h" nogil:
    const int RICE_GOOD, RICE_SHORT, RICE_LONG, RICE_WIDE, RICE_FILLED, RICE_BEYOND
    const int RICE_AS_IT_IS, RICE_POSITIVE, RICE_SIGNED, RICE_ASCENDING
    ctypedef struct RiceCode:
        const uint8_t *data
        int64_t size, length
        int low_bits
        int kind, item
        const int64_t *starts
        uint64_t limit
    void rice_prepare() noexcept
    int rice_numbers(const RiceCode *c, uint8_t *out) noexcept

cdef extern from "table/portable.h" nogil:
    void *large_block(size_t size, int zeroed) noexcept
    int lowest_bit(uint64_t word) noexcept

rice_prepare()

ctypedef fused Number:
    uint8_t
    uint16_t
    uint32_t
    uint64_t


def room(Py_ssize_t size):
    """A writable memoryview of so many bytes that hold anything, in large pages where the system has
    them: to get a small page takes longer than to fill it."""
    return memoryview(_Room(size))


cdef class _Room:
    cdef void *start
    cdef Py_ssize_t size

    def __cinit__(self, Py_ssize_t size):
        self.size, self.start = size, large_block(size or 1, 0)
        if self.start == NULL:
            raise MemoryError

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        PyBuffer_FillInfo(buffer, self, self.start, self.size, 0, flags)

    def __dealloc__(self):
        free(self.start)


def aligned(data not None, int item):
    """Bytes, moved only where numbers of so many bytes each may not stand.

    Parameters
    ----------
    data : a memoryview of bytes
    item : 1, 2, 4 or 8

    Returns
    -------
    the same memoryview, or one of a copy
    """
    cdef const uint8_t[::1] view = data
    if not view.shape[0] or <size_t>&view[0] % <size_t>item == 0:
        return data
    return memoryview(bytes(data))


def starts_of(numbers not None):
    """Where rows begin, given how many cells each has, and where the last one ends.

    Parameters
    ----------
    numbers : unsigned, of 8, 16 or 32 bits each, n of them

    Returns
    -------
    int64[n + 1], as a memoryview
    """
    cdef const uint8_t[::1] raw = numbers.cast("B")
    cdef int64_t n = len(numbers)
    cdef int item = numbers.itemsize
    out = room(8 * (n + 1)).cast("q")
    cdef int64_t[::1] starts = out
    starts[0] = 0
    if n and item == 1:
        _add_up(<const uint8_t *>&raw[0], n, &starts[0])
    elif n and item == 2:
        _add_up(<const uint16_t *>&raw[0], n, &starts[0])
    elif n:
        _add_up(<const uint32_t *>&raw[0], n, &starts[0])
    return out


def extremes(numbers not None):
    """The lowest and the highest of numbers of 8, 16, 32 or 64 bits, taken for unsigned ones; 1 and
    -1 where there are none."""
    cdef const uint8_t[::1] raw = numbers.cast("B")
    cdef int64_t n = len(numbers)
    cdef int item = numbers.itemsize
    cdef uint64_t found[2]
    if not n:
        return 1, -1
    if item == 1:
        _extremes(<const uint8_t *>&raw[0], n, found)
    elif item == 2:
        _extremes(<const uint16_t *>&raw[0], n, found)
    elif item == 4:
        _extremes(<const uint32_t *>&raw[0], n, found)
    else:
        _extremes(<const uint64_t *>&raw[0], n, found)
    return found[0], found[1]


def rise(numbers not None, const int64_t[::1] starts not None):
    """Do numbers rise from each of the starts to the next? Then nothing stands there twice.

    Parameters
    ----------
    numbers : unsigned, of 16, 32 or 64 bits
    starts : int64[n + 1], from 0 to how many numbers there are, never falling
    """
    cdef const uint8_t[::1] raw = numbers.cast("B")
    cdef int item = numbers.itemsize
    if not raw.shape[0]:
        return True
    if item == 2:
        return _rise(<const uint16_t *>&raw[0], &starts[0], starts.shape[0] - 1)
    if item == 4:
        return _rise(<const uint32_t *>&raw[0], &starts[0], starts.shape[0] - 1)
    return _rise(<const uint64_t *>&raw[0], &starts[0], starts.shape[0] - 1)


def strings_rise(const uint8_t[::1] text not None, const int64_t[::1] starts not None):
    """Is each of several strings whole characters, and above the one before?

    Parameters
    ----------
    text : all of them, one after the other, which together are UTF-8
    starts : int64[n + 1], from 0 to the length of the text, never falling: where each begins
    """
    cdef int64_t k, size, before, n = starts.shape[0] - 1
    cdef int found
    if not text.shape[0]:
        # Several empty strings do not rise.
        return n <= 1
    for k in range(n):
        size = starts[k + 1] - starts[k]
        if size and text[starts[k]] & 0xC0 == 0x80:
            return False
        if k:
            before = starts[k] - starts[k - 1]
            found = memcmp(&text[0] + starts[k - 1], &text[0] + starts[k], min(before, size))
            if found > 0 or (found == 0 and before >= size):
                return False
    return True


def in_16_bits(numbers not None):
    """Unsigned numbers of 8 or 16 bits, each in 16: themselves, or a memoryview of new ones."""
    cdef const uint8_t[::1] narrow
    cdef uint16_t[::1] wide
    cdef int64_t i
    if numbers.itemsize == 2:
        return numbers
    narrow = numbers
    out = memoryview(bytearray(2 * len(numbers))).cast("H")
    wide = out
    for i in range(narrow.shape[0]):
        wide[i] = narrow[i]
    return out


cdef void _add_up(const Number *numbers, int64_t n, int64_t *starts) noexcept:
    cdef int64_t i, end = 0
    for i in range(n):
        end += <int64_t>numbers[i]
        starts[i + 1] = end


cdef void _extremes(const Number *numbers, int64_t n, uint64_t *found) noexcept:
    cdef int64_t i
    cdef Number lowest = numbers[0], highest = numbers[0]
    for i in range(1, n):
        lowest = min(lowest, numbers[i])
        highest = max(highest, numbers[i])
    found[0], found[1] = lowest, highest


cdef bint _rise(const Number *numbers, const int64_t *starts, int64_t n_rows) noexcept:
    # All neighbors are compared, many at once, and what stands between two rows is taken off: rows
    # are short, and of lengths that no branch can foresee.
    cdef int64_t row, i, first, falls = 0, n = starts[n_rows]
    for i in range(1, n):
        falls += numbers[i] <= numbers[i - 1]
    for row in range(1, n_rows):
        first = starts[row]
        # An empty row has no border of its own.
        if starts[row - 1] < first < n:
            falls -= numbers[first] <= numbers[first - 1]
    return falls == 0


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
    cdef int64_t size = view.shape[0]
    cdef int status, item = _ITEMS[code]
    cdef uint8_t[::1] out
    cdef RiceCode rice
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
    numbers = room(item * length)
    out = numbers
    rice.data, rice.size, rice.length, rice.low_bits = &view[0], size, length, low_bits
    rice.kind, rice.item, rice.starts = _KINDS[kind], item, &rows[0]
    rice.limit = (<uint64_t>1 << (8 * item - 1)) - 1
    if code.isupper():
        rice.limit = 2 * rice.limit + 1
    with nogil:
        status = rice_numbers(&rice, &out[0])
    if status == RICE_BEYOND:
        raise ValueError(f"a number beyond {8 * item} bits")
    if status != RICE_GOOD:
        raise ValueError(_WRONG[status])
    return numbers.cast(code)


def in_label_order(uint16_t[::1] labels not None, int16_t[::1] weights not None,
                   const int64_t[::1] starts not None, const uint16_t[::1] order not None):
    """Name labels by their numbers where they are named by their places in an order, and sort the
    cells of each row by them, in place.

    Parameters
    ----------
    labels : uint16[n], the place of each label in the order, those of a row ascending
    weights : int16[n], which go with them
    starts : int64[rows + 1], where rows begin and the last one ends, at n
    order : uint16[k], the number of the label of each place; each once

    Raises
    ------
    ValueError : a place is beyond the order, or a number stands twice in it or in a row
    """
    cdef int64_t n = labels.shape[0], rows = starts.shape[0] - 1, k
    cdef uint8_t[::1] seen = bytearray(1 << 16)
    cdef int16_t[::1] weight_of = memoryview(bytearray(2 << 16)).cast("h")
    cdef uint64_t[1 << 10] bits
    if weights.shape[0] != n or starts[rows] != n:
        raise ValueError("its rows are of another size")
    if not n:
        return
    for k in range(order.shape[0]):
        seen[order[k]] += 1
        if seen[order[k]] > 1:
            raise ValueError("a label stands twice in its order")
    for k in range(n):
        if labels[k] >= order.shape[0]:
            raise ValueError("a place beyond the order of its labels")
    memset(bits, 0, sizeof(bits))
    for k in range(rows):
        if starts[k] < starts[k + 1] and not _sort_row(
            &labels[starts[k]], &weights[starts[k]], starts[k + 1] - starts[k], &order[0], bits,
            &weight_of[0]
        ):
            raise ValueError("a label stands twice in a row")


cdef inline bint _sort_row(uint16_t *labels, int16_t *weights, int64_t n, const uint16_t *order,
                           uint64_t *bits, int16_t *weight_of) noexcept nogil:
    # A bit for each label, which are then looked for from the lowest to the highest.
    cdef int64_t k, word, lowest = 1 << 10, highest = 0, to = 0
    cdef uint16_t label
    for k in range(n):
        label = order[labels[k]]
        weight_of[label] = weights[k]
        bits[label >> 6] |= <uint64_t>1 << (label & 63)
        lowest = min(lowest, label >> 6)
        highest = max(highest, label >> 6)
    for word in range(lowest, highest + 1):
        while bits[word]:
            label = <uint16_t>(word << 6 | lowest_bit(bits[word]))
            bits[word] &= bits[word] - 1
            labels[to], weights[to] = label, weight_of[label]
            to += 1
    return to == n


cdef bint _rising(const int64_t[::1] starts) noexcept:
    cdef int64_t k
    for k in range(starts.shape[0] - 1):
        if starts[k] >= starts[k + 1]:
            return False
    return True
