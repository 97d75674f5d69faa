"""Shards of the training sentences: as numbers, or as bytes of files that a worker reads itself.

For the second, no process holds the whole text. The program reads the files once, chunk by chunk:
labels, distinct words and counts stay in memory, words and labels as numbers go to a temporary
file. Then it finds the ends of sentences, and gives each worker its runs of bytes, with a hash of
each.
"""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import BinaryIO, cast

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp.errors import ArgumentError, FileError
from perceptron_nlp.features.templates import Template, compile_templates
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.tagger.model.feature_function import FEATURES
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.numbered import NumberedLabels, NumberedText, numbers_alone
from perceptron_nlp.tagger.train.on_disk import MemoryLimit, read_numbers, read_stored
from perceptron_nlp.tagger.train.sources import Source, has_ten_columns

READ_BY = ("program", "workers")
# Sentences are distributed in groups; a worker gets at least so many of them (or all have one
# sentence), so it reads some thousand runs of bytes, and not a sentence here and there.
GROUPS = 4096
# Bytes of a file that are searched at a time.
BLOCK = 1 << 24


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as it was when it was read: absolute path, bytes, nanoseconds of the last change."""

    path: str
    size: int
    changed: int

    @classmethod
    def at(cls, path: str) -> TextFile:
        """Return the file as it is now; FileError if there is none."""
        path = os.path.abspath(path)
        try:
            found = os.stat(path)
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror}") from error
        return cls(path, found.st_size, found.st_mtime_ns)


@dataclass(slots=True)
class FileExamples(Examples):
    """Examples that workers can read from files, too; ``as_read`` are the labels in these."""

    files: tuple[TextFile, ...] = ()
    column: str = ""
    as_read: NumberedLabels | None = None


def reader_of(read_by: str) -> Callable[[Source, str, Sequence[str]], Examples]:
    """Return the reader of a source whose shards the program, or the workers, read."""
    return read_for_workers if read_by == "workers" else Examples.read


def read_for_workers(source: Source, column: str, feature_columns: Sequence[str]) -> FileExamples:
    """The examples of files that workers can read parts of."""
    if not source.corpora:
        raise ArgumentError(
            "read_by: workers read files, and these sentences are in memory; name"
            " files, or leave read_by out"
        )
    for corpus in source.corpora:
        if not os.path.isfile(corpus.path):
            raise ArgumentError(
                f"read_by: workers cannot read {corpus.path}, which is no file;"
                " write it to one, or leave read_by out"
            )
        if not has_ten_columns(corpus):
            raise ArgumentError(
                f"read_by: workers read CoNLL-U of ten columns, and {corpus.path}"
                " is none; leave read_by out"
            )
    files = tuple(TextFile.at(corpus.path) for corpus in source.corpora)
    for corpus in source.corpora:
        corpus.reopen()
    read = read_stored(source, column, feature_columns, NoLimit())
    own = {name: getattr(read, name) for name in Examples.__dataclass_fields__}
    return FileExamples(**own, files=files, column=column, as_read=read.gold)


def sentences_by_shard(n_sentences: int, workers: int) -> list[Int64s]:
    """Return the numbers of each worker's sentences."""
    groups = np.arange(n_sentences) // _group_size(n_sentences, workers)
    return [np.flatnonzero(groups % workers == k) for k in range(workers)]


