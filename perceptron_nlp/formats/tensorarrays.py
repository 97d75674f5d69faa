"""Tensor files from and to arrays of NumPy, what stands where in them, and arrays in few bits.

formats/tensorfile.py describes the layout. Whole numbers are packed in Rice codes. A number *v* in
a Rice code of *k* low bits is *v* >> *k* in unary, and its *k* low bits as they are (R. F. Rice,
Some practical universal noiseless coding techniques, JPL 79-22, 1979). Here the low bits of all
numbers stand first, then the unary parts of all, each so many zeros and a one. Bits are counted
from the highest of each byte; each of the two stretches ends at a whole byte, filled up with zeros.
Each number takes a bit at least, so nothing unpacks to more than 64 times its size.

In a file, a packed array is a ``U8`` array under its own name; the string ``packed`` of the
metadata maps the name to ``{"dtype": …, "length": …, "low_bits": …, "numbers": …}``, which says
what it is unpacked to. ``numbers`` is one of

``positive``   each number less 1
``signed``     a number v above 0 as 2 (v - 1), one below 0 as -2 v - 1; there is no 0
``ascending``  what each number is above the one before, less 1; the first one as it is
``in_rows``    the same within each row of ``counts``, whose name is that of the array with
               ``counts`` for what follows the last dot
``plain``      the bytes of the numbers as they are, in no Rice code

Bytes that Deflate (RFC 1951, in the container of zlib, RFC 1950) makes fewer are stored so, and
``deflated`` says how many they were.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from perceptron_nlp._core.model.modelrows import rice_decoded, starts_of
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, ModelError, quote
from perceptron_nlp.formats.tensorfile import (
    ALIGNMENT,
    CODES,
    DTYPES,
    HEADER_START,
    METADATA,
    NO_DIGEST,
    Array,
    Tensor,
    item_size,
)

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def write_tensors(tensors: Mapping[str, Array], metadata: Mapping[str, str]) -> bytes:
    """Return the bytes of a file of these arrays and this metadata, to which it adds ``sha256``.

    Raises ArgumentTypeError for a name or string that is not a str, and an array of another type;
    ArgumentError for the names ``__metadata__`` and ``sha256``, and text that UTF-8 cannot encode.
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


Words: TypeAlias = "npt.NDArray[np.uint64]"

MOST_LOW_BITS = 63


class Packed(NamedTuple):
    """Numbers in a Rice code: how many, low bits of each (0 to 63), the bits as uint8[n]."""

    length: int
    low_bits: int
    data: Any


def pack(values: Words, low_bits: int | None = None) -> Packed:
    """Return numbers, uint64[n], in the shortest Rice code, or in that of so many low bits."""
    import numpy as np

    def length(low_bits: int) -> float:
        # As float64: sums of keys go beyond 64 bits.
        high = float((values >> np.uint64(low_bits)).sum(dtype=np.float64))
        return high + len(values) * (1 + low_bits)

    if low_bits is None:
        # Each bit saves less than the one before: near the mean's length is the one least length.
        mean = values.mean(dtype=np.float64) if len(values) else 0.0
        low_bits = min(MOST_LOW_BITS, int(mean).bit_length())
        while low_bits and length(low_bits - 1) <= length(low_bits):
            low_bits -= 1
        while low_bits < MOST_LOW_BITS and length(low_bits + 1) < length(low_bits):
            low_bits += 1
    high = (values >> np.uint64(low_bits)).astype(np.int64)
    ones = np.cumsum(high + 1) - 1
    unary = np.zeros(int(ones[-1]) + 1 if len(ones) else 0, np.uint8)
    unary[ones] = 1
    data = np.concatenate([np.packbits(_bits(values, low_bits)), np.packbits(unary)])
    return Packed(len(values), low_bits, data)


def _bits(values: Words, width: int) -> Array:
    """Return the lowest `width` bits of each number."""
    import numpy as np

    n_bytes = next(size for size in (1, 2, 4, 8) if 8 * size >= width)
    wide = np.unpackbits(values.astype(f">u{n_bytes}").view(np.uint8))
    return wide.reshape(len(values), 8 * n_bytes)[:, 8 * n_bytes - width :].ravel()


_KEYS, _DEFLATED = {"dtype", "length", "low_bits", "numbers"}, "deflated"
KINDS = POSITIVE, SIGNED, ASCENDING, IN_ROWS, PLAIN = (
    *("positive", "signed", "ascending", "in_rows", "plain"),
)
# The low bits of codes that are deflated: whole bytes, whose patterns are then found.
_BYTES_DEFLATED = 8
# No byte that is deflated stands for more.
_MOST_INFLATED = 64


def packed_tensors(
    tensors: Mapping[str, Array], kinds: Mapping[str, str], *, deflates: bool = False
) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
    """Return the arrays, those with a kind (see above) packed, and their entry of the metadata.

    deflates : pack arrays without a kind, too, and all of them with Deflate where it saves bytes
    """
    arrays, described = dict(tensors), {}
    if deflates:
        whole = (name for name, one in tensors.items() if one.dtype.kind in "ui" and one.ndim == 1)
        kinds = {**dict.fromkeys(whole, PLAIN), **kinds}
    for name, kind in kinds.items():
        array = tensors[name]
        if kind == ASCENDING and not (array[1:] > array[:-1]).all():
            continue
        found, n_bytes = _shortest(array, kind, tensors.get(counts_of(name)), deflates)
        if kind == PLAIN and not n_bytes:
            continue
        arrays[name] = found.data
        described[name] = {
            "dtype": dtype_name(array),
            "length": found.length,
            "low_bits": found.low_bits,
            "numbers": kind,
        }
        if n_bytes:
            described[name][_DEFLATED] = n_bytes
    return arrays, described


