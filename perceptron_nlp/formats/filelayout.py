"""What stands where in a tensor file."""

from __future__ import annotations

from typing import NamedTuple

from perceptron_nlp.formats.tensorfile import (
    HEADER_START,
    item_size,
    long_name,
    open_tensors,
    parse_header,
)


class Section(NamedTuple):
    """A part of a file.

    Attributes
    ----------
    name : ``"header"``, or the array's name
    begin, bytes : where it begins in the file, and how long it is
    type, length : of an array, the type of its items (numpy's name) and how many there are
    """

    name: str
    begin: int
    bytes: int
    type: str | None
    length: int | None


def layout_of(data: bytes, path: str) -> tuple[Section, ...]:
    """The parts of a file from its beginning to its end.

    Raises ModelError, naming `path`, for what is no intact tensor file.
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
