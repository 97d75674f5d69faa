"""Arrow's many layouts of lists of words in one form: large strings, and where each row begins.

It is made without a copy of the text, unless words are views or dictionaries, or rows are views.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, quote

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None

TOKENS = "tokens"
"""The column of the words, if several may be meant."""


@dataclass(slots=True, eq=False)
class Rows:
    """Rows of words; a null row has none.

    Attributes
    ----------
    words : large_string array without nulls, of the words of all rows
    offsets : int64[n_rows + 1], the first word of each row, and the end of the last one
    nulls : None, or bool[n_rows], True for a null row
    is_large : True if the offsets of rows came as 64 bits
    columns : for each column that the model looks at, its values at the words
    before, after : sentences around the rows, if the model looks at these
    """

    words: Any
    offsets: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.bool_] | None
    is_large: bool
    columns: dict[str, Rows] = field(default_factory=dict)
    before: Sequence[pn.Sentence] = ()
    after: Sequence[pn.Sentence] = ()

    @classmethod
    def of(cls, rows: Any, place: str, first_row: int = 0) -> Rows:
        """Return the rows of lists of strings in any layout; messages name place and row.

        Raises ArgumentTypeError if the array is of another type; ArgumentError if a word is null.
        """
        is_large = rows_are_large(rows.type, place)
        rows = _plain(rows, place)
        if pa.types.is_null(rows.type):
            rows = rows.cast(pa.list_(pa.string()))
        lengths = np.asarray(pc.list_value_length(rows).fill_null(0))
        offsets = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        words = _plain(rows.flatten(), place)
        if not (is_text(words.type) or pa.types.is_null(words.type)):
            raise ArgumentTypeError(
                f"{place}: words must be strings, not {words.type}{_advice(words.type)}"
            )
        if words.null_count:
            at = int(np.flatnonzero(np.asarray(words.is_null()))[0])
            row = int(np.searchsorted(offsets, at, side="right")) - 1
            raise ArgumentError(
                f"{place}[{first_row + row}][{at - offsets[row]}]: is null, where a word is needed;"
                " fill or drop null words first (a whole row may be null)"
            )
        nulls = np.asarray(rows.is_null()) if rows.null_count else None
        return cls(words.cast(pa.large_string()), offsets, nulls, is_large)

    @classmethod
    def beside(cls, rows: Rows, batch: Any, name: str, first_row: int) -> Rows:
        """Return a column that the model looks at, of the same shape as the words."""
        if batch.schema.get_field_index(name) < 0:
            raise ArgumentError(
                f"data: the model looks at column {name} in addition to the words; there"
                f" are {', '.join(batch.schema.names)}"
            )
        values = cls.of(batch.column(name), f"column {name}", first_row)
        unlike = (values.offsets != rows.offsets).nonzero()[0]
        if len(unlike):
            raise ArgumentError(
                f"column {name}[{first_row + int(unlike[0]) - 1}]: has another number of values"
                " than the row has words"
            )
        return values

    def buffers(self) -> tuple[memoryview, npt.NDArray[np.int64]]:
        """Return the words as UTF-8 and the beginning of each in it, with the end of the last."""
        _, offsets, text = self.words.buffers()
        if not len(self.words):
            return memoryview(b""), np.zeros(1, np.int64)
        starts = np.frombuffer(offsets, np.int64, len(self.words) + 1, 8 * self.words.offset)
        return memoryview(b"" if text is None else text), starts

    def lists(self) -> list[list[str]]:
        """Return the rows that are not null, as lists of str."""
        return [row for row in strings(self.array(self.words)) if row is not None]

    def sentences(self) -> list[pn.Sentence]:
        """Return the rows that are not null, with the columns that the model looks at."""
        columns = {name: rows.lists() for name, rows in self.columns.items()}
        return [
            pn.Sentence(words, {name: values[number] for name, values in columns.items()})
            for number, words in enumerate(self.lists())
        ]

    def array(self, values: Any) -> Any:
        """Return the values of words as lists, one a row; null for a null row."""
        mask = None if self.nulls is None else pa.array(self.nulls)
        whole = pa.LargeListArray if self.is_large else pa.ListArray
        offsets = self.offsets if self.is_large else self.offsets.astype(np.int32)
        return whole.from_arrays(pa.array(offsets), values, mask=mask)


def as_arrow(data: Any) -> Any:
    """Return data of any library as pyarrow's, structs as batches and tables.

    Raises ArgumentTypeError if they are not Arrow's; ArgumentError if they cannot be converted.
    """
    if isinstance(data, pa.RecordBatch | pa.Table | pa.RecordBatchReader):
        return data
    try:
        if isinstance(data, pa.Array | pa.ChunkedArray):
            array = data
        elif hasattr(data, "__arrow_c_stream__"):
            array = pa.chunked_array(data)
        elif hasattr(data, "__arrow_c_array__"):
            array = pa.array(data)
        else:
            raise ArgumentTypeError(
                f"data: Arrow data are needed (an array, a record batch, a table or a stream), not"
                f" {type(data).__name__}; lists of str are for tagger.tag_sents"
            )
        if not pa.types.is_struct(array.type):
            return array
        whole = pa.Table if isinstance(array, pa.ChunkedArray) else pa.RecordBatch
        return whole.from_struct_array(array)
    except (pa.ArrowException, ValueError) as error:
        # A column of pandas may hold objects of several kinds, or have the name of another.
        raise ArgumentError(f"data: cannot be converted to Arrow: {error}") from None


def column_of(schema: Any, wanted: str | None, *, of_texts: bool = False) -> str:
    """Return the name of the column of the words, or of the texts.

    Raises ArgumentError if there is no such column, or none or several that may be meant;
    ArgumentTypeError if `wanted` is no name, or not one of texts.
    """
    names: list[str] = schema.names
    argument = "text_column" if of_texts else "tokens_column"
    if wanted is not None:
        if not isinstance(wanted, str):
            raise ArgumentTypeError(f"{argument}: a str is needed, not {type(wanted).__name__}")
        if names.count(wanted) != 1:
            there = "no such column" if wanted not in names else "more than one of this name"
            raise ArgumentError(
                f"{argument}: {quote(wanted)}: there is {there}; there are {', '.join(names)}"
            )
        if of_texts and not is_text(schema.field(wanted).type):
            raise ArgumentTypeError(
                f"text_column: {quote(wanted)} must be strings, not {schema.field(wanted).type};"
                " tokens_column is for lists of words"
            )
        return wanted
    suits = is_text if of_texts else _holds_words
    found = [name for name, type in zip(names, schema.types, strict=True) if suits(type)]
    if len(found) == 1:
        return found[0]
    # The type of tokens says nothing if all rows are null or empty.
    if not of_texts and (found or names).count(TOKENS) == 1:
        return TOKENS
    if found:
        raise ArgumentError(
            f"{argument}: several columns are {'strings' if of_texts else 'lists of strings'};"
            f" name one of {', '.join(found)}"
        )
    there = ", ".join(f"{field.name} ({field.type})" for field in schema) or "no columns"
    raise ArgumentError(
        f"{argument}: no column is {'of strings' if of_texts else 'a list of strings'}; there are"
        f" {there}; a column of running text is named by text_column (--text-column)"
    )


def rows_are_large(type: Any, place: str) -> bool:
    """Return True if offsets of lists of this type have 64 bits.

    Raises ArgumentTypeError unless it is a type of lists; `place` is the name of the data.
    """
    inner = _inside(type)
    if _kind(inner) not in (*_LISTS, "null"):
        raise ArgumentTypeError(f"{place}: rows must be lists of words, not {type}{_advice(inner)}")
    return _kind(inner).startswith("large_")


def is_text(type: Any) -> bool:
    """Return True for strings, whatever holds them."""
    return _kind(_inside(type)) in _TEXTS


def strings(array: Any) -> list[Any]:
    """Return an array of strings, or of lists of these; ArgumentError unless they are UTF-8."""
    try:
        found: list[Any] = array.to_pylist()
        return found
    except UnicodeDecodeError:
        raise ArgumentError("data: there are texts or words that are not UTF-8") from None


_TEXTS = ("string", "large_string", "string_view")
_VIEWS = ("list_view", "large_list_view")
_LISTS = ("list", "large_list", "fixed_size_list", *_VIEWS)


def _kind(type: Any) -> str:
    return str(type).partition("<")[0]


def _holds_words(type: Any) -> bool:
    inner = _inside(type)
    return _kind(inner) in _LISTS and is_text(inner.value_type)


def _inside(type: Any) -> Any:
    """The type inside extension types and dictionaries."""
    while isinstance(type, pa.BaseExtensionType) or pa.types.is_dictionary(type):
        is_dictionary = pa.types.is_dictionary(type)
        type = type.value_type if is_dictionary else type.storage_type
    return type


def _plain(array: Any, place: str) -> Any:
    """An array of the type inside."""
    if isinstance(array, pa.ExtensionArray):
        return _plain(array.storage, place)
    if not pa.types.is_dictionary(array.type):
        return array
    values = array.dictionary
    if _kind(values.type) in _VIEWS:
        raise ArgumentTypeError(
            f"{place}: rows are a dictionary of list views; cast them to lists first"
        )
    if is_text(values.type):
        # Its words may be more text than offsets of 32 bits can count.
        values = values.cast(pa.large_string())
    elif _holds_words(values.type) and _kind(values.type.value_type) == "string_view":
        values = values.cast(pa.large_list(pa.large_string()))
    return _plain(values.take(array.indices), place)


def _advice(type: Any) -> str:
    if is_text(type):
        return "; split the text into words first"
    if _kind(type) in _LISTS:
        return "; flatten it to one list of words a sentence first"
    return "; cast it to string first, if it is UTF-8" if "binary" in _kind(type) else ""


def with_context(batches: Iterable[tuple[Any, Rows]], window: int) -> Iterator[tuple[Any, Rows]]:
    """Yield rows of one text, each as soon as `window` sentences around it are known."""
    if not window:
        yield from batches
        return
    before: list[pn.Sentence] = []
    waiting: list[tuple[Any, Rows]] = []
    for more in chain(batches, [None]):
        if more is not None:
            waiting.append(more)
        while waiting:
            after = [sentence for _, rows in waiting[1:] for sentence in rows.sentences()]
            if more is not None and len(after) < window:
                break
            owner, rows = waiting.pop(0)
            rows.before, rows.after = before, after[:window]
            before = [*before, *rows.sentences()][-window:]
            yield owner, rows
