# cython: language_level=3, boundscheck=False, wraparound=False, freethreading_compatible=True
"""Feature names to columns: an open-addressing table of 64-bit hashes that grows exactly.

Only hashes are kept, eight bytes a feature beside its slot. Two of n names share a hash
with probability n**2 / 2**65: 3e-6 for ten million names. Names chosen to share all 64 bits
share a column. Names chosen to share some gain nothing: the first slot of a hash is
(hash * multiplier) >> shift, with an odd multiplier drawn by each index, as in probe.h.
"""

import numbers
from array import array
from collections.abc import Mapping

import numpy as np

from libc.math cimport isfinite
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from perceptron_nlp._core.features.hashing cimport draw_secret, xxh64
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote

cdef int32_t FREE = -1
cdef Py_ssize_t _COLUMNS = 2**30


cdef class FeatureIndex:
    """A column for each feature name, in order of first appearance.

    Parameters
    ----------
    hashes : uint64[n], the hashes of the columns 0 … n-1; none to begin with
    """

    cdef uint64_t[::1] _hashes
    cdef int32_t[::1] _slots
    cdef uint64_t _multiplier
    cdef int _shift
    cdef uint64_t _mask
    cdef int32_t _size

    def __init__(self, hashes=()):
        known = np.array(hashes, dtype=np.uint64)
        self._multiplier = draw_secret() | 1
        self._size = 0
        self._hashes = np.empty(max(16, len(known)), dtype=np.uint64)
        self._rebuild(6)
        for key in known:
            self._column(key, True)
        if self._size != len(known):
            raise ArgumentError("hashes must be distinct")

    def __len__(self):
        return self._size

    def __reduce__(self):
        return type(self), (np.asarray(self._hashes[:self._size]).copy(),)

    cdef _rebuild(self, int bits):
        """Lay 2**bits slots."""
        cdef int32_t column
        cdef uint64_t at
        self._slots = np.full(<uint64_t> 1 << bits, FREE, dtype=np.int32)
        self._mask = self._slots.shape[0] - 1
        self._shift = 64 - bits
        for column in range(self._size):
            at = (self._hashes[column] * self._multiplier) >> self._shift
            while self._slots[at] != FREE:
                at = (at + 1) & self._mask
            self._slots[at] = column

    cdef int32_t _column(self, uint64_t key, bint grow) except -2:
        """The column of a hash; of a new one: the next column, or FREE where not to grow."""
        cdef uint64_t at = (key * self._multiplier) >> self._shift
        while self._slots[at] != FREE:
            if self._hashes[self._slots[at]] == key:
                return self._slots[at]
            at = (at + 1) & self._mask
        if not grow:
            return FREE
        if self._size == self._hashes.shape[0]:
            if self._size >= _COLUMNS:
                raise ArgumentError("X holds more than 2**30 distinct features")
            wider = np.empty(2 * self._size, dtype=np.uint64)
            wider[:self._size] = self._hashes
            self._hashes = wider
        self._slots[at] = self._size
        self._hashes[self._size] = key
        self._size += 1
        if 2 * self._size > self._slots.shape[0]:
            self._rebuild(65 - self._shift)
        return self._size - 1

    def encode(self, samples, bint grow, Py_ssize_t width=_COLUMNS):
        """The samples as CSR arrays.

        Parameters
        ----------
        samples : dictionaries (name -> str, number or bool) or collections of strings
        grow : give new names a column; else leave them out
        width : leave out names with a column from here on

        Returns
        -------
        values float64[nnz], columns int32[nnz], starts int64[n + 1]

        Raises
        ------
        ArgumentError, ArgumentTypeError
            when a name or a value is of another type, or no finite number; a sample that
            is refused leaves the names before it in the index
        """
        values, columns, starts = array("d"), array("i"), array("q", [0])
        cdef int32_t column
        cdef double value
        for sample in samples:
            for name, value in _features(sample, len(starts) - 1):
                column = self._column(_hash(name), grow) if value != 0 else FREE
                if FREE < column < width:
                    values.append(value)
                    columns.append(column)
            starts.append(len(values))
        return (np.array(values, dtype=np.float64), np.array(columns, dtype=np.int32),
                np.array(starts, dtype=np.int64))


cdef uint64_t _hash(str name) except? 0:
    cdef bytes data = name.encode("utf-8", "surrogatepass")
    return xxh64(<const uint8_t *> data, len(data), 0)


cdef list _features(sample, Py_ssize_t row):
    """The (name, value) pairs of one sample; a string value is part of the name."""
    cdef list pairs = []
    if isinstance(sample, (str, bytes)):
        raise ArgumentTypeError(
            f"X[{row}] is a single string; a sample is a dictionary or a list of strings: "
            "X[i].split() may be what is meant")
    if not isinstance(sample, Mapping):
        return [(_name(name, row), 1.0) for name in _iterated(sample, row)]
    for name, value in sample.items():
        if isinstance(value, str):
            pairs.append((f"{_name(name, row)}={value}", 1.0))
        else:
            pairs.append((_name(name, row), _number(name, value, row)))
    return pairs


def _iterated(sample, Py_ssize_t row):
    try:
        # A set has the order of the day's hashes; columns would be in it.
        return iter(sorted(sample, key=str) if isinstance(sample, (set, frozenset)) else sample)
    except TypeError:
        raise ArgumentTypeError(
            f"X[{row}] is {quote(repr(sample))}; a sample is a dictionary or a list of strings"
        ) from None


cdef str _name(name, Py_ssize_t row):
    if not isinstance(name, str):
        raise ArgumentTypeError(f"X[{row}] has the feature {quote(repr(name))}, "
                                "but a feature is named by a string")
    return str(name)


cdef double _number(name, value, Py_ssize_t row) except? -1:
    cdef double number
    if not isinstance(value, (numbers.Real, np.bool_)):
        raise ArgumentTypeError(f"X[{row}] has {quote(repr(value))} for {quote(name)}; "
                                "a value is a string, a number or a bool")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not isfinite(number):
        raise ArgumentError(f"Input X contains {quote(value)} for {quote(name)} "
                            f"in X[{row}]; a value must be finite")
    return number
