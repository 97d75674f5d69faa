"""Arrow columns of running text: a column of words with their labels and places."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, quote
from perceptron_nlp.integrations.arrow_labels import ColumnAdder
from perceptron_nlp.integrations.arrow_words import column_named, is_text

try:
    import pyarrow as pa
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None

WORDS = "words"
"""The column that is added."""
FORM = "form"
PLACES = ("start", "end", "sentence")


class TextTagger(ColumnAdder):
    """Adds a column of words to Arrow data, of which a row is a text; see arrow.tag_arrow.

    `columns` has, for each field of labels by the name that it is to have, a column that the tagger
    fills; None for all.
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        columns: Mapping[str, str] | None = None,
        *,
        text_column: str | None = None,
        threads: int = 1,
        dictionary: bool = True,
        keep: Sequence[str] | None = None,
    ) -> None:
        # Before any data are looked at, so that a bad number is an error without rows, too.
        tagger.tag_sents([], threads=threads)
        self._tagger = tagger
        self._text_column = text_column
        super().__init__(keep)
        self._named = {name: name for name in tagger.columns} if columns is None else dict(columns)
        self._dictionary = dictionary
        self.type = pa.list_(
            pa.struct(
                [
                    (FORM, pa.string()),
                    *((name, self._label_type(own)) for name, own in self._named.items()),
                    *((name, pa.int32()) for name in PLACES),
                ]
            )
        )

    def _label_type(self, column: str) -> Any:
        if not self._dictionary or self._tagger.by_column[column].model.lemmas is not None:
            return pa.string()
        return pa.dictionary(pa.uint16(), pa.string())

    def tag_array(self, given: Any) -> Any:
        """Return the words of an Array as an Array, of a ChunkedArray as a ChunkedArray."""
        if self._text_column is not None:
            raise ArgumentError("text_column: the data are an array, which has no columns")
        if isinstance(given, pa.ChunkedArray):
            return pa.chunked_array([self._words(chunk) for chunk in given.chunks], self.type)
        return self._words(given)

    def schema(self, given: Any) -> Any:
        """See ColumnAdder."""
        text_column(given, self._text_column)
        return self._with_fields(given, [pa.field(WORDS, self.type)])

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """See ColumnAdder."""
        for batch in batches:
            texts = batch.column(text_column(batch.schema, self._text_column))
            yield self._with_columns(batch, {WORDS: self._words(texts)})

    def _words(self, texts: Any) -> Any:
        if not is_text(texts.type):
            raise ArgumentTypeError(f"data: texts must be strings, not {texts.type}")
        try:
            rows = texts.to_pylist()
        except UnicodeDecodeError:
            raise ArgumentError("data: there are texts that are not UTF-8") from None
        found = self._tagger.tag_arrays(
            ["" if row is None else row for row in rows], columns=[*self._named.values()]
        )
        arrays = [_strings(*found.forms)]
        for name, column in self._named.items():
            if column not in found.labels:
                arrays.append(_strings(*(found.lemmas or found.forms)))
                continue
            numbers, labels = found.labels[column]
            own = pa.DictionaryArray.from_arrays(
                pa.array(numbers, pa.uint16()), pa.array(labels, pa.string())
            )
            arrays.append(
                own.dictionary_decode()
                if self.type.value_type.field(name).type == pa.string()
                else own
            )
        arrays += [pa.array(own, pa.int32()) for own in (found.starts, found.ends, found.sentences)]
        words = pa.StructArray.from_arrays(arrays, fields=list(self.type.value_type))
        mask = pa.array([row is None for row in rows], pa.bool_()) if texts.null_count else None
        offsets = pa.array(found.offsets.astype(np.int32))
        return pa.ListArray.from_arrays(offsets, words, type=self.type, mask=mask)


def _strings(offsets: Any, text: bytes) -> Any:
    """Return strings as an array."""
    if len(text) < 1 << 31:
        return pa.StringArray.from_buffers(
            len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(text)
        )
    raise ArgumentError("data: the words of these texts have 2 GB or more; give smaller batches")


def text_column(schema: Any, wanted: str | None) -> str:
    """Return the name of the column of texts.

    Raises ArgumentError if there is no such column, or none or several of strings;
    ArgumentTypeError if `wanted` is no name.
    """
    names: list[str] = schema.names
    if wanted is None:
        found = [name for name, type in zip(names, schema.types, strict=True) if is_text(type)]
        if len(found) == 1:
            return found[0]
        there = ", ".join(found) if found else "no column of strings"
        raise ArgumentError(f"text_column: name the column of texts; there are {there}")
    column_named("text_column", names, wanted)
    if not is_text(schema.field(wanted).type):
        raise ArgumentTypeError(
            f"text_column: {quote(wanted)} must be strings, not {schema.field(wanted).type};"
            " tokens_column is for lists of words"
        )
    return wanted
