"""An array of a file as its bytes, which need not become one of NumPy to be looked at."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy.typing as npt

# Types of numbers by their names in a file: as memoryviews name them, and NumPy.
CODES = {
    "U8": "B",
    "I8": "b",
    "U16": "H",
    "I16": "h",
    "U32": "I",
    "I32": "i",
    "U64": "Q",
    "I64": "q",
    "F16": "e",
    "F32": "f",
    "F64": "d",
}
DTYPES = {
    "U8": "<u1",
    "I8": "<i1",
    "U16": "<u2",
    "I16": "<i2",
    "U32": "<u4",
    "I32": "<i4",
    "U64": "<u8",
    "I64": "<i8",
    "F16": "<f2",
    "F32": "<f4",
    "F64": "<f8",
}


class Tensor(NamedTuple):
    """An array of a file.

    Attributes
    ----------
    dtype : the type of its numbers, a key of CODES
    shape : how many there are in each dimension
    data : their bytes, little-endian; of the length that type and shape ask for
    """

    dtype: str
    shape: tuple[int, ...]
    data: memoryview

    @classmethod
    def of(cls, numbers: memoryview, dtype: str) -> Tensor:
        """The tensor of numbers in one dimension, as this machine orders their bytes."""
        return cls(dtype, (len(numbers),), _turned(numbers.cast("B"), dtype))

    def numbers(self) -> memoryview:
        """The numbers in one dimension, as this machine orders their bytes."""
        code: Any = CODES[self.dtype]
        numbers: memoryview = _turned(self.data, self.dtype).cast(code)
        return numbers

    def array(self) -> npt.NDArray[Any]:
        """The same as an array of NumPy, read-only, which shares the bytes.

        Raises ValueError for a shape that NumPy cannot make.
        """
        # Here, since NumPy takes longer to import than tagging a file does.
        import numpy as np

        # A shape with a 0 in it has no bytes to view.
        if 0 in self.shape:
            array: npt.NDArray[Any] = np.empty(self.shape, DTYPES[self.dtype])
            array.flags.writeable = False
            return array
        return np.frombuffer(self.data, DTYPES[self.dtype], math.prod(self.shape)).reshape(
            self.shape
        )

    @property
    def kind(self) -> str:
        """Type and shape for messages: ``uint8[3]``."""
        return f"{long_name(self.dtype)}{list(self.shape)}"


def _turned(data: memoryview, dtype: str) -> memoryview:
    """Bytes of numbers from the order of a file to that of this machine, or back."""
    if sys.byteorder == "little":
        return data
    size = item_size(dtype)
    turned = bytearray(len(data))
    for place in range(size):
        turned[place::size] = data[size - 1 - place :: size]
    return memoryview(turned)


def long_name(dtype: str) -> str:
    """What NumPy calls a type: ``uint8`` for ``U8``."""
    return {"U": "uint", "I": "int", "F": "float"}[dtype[0]] + dtype[1:]


def item_size(dtype: str) -> int:
    """Bytes that each number of a type takes."""
    return int(dtype[1:]) // 8
