"""Named arrays and a few strings in one file, in safetensors layout, with a checksum.

The layout is that of https://github.com/huggingface/safetensors (README, "Format"), so
any safetensors reader opens the file::

    8 bytes    length N of the header, unsigned, little-endian
    N bytes    header: one JSON object, UTF-8, padded with spaces
    the rest   the arrays, little-endian, row-major, one after the other without gaps

    {"__metadata__":{"sha256":"<64 hex digits>", more strings},
     "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}, ...}

What is fixed beyond that layout, so that equal content means equal bytes: keys are sorted by code
point, JSON is written without spaces and without escapes for what UTF-8 can say, the data starts at
a multiple of 64 bytes, and arrays are ordered by falling item size, then by name, so that each is
aligned to its items.

``sha256`` in the metadata is the SHA-256, in lower-case hexadecimal, of the whole file with those
64 digits themselves replaced by 64 zeros (``0``). It stands in the header exactly once as
``"sha256":"<digits>"``.

Nothing here knows what the arrays mean.
"""

from __future__ import annotations

import codecs
import hashlib
import json
import os
import stat
import sys
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, NoReturn, TypeAlias

from perceptron_nlp._core.model.modelrows import aligned
from perceptron_nlp.errors import (
    ArgumentTypeError,
    FileError,
    ModelError,
    encodable,
    file_error,
    quote,
)

if TYPE_CHECKING:
    import mmap

    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"

ALIGNMENT = 64
MAX_HEADER = 100_000_000
HEADER_START = 8
NO_DIGEST = b"0" * 64
_BEFORE_DIGEST = b'"sha256":"'
METADATA = "__metadata__"
_ENTRY_KEYS = {"dtype", "shape", "data_offsets"}
_MAX_INTEGER = 2**63 - 1
_MAX_DIMENSIONS = 32
# Types of numbers by their names in a file: as memoryviews name them, and NumPy.
CODES = dict(
    U8="B", I8="b", U16="H", I16="h", U32="I", I32="i", U64="Q", I64="q", F16="e", F32="f", F64="d"
)
DTYPES = {name: f"<{name[0].lower()}{int(name[1:]) // 8}" for name in CODES}


def read_file_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return the whole content of a regular file.

    Raises ArgumentTypeError if ``path`` is not a path; FileError if it is missing, a folder, a pipe
    or device, or not readable.
    """
    with _open_regular(path) as handle:
        try:
            return handle.read()
        except OSError as error:
            raise file_error(os.fspath(path), error, "read") from error


def map_file_bytes(path: str | os.PathLike[str]) -> mmap.mmap:
    """Return the whole content of a regular file, mapped for reading; raises as `read_file_bytes`.

    The file must stay as it is while it is mapped: replacing it by a rename is harmless, writing
    into it is not. An empty file, which cannot be mapped, is a ModelError.
    """
    # Here, since most programs read it.
    import mmap

    with _open_regular(path) as handle:
        try:
            return mmap.mmap(handle.fileno(), 0, access=mmap.ACCESS_READ)
        except ValueError as error:
            raise ModelError(f"{os.fspath(path)}: the file is empty") from error
        except OSError as error:
            raise file_error(os.fspath(path), error, "mapped") from error


def _open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    if not isinstance(path, (str, os.PathLike)):
        raise ArgumentTypeError(f"path: a str or path is needed, not {type(path).__name__}")
    name = os.fspath(path)
    try:
        mode = os.stat(path).st_mode
        # Opening a pipe would wait for its writer.
        if stat.S_ISREG(mode):
            return open(path, "rb")
    except (OSError, ValueError) as error:
        raise file_error(name, error, "opened") from error
    if stat.S_ISDIR(mode):
        raise FileError(f"{name}: is a folder; name the model file in it")
    raise FileError(f"{name}: is a pipe or device; a model is read from a file")


class Tensor(NamedTuple):
    """An array of a file: its type (a key of CODES), its shape, and its bytes, little-endian; if it
    was packed in rows, where these begin, rising, and the last one ends."""

    dtype: str
    shape: tuple[int, ...]
    data: memoryview
    starts: memoryview | None = None

    @classmethod
    def of(cls, numbers: memoryview, dtype: str, starts: memoryview | None = None) -> Tensor:
        """Return the tensor of numbers in one dimension, as this machine orders their bytes."""
        return cls(dtype, (len(numbers),), _turned(numbers.cast("B"), dtype), starts)

    def numbers(self) -> memoryview:
        """Return the numbers in one dimension, as this machine orders their bytes."""
        code: Any = CODES[self.dtype]
        numbers: memoryview = _turned(self.data, self.dtype).cast(code)
        return numbers

    @property
    def kind(self) -> str:
        """Type and shape for messages: ``uint8[3]``."""
        return f"{long_name(self.dtype)}{list(self.shape)}"


def _turned(data: memoryview, dtype: str) -> memoryview:
    """Return numbers in the byte order of this machine from that of a file, or back."""
    if sys.byteorder == "little":
        return data
    size = item_size(dtype)
    turned = bytearray(len(data))
    for place in range(size):
        turned[place::size] = data[size - 1 - place :: size]
    return memoryview(turned)


def long_name(dtype: str) -> str:
    """Return the name of a type in NumPy: ``uint8`` for ``U8``."""
    return {"U": "uint", "I": "int", "F": "float"}[dtype[0]] + dtype[1:]


def item_size(dtype: str) -> int:
    """Return the bytes that each number of a type takes."""
    return int(dtype[1:]) // 8


class Entry(NamedTuple):
    """One array: where it stands in the data, in bytes, and what it is (a key of CODES)."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def parse_header(header: bytes, path: str) -> tuple[dict[str, Entry], dict[str, str], int]:
    """Return the arrays by name, the metadata, and the length in bytes of the data they need."""
    content = _load(header, path)
    metadata = content.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(
        isinstance(value, str) for value in metadata.values()
    ):
        _refuse(path, f"{METADATA} does not map strings to strings")
    entries = {name: _entry(name, value, path) for name, value in content.items()}
    return entries, metadata, _covered(entries, path)


