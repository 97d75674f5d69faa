"""Arrays of whole numbers in packed form, each with what was done to its numbers before.

In a file, a packed array is a ``U8`` array under its own name; the string ``packed`` of the
metadata maps the name to ``{"dtype": …, "length": …, "low_bits": …, "numbers": …}``, which says
what it is unpacked to. ``numbers`` is one of

``positive``   each number less 1
``signed``     a number v above 0 as 2 (v - 1), one below 0 as -2 v - 1; there is no 0
``ascending``  what each number is above the one before, less 1; the first one as it is
``in_rows``    the same within each row of ``counts``, whose name is that of the array with
               ``counts`` for what follows the last dot
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ModelError, quote
from perceptron_nlp.formats.packing import Packed, pack, unpack
from perceptron_nlp.formats.tensorheader import DTYPES

Array = npt.NDArray[Any]

_KEYS = {"dtype", "length", "low_bits", "numbers"}
POSITIVE, SIGNED, ASCENDING, IN_ROWS = KINDS = ("positive", "signed", "ascending", "in_rows")
_NAMES = {np.dtype(dtype): name for name, dtype in DTYPES.items()}
_ONE = np.uint64(1)


def packed_tensors(tensors: Mapping[str, Array], kinds: Mapping[str, str]
                   ) -> tuple[dict[str, Array], dict[str, dict[str, Any]]]:
    """The arrays, those that have a kind in packed form, and what the metadata says of these.

    Parameters
    ----------
    tensors : all arrays by name
    kinds : of those to be packed, what their numbers are like: see above
    """
    arrays, described = dict(tensors), {}
    for name, kind in kinds.items():
        array = tensors[name]
        starts = _starts(tensors[counts_of(name)]) if kind == IN_ROWS else None
        packed = pack(_encoded(array, kind, starts))
        arrays[name] = packed.data
        described[name] = {"dtype": _NAMES[array.dtype.newbyteorder("<")],
                           "length": packed.length, "low_bits": packed.low_bits, "numbers": kind}
    return arrays, described


def unpacked_tensors(tensors: Mapping[str, Array], described: Mapping[str, Any], path: str
                     ) -> dict[str, Array]:
    """All arrays as they were before they were packed, everything checked.

    Parameters
    ----------
    tensors, described : what packed_tensors gave
    path : the file's name, for messages

    Raises
    ------
    ModelError : the numbers are not what the description says
    """
    arrays = dict(tensors)
    # Rows are told by counts, which must be there first.
    for name in sorted(described, key=lambda name: _kind(described[name]) == IN_ROWS):
        try:
            arrays[name] = _unpacked(arrays, name, described[name])
        except ValueError as error:
            raise ModelError(
                f"{path}: the model's {quote(name)}, which is packed: {error}; get the file again"
            ) from None
    return arrays


def counts_of(name: str) -> str:
    """The name of the array that says how many numbers each row of another has."""
    return f"{name.rpartition('.')[0]}.counts"


def _kind(one: Any) -> Any:
    return one.get("numbers") if isinstance(one, dict) else None


def _unpacked(arrays: Mapping[str, Array], name: str, one: Any) -> Array:
    data = arrays.get(name)
    if data is None or data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError("there are no such bytes")
    if not isinstance(one, dict) or {*one} != _KEYS:
        raise ValueError("not described as packed arrays are")
    if any(type(one[key]) is not int for key in ("length", "low_bits")):
        raise ValueError("its length or its low bits are no whole numbers")
    kind, dtype = one["numbers"], one["dtype"]
    if kind not in KINDS or dtype not in DTYPES or np.dtype(DTYPES[dtype]).kind not in "iu":
        raise ValueError("of an unknown kind or type")
    counts = arrays.get(counts_of(name)) if kind == IN_ROWS else None
    if kind == IN_ROWS and (counts is None or counts.dtype.kind != "u" or counts.ndim != 1):
        raise ValueError("its rows are not told")
    return unpack(Packed(one["length"], one["low_bits"], data), np.dtype(DTYPES[dtype]), kind,
                  None if counts is None else _starts(counts))


def _starts(counts: Array) -> Array:
    starts = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=starts[1:])
    return starts


def _encoded(array: Array, kind: str, starts: Array | None) -> npt.NDArray[np.uint64]:
    if kind == POSITIVE:
        return array.astype(np.uint64) - _ONE
    if kind == SIGNED:
        values = array.astype(np.int64)
        return np.where(values > 0, 2 * (values - 1), -2 * values - 1).astype(np.uint64)
    whole = array.astype(np.uint64)
    gaps = whole.copy()
    gaps[1:] -= whole[:-1] + _ONE
    if starts is not None:
        gaps[starts[:-1]] = whole[starts[:-1]]
    return gaps
