"""A batch function over Arrow data that engines send to their workers.

It travels as the path of a model file. Each process that gets it maps the file into memory when the
first batch comes, and keeps it for those that follow.
"""

from __future__ import annotations

import functools
import hashlib
import os
import socket
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    EngineError,
    FileError,
    ModelError,
    missing_extra,
    quote,
)
from perceptron_nlp.formats import read_file_bytes
from perceptron_nlp.integrations.arrow import Filling

try:
    import pyarrow as pa
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None


class ArrowTagger:
    """Adds columns of labels to Arrow data, in whatever process it comes to.

    Call it with a table or a record batch (Ray Data, Dask, DuckDB), or have `batches` go over those
    of a partition (Spark). Rows are sentences, a column has lists of their words, and each column
    of labels is a list of strings. The rows of a table, or of a partition, are one text for models
    that look at a sentence's neighbours.

    Parameters
    ----------
    model : path of a model file, which is at the same place on every machine
    columns : which of the model's columns to fill; None for all
    tokens_column : see integrations.arrow.tag_arrow
    keep : which of the data's columns stay beside those of labels; None for all. What is left out
        an engine need not move: ``keep=["id"]`` in place of the words, which are there already

    Attributes
    ----------
    columns : the columns that it fills, in the order of the model

    Raises
    ------
    FileError, ModelError : as for ``perceptron_nlp.load``
    ArgumentError, ArgumentTypeError : `columns` are not of the model; they or `keep` are no lists
        of names
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        columns: Sequence[str] | None = None,
        tokens_column: str | None = None,
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
        self.model = os.path.abspath(os.fspath(model))
        self.tokens_column = tokens_column
        self.keep = None if keep is None else tuple(keep)
        self._digest = digest_of(self.model)
        self._version = pn.__version__
        known = tagger_at(self.model, self._digest).columns
        for name in columns or ():
            if name not in known:
                raise ArgumentError(
                    f"columns: the model does not fill {quote(name)}; it fills {', '.join(known)}"
                )
        self.columns = tuple(name for name in known if columns is None or name in columns)

    def __call__(self, data: Any) -> Any:
        """The table, or the record batch, with the columns of labels.

        Raises
        ------
        ArgumentError, ArgumentTypeError : as for integrations.arrow.tag_arrow
        FileError, ModelError : there is no such model on this machine, or another one
        EngineError : this library is of another version here
        """
        filling = self._filling()
        if isinstance(data, pa.RecordBatch):
            return next(filling.of_batches([data], self.tokens_column))
        if not isinstance(data, pa.Table):
            raise ArgumentTypeError(
                f"data: a table or a record batch is needed, not {type(data).__name__}"
            )
        schema = filling.schema(data.schema, self.tokens_column)
        return pa.Table.from_batches(
            filling.of_batches(data.to_batches(), self.tokens_column), schema
        )

    def batches(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The record batches of a partition, each with the columns of labels; errors as above."""
        return self._filling().of_batches(batches, self.tokens_column)

    def schema(self, given: Any) -> Any:
        """The schema that data of a schema have with the columns of labels."""
        return self._filling().schema(given, self.tokens_column)

    def _filling(self) -> Filling:
        check_version(self._version)
        parts = tagger_at(self.model, self._digest).by_column
        return Filling(
            {name: parts[name] for name in self.columns},
            threads=1,
            dictionary=False,
            keep=self.keep,
        )


def check_version(version: str) -> None:
    """Raise EngineError where this library is of another version than where a work was begun."""
    if version != pn.__version__:
        raise EngineError(
            f"engine: {socket.gethostname()} has version {pn.__version__} of perceptron-nlp, and"
            f" the work was begun with {version}; install the same version everywhere"
        )


def digest_of(path: str) -> str:
    """SHA-256 of a file, in hexadecimal; FileError where it cannot be read."""
    return hashlib.sha256(read_file_bytes(path)).hexdigest()


@functools.lru_cache(maxsize=4)
def tagger_at(path: str, digest: str) -> pn.Tagger:
    """The tagger in a file, mapped into memory once in a process.

    Raises
    ------
    FileError : there is no such file on this machine
    ModelError : it is another one than where the work was begun
    """
    if not os.path.isfile(path):
        raise FileError(
            f"{path}: there is no such file on {socket.gethostname()}; put the model"
            " where every worker finds it under this name"
        )
    if digest_of(path) != digest:
        raise ModelError(
            f"{path}: on {socket.gethostname()} is another model than where the work"
            " was begun; put the same file on every machine"
        )
    return pn.load(path, mmap=True)
