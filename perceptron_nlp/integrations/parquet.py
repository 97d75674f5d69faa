"""Parquet files, tagged one row group at a time."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    missing_extra,
)
from perceptron_nlp.integrations.arrow import Filling

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None


def tag_parquet(
    taggers: Mapping[str, pn.Tagger],
    source: str | os.PathLike[str],
    *,
    tokens_column: str | None = None,
    threads: int = 1,
) -> Iterator[bytes]:
    """The bytes of a Parquet file with columns of labels added.

    Rows, other columns, row groups and the file's own metadata stay as they are; columns are
    compressed as the words were. About one row group is held in memory at a time.

    Parameters
    ----------
    taggers : for each column to add, a tagger that fills it; ``tagger.by_column`` for all
    source : the file; its rows are one text, as for integrations.arrow.tag_arrow
    tokens_column, threads : as for tag_arrow

    Raises
    ------
    FileError : the file cannot be read
    FormatError : it is damaged or no Parquet file, a word in it is null, or columns are missing
        that the model looks at
    ArgumentError, ArgumentTypeError : `threads` or `tokens_column` cannot be used
    """
    # Parquet has dictionaries of its own; Arrow's, inside lists, its readers cannot put together
    # from several row groups.
    for tagger in taggers.values():
        tagger.tag_sents([], threads=threads)
    filling = Filling(taggers, threads=threads, dictionary=False)
    name = os.fspath(source)
    try:
        with open(name, "rb") as stream:
            yield from _tagged(filling, pq.ParquetFile(stream), tokens_column)
    except (ArgumentError, ArgumentTypeError) as error:
        if str(error).startswith("tokens_column"):
            raise
        raise FormatError(str(error), name) from None
    except pa.ArrowException as error:
        raise FormatError(f"is no Parquet file that can be read: {error}", name) from None
    except OSError as error:
        raise FileError(f"{name}: cannot be read: {error.strerror or error}") from error


def _tagged(filling: Filling, file: Any, tokens_column: str | None) -> Iterator[bytes]:
    schema = filling.schema(file.schema_arrow, tokens_column)
    sink = _Sink()
    with pq.ParquetWriter(sink, schema, compression=_compression(file)) as writer:
        for batch in filling.of_batches(_row_groups(file), tokens_column):
            writer.write_batch(batch, row_group_size=max(1, batch.num_rows))
            yield sink.taken()
    yield sink.taken()


def _row_groups(file: Any) -> Iterator[Any]:
    """Each row group as one batch, since what is written of one batch is one row group."""
    for number in range(file.num_row_groups):
        table = file.read_row_group(number).combine_chunks()
        yield from table.to_batches() or [
            pa.RecordBatch.from_arrays(
                [pa.array([], t) for t in table.schema.types], schema=table.schema
            )
        ]


def _compression(file: Any) -> str:
    """How the columns of the file are compressed, as the writer calls it."""
    metadata = file.metadata
    if not metadata.num_row_groups or not metadata.num_columns:
        return "snappy"
    used: str = metadata.row_group(0).column(0).compression.lower()
    return {"uncompressed": "none"}.get(used, used)


class _Sink(io.RawIOBase):
    """Where a file is written to be taken away piece by piece."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []
        self._size = 0

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Keep a piece."""
        self._pieces.append(bytes(data))
        self._size += len(self._pieces[-1])
        return len(self._pieces[-1])

    def tell(self) -> int:
        """How many bytes were written."""
        return self._size

    def taken(self) -> bytes:
        """What was written since the last call."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
