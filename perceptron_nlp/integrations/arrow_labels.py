"""Columns of labels for Arrow data: lists of dictionary-encoded or plain strings.

A column of words is tagged chunk by chunk, in buffers if the tagger can, else as lists of str; a
tagger that looks at neighboring sentences sees them across chunks.
"""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, missing_extra, quote
from perceptron_nlp.integrations.arrow_words import (
    WordLists,
    rows_are_large,
    word_lists,
    words_column,
)

try:
    import pyarrow as pa
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None

Numbers = npt.NDArray[np.unsignedinteger[Any]]
# Behind the name of a column of labels: the one of the confidences in them.
CONFIDENCE = "_confidence"


class Chunk:
    """Some rows of a text, the values of feature columns at them, and the sentences around them.

    These are none if no tagger looks at them.
    """

    def __init__(self, rows: WordLists, features: Mapping[str, WordLists]) -> None:
        self.rows = rows
        self.before: Sequence[pn.Sentence] = ()
        self.after: Sequence[pn.Sentence] = ()
        self._features = features
        self._sentences: list[pn.Sentence] | None = None

    def sentences(self) -> list[pn.Sentence]:
        """Return the rows that are not null."""
        if self._sentences is None:
            columns = {name: lists.lists() for name, lists in self._features.items()}
            self._sentences = [
                pn.Sentence(words, {name: values[number] for name, values in columns.items()})
                for number, words in enumerate(self.rows.lists())
            ]
        return self._sentences


class LabelColumn:
    """One column of labels in Arrow's form.

    Parameters
    ----------
    tagger : of this column alone
    dictionary : True for dictionary-encoded labels, False for plain strings

    Attributes
    ----------
    takes_buffers : the tagger labels words in buffers
    holds_any : its labels are lemmas, which are no set
    """

    def __init__(self, tagger: pn.Tagger, dictionary: bool) -> None:
        # Lemmas are as many as words: no dictionary can be made of them before they are known.
        self.holds_any = tagger.model.lemmas is not None
        self._dictionary = dictionary and not self.holds_any
        self.takes_buffers = not (tagger.window or tagger.feature_columns or self.holds_any)
        written = sorted(tagger.model.written_labels)
        self._number_of = {label: number for number, label in enumerate(written)}
        self._width = np.uint8 if len(self._number_of) <= 256 else np.uint16
        self._labels = pa.array(list(self._number_of), pa.string())

    def type_of(self, rows_are_large: bool) -> Any:
        """Return the type of the lists of labels."""
        index = pa.from_numpy_dtype(self._width)
        inner = pa.dictionary(index, pa.string()) if self._dictionary else pa.string()
        return pa.large_list(inner) if rows_are_large else pa.list_(inner)

    def array(self, rows: WordLists, found: Numbers | list[list[str]]) -> Any:
        """Return the labels of some rows as an array of as many lists; null for a null row.

        Parameters
        ----------
        rows : the rows
        found : the labels of those that are not null: numbers if it takes buffers, or lists
        """
        if self.holds_any:
            labels = pa.array(itertools.chain.from_iterable(found), pa.string())
        else:
            numbers = self._numbers(rows, found).astype(self._width, copy=False)
            labels = pa.DictionaryArray.from_arrays(pa.array(numbers), self._labels)
            if not self._dictionary:
                labels = labels.dictionary_decode()
        return _in_rows(rows, labels)

    def _numbers(self, rows: WordLists, found: Numbers | list[list[str]]) -> Numbers:
        if isinstance(found, np.ndarray):
            return found
        numbered = map(self._number_of.__getitem__, itertools.chain.from_iterable(found))
        return np.fromiter(numbered, np.uint16, int(rows.offsets[-1]))


def _in_rows(rows: WordLists, values: Any) -> Any:
    """Return the values of words as lists, one a row; null for a null row."""
    mask = None if rows.nulls is None else pa.array(rows.nulls)
    if rows.is_large:
        return pa.LargeListArray.from_arrays(pa.array(rows.offsets), values, mask=mask)
    return pa.ListArray.from_arrays(pa.array(rows.offsets.astype(np.int32)), values, mask=mask)


