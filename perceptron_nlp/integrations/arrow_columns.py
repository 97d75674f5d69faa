"""Columns of labels, or of the words of texts, for Arrow data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

import perceptron_nlp as pn
from perceptron_nlp._checks import check_int
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, quote
from perceptron_nlp.integrations.arrow_rows import (
    Rows,
    column_of,
    is_text,
    rows_are_large,
    strings,
    with_context,
)

try:
    import pyarrow as pa
    import pyarrow.compute as pc
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None

WORDS = "words"
"""The column that texts get; its structs have the form, labels, and places."""
FORM = "form"
PLACES = ("start", "end", "token", "sentence")
# Behind the name of a column of labels: the one of the confidences in them.
CONFIDENCE = "_confidence"


class LabelType:
    """The labels of one column in Arrow's form: of one dictionary for all batches, or plain.

    Attributes
    ----------
    type : of a label. Lemmas are as many as words: no dictionary can be made of them beforehand
    """

    def __init__(self, tagger: pn.Tagger, dictionary: bool) -> None:
        self._labels = pa.array(sorted(tagger.model.written_labels), pa.string())
        self._index = pa.uint8() if len(self._labels) <= 256 else pa.uint16()
        self._is_plain = not dictionary or tagger.model.lemmas is not None
        self.type = pa.string() if self._is_plain else pa.dictionary(self._index, pa.string())

    def numbered(self, numbers: Any) -> Any:
        """Return labels by their numbers in code point order."""
        coded = pa.DictionaryArray.from_arrays(pa.array(numbers, self._index), self._labels)
        return coded.dictionary_decode() if self._is_plain else coded

    def listed(self, sentences: Iterable[Iterable[str]]) -> Any:
        """Return the labels of sentences."""
        flat = pa.array(list(chain.from_iterable(sentences)), pa.string())
        if self._is_plain:
            return flat
        return self.numbered(pc.index_in(flat, self._labels).cast(self._index))


class ColumnTagger:
    """Adds columns of labels, or one of the words of texts, to Arrow data; see arrow.tag_arrow.

    Parameters
    ----------
    columns : for each column of labels by the name that it is to have, one that the tagger fills;
        None for all
    of_texts : True if rows are texts though no column of them is named
    keep : names of the columns of tables and batches that stay; None for all
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        columns: Mapping[str, str] | None = None,
        *,
        tokens_column: str | None = None,
        text_column: str | None = None,
        of_texts: bool = False,
        threads: int = 1,
        dictionary: bool = True,
        keep: Sequence[str] | None = None,
        confidences: bool = False,
    ) -> None:
        check_int("threads", threads, 1, 1024)
        self._of_texts = of_texts or text_column is not None
        if self._of_texts and tokens_column is not None:
            raise ArgumentError("text_column, tokens_column: data have words or texts; name one")
        if self._of_texts and confidences:
            raise ArgumentError(
                "confidences: there are none of running text; tag lists of its words"
            )
        self._tagger, self._keep = tagger, keep
        self._wanted = text_column if self._of_texts else tokens_column
        self._confidences = confidences
        self._named = {name: name for name in tagger.columns} if columns is None else dict(columns)
        self._how: dict[str, Any] = {
            "columns": list(self._named.values()),
            "threads": threads,
            "confidences": confidences,
        }
        parts = {name: tagger.by_column[column] for name, column in self._named.items()}
        for part in parts.values() if confidences else ():
            # Raises ModelError unless it is calibrated.
            part.confidences([])
        self._labels = {name: LabelType(part, dictionary) for name, part in parts.items()}
        self._window = max((part.window for part in parts.values()), default=0)
        self._looks_at = sorted({name for part in parts.values() for name in part.feature_columns})

    def tag(self, data: Any) -> Any:
        """Return a record batch, table or reader with the columns that are added."""
        if isinstance(data, pa.RecordBatch):
            return next(self.batches([data]))
        schema = self.schema(data.schema)
        if isinstance(data, pa.Table):
            return pa.Table.from_batches(self.batches(data.to_batches()), schema)
        return pa.RecordBatchReader.from_batches(schema, self.batches(data))

    def tag_array(self, given: Any) -> Any:
        """Return labels, or words, of an Array as an Array, of a ChunkedArray as a ChunkedArray."""
        if self._wanted is not None:
            name = "text_column" if self._of_texts else "tokens_column"
            raise ArgumentError(f"{name}: the data are an array, which has no columns")
        if self._confidences:
            raise ArgumentError(
                "confidences: they are columns next to those of labels; give a record batch or a"
                " table"
            )
        if self._looks_at:
            raise ArgumentError(
                f"data: the model looks at the columns {', '.join(self._looks_at)} in addition to"
                " the words; give a record batch or a table that has them"
            )
        is_chunked = isinstance(given, pa.ChunkedArray)
        schema = pa.schema([("data", given.type)])
        batches = [
            pa.RecordBatch.from_arrays([chunk], schema=schema)
            for chunk in (given.chunks if is_chunked else [given])
        ]
        found = [_joined(rows, columns) for _, rows, columns in self._filled(batches, "data")]
        if not is_chunked:
            return found[0]
        fields = self._added(given.type, "data")
        return pa.chunked_array(found, fields[0].type if len(fields) == 1 else pa.struct(fields))

    def schema(self, given: Any) -> Any:
        """Return the schema of data of this schema with the columns that are added."""
        name = self._source(given)
        added = self._added(given.field(name).type, f"column {name}")
        if name in (own.name for own in added):
            raise ArgumentError(f"tokens_column: {quote(name)} is the column to be filled, too")
        for kept in self._keep or ():
            if kept not in given.names:
                raise ArgumentError(
                    f"keep: {quote(kept)}: there is no such column; there are"
                    f" {', '.join(given.names)}"
                )
        fields = [own for own in given if self._keep is None or own.name in self._keep]
        schema = pa.schema(fields, given.metadata)
        for own in added:
            if schema.names.count(own.name) > 1:
                raise ArgumentError(
                    f"data: several columns are called {quote(own.name)}, which is to be"
                    " replaced; rename them first"
                )
            at = schema.get_field_index(own.name)
            schema = schema.append(own) if at < 0 else schema.set(at, own)
        return schema

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Return record batches with the columns that are added, each as soon as it can be."""
        for batch, _, added in self._filled(batches):
            # By place, since several may have the same name.
            kept = [
                array
                for name, array in zip(batch.schema.names, batch.columns, strict=True)
                if self._keep is None or name in self._keep
            ]
            schema = self.schema(batch.schema)
            arrays = [
                added[name] if name in added else kept[at] for at, name in enumerate(schema.names)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)

    def _source(self, schema: Any) -> str:
        """The column of the words, or of the texts."""
        return column_of(schema, self._wanted, of_texts=self._of_texts)

    def _added(self, type: Any, place: str) -> list[Any]:
        """The fields that are added beside rows of this type."""
        if self._of_texts:
            labels = [(name, own.type) for name, own in self._labels.items()]
            places = [(name, pa.int32()) for name in PLACES]
            return [pa.field(WORDS, pa.list_(pa.struct([(FORM, pa.string()), *labels, *places])))]
        whole = pa.large_list if rows_are_large(type, place) else pa.list_
        fields = []
        for name, own in self._labels.items():
            fields.append(pa.field(name, whole(own.type)))
            if self._confidences:
                fields.append(pa.field(f"{name}{CONFIDENCE}", whole(pa.float32())))
        return fields

    def _filled(
        self, batches: Iterable[Any], place: str | None = None
    ) -> Iterator[tuple[Any, Rows | None, dict[str, Any]]]:
        """Yield record batches with their rows of words, and the arrays that are added by name."""
        if self._of_texts:
            for batch in batches:
                yield batch, None, {WORDS: self._words(batch.column(self._source(batch.schema)))}
            return
        for batch, rows in with_context(self._rows(batches, place), self._window):
            yield batch, rows, self._labeled(rows)

    def _rows(self, batches: Iterable[Any], place: str | None) -> Iterator[tuple[Any, Rows]]:
        first = 0
        for batch in batches:
            name = batch.schema.names[0] if place else self._source(batch.schema)
            rows = Rows.of(batch.column(name), place or f"column {name}", first)
            for other in self._looks_at:
                rows.columns[other] = Rows.beside(rows, batch, other, first)
            yield batch, rows
            first += batch.num_rows

    def _labeled(self, rows: Rows) -> dict[str, Any]:
        """The arrays of labels, and of confidences, of some rows by their names."""
        if self._window or self._looks_at:
            found: Any = self._tagger.tag_sents(
                rows.sentences(), before=rows.before, after=rows.after, **self._how
            )
            pairs = found if self._confidences else {c: (own, ()) for c, own in found.items()}
            arrays = {n: self._labels[n].listed(pairs[c][0]) for n, c in self._named.items()}
            sure = {c: list(chain.from_iterable(own)) for c, (_, own) in pairs.items()}
        else:
            found = self._tagger.tag_arrays(*rows.buffers(), rows.offsets, **self._how)
            arrays, sure = self._arrays(found), found.confidences
        added = {}
        for name, column in self._named.items():
            added[name] = rows.array(arrays[name])
            if self._confidences:
                added[f"{name}{CONFIDENCE}"] = rows.array(pa.array(sure[column], pa.float32()))
        return added

    def _words(self, texts: Any) -> Any:
        """The words of texts, with labels and places."""
        if not is_text(texts.type):
            raise ArgumentTypeError(f"data: texts must be strings, not {texts.type}")
        rows = strings(texts)
        found = self._tagger.tag_arrays(["" if row is None else row for row in rows], **self._how)
        tokens = _token_numbers(found.starts, found.offsets)
        places = (found.starts, found.ends, tokens, found.sentences)
        (whole,) = self._added(texts.type, "data")
        words = pa.StructArray.from_arrays(
            [_string_array(*found.forms), *self._arrays(found).values(), *map(pa.array, places)],
            fields=list(whole.type.value_type),
        )
        mask = pa.array([row is None for row in rows], pa.bool_()) if texts.null_count else None
        offsets = pa.array(found.offsets.astype(np.int32))
        return pa.ListArray.from_arrays(offsets, words, type=whole.type, mask=mask)

    def _arrays(self, found: Any) -> dict[str, Any]:
        """The labels of all words, by the names of their columns here."""
        return {
            name: self._labels[name].numbered(found.labels[column][0])
            if column in found.labels
            else _string_array(*found.lemmas)
            for name, column in self._named.items()
        }


def _joined(rows: Rows | None, columns: dict[str, Any]) -> Any:
    """One column as it is, several as structs."""
    arrays = list(columns.values())
    if rows is None or len(arrays) == 1:
        return arrays[0]
    mask = None if rows.nulls is None else pa.array(rows.nulls)
    return pa.StructArray.from_arrays(arrays, names=list(columns), mask=mask)


def _string_array(offsets: Any, text: bytes) -> Any:
    """Return strings as an array."""
    if len(text) < 1 << 31:
        return pa.StringArray.from_buffers(
            len(offsets) - 1, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(text)
        )
    raise ArgumentError("data: the words of these texts have 2 GB or more; give smaller batches")


def _token_numbers(starts: Any, offsets: Any) -> Any:
    """Return the number of each word's token in its text; words of one token have one place."""
    begins = np.append(True, np.diff(starts) != 0)[: len(starts)]
    begins[offsets[:-1][offsets[:-1] < len(starts)]] = True
    numbers = np.append(np.cumsum(begins), 0)
    return (numbers[:-1] - np.repeat(numbers[offsets[:-1]], np.diff(offsets))).astype(np.int32)
