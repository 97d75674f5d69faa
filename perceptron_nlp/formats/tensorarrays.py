"""Tensor files from and to arrays of NumPy, and what stands where in them.

formats/tensorfile.py describes the layout.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, ModelError, quote
from perceptron_nlp.formats.tensorfile import (
    ALIGNMENT,
    DTYPES,
    HEADER_START,
    METADATA,
    NO_DIGEST,
    Array,
    item_size,
    long_name,
    open_tensors,
    parse_header,
)

if TYPE_CHECKING:
    import mmap

_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def write_tensors(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Return the bytes of a file that holds ``tensors`` and ``metadata``, to which it adds
    ``sha256``.

    Arrays are of (u)int8-64, float16, float32 or float64, of any shape. Raises ArgumentTypeError
    for a name or string that is not a str, and an array of another type; ArgumentError for the
    names ``__metadata__`` and ``sha256``, and text that UTF-8 cannot encode.
    """
    arrays = {name: _little_endian(name, array) for name, array in tensors.items()}
    order = sorted(arrays, key=lambda name: (-arrays[name].itemsize, name))
    entries: dict[str, Any] = {METADATA: _checked_metadata(metadata)}
    offset = 0
    for name in order:
        array = arrays[name]
        entries[name] = {
            "dtype": dtype_name(array),
            "shape": list(array.shape),
            "data_offsets": [offset, offset + array.nbytes],
        }
        offset += array.nbytes
    try:
        header = json.dumps(
            entries, sort_keys=True, separators=(",", ":"), ensure_ascii=False
        ).encode("utf-8")
    except UnicodeEncodeError as error:
        raise ArgumentError("tensors, metadata: a string holds a lone surrogate") from error
    header += b" " * (-(HEADER_START + len(header)) % ALIGNMENT)
    parts = [len(header).to_bytes(HEADER_START, "little"), header]
    parts += [arrays[name].tobytes() for name in order]
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    place = b'"sha256":"'
    parts[1] = header.replace(place + NO_DIGEST, place + digest.hexdigest().encode(), 1)
    return b"".join(parts)


def dtype_name(array: Array) -> str:
    """Return the type of an array in a file; raise KeyError if it cannot hold it."""
    dtype = array.dtype.newbyteorder("<")
    return _NAMES[f"<{dtype.kind}{dtype.itemsize}"]


def _little_endian(name: str, array: Array) -> Array:
    # Here, since tagging does without NumPy.
    import numpy as np

    if not isinstance(name, str):
        raise ArgumentTypeError(f"tensors: a name must be a str, not {type(name).__name__}")
    if name == METADATA:
        raise ArgumentError(f"tensors: the name {METADATA} is taken by the layout")
    if not isinstance(array, np.ndarray):
        raise ArgumentTypeError(
            f"tensors[{quote(name)}]: an array is needed, not {type(array).__name__}"
        )
    dtype = array.dtype.newbyteorder("<")
    if dtype not in [np.dtype(one) for one in DTYPES.values()]:
        raise ArgumentTypeError(
            f"tensors[{quote(name)}]: {array.dtype} cannot be stored; "
            f"possible are {', '.join(str(np.dtype(one)) for one in DTYPES.values())}"
        )
    # ascontiguousarray would turn a scalar array into one of one dimension.
    return np.asarray(array, dtype=dtype, order="C")


def _checked_metadata(metadata: Mapping[str, str]) -> dict[str, str]:
    for key, value in metadata.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise ArgumentTypeError(f"metadata[{quote(key)}]: key and value must be str")
    if "sha256" in metadata:
        raise ArgumentError("metadata: sha256 is added by the file itself")
    return {**metadata, "sha256": NO_DIGEST.decode()}


def read_tensors(
    data: bytes | bytearray | memoryview | mmap.mmap, path: str
) -> tuple[dict[str, Array], dict[str, str]]:
    """Return the arrays of NumPy and the metadata of a file: see `open_tensors`."""
    tensors, metadata = open_tensors(data, path)
    arrays = {}
    for name, tensor in tensors.items():
        try:
            arrays[name] = tensor.array()
        except (ValueError, MemoryError) as error:
            raise ModelError(
                f"{path}: damaged header: NumPy cannot make an array of shape {quote(tensor.shape)}"
            ) from error
    return arrays, metadata


class Section(NamedTuple):
    """A part of a file, where it begins and how long it is: ``"header"``, or an array with its
    type.

    ``length`` is how many items the array has, ``type`` NumPy's name of theirs.
    """

    name: str
    begin: int
    bytes: int
    type: str | None
    length: int | None


def layout_of(data: bytes, path: str) -> tuple[Section, ...]:
    """Return the parts of a file from its beginning to its end.

    Raises ModelError, naming `path`, for what is not an intact tensor file.
    """
    open_tensors(data, path)
    start = HEADER_START + int.from_bytes(data[:HEADER_START], "little")
    entries, _, _ = parse_header(data[HEADER_START:start], path)
    arrays = [
        Section(
            name,
            start + entry.begin,
            entry.end - entry.begin,
            long_name(entry.dtype),
            (entry.end - entry.begin) // item_size(entry.dtype),
        )
        for name, entry in entries.items()
    ]
    return (
        Section("header", 0, start, None, None),
        *sorted(arrays, key=lambda section: (section.begin, section.bytes, section.name)),
    )
