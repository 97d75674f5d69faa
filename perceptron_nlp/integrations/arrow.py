"""Arrow: labels for columns of lists of words, whichever library holds them.

Polars, pandas, DuckDB, Hugging Face datasets, Spark and Ray hand over Arrow data through its
PyCapsule interface (``__arrow_c_array__``, ``__arrow_c_stream__``), or as pyarrow's own objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra, quote
from perceptron_nlp.integrations.labellists import LabelColumn, Piece, with_surroundings
from perceptron_nlp.integrations.wordlists import WordLists, holds_words, rows_are_large, word_lists

try:
    import pyarrow as pa
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None

TOKENS = "tokens"


def tag_arrow(
    tagger: pn.Tagger,
    data: Any,
    *,
    tokens_column: str | None = None,
    threads: int = 1,
    dictionary: bool = True,
) -> Any:
    """The labels of lists of words in Arrow data.

    Rows are sentences. They may be lists, large lists, list views or lists of fixed size, of
    strings, large strings, string views or dictionaries of these; sliced, in chunks, and
    dictionary-encoded as a whole. The text is not copied, unless words are views or dictionaries
    or rows are views out of order, and no Python object is made of a word, unless the model looks
    at more than the words of a sentence.

    Parameters
    ----------
    tagger : a tagger. Of several columns, all are filled; ``tagger.by_column[name]`` fills one
    data : an array of lists of words, or a record batch, table or stream that has a column of
        them: pyarrow's, or whatever has ``__arrow_c_array__`` or ``__arrow_c_stream__``. The rows
        are one text, for models that look at a sentence's neighbours
    tokens_column : the column of the words; None for the only one of lists of strings, or the one
        named ``tokens`` where there are several
    threads : 1 to 1,024; the result does not depend on it
    dictionary : False for labels as plain strings, for libraries that know no dictionaries

    Returns
    -------
    for arrays: a pyarrow.Array (of chunks and of streams of arrays a ChunkedArray) of as many
    lists of labels: ``list<dictionary<uint8, string>>``, uint16 beyond 256 labels, large_list
    where the words' lists were large. Of a tagger of several columns, structs of one such list a
    column. A null row gets null.
    For record batches, tables and streams of batches: the same with a column of such lists added
    for each of the tagger's columns, under its name; a column of this name is replaced. A
    RecordBatchReader gives a RecordBatchReader, which tags batch by batch as it is read.

    Raises
    ------
    ArgumentTypeError : no Arrow data, or not of lists of strings
    ArgumentError : a null word (the message gives row and place), words that are not UTF-8, no
        such column, several that may be meant, or columns missing that the model looks at

    Examples
    --------
    ``polars_frame.with_columns(pl.Series("upos", tag_arrow(tagger, polars_frame["tokens"])))``
    """
    if not isinstance(tagger, pn.Tagger):
        raise ArgumentTypeError(f"tagger: a Tagger is needed, not {type(tagger).__name__}")
    tagger.tag_sents([], threads=threads)
    filling = Filling(tagger.by_column, threads=threads, dictionary=dictionary)
    given = _taken(data)
    if isinstance(given, pa.Array | pa.ChunkedArray):
        if tokens_column is not None:
            raise ArgumentError("tokens_column: the data are an array, which has no columns")
        return filling.of_arrays(given)
    schema = filling.schema(given.schema, tokens_column)
    batches = (
        given.to_batches()
        if isinstance(given, pa.Table)
        else ([given] if isinstance(given, pa.RecordBatch) else given)
    )
    filled = filling.of_batches(batches, tokens_column)
    if isinstance(given, pa.RecordBatch):
        return next(filled)
    if isinstance(given, pa.Table):
        return pa.Table.from_batches(filled, schema)
    return pa.RecordBatchReader.from_batches(schema, filled)


class Filling:
    """Fills columns of Arrow data in.

    Parameters
    ----------
    taggers : for each column to fill, a tagger that does
    threads, dictionary : see tag_arrow
    keep : which columns of tables and batches stay beside those of labels; None for all
    """

    def __init__(
        self,
        taggers: Mapping[str, pn.Tagger],
        *,
        threads: int,
        dictionary: bool,
        keep: Sequence[str] | None = None,
    ) -> None:
        self._keep = keep
        self._columns = {
            name: LabelColumn(tagger, threads, dictionary) for name, tagger in taggers.items()
        }
        self._window = max(column.window for column in self._columns.values())
        self._evidence = sorted(
            {name for column in self._columns.values() for name in column.evidence}
        )

    def of_arrays(self, given: Any) -> Any:
        """The labels of an Array as an Array, of a ChunkedArray as a ChunkedArray."""
        if self._evidence:
            raise ArgumentError(
                f"data: the model looks at the columns {', '.join(self._evidence)} besides the"
                " words; give a record batch or a table that has them"
            )
        chunks = given.chunks if isinstance(given, pa.ChunkedArray) else [given]
        is_large = rows_are_large(given.type, "data")
        pieces = []
        first = 0
        for chunk in chunks:
            pieces.append((None, Piece(word_lists(chunk, "data", first), {})))
            first += len(chunk)
        filled = [self._array(piece) for _, piece in with_surroundings(pieces, self._window)]
        if not isinstance(given, pa.ChunkedArray):
            return filled[0]
        return pa.chunked_array(filled, self._array_type(is_large))

    def schema(self, given: Any, tokens_column: str | None) -> Any:
        """The schema of batches of this schema once they are filled."""
        name = words_column(given, tokens_column)
        is_large = rows_are_large(given.field(name).type, f"column {name}")
        for label in self._columns:
            if label == name:
                raise ArgumentError(f"tokens_column: {quote(name)} is the column to be filled, too")
        given = self._kept(given)
        for label, column in self._columns.items():
            field = pa.field(label, column.type_of(is_large))
            at = given.get_field_index(label)
            given = given.append(field) if at < 0 else given.set(at, field)
        return given

    def _kept(self, given: Any) -> Any:
        if self._keep is None:
            return given
        for name in self._keep:
            if name not in given.names:
                raise ArgumentError(
                    f"keep: {quote(name)}: there is no such column; there are"
                    f" {', '.join(given.names)}"
                )
        return pa.schema([field for field in given if field.name in self._keep], given.metadata)

    def of_batches(self, batches: Iterable[Any], tokens_column: str | None) -> Iterator[Any]:
        """Record batches, filled; each as soon as all that its labels depend on is there."""
        for batch, piece in with_surroundings(self._pieces(batches, tokens_column), self._window):
            schema = self.schema(batch.schema, tokens_column)
            arrays = {name: batch.column(at) for at, name in enumerate(batch.schema.names)}
            arrays.update((name, column.fill(piece)) for name, column in self._columns.items())
            yield pa.RecordBatch.from_arrays([arrays[name] for name in schema.names], schema=schema)

    def _pieces(
        self, batches: Iterable[Any], tokens_column: str | None
    ) -> Iterator[tuple[Any, Piece]]:
        first = 0
        for batch in batches:
            name = words_column(batch.schema, tokens_column)
            rows = word_lists(batch.column(name), f"column {name}", first)
            evidence = {
                column: self._looked_at(batch, column, rows, first) for column in self._evidence
            }
            yield batch, Piece(rows, evidence)
            first += batch.num_rows

    def _looked_at(self, batch: Any, name: str, rows: WordLists, first: int) -> WordLists:
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

    def _array(self, piece: Piece) -> Any:
        if len(self._columns) == 1:
            return next(iter(self._columns.values())).fill(piece)
        arrays = [column.fill(piece) for column in self._columns.values()]
        nulls = piece.rows.nulls
        return pa.StructArray.from_arrays(
            arrays, names=list(self._columns), mask=None if nulls is None else pa.array(nulls)
        )

    def _array_type(self, is_large: bool) -> Any:
        types = [(name, column.type_of(is_large)) for name, column in self._columns.items()]
        return types[0][1] if len(types) == 1 else pa.struct(types)


def words_column(schema: Any, wanted: str | None) -> str:
    """The name of the column of the words.

    Raises
    ------
    ArgumentError : there is no such column, or none or several of lists of strings
    ArgumentTypeError : `wanted` is no name
    """
    names: list[str] = schema.names
    if wanted is not None:
        if not isinstance(wanted, str):
            raise ArgumentTypeError(f"tokens_column: a str is needed, not {type(wanted).__name__}")
        if names.count(wanted) != 1:
            there = "no such column" if wanted not in names else "more than one of this name"
            raise ArgumentError(
                f"tokens_column: {quote(wanted)}: there is {there}; there are {', '.join(names)}"
            )
        return wanted
    found = [name for name, type in zip(names, schema.types, strict=True) if holds_words(type)]
    if len(found) == 1 or found.count(TOKENS) == 1:
        return found[0] if len(found) == 1 else TOKENS
    if found:
        raise ArgumentError(
            f"tokens_column: several columns are lists of strings; name one of {', '.join(found)}"
        )
    if names.count(TOKENS) == 1:
        # Its type may say nothing, where all rows are null or empty.
        return TOKENS
    there = ", ".join(f"{field.name} ({field.type})" for field in schema)
    raise ArgumentError(f"tokens_column: no column is a list of strings; there are {there}")


def _taken(data: Any) -> Any:
    """Data of any library as pyarrow's; structs are batches and tables."""
    if isinstance(data, pa.RecordBatch | pa.Table | pa.RecordBatchReader):
        return data
    try:
        array = data if isinstance(data, pa.Array | pa.ChunkedArray) else _imported(data)
        if not pa.types.is_struct(array.type):
            return array
        whole = pa.Table if isinstance(array, pa.ChunkedArray) else pa.RecordBatch
        return whole.from_struct_array(array)
    except pa.ArrowException as error:
        # A column of pandas may hold objects of several kinds.
        raise ArgumentError(f"data: cannot be had as Arrow: {error}") from None


def _imported(data: Any) -> Any:
    if hasattr(data, "__arrow_c_stream__"):
        return pa.chunked_array(data)
    if hasattr(data, "__arrow_c_array__"):
        return pa.array(data)
    raise ArgumentTypeError(
        f"data: Arrow data are needed (an array, a record batch, a table or a stream), not"
        f" {type(data).__name__}; lists of str are for tagger.tag_sents"
    )
