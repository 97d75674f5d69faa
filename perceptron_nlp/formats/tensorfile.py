"""Named arrays and a few strings in one file, in safetensors layout, with a checksum.

The layout is that of https://github.com/huggingface/safetensors (README, "Format"), so
any safetensors reader opens the file::

    8 bytes    length N of the header, unsigned, little-endian
    N bytes    header: one JSON object, UTF-8, padded with spaces
    the rest   the arrays, little-endian, row-major, one after the other without gaps

    {"__metadata__":{"sha256":"<64 hex digits>", more strings},
     "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...}

What is fixed beyond that layout, so that equal content means equal bytes: keys are
sorted by code point, JSON is written without spaces and without escapes for what UTF-8
can say, the data starts at a multiple of 64 bytes, and arrays are ordered by falling
item size, then by name, so that each is aligned to its items.

``sha256`` in the metadata is the SHA-256, in lower-case hexadecimal, of the whole file
with those 64 digits themselves replaced by 64 zeros (``0``).  It stands in the header
exactly once as ``"sha256":"<digits>"``.

Nothing here knows what the arrays mean.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from perceptron_nlp._core.model.modelrows import aligned
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, ModelError, quote
from perceptron_nlp.formats.tensorheader import METADATA, parse_header
from perceptron_nlp.formats.tensors import DTYPES, Tensor, item_size

if TYPE_CHECKING:
    import mmap

    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

ALIGNMENT = 64
MAX_HEADER = 100_000_000
HEADER_START = 8
_NO_DIGEST = b"0" * 64
_DIGEST = re.compile(rb'"sha256":"([0-9a-f]{64})"')
_PICKLE = re.compile(rb"\x80[\x02-\x05]")
_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def begins_like_tensors(head: bytes) -> bool:
    """Do the first nine bytes of a file look like those of a tensor file, and of no text?"""
    # In text the length would be enormous: its highest byte is a character.
    return head[HEADER_START : HEADER_START + 1] == b"{" and (
        int.from_bytes(head[:HEADER_START], "little") <= MAX_HEADER
    )


def write_tensors(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """The bytes of a file that holds ``tensors`` and ``metadata``.

    Parameters
    ----------
    tensors : name to array of (u)int8-64, float16, float32 or float64, of any shape
    metadata : str to str; ``sha256`` is added and must not be among them

    Raises
    ------
    ArgumentTypeError : a name or string that is not a str, an array of another type
    ArgumentError : the names ``__metadata__`` and ``sha256``, text that UTF-8 cannot encode
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
    parts[1] = header.replace(place + _NO_DIGEST, place + digest.hexdigest().encode(), 1)
    return b"".join(parts)


def read_tensors(
    data: bytes | bytearray | memoryview | mmap.mmap, path: str
) -> tuple[dict[str, Array], dict[str, str]]:
    """The arrays of NumPy and the metadata of a file: see `open_tensors`."""
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


def open_tensors(
    data: bytes | bytearray | memoryview | mmap.mmap, path: str
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The arrays and the metadata (without ``sha256``) of a file.

    Everything is checked before anything is made; the arrays are read-only views of
    ``data``. Those that another program has put where their numbers may not stand are copies.

    Parameters
    ----------
    data : the whole content of the file
    path : its name, for messages

    Raises
    ------
    ModelError : the file is empty, cut short, too long, damaged in its header or data,
        or no file of this library
    """
    view = memoryview(data).toreadonly().cast("B")
    header_length = _header_length(view, path)
    start = HEADER_START + header_length
    header = bytes(view[HEADER_START:start])
    intact = _digest_is_right(view, header)
    # A file with the right checksum may still be made to harm; the checks below hold for it.
    entries, metadata, end = parse_header(header, path)
    if len(view) < start + end:
        missing = start + end - len(view)
        raise ModelError(f"{path}: the model file is cut short: {missing:,} bytes are missing")
    if len(view) > start + end:
        extra = len(view) - start - end
        raise ModelError(f"{path}: the model file goes on for {extra:,} bytes after its end")
    if "sha256" not in metadata:
        raise ModelError(
            f"{path}: a safetensors file without a checksum; "
            "it was not written by perceptron_nlp, or its header is damaged"
        )
    if not intact:
        raise ModelError(
            f"{path}: the model file is damaged: its checksum does not fit; get it again"
        )
    del metadata["sha256"]
    tensors = {
        name: Tensor(
            entry.dtype,
            entry.shape,
            aligned(view[start + entry.begin : start + entry.end], item_size(entry.dtype)),
        )
        for name, entry in entries.items()
    }
    return tensors, metadata


def _header_length(view: memoryview, path: str) -> int:
    size = len(view)
    if size == 0:
        raise ModelError(f"{path}: the file is empty")
    foreign = _foreign(bytes(view[:64]))
    if foreign is not None:
        raise ModelError(f"{path}: {foreign}, not a model of perceptron_nlp")
    if size < HEADER_START + 2:
        raise ModelError(f"{path}: the model file is cut short: only {size} bytes are there")
    length = int.from_bytes(view[:HEADER_START], "little")
    if length > MAX_HEADER:
        raise ModelError(
            f"{path}: damaged header, or not a model of perceptron_nlp: "
            f"it claims a header of {length:,} bytes"
        )
    if HEADER_START + length > size:
        raise ModelError(
            f"{path}: the model file is cut short: a header of {length:,} bytes is claimed, "
            f"{size - HEADER_START:,} bytes are there"
        )
    return length


def _foreign(first: bytes) -> str | None:
    """What a file is that does not begin as ours: ours has a small number, then ``{``."""
    if first.startswith(b"PK\x03\x04"):
        return "a zip file (as of PyTorch or NumPy)"
    if _PICKLE.match(first):
        return "a Python pickle"
    if first.startswith(b"\x1f\x8b"):
        return "a gzip file (unpack it first, if there is a model in it)"
    return "a text file" if _is_text(first) else None


def _is_text(first: bytes) -> bool:
    if any(byte < 9 or 13 < byte < 32 for byte in first):
        return False
    try:
        # Incremental, because the last character may be cut.
        codecs.getincrementaldecoder("utf-8")().decode(first)
    except UnicodeDecodeError:
        return False
    return True


def _digest_is_right(view: memoryview, header: bytes) -> bool:
    places = list(_DIGEST.finditer(header))
    if len(places) != 1:
        return False
    begin, end = (HEADER_START + at for at in places[0].span(1))
    digest = hashlib.sha256(view[:begin])
    digest.update(_NO_DIGEST)
    digest.update(view[end:])
    return digest.hexdigest().encode() == places[0].group(1)


def dtype_name(array: Array) -> str:
    """What a file calls the type of an array's numbers; KeyError for one that it cannot hold."""
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
    return {**metadata, "sha256": _NO_DIGEST.decode()}
