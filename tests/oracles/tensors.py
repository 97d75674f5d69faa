"""Files of tensors as arrays of NumPy."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.formats import open_tensors
from perceptron_nlp.formats.tensorfile import DTYPES, Tensor


def array_of(tensor: Tensor) -> npt.NDArray[Any]:
    """Return the numbers of a tensor, read-only; its bytes are shared."""
    # A shape with a 0 in it has no bytes to view.
    data = tensor.data if 0 not in tensor.shape else b""
    return np.frombuffer(data, DTYPES[tensor.dtype]).reshape(tensor.shape)


def read_tensors(
    data: bytes | bytearray | memoryview | mmap.mmap, path: str
) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the arrays and the metadata of a file."""
    tensors, metadata = open_tensors(data, path)
    return {name: array_of(tensor) for name, tensor in tensors.items()}, metadata
