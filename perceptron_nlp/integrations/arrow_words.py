"""Arrow's many layouts of lists of words, as the one that plain buffers have.

Offsets and text are used in place. They are copied only if the layout leaves no choice: words that
are views or dictionary-encoded, rows that are views out of order, and null rows that have words all
the same. pyarrow's casts cannot do this: they copy large lists and those of large strings, do not
know dictionaries of lists or of views, and lose words of list views (pyarrow 26).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, quote

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None

TOKENS = "tokens"


@dataclass(frozen=True, slots=True)
class WordLists:
    """Rows of words in buffers; a null row has no words.

    Attributes
    ----------
    words : string or large_string array without nulls, of the words of all rows
    offsets : int64[n_rows + 1], the first word of each row, and the end of the last one
    nulls : None, or bool[n_rows], True for a null row
    is_large : True if the offsets of rows came as 64 bits
    """

    words: Any
    offsets: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.bool_] | None
    is_large: bool

    def buffers(self) -> tuple[memoryview, npt.NDArray[Any]]:
        """Return the words as UTF-8 and the beginning of each in it, with the end of the last."""
        _, offsets, text = self.words.buffers()
        data = memoryview(b"") if text is None else memoryview(text)
        if not len(self.words):
            return data, np.zeros(1, np.int64)
        width = np.int64 if pa.types.is_large_string(self.words.type) else np.int32
        begin = self.words.offset
        return data, np.frombuffer(offsets, width)[begin : begin + len(self.words) + 1]

    def lists(self) -> list[list[str]]:
        """Return the rows that are not null, as lists of str.

        Raises ArgumentError for words that are not UTF-8.
        """
        try:
            words = self.words.to_pylist()
        except UnicodeDecodeError:
            raise ArgumentError("data: there are words that are not UTF-8") from None
        starts = self.offsets.tolist()
        rows = [words[begin:end] for begin, end in pairwise(starts)]
        if self.nulls is None:
            return rows
        return [row for row, is_null in zip(rows, self.nulls, strict=True) if not is_null]


def word_lists(rows: Any, place: str, first_row: int = 0) -> WordLists:
    """Return the rows of lists of strings, in any of Arrow's layouts; messages name place and row.

    Raises ArgumentTypeError if the array is of another type; ArgumentError if a word is null.
    """
    is_large = rows_are_large(rows.type, place)
    rows = _unwrapped(rows)
    if pa.types.is_null(rows.type):
        rows = rows.cast(pa.list_(pa.string()))
    nulls = np.asarray(rows.is_null()) if rows.null_count else None
    offsets, words = _flat(rows, nulls)
    words = _unwrapped(words)
    if words.null_count:
        at = int(np.flatnonzero(np.asarray(words.is_null()))[0])
        row = int(np.searchsorted(offsets, at, side="right")) - 1
        raise ArgumentError(
            f"{place}[{first_row + row}][{at - offsets[row]}]: is null, where a word is needed;"
            " fill or drop null words first (a whole row may be null)"
        )
    return WordLists(_as_text(words, place), offsets, nulls, is_large)


def rows_are_large(type: Any, place: str) -> bool:
    """Return True if offsets of lists of this type have 64 bits.

    Raises ArgumentTypeError unless it is a type of lists; `place` is the name of the data.
    """
    inner = _type_inside(type)
    if not (_is_list(inner) or pa.types.is_null(inner)):
        raise ArgumentTypeError(f"{place}: rows must be lists of words, not {type}{_advice(inner)}")
    return bool(pa.types.is_large_list(inner) or pa.types.is_large_list_view(inner))


def holds_words(type: Any) -> bool:
    """Return True if a column of this type may be the one of the words."""
    inner = _type_inside(type)
    return _is_list(inner) and is_text(inner.value_type)


def column_named(argument: str, names: Sequence[str], wanted: str) -> str:
    """Return the name of a column if there is one of it.

    Raises ArgumentError if there is none or more, ArgumentTypeError if it is no name.
    """
    if not isinstance(wanted, str):
        raise ArgumentTypeError(f"{argument}: a str is needed, not {type(wanted).__name__}")
    if names.count(wanted) != 1:
        there = "no such column" if wanted not in names else "more than one of this name"
        raise ArgumentError(
            f"{argument}: {quote(wanted)}: there is {there}; there are {', '.join(names)}"
        )
    return wanted


def words_column(schema: Any, wanted: str | None) -> str:
    """Return the name of the column of the words.

    Raises ArgumentError if there is no such column, or none or several of lists of strings;
    ArgumentTypeError if `wanted` is no name.
    """
    names: list[str] = schema.names
    if wanted is not None:
        return column_named("tokens_column", names, wanted)
    found = [name for name, type in zip(names, schema.types, strict=True) if holds_words(type)]
    if len(found) == 1 or found.count(TOKENS) == 1:
        return found[0] if len(found) == 1 else TOKENS
    if found:
        raise ArgumentError(
            f"tokens_column: several columns are lists of strings; name one of {', '.join(found)}"
        )
    if names.count(TOKENS) == 1:
        # Its type says nothing if all rows are null or empty.
        return TOKENS
    there = ", ".join(f"{field.name} ({field.type})" for field in schema) or "no columns"
    raise ArgumentError(
        f"tokens_column: no column is a list of strings; there are {there}; a column of running"
        " text is named by text_column (--text-column)"
    )


# Lists whose words move with them, and views.
_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
_VIEWS = (pa.types.is_list_view, pa.types.is_large_list_view)


def _is_list(type: Any, kinds: Sequence[Callable[[Any], bool]] = (*_LISTS, *_VIEWS)) -> bool:
    return any(is_kind(type) for is_kind in kinds)


def is_text(type: Any) -> bool:
    """Return True for strings, whatever holds them."""
    type = _type_inside(type)
    return bool(
        pa.types.is_string(type) or pa.types.is_large_string(type) or pa.types.is_string_view(type)
    )


def _type_inside(type: Any) -> Any:
    """The type inside extension types and dictionaries."""
    while True:
        if isinstance(type, pa.BaseExtensionType):
            type = type.storage_type
        elif pa.types.is_dictionary(type):
            type = type.value_type
        else:
            return type


def _unwrapped(array: Any) -> Any:
    """An array of the type inside."""
    while True:
        if isinstance(array, pa.ExtensionArray):
            array = array.storage
        elif pa.types.is_dictionary(array.type):
            array = _decoded(array)
        else:
            return array


def _decoded(array: Any) -> Any:
    """Decode a dictionary; its words may be more text than offsets of 32 bits can count."""
    values = array.dictionary
    if is_text(values.type):
        values = values.cast(pa.large_string())
    elif _is_list(values.type, _LISTS) and pa.types.is_string_view(values.type.value_type):
        values = values.cast(pa.large_list(pa.large_string()))
    return values.take(array.indices)


def _flat(rows: Any, nulls: npt.NDArray[np.bool_] | None) -> tuple[npt.NDArray[np.int64], Any]:
    """The beginning of each row among the words, and the words of the rows that are not null."""
    if pa.types.is_list(rows.type) or pa.types.is_large_list(rows.type):
        offsets = np.asarray(rows.offsets).astype(np.int64) if len(rows) else np.zeros(1, np.int64)
        if nulls is None or not np.diff(offsets)[nulls].any():
            first = int(offsets[0])
            return offsets - first, rows.values.slice(first, int(offsets[-1]) - first)
    lengths = pc.list_value_length(rows).fill_null(0)
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.asarray(lengths), out=offsets[1:])
    return offsets, rows.flatten()


def _as_text(words: Any, place: str) -> Any:
    if pa.types.is_string(words.type) or pa.types.is_large_string(words.type):
        return words
    if pa.types.is_string_view(words.type) or pa.types.is_null(words.type):
        return words.cast(pa.large_string())
    raise ArgumentTypeError(
        f"{place}: words must be strings, not {words.type}" + _advice(words.type)
    )


def _advice(type: Any) -> str:
    if is_text(type):
        return "; split the text into words first"
    if _is_list(type):
        return "; flatten it to one list of words a sentence first"
    if pa.types.is_binary(type) or pa.types.is_large_binary(type):
        return "; cast it to string first, if it is UTF-8"
    return ""