def _load(header: bytes, path: str) -> dict[str, Any]:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            _refuse(path, "a key is there twice")
        return found

    def no_constant(name: str) -> NoReturn:
        _refuse(path, f"{name} is not JSON")

    try:
        text = header.decode("utf-8")
        content = json.loads(text, object_pairs_hook=unique, parse_constant=no_constant)
    except ModelError:
        raise
    except UnicodeDecodeError:
        _refuse(path, "it is not UTF-8")
    except (ValueError, RecursionError):
        _refuse(path, "it is not JSON")
    if not isinstance(content, dict):
        _refuse(path, "it is not a JSON object")
    if ("\\ud" in text or "\\uD" in text) and not encodable(
        json.dumps(content, ensure_ascii=False)
    ):
        _refuse(path, "a string holds a lone surrogate")
    return content


def _entry(name: str, value: object, path: str) -> Entry:
    if not isinstance(value, dict) or set(value) != _ENTRY_KEYS:
        _refuse(path, "must have dtype, shape and data_offsets, and nothing else", name)
    if not isinstance(value["dtype"], str) or value["dtype"] not in CODES:
        _refuse(path, f"is of an unknown type {quote(value['dtype'])}", name)
    shape = _integers(value["shape"])
    offsets = _integers(value["data_offsets"])
    if shape is None or len(shape) > _MAX_DIMENSIONS:
        _refuse(path, f"has the impossible shape {quote(value['shape'])}", name)
    if offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        _refuse(
            path, f"array {quote(name)} has the impossible place {quote(value['data_offsets'])}"
        )
    size = item_size(value["dtype"])
    for length in shape:
        size *= length
    begin, end = offsets
    if size != end - begin:
        _refuse(
            path, f"claims {end - begin} bytes, which its shape {quote(shape)} does not take", name
        )
    return Entry(value["dtype"], tuple(shape), begin, end)


def _integers(value: object) -> list[int] | None:
    """Return a list of integers of 0 to 2^63 - 1, or None.  ``type`` because a bool is an int."""
    if not isinstance(value, list):
        return None
    good = all(type(number) is int and 0 <= number <= _MAX_INTEGER for number in value)
    return value if good else None


def _covered(entries: dict[str, Entry], path: str) -> int:
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != end:
            what = "a gap before it" if entry.begin > end else "an overlap with another"
            _refuse(path, f"has {what}", name)
        end = entry.end
    return end


def _refuse(path: str, what: str, array: str | None = None) -> NoReturn:
    if array is not None:
        what = f"array {quote(array)} {what}"
    raise ModelError(f"{path}: damaged header, or not a model of perceptron_nlp: {what}")


def begins_like_tensors(head: bytes) -> bool:
    """Return True if the first nine bytes look like those of a tensor file, and of no text."""
    # In text the length would be enormous: its highest byte is a character.
    return head[HEADER_START : HEADER_START + 1] == b"{" and (
        int.from_bytes(head[:HEADER_START], "little") <= MAX_HEADER
    )


def open_tensors(
    data: bytes | bytearray | memoryview | mmap.mmap, path: str
) -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return the arrays and the metadata (without ``sha256``) of the whole content of a file.

    Everything is checked before anything is made; the arrays are read-only views of ``data``. Those
    that another program has put where their numbers may not stand are copies.

    Raises ModelError, with ``path``, if the file is empty, cut short, too long, damaged in its
    header or data, or no file of this library.
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
    """Return what a file is that begins differently: ours has a small number, then ``{``."""
    if first.startswith(b"PK\x03\x04"):
        return "a zip file (as of PyTorch or NumPy)"
    if first.startswith((b"\x80\2", b"\x80\3", b"\x80\4", b"\x80\5")):
        return "a Python pickle"
    if b"morphodita" in first[:16]:
        return "a model of UDPipe (perceptron-nlp train makes ours of your treebank)"
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
    before, _, digits = header.partition(_BEFORE_DIGEST)
    digits = digits.partition(b'"')[0]
    if header.count(_BEFORE_DIGEST) != 1 or len(digits) != len(NO_DIGEST):
        return False
    begin = HEADER_START + len(before) + len(_BEFORE_DIGEST)
    digest = hashlib.sha256(view[:begin])
    digest.update(NO_DIGEST)
    digest.update(view[begin + len(digits) :])
    return digest.hexdigest().encode() == digits
