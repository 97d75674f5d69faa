"""Whole numbers in few bits: Rice codes.

A number *v* in a Rice code of *k* low bits is *v* >> *k* in unary, and its *k* low bits as they
are (R. F. Rice, Some practical universal noiseless coding techniques, JPL 79-22, 1979). Here the
low bits of all numbers stand first, then the unary parts of all, each so many zeros and a one.
Bits are counted from the highest of each byte; each of the two stretches ends at a whole byte,
filled up with zeros.

Each number takes a bit at least, so nothing unpacks to more than 64 times its size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from perceptron_nlp._core.model.ricecodes import rice_decoded

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"
Words: TypeAlias = "npt.NDArray[np.uint64]"

MOST_LOW_BITS = 63


class Packed(NamedTuple):
    """Numbers in a Rice code.

    Attributes
    ----------
    length : how many there are
    low_bits : how many low bits each has, 0 to 63
    data : uint8[n], the bits; an array, or any buffer of bytes
    """

    length: int
    low_bits: int
    data: Any


def pack(values: Words) -> Packed:
    """Numbers, uint64[n], in the shortest Rice code."""
    # Here, since tagging does without NumPy.
    import numpy as np

    low_bits = min(range(MOST_LOW_BITS + 1), key=lambda k: _code_bits(values, k))
    high = (values >> np.uint64(low_bits)).astype(np.int64)
    ones = np.cumsum(high + 1) - 1
    unary = np.zeros(int(ones[-1]) + 1 if len(ones) else 0, np.uint8)
    unary[ones] = 1
    data = np.concatenate([np.packbits(_bits(values, low_bits)), np.packbits(unary)])
    return Packed(len(values), low_bits, data)


def unpack(
    packed: Packed, code: str = "Q", kind: str = "codes", starts: memoryview | None = None
) -> memoryview:
    """The numbers, or what they are codes of: see ricecodes.rice_decoded.

    Raises ValueError for bits that are not of so many numbers, or of numbers beyond the type.
    """
    return rice_decoded(packed.data, packed.length, packed.low_bits, code, kind, starts)


def _bits(values: Words, width: int) -> Array:
    """The lowest `width` bits of each number."""
    import numpy as np

    n_bytes = _item_size(width)
    wide = np.unpackbits(values.astype(f">u{n_bytes}").view(np.uint8))
    return wide.reshape(len(values), 8 * n_bytes)[:, 8 * n_bytes - width :].ravel()


def _item_size(width: int) -> int:
    return next(size for size in (1, 2, 4, 8) if 8 * size >= width)


def _code_bits(values: Words, low_bits: int) -> float:
    import numpy as np

    # As float64: sums of keys go beyond 64 bits.
    return float((values >> np.uint64(low_bits)).sum(dtype=np.float64)) + (
        len(values) * (1 + low_bits)
    )