def _group_size(n_sentences: int, workers: int) -> int:
    return max(1, n_sentences // (workers * GROUPS))


def make_file_shards(examples: FileExamples, workers: int) -> list[ShardFiles]:
    """Return the shards of sentences_by_shard as runs of bytes."""
    if examples.gold is not examples.as_read:
        raise ArgumentError(
            "read_by: workers learn labels as they are in the files, and these are"
            " learned as others (spans, features); leave read_by out"
        )
    ends = [ends_in(file) for file in examples.files]
    n_sentences = len(examples.sentences)
    if sum(map(len, ends)) != n_sentences:
        names = ", ".join(file.path for file in examples.files)
        raise ArgumentError(
            f"read_by: workers cannot find the sentences in {names}: they read plain CoNLL-U,"
            " whose lines end in line feeds, with an empty line behind every sentence and words in"
            " each; unpack or rewrite it, or leave read_by out"
        )
    runs = _runs(ends, _group_size(n_sentences, workers))
    hashes = _hashes(examples.files, runs[:, 1:])
    for file in examples.files:
        if TextFile.at(file.path) != file:
            raise FileError(
                f"{file.path}: was changed while it was read; begin again when nobody writes it"
            )
    shell = Examples(
        NumberedText.of(()),
        NumberedLabels.of(()),
        examples.tags,
        0,
        0,
        examples.digest,
        examples.columns,
    )
    paths = tuple(file.path for file in examples.files)
    owners = runs[:, 0] % workers
    return [
        ShardFiles(paths, runs[owners == k, 1:], hashes[owners == k], examples.column, shell)
        for k in range(workers)
    ]


def ends_in(file: TextFile) -> Int64s:
    """Return the end of each sentence of a file: behind its last empty line, or with the file."""
    found, at, before = [np.empty(0, np.int64)], 0, b""
    # Pages of a file that is mapped would count as memory of the program.
    with open(file.path, "rb") as stream:
        while block := stream.read(BLOCK):
            # With the byte before it, since it may begin with the second of two line feeds.
            feeds = np.frombuffer(before + block, np.uint8) == 10
            second = np.flatnonzero(feeds[:-1] & feeds[1:]) + 2
            found.append(second + at - len(before))
            at, before = at + len(block), (before + block)[-1:]
    ends = np.concatenate(found)
    # Of several empty lines, the last.
    ends = ends[np.diff(ends, append=-1) != 1]
    with open(file.path, "rb") as stream:
        stream.seek(int(ends[-1]) if len(ends) else 0)
        # The last sentence may lack its empty line; white space alone is none.
        return np.append(ends, at) if stream.read(BLOCK).strip() else ends


def _runs(ends: Sequence[Int64s], size: int) -> Int64s:
    """int64[n, 4]; for each run of bytes its group, its file, its first byte and its length.

    A group with sentences of several files is a run in each.
    """
    found, first = [], 0
    for number, places in enumerate(ends):
        groups = np.arange(first, first + len(places)) // size
        last = np.flatnonzero(np.diff(groups, append=-1))
        stops = places[last]
        starts = np.concatenate([[0], stops[:-1]]) if len(stops) else stops
        found.append(
            np.stack([groups[last], np.full(len(last), number), starts, stops - starts], axis=1)
        )
        first += len(places)
    return np.concatenate(found).astype(np.int64)


def _hashes(files: Sequence[TextFile], runs: Int64s) -> npt.NDArray[np.uint64]:
    found = []
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(open(file.path, "rb")) for file in files]
        for number, at, size in runs.tolist():
            streams[number].seek(at)
            found.append(hash64(streams[number].read(size)))
    return np.array(found, np.uint64)


Int64s = npt.NDArray[np.int64]

BOM = b"\xef\xbb\xbf"


class NoLimit(MemoryLimit):
    """No bound on memory."""

    option = "read_by"

    def __init__(self) -> None:
        pass

    def check(self) -> None:
        """Never raise."""


@dataclass(frozen=True, slots=True, eq=False)
class ShardFiles:
    """A shard as bytes of files, which its worker reads.

    Attributes
    ----------
    paths : the files, which have the same paths on every machine
    runs : int64[n, 3]; for each run of bytes the number of its file, its first byte, its length
    hashes : uint64[n]; of each
    column : the column of the labels
    examples : everything that is not in the files
    """

    paths: tuple[str, ...]
    runs: Int64s
    hashes: npt.NDArray[np.uint64]
    column: str
    examples: Examples

    def read(self) -> Examples:
        """Return the sentences."""
        feature_columns = self.examples.columns
        stream = cast(BinaryIO, _Runs(self))
        source = Source(open_corpus(stream, format="conllu"), "train")
        text, gold, _ = read_numbers(source, self.column, feature_columns, NoLimit())
        return replace(
            self.examples,
            sentences=text,
            gold=gold,
            n_tokens=len(gold.numbers),
            n_labelled=gold.n_labelled,
        )


class _Runs:
    """The bytes of a shard as a stream to read."""

    def __init__(self, shard: ShardFiles) -> None:
        self._runs = _texts(shard)
        self._left = memoryview(b"")

    def read(self, size: int) -> bytes:
        """Return at most so many bytes; none at the end."""
        if not self._left:
            self._left = memoryview(next(self._runs, b""))
        piece, self._left = bytes(self._left[:size]), self._left[size:]
        return piece


def _texts(shard: ShardFiles) -> Iterator[bytes]:
    """Yield the runs of a shard, each with an empty line at its end."""
    opened = -1
    with contextlib.ExitStack() as stack:
        for (number, at, size), wanted in zip(
            shard.runs.tolist(), shard.hashes.tolist(), strict=True
        ):
            path = shard.paths[number]
            try:
                if opened != number:
                    stack.close()
                    file, opened = stack.enter_context(open(path, "rb")), number
                file.seek(at)
                text = file.read(size)
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
            yield text if text.endswith(b"\n\n") else text.rstrip(b"\n") + b"\n\n"


def make_shards(
    examples: Examples, workers: int, templates: tuple[Template, ...]
) -> list[Examples] | list[ShardFiles]:
    """Distribute the sentences over `workers` shards, in turns."""
    if isinstance(examples, FileExamples):
        if FEATURES in examples.columns:
            raise ArgumentError(
                "read_by: a feature function looks at whole sentences, which the"
                " program must read; leave read_by out"
            )
        return make_file_shards(examples, workers)
    parts = [numbers.tolist() for numbers in sentences_by_shard(len(examples.sentences), workers)]
    columns = compile_templates(templates).columns
    return [as_numbers(examples.part(numbers), columns) for numbers in parts]


def as_numbers(part: Examples, columns: Sequence[str]) -> Examples:
    """The same without sentence objects, and with no columns but these."""
    text = part.sentences
    kept = {name: text.column(name) for name in columns}
    return replace(part, sentences=numbers_alone(text.lengths, kept))