def _shortest(
    array: Array, kind: str, counts: Array | None, deflates: bool
) -> tuple[Packed, int | None]:
    """Return an array packed, and how many bytes were deflated, if that is shorter."""
    import numpy as np

    if kind == PLAIN:
        data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        ways = [Packed(len(array), 0, np.frombuffer(data, np.uint8))]
        best = ways[0]
    else:
        starts = None if kind != IN_ROWS or counts is None else starts_of(counts.data)
        codes = _encoded(array, kind, starts)
        best = pack(codes)
        # A code far above the others would take as many bits in unary.
        few = deflates and len(codes) and int(codes.max()) >> _BYTES_DEFLATED < _MOST_INFLATED
        ways = [pack(codes, _BYTES_DEFLATED)] if few else []
    n_bytes = None
    for way in ways if deflates else ():
        deflate = _deflated if len(way.data) <= 1 << 18 else _deflated.__wrapped__
        deflated = np.frombuffer(deflate(way.data.tobytes()), np.uint8)
        if len(deflated) < len(best.data) <= len(way.data) <= _MOST_INFLATED * len(deflated):
            best, n_bytes = way._replace(data=deflated), len(way.data)
    return best, n_bytes


# Whoever looks for a size has most arrays deflated again and again. Large ones are not held.
@lru_cache(maxsize=64)
def _deflated(data: bytes) -> bytes:
    import zlib  # since most models have none

    return zlib.compress(data, 6)


def unpacked_tensors(
    tensors: Mapping[str, Tensor], described: Mapping[str, Any], path: str
) -> dict[str, Tensor]:
    """Return all arrays as they were before they were packed, everything checked.

    Those in rows have 16 bits where they had 8: tagging takes them so.
    """
    arrays = {**tensors, **_inflated(tensors, described, path)}
    # Counts, which say where rows begin, must be there first.
    for name in sorted(described, key=lambda name: _kind(described[name]) == IN_ROWS):
        try:
            arrays[name] = _unpacked(arrays, name, described[name])
        except ValueError as error:
            raise ModelError(
                f"{path}: the model's {quote(name)}, which is packed: {error}; get the file again"
            ) from None
    return arrays


def _inflated(
    tensors: Mapping[str, Tensor], described: Mapping[str, Any], path: str
) -> dict[str, Tensor]:
    """Return the bytes of arrays that are deflated."""
    found = {}
    for name, one in described.items():
        if not isinstance(one, dict) or _DEFLATED not in one or name not in tensors:
            continue
        import zlib

        data, size = tensors[name].data, one[_DEFLATED]
        try:
            if type(size) is not int or not 0 < size <= _MOST_INFLATED * len(data):
                raise ValueError("of another size")
            stream = zlib.decompressobj()
            whole = stream.decompress(data, size)
            if len(whole) != size or not stream.eof or stream.unused_data:
                raise ValueError("of another size")
        except (zlib.error, ValueError) as error:
            raise ModelError(
                f"{path}: the model's {quote(name)}, which is deflated: {error}; get the file again"
            ) from None
        found[name] = Tensor.of(memoryview(whole), "U8")
    return found


def counts_of(name: str) -> str:
    """Return the name of the array that says how many numbers each row of another has."""
    return f"{name.rpartition('.')[0]}.counts"


def _kind(one: Any) -> Any:
    return one.get("numbers") if isinstance(one, dict) else None


def _unpacked(tensors: Mapping[str, Tensor], name: str, one: Any) -> Tensor:
    packed = tensors.get(name)
    if packed is None or packed.dtype != "U8" or len(packed.shape) != 1:
        raise ValueError("there are no such bytes")
    if not isinstance(one, dict) or {*one} - {_DEFLATED} != _KEYS:
        raise ValueError("not described as packed arrays are")
    if any(type(one[key]) is not int for key in ("length", "low_bits")):
        raise ValueError("its length or its low bits are no whole numbers")
    kind, dtype = one["numbers"], one["dtype"]
    if kind not in KINDS or dtype not in CODES or dtype[0] not in "UI":
        raise ValueError("of an unknown kind or type")
    if kind == PLAIN:
        if len(packed.data) != one["length"] * item_size(dtype):
            raise ValueError("of another length")
        return packed._replace(dtype=dtype, shape=(one["length"],))
    counts = tensors.get(counts_of(name)) if kind == IN_ROWS else None
    if kind == IN_ROWS and (
        counts is None or counts.dtype not in ("U8", "U16", "U32") or len(counts.shape) != 1
    ):
        raise ValueError("its rows are not told")
    if kind == IN_ROWS and dtype == "U8":
        dtype = "U16"
    starts = None if counts is None else starts_of(counts.numbers())
    numbers = rice_decoded(packed.data, one["length"], one["low_bits"], CODES[dtype], kind, starts)
    return Tensor.of(numbers, dtype, starts)


def _encoded(array: Array, kind: str, starts: memoryview | None) -> npt.NDArray[np.uint64]:
    import numpy as np

    one = np.uint64(1)
    if kind == POSITIVE:
        return array.astype(np.uint64) - one
    if kind == SIGNED:
        values = array.astype(np.int64)
        return np.where(values > 0, 2 * (values - 1), -2 * values - 1).astype(np.uint64)
    whole = array.astype(np.uint64)
    gaps = whole.copy()
    gaps[1:] -= whole[:-1] + one
    if starts is not None:
        first = np.asarray(starts)[:-1]
        gaps[first] = whole[first]
    return gaps
