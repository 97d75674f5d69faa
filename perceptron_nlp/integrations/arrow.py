"""Arrow and Parquet: labels for lists of words, or for texts, whichever library holds them.

Polars, pandas, DuckDB, Hugging Face datasets, Spark and Ray hand over Arrow data through its
PyCapsule interface (``__arrow_c_array__``, ``__arrow_c_stream__``), or as pyarrow's own objects.
Engines send an ArrowTagger to their workers: it travels as the path of a model file, which each
process maps into memory when its first batch comes.
"""

from __future__ import annotations

import functools
import hashlib
import io
import os
import socket
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._checks import check_choices, check_version
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, missing_extra
from perceptron_nlp.integrations.arrow_columns import ColumnTagger
from perceptron_nlp.integrations.arrow_rows import as_arrow, is_text

try:
    import pyarrow as pa
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None


def tag_arrow(
    tagger: pn.Tagger | str | os.PathLike[str],
    data: Any,
    *,
    tokens_column: str | None = None,
    text_column: str | None = None,
    threads: int = 1,
    dictionary: bool = True,
    confidences: bool = False,
) -> Any:
    """Label the lists of words, or the running texts, in Arrow data.

    Rows are sentences. They may be lists, large lists, list views or lists of fixed size, of
    strings, large strings, string views or dictionaries of these; sliced, in chunks, and
    dictionary-encoded as a whole. The text is not copied, unless words are views or dictionaries or
    rows are views out of order, and no Python object is made of a word, unless the model looks at
    more than the words of a sentence.

    With ``text_column``, and for arrays of strings, rows are texts, each cut into sentences and
    words as by ``tagger.tag_text``. They get one column ``words``, of lists of structs: ``form``,
    the columns of the tagger, and of its token ``start`` and ``end``, in characters, and the
    numbers of its ``token``, which words of a multiword token have in common, and of its
    ``sentence``, from 0 on. Lists of words are labeled as they are: what is to be split must come
    as text.

    Parameters
    ----------
    tagger : a tagger, or what ``perceptron_nlp.load`` takes. Of several columns, all are filled;
        ``tagger.by_column[name]`` fills one
    data : an array of lists of words or of texts, or a record batch, table or stream that has a
        column of them: pyarrow's, or whatever has ``__arrow_c_array__`` or
        ``__arrow_c_stream__``. The rows are one text, for models that look at a sentence's
        neighbors
    tokens_column : the column of the words; None for the only one of lists of strings, or the one
        named ``tokens`` if there are several
    text_column : the column of the texts, in place of one of words
    threads : 1 to 1,024; the result does not depend on it
    dictionary : False for labels as plain strings, for libraries that know no dictionaries
    confidences : True for a second column beside each, such as ``upos_confidence``, of lists of
        float32, 0 to 1; of batches and tables, and of models that are calibrated

    Returns
    -------
    for arrays: a pyarrow.Array (of chunks and of streams of arrays a ChunkedArray) of as many
    lists of labels: ``list<dictionary<uint8, string>>``, uint16 beyond 256 labels, large_list
    if the words' lists were large. Of a tagger of several columns, structs of one such list a
    column. A null row gets null.
    For record batches, tables and streams of batches: the same with a column of such lists added
    for each of the tagger's columns, under its name; a column of this name is replaced. A
    RecordBatchReader gives a RecordBatchReader, which tags batch by batch as it is read.

    Raises
    ------
    ArgumentTypeError : no Arrow data, or not of lists of strings
    ModelError : `confidences` of a model that is not calibrated
    ArgumentError : a null word (the message gives row and place), words that are not UTF-8, no
        such column, several that may be meant, or columns missing that the model looks at

    Examples
    --------
    ``polars_frame.with_columns(pl.Series("upos", tag_arrow(tagger, polars_frame["tokens"])))``
    """
    given = as_arrow(data)
    is_array = isinstance(given, pa.Array | pa.ChunkedArray)
    own = ColumnTagger(
        _opened(tagger),
        tokens_column=tokens_column,
        text_column=text_column,
        of_texts=is_array and is_text(given.type),
        threads=threads,
        dictionary=dictionary,
        confidences=confidences,
    )
    return own.tag_array(given) if is_array else own.tag(given)


def _opened(tagger: pn.Tagger | str | os.PathLike[str]) -> pn.Tagger:
    if isinstance(tagger, pn.Tagger):
        return tagger
    if not isinstance(tagger, str | os.PathLike):
        raise ArgumentTypeError(
            f"tagger: a Tagger, or the path of one, is needed, not {type(tagger).__name__}"
        )
    return pn.load(tagger)


