"""The header of a tensor file: read with suspicion, before anything it claims is made.

A header is a JSON object: ``__metadata__`` maps strings to strings, every other key is an
array with ``dtype``, ``shape`` and ``data_offsets`` and nothing else.  The arrays must
cover the data from its start without gap or overlap, each as long as its shape says.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, NoReturn

from perceptron_nlp.errors import ModelError, quote
from perceptron_nlp.formats.tensors import CODES, item_size

METADATA = "__metadata__"
_ENTRY_KEYS = {"dtype", "shape", "data_offsets"}
_MAX_INTEGER = 2**63 - 1
_MAX_DIMENSIONS = 32


class Entry(NamedTuple):
    """One array: where it stands in the data, in bytes, and what it is (a key of CODES)."""

    dtype: str
    shape: tuple[int, ...]
    begin: int
    end: int


def parse_header(header: bytes, path: str) -> tuple[dict[str, Entry], dict[str, str], int]:
    """The arrays by name, the metadata, and the length in bytes of the data they need.

    Raises ModelError, naming ``path`` and what is wrong with the header.
    """
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
    if "\\ud" in text.lower() and not _encodable(content):
        _refuse(path, "a string holds a lone surrogate")
    return content


def _encodable(content: dict[str, Any]) -> bool:
    try:
        json.dumps(content, ensure_ascii=False).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _entry(name: str, value: object, path: str) -> Entry:
    where = f"array {quote(name)}"
    if not isinstance(value, dict) or set(value) != _ENTRY_KEYS:
        _refuse(path, f"{where} must have dtype, shape and data_offsets, and nothing else")
    if not isinstance(value["dtype"], str) or value["dtype"] not in CODES:
        _refuse(path, f"{where} is of an unknown type {quote(value['dtype'])}")
    shape = _integers(value["shape"])
    offsets = _integers(value["data_offsets"])
    if shape is None or len(shape) > _MAX_DIMENSIONS:
        _refuse(path, f"{where} has the impossible shape {quote(value['shape'])}")
    if offsets is None or len(offsets) != 2 or offsets[0] > offsets[1]:
        _refuse(path, f"{where} has the impossible place {quote(value['data_offsets'])}")
    size = item_size(value["dtype"])
    for length in shape:
        size *= length
    begin, end = offsets
    if size != end - begin:
        _refuse(
            path,
            f"{where} claims {end - begin} bytes, which its shape {quote(shape)} does not take",
        )
    return Entry(value["dtype"], tuple(shape), begin, end)


def _integers(value: object) -> list[int] | None:
    """A list of integers of 0 to 2^63 - 1, or None.  ``type`` because a bool is an int."""
    if not isinstance(value, list):
        return None
    good = all(type(number) is int and 0 <= number <= _MAX_INTEGER for number in value)
    return value if good else None


def _covered(entries: dict[str, Entry], path: str) -> int:
    end = 0
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].begin, item[1].end)):
        if entry.begin != end:
            what = "a gap before it" if entry.begin > end else "an overlap with another"
            _refuse(path, f"array {quote(name)} has {what}")
        end = entry.end
    return end


def _refuse(path: str, what: str) -> NoReturn:
    raise ModelError(f"{path}: damaged header, or not a model of perceptron_nlp: {what}")