class ColumnAdder(ABC):
    """Adds columns to Arrow data, batch by batch.

    `keep` names the columns of tables and batches that stay, with those that are added; None for
    all.
    """

    def __init__(self, keep: Sequence[str] | None) -> None:
        self._keep = keep

    def tag(self, data: Any) -> Any:
        """Return a record batch, table or reader with the columns that are added."""
        if isinstance(data, pa.RecordBatch):
            return next(self.batches([data]))
        schema = self.schema(data.schema)
        if isinstance(data, pa.Table):
            return pa.Table.from_batches(self.batches(data.to_batches()), schema)
        return pa.RecordBatchReader.from_batches(schema, self.batches(data))

    @abstractmethod
    def schema(self, given: Any) -> Any:
        """Return the schema of data of this schema with the columns that are added."""

    @abstractmethod
    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Return record batches with the columns that are added, each as soon as it can be."""

    def _with_fields(self, given: Any, fields: Sequence[Any]) -> Any:
        """Return a schema with what is kept of it and further fields, which replace their like."""
        if self._keep is not None:
            check_keep(self._keep, given.names)
            given = pa.schema(
                [field for field in given if field.name in self._keep], given.metadata
            )
        for field in fields:
            if given.names.count(field.name) > 1:
                raise ArgumentError(
                    f"data: several columns are called {quote(field.name)}, which is to be"
                    " replaced; rename them first"
                )
            at = given.get_field_index(field.name)
            given = given.append(field) if at < 0 else given.set(at, field)
        return given

    def _with_columns(self, batch: Any, added: Mapping[str, Any]) -> Any:
        """Return a record batch with what is kept of it and further columns."""
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
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


class BatchTagger(ColumnAdder):
    """Adds columns of labels to Arrow data; see arrow.tag_arrow.

    `columns` has, for each column of labels by the name that it is to have, one that the tagger
    fills; None for all.
    """

    def __init__(
        self,
        tagger: pn.Tagger,
        columns: Mapping[str, str] | None = None,
        *,
        tokens_column: str | None = None,
        threads: int = 1,
        dictionary: bool = True,
        keep: Sequence[str] | None = None,
        confidences: bool = False,
    ) -> None:
        self._confidences = confidences
        self._tokens_column = tokens_column
        super().__init__(keep)
        # Before any data are looked at, so that a bad number is an error without rows, too.
        tagger.tag_sents([], threads=threads)
        self._tagger = tagger
        self._threads = threads
        self._named = {name: name for name in tagger.columns} if columns is None else dict(columns)
        taggers = {name: tagger.by_column[column] for name, column in self._named.items()}
        for own in taggers.values() if confidences else ():
            # Raises ModelError unless it is calibrated.
            own.tag_sents([], confidences=True)
        self._columns = {name: LabelColumn(own, dictionary) for name, own in taggers.items()}
        # Those whose labels agree are labeled together, so all are in buffers or none.
        of_labels = [name for name, own in self._columns.items() if not own.holds_any]
        together = all(self._columns[name].takes_buffers for name in of_labels)
        self._in_buffers = [self._named[name] for name in of_labels] if together else []
        self._window = max(own.window for own in taggers.values())
        self._features = sorted({name for own in taggers.values() for name in own.feature_columns})

    def tag_array(self, given: Any) -> Any:
        """Return the labels of an Array as an Array, of a ChunkedArray as a ChunkedArray."""
        if self._tokens_column is not None:
            raise ArgumentError("tokens_column: the data are an array, which has no columns")
        if self._confidences:
            raise ArgumentError(
                "confidences: they are columns next to those of labels; give a record batch or a"
                " table"
            )
        if self._features:
            raise ArgumentError(
                f"data: the model looks at the columns {', '.join(self._features)} in addition to"
                " the words; give a record batch or a table that has them"
            )
        is_large = rows_are_large(given.type, "data")
        chunks = []
        first = 0
        for array in given.chunks if isinstance(given, pa.ChunkedArray) else [given]:
            chunks.append((None, Chunk(word_lists(array, "data", first), {})))
            first += len(array)
        filled = [self._array(chunk) for _, chunk in with_context(chunks, self._window)]
        if not isinstance(given, pa.ChunkedArray):
            return filled[0]
        types = [(name, column.type_of(is_large)) for name, column in self._columns.items()]
        return pa.chunked_array(filled, types[0][1] if len(types) == 1 else pa.struct(types))

    def _array(self, chunk: Chunk) -> Any:
        arrays = list(self._filled(chunk).values())
        if len(arrays) == 1:
            return arrays[0]
        mask = None if chunk.rows.nulls is None else pa.array(chunk.rows.nulls)
        return pa.StructArray.from_arrays(arrays, names=list(self._columns), mask=mask)

    def _filled(self, chunk: Chunk) -> dict[str, Any]:
        """Return the arrays of labels, and of confidences, of some rows by their names."""
        found: dict[str, Any] = {}
        if self._confidences:
            sure = self._tagger.tag_sents(
                chunk.sentences(),
                confidences=True,
                threads=self._threads,
                before=chunk.before,
                after=chunk.after,
                columns=list(self._named.values()),
            )
            for name, column in self._columns.items():
                labels, confidences = sure[self._named[name]]
                values = pa.array(itertools.chain.from_iterable(confidences), pa.float32())
                found[name] = column.array(chunk.rows, labels)
                found[f"{name}{CONFIDENCE}"] = _in_rows(chunk.rows, values)
            return found
        if self._in_buffers:
            text, starts = chunk.rows.buffers()
            arrays = self._tagger.tag_arrays(
                text, starts, chunk.rows.offsets, threads=self._threads, columns=self._in_buffers
            )
            found.update((column, own) for column, (own, _) in arrays.labels.items())
        others = [column for column in self._named.values() if column not in found]
        if others:
            found.update(
                self._tagger.tag_sents(
                    chunk.sentences(),
                    threads=self._threads,
                    before=chunk.before,
                    after=chunk.after,
                    columns=others,
                )
            )
        return {
            name: column.array(chunk.rows, found[self._named[name]])
            for name, column in self._columns.items()
        }

    def schema(self, given: Any) -> Any:
        """See ColumnAdder."""
        name = words_column(given, self._tokens_column)
        is_large = rows_are_large(given.field(name).type, f"column {name}")
        if name in self._columns:
            raise ArgumentError(f"tokens_column: {quote(name)} is the column to be filled, too")
        fields = []
        for label, column in self._columns.items():
            fields.append(pa.field(label, column.type_of(is_large)))
            if self._confidences:
                whole = pa.large_list if is_large else pa.list_
                fields.append(pa.field(f"{label}{CONFIDENCE}", whole(pa.float32())))
        return self._with_fields(given, fields)

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """See ColumnAdder; a batch waits for the context of its rows."""
        for batch, chunk in with_context(self._chunks(batches), self._window):
            yield self._with_columns(batch, self._filled(chunk))

    def _chunks(self, batches: Iterable[Any]) -> Iterator[tuple[Any, Chunk]]:
        first = 0
        for batch in batches:
            name = words_column(batch.schema, self._tokens_column)
            rows = word_lists(batch.column(name), f"column {name}", first)
            features = {name: _feature(batch, name, rows, first) for name in self._features}
            yield batch, Chunk(rows, features)
            first += batch.num_rows


def _feature(batch: Any, name: str, rows: WordLists, first: int) -> WordLists:
    """A feature column, of the same shape as the words."""
    if batch.schema.get_field_index(name) < 0:
        raise ArgumentError(
            f"data: the model looks at column {name} in addition to the words; there"
            f" are {', '.join(batch.schema.names)}"
        )
    values = word_lists(batch.column(name), f"column {name}", first)
    if len(values.offsets) == len(rows.offsets):
        unlike = (values.offsets != rows.offsets).nonzero()[0]
        if not len(unlike):
            return values
        first += int(unlike[0]) - 1
    raise ArgumentError(
        f"column {name}[{first}]: has another number of values than the row has words"
    )


def check_keep(keep: Sequence[str], names: Sequence[str]) -> None:
    """Raise ArgumentError if columns are to be kept that the data have not."""
    for name in keep:
        if name not in names:
            raise ArgumentError(
                f"keep: {quote(name)}: there is no such column; there are {', '.join(names)}"
            )


def with_context(chunks: Iterable[tuple[Any, Chunk]], window: int) -> Iterator[tuple[Any, Chunk]]:
    """Yield chunks of one text, each as soon as `window` sentences around it are known."""
    if not window:
        yield from chunks
        return
    before: list[pn.Sentence] = []
    waiting: list[tuple[Any, Chunk]] = []
    for more in chain(chunks, [None]):
        if more is not None:
            waiting.append(more)
        while waiting:
            after = [sentence for _, chunk in waiting[1:] for sentence in chunk.sentences()]
            if more is not None and len(after) < window:
                break
            owner, chunk = waiting.pop(0)
            chunk.before, chunk.after = before, after[:window]
            before = [*before, *chunk.sentences()][-window:]
            yield owner, chunk