def tag_parquet(
    tagger: pn.Tagger | str | os.PathLike[str],
    source: str | os.PathLike[str],
    *,
    columns: Mapping[str, str] | None = None,
    tokens_column: str | None = None,
    text_column: str | None = None,
    threads: int = 1,
    confidences: bool = False,
) -> Iterator[bytes]:
    """Yield the bytes of a Parquet file with columns of labels added.

    Rows, other columns, row groups and the file's own metadata stay as they are; columns are
    compressed as the words were. About one row group is held in memory at a time.

    Parameters
    ----------
    tagger : a tagger, or what ``perceptron_nlp.load`` takes
    source : the path of the file; its rows are one text, as for tag_arrow
    columns : for each column to add, by the name that it is to have, one that the tagger fills;
        None for all
    tokens_column, text_column, threads, confidences : as for tag_arrow

    Raises
    ------
    FileError : the file cannot be read
    FormatError : it is damaged or no Parquet file, a word in it is null, or columns are missing
        that the model looks at
    ArgumentError, ArgumentTypeError : `threads`, `tokens_column` or `text_column` cannot be used
    """
    import pyarrow.parquet as pq

    tagger = _opened(tagger)
    if columns is not None:
        check_choices("columns", [*columns.values()], tagger.columns)
    # Parquet has dictionaries of its own; Arrow's, inside lists, its readers cannot put together
    # from several row groups.
    own = ColumnTagger(
        tagger,
        columns,
        tokens_column=tokens_column,
        text_column=text_column,
        threads=threads,
        dictionary=False,
        confidences=confidences,
    )
    name = os.fspath(source)
    try:
        with open(name, "rb") as stream:
            file = pq.ParquetFile(stream)
            schema = own.schema(file.schema_arrow)
            sink = _Sink()
            with pq.ParquetWriter(sink, schema, compression=_compression(file)) as writer:
                for batch in own.batches(_row_groups(file)):
                    writer.write_batch(batch, row_group_size=max(1, batch.num_rows))
                    yield sink.take()
            yield sink.take()
    except (ArgumentError, ArgumentTypeError) as error:
        if str(error).startswith(("tokens_column", "text_column")):
            raise
        raise pn.FormatError(str(error), name) from None
    except pa.ArrowException as error:
        raise pn.FormatError(f"is no Parquet file that can be read: {error}", name) from None
    except OSError as error:
        raise pn.FileError(f"{name}: cannot be read: {error.strerror or error}") from error


def _row_groups(file: Any) -> Iterator[Any]:
    """Yield each row group as one batch, since each batch is written as one row group."""
    for number in range(file.num_row_groups):
        table = file.read_row_group(number).combine_chunks()
        yield from table.to_batches() or [pa.RecordBatch.from_pylist([], table.schema)]


def _compression(file: Any) -> str:
    """The compression of the file's first column, under the writer's name for it."""
    if not file.metadata.num_row_groups or not file.metadata.num_columns:
        return "snappy"
    used: str = file.metadata.row_group(0).column(0).compression.lower()
    return "none" if used == "uncompressed" else used


class _Sink(io.BytesIO):
    """A file in memory that is taken away chunk by chunk."""

    _taken = 0

    def tell(self) -> int:
        """The number of bytes that were written."""
        return self._taken + super().tell()

    def take(self) -> bytes:
        """Return the bytes that were written since the last call."""
        data = self.getvalue()
        self._taken += len(data)
        self.seek(0)
        self.truncate()
        return data


