"""A shard that its worker reads from the files themselves: runs of bytes, each with its hash."""

from __future__ import annotations

import io
import socket
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp.errors import FileError
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.on_disk import MemoryLimit, read_numbers
from perceptron_nlp.tagger.train.sources import Source

Int64s = npt.NDArray[np.int64]

BOM = b"\xef\xbb\xbf"


class NoLimit(MemoryLimit):
    """None at all."""

    option = "read_by"

    def __init__(self) -> None:
        pass

    def check(self) -> None:
        """Nothing is too much."""


@dataclass(frozen=True, slots=True, eq=False)
class ShardFiles:
    """Where a worker reads its sentences.

    Attributes
    ----------
    paths : the files, which are at the same place on every machine
    runs : int64[n, 3]; for each run of bytes the number of its file, its first byte, its length
    hashes : uint64[n]; of each
    column : that of the labels
    examples : all that is not in the files
    """

    paths: tuple[str, ...]
    runs: Int64s
    hashes: npt.NDArray[np.uint64]
    column: str
    examples: Examples

    def read(self) -> Examples:
        """The sentences.

        Raises
        ------
        FileError : a file is missing here, or another one than where the training was begun
        """
        evidence = self.examples.columns
        stream = io.BufferedReader(_Runs(self), 1 << 20)
        source = Source(open_corpus(stream, format="conllu"), "train")
        text, gold, n_labelled, _ = read_numbers(source, self.column, evidence, NoLimit())
        return replace(
            self.examples,
            sentences=text,
            gold=gold,
            n_tokens=len(gold.numbers),
            n_labelled=n_labelled,
        )


class _Runs(io.RawIOBase):
    """The bytes of a shard, run after run, each with an empty line at its end."""

    def __init__(self, shard: ShardFiles) -> None:
        self._shard = shard
        self._number = 0
        self._left = memoryview(b"")
        self._file: io.BufferedReader | None = None
        self._opened = -1

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, into: memoryview, /) -> int:  # type: ignore[override]
        """See io.RawIOBase."""
        while not self._left:
            if self._number == len(self._shard.runs):
                return 0
            self._left = memoryview(self._next())
        size = min(len(into), len(self._left))
        into[:size] = self._left[:size]
        self._left = self._left[size:]
        return size

    def _next(self) -> bytes:
        number, at, size = self._shard.runs[self._number].tolist()
        wanted = int(self._shard.hashes[self._number])
        self._number += 1
        path = self._shard.paths[number]
        try:
            if self._opened != number:
                self.close_file()
                self._file, self._opened = open(path, "rb"), number  # noqa: SIM115
            text = b""
            if self._file is not None:
                self._file.seek(at)
                text = self._file.read(size)
        except OSError as error:
            raise FileError(
                f"{path}: cannot be read on {socket.gethostname()}: {error.strerror};"
                " put the files where every worker finds them under these names, or"
                " leave read_by out"
            ) from error
        if hash64(text) != wanted:
            raise FileError(
                f"{path}: on {socket.gethostname()} is another file than where the"
                " training was begun, or was changed since; put the same one on every"
                " machine, and begin again"
            )
        if at == 0:
            text = text.removeprefix(BOM)
        return text if text.endswith(b"\n\n") else text.rstrip(b"\n") + b"\n\n"

    def close_file(self) -> None:
        """Close the file that is read."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def close(self) -> None:
        """Close all."""
        self.close_file()
        super().close()