class ArrowTagger:
    """Adds columns of labels to Arrow data, in whatever process it comes to.

    Call it with a table or a record batch (Ray Data, Dask, DuckDB), or have `batches` go over those
    of a partition (Spark). Rows are sentences, a column has lists of their words, and each column
    of labels is a list of strings; with ``text_column``, rows are texts, and get a column of words
    (see tag_arrow). The rows of a table, or of a partition, are one text for models
    that look at a sentence's neighbors.

    Parameters
    ----------
    model : what ``perceptron_nlp.load`` takes: ``"en"``, or a model file, which is at the same
        place on every machine
    columns : which of the model's columns to fill; None for all
    tokens_column, text_column : see tag_arrow
    keep : names of the data's columns that stay, with those of labels; None for all. An engine
        need not move what is left out: ``keep=["id"]`` if the words are there already

    Attributes
    ----------
    columns : the columns of labels, in the order of the model
    digest : SHA-256 of the model, in hexadecimal

    Raises
    ------
    FileError, ModelError : as for ``perceptron_nlp.load``
    ArgumentError, ArgumentTypeError : `columns` are not of the model, or none; they or `keep` are
        no lists of names
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        columns: Sequence[str] | None = None,
        tokens_column: str | None = None,
        text_column: str | None = None,
        keep: Sequence[str] | None = None,
    ) -> None:
        for name, names in (("columns", columns), ("keep", keep)):
            if isinstance(names, str) or not isinstance(names, Sequence | None):
                raise ArgumentTypeError(
                    f"{name}: a list of names is needed, not {type(names).__name__}"
                )
        if not isinstance(model, str | os.PathLike):
            raise ArgumentTypeError(
                f"model: the path of a model file is needed, not {type(model).__name__}"
            )
        path = os.fspath(model)
        self.model = os.path.abspath(path) if os.path.isfile(path) else path
        self.tokens_column, self.text_column = tokens_column, text_column
        self.keep = None if keep is None else tuple(keep)
        opened = pn.load(path, mmap=True)
        self.digest, known = _digest_of(opened), opened.columns
        self._version = pn.__version__
        if columns is not None:
            check_choices("columns", columns, known)
        self.columns = tuple(name for name in known if columns is None or name in columns)
        # So that what is wrong with the rest is an error here, and not in a worker.
        self._own()

    def __call__(self, data: Any) -> Any:
        """Return the table, or the record batch, with the columns of labels.

        Raises
        ------
        ArgumentError, ArgumentTypeError : as for tag_arrow
        FileError, ModelError : there is no such model on this machine, or another one
        EngineError : this library is of another version here
        """
        if not isinstance(data, pa.RecordBatch | pa.Table):
            raise ArgumentTypeError(
                f"data: a table or a record batch is needed, not {type(data).__name__}"
            )
        return self._own().tag(data)

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Return the record batches of a partition with the columns of labels; errors as above."""
        return self._own().batches(batches)

    def schema(self, given: Any) -> Any:
        """Return the schema of data of this schema with the columns of labels."""
        return self._own().schema(given)

    @property
    def tagger(self) -> pn.Tagger:
        """The tagger, opened once in a process; errors are those of a call."""
        check_version(self._version)
        return tagger_at(self.model, self.digest)

    def _own(self) -> ColumnTagger:
        return ColumnTagger(
            self.tagger,
            {name: name for name in self.columns},
            tokens_column=self.tokens_column,
            text_column=self.text_column,
            dictionary=False,
            keep=self.keep,
        )


def tag_dataset(dataset: Any, tagger: Any, **options: Any) -> Any:
    """Return a Ray data set with columns of labels added.

    Parameters
    ----------
    dataset : a ray.data.Dataset with a column of lists of words, a row a sentence; or of texts
    tagger : an ArrowTagger, or what ``perceptron_nlp.load`` takes
    **options : those of ``Dataset.map_batches``, such as ``batch_size`` and ``concurrency``

    Raises
    ------
    ArgumentTypeError, FileError, ModelError : as for ArrowTagger
    """
    own = tagger if callable(tagger) else ArrowTagger(tagger)
    return dataset.map_batches(own, batch_format="pyarrow", zero_copy_batch=True, **options)


def tag_dataframe(frame: Any, tagger: ArrowTagger | str | os.PathLike[str]) -> Any:
    """Return a Spark data frame with columns of labels added, each an array of strings.

    If the tagger names a column of texts, a column of words is added instead: an array of structs
    (see tag_arrow). Nothing is tagged before the frame is asked for rows. A column of the same name
    is replaced. Workers need this library and the model file, at the place that the tagger names.

    Parameters
    ----------
    frame : a pyspark.sql.DataFrame with a column of arrays of words, a row a sentence; or of texts
    tagger : an ArrowTagger, or what ``perceptron_nlp.load`` takes, for all columns

    Raises
    ------
    ArgumentTypeError, FileError, ModelError : as for ArrowTagger; `frame` is of another type
    ArgumentError : the frame has no such column of words, or several that may be meant
    MissingExtraError : Spark is not installed
    """
    try:
        from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    except ImportError:
        raise missing_extra("PySpark", "spark") from None
    own = tagger if isinstance(tagger, ArrowTagger) else ArrowTagger(tagger)
    if not hasattr(frame, "mapInArrow"):
        raise ArgumentTypeError(f"frame: a Spark data frame is needed, not {type(frame).__name__}")
    # Here, and not on a worker when the first row is asked for.
    schema = from_arrow_schema(own.schema(to_arrow_schema(frame.schema)))
    return frame.mapInArrow(own.batches, schema)


def _digest_of(tagger: pn.Tagger) -> str:
    return hashlib.sha256(tagger.to_bytes()).hexdigest()


@functools.lru_cache(maxsize=4)
def tagger_at(model: str, digest: str) -> pn.Tagger:
    """The tagger of a path or a name, mapped into memory once in a process."""
    here = f"on {socket.gethostname()}"
    try:
        tagger = pn.load(model, mmap=True)
    except pn.FileError as error:
        raise pn.FileError(
            f"{error} ({here}); put the model where every worker finds it under this name"
        ) from error
    if _digest_of(tagger) != digest:
        raise pn.ModelError(
            f"{model}: {here} is another model than where the job was begun; put the same file on"
            " every machine"
        )
    return tagger
