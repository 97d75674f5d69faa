"""Files dealt out to workers, so that no process holds the whole text.

The program reads the files once, piece by piece: labels, distinct words and counts stay in memory,
words and labels by their numbers go to a temporary file. Then it looks up where sentences end, and
tells each worker which bytes are its own, with a hash of each run of them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.hashing import hash64
from perceptron_nlp.errors import ArgumentError, FileError
from perceptron_nlp.formats import CONLLU_COLUMNS
from perceptron_nlp.integrations.shardfiles import Int64s, NoLimit, ShardFiles
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.numbered import NumberedLabels
from perceptron_nlp.tagger.train.on_disk import read_stored
from perceptron_nlp.tagger.train.sources import Source

READ_BY = ("program", "workers")
# A worker is dealt so many cards at least; where there are more sentences, cards have several, so
# that a worker reads some thousand runs of bytes, and not a sentence here and there.
CARDS = 4096
# Bytes of a file looked through at a time.
BLOCK = 1 << 24


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file as it was when it was read.

    Attributes
    ----------
    path : absolute
    size, changed : bytes, and the time of the last change in nanoseconds
    """

    path: str
    size: int
    changed: int

    @classmethod
    def at(cls, path: str) -> TextFile:
        """The file as it is now; FileError where there is none."""
        path = os.path.abspath(path)
        try:
            found = os.stat(path)
        except OSError as error:
            raise FileError(f"{path}: cannot be read: {error.strerror}") from error
        return cls(path, found.st_size, found.st_mtime_ns)


@dataclass(slots=True)
class FiledExamples(Examples):
    """Examples that workers can read from files, too.

    Attributes
    ----------
    files : where they are
    column : that of the labels
    as_read : the labels as they are in the files
    """

    files: tuple[TextFile, ...] = ()
    column: str = ""
    as_read: Sequence[Sequence[str | None]] = field(default=())


def reader_of(read_by: str) -> Callable[[Source, str, Sequence[str]], Examples]:
    """What reads a source, when shards are read by the program or by the workers."""
    return read_for_workers if read_by == "workers" else Examples.read


def read_for_workers(source: Source, column: str, evidence: Sequence[str]) -> FiledExamples:
    """The examples of files that workers can read parts of.

    Raises
    ------
    ArgumentError : there are no files, or not of CoNLL-U
    FileError, FormatError : as for on_disk.read_stored
    """
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
        if corpus.format != "conllu" or corpus.column_names != CONLLU_COLUMNS[2:]:
            raise ArgumentError(
                f"read_by: workers read CoNLL-U of ten columns, and {corpus.path}"
                " is none; leave read_by out"
            )
    files = tuple(TextFile.at(corpus.path) for corpus in source.corpora)
    for corpus in source.corpora:
        corpus.reopen()
    read = read_stored(source, column, evidence, NoLimit())
    return FiledExamples(
        read.sentences,
        read.gold,
        read.tags,
        read.n_tokens,
        read.n_labelled,
        read.digest,
        read.columns,
        files=files,
        column=column,
        as_read=read.gold,
    )


def dealt_sentences(n_sentences: int, workers: int) -> list[Int64s]:
    """The numbers of each worker's sentences."""
    cards = np.arange(n_sentences) // _card(n_sentences, workers)
    return [np.flatnonzero(cards % workers == k) for k in range(workers)]


def _card(n_sentences: int, workers: int) -> int:
    return max(1, n_sentences // (workers * CARDS))


def deal_files(examples: FiledExamples, workers: int) -> list[ShardFiles]:
    """What `dealt_sentences` deals out, as runs of bytes.

    Raises
    ------
    ArgumentError : labels are learnt that are not in the files, or the files are not of the usual
        form
    FileError : a file was changed since it was read
    """
    if examples.gold is not examples.as_read:
        raise ArgumentError(
            "read_by: workers learn labels as they are in the files, and these are"
            " learnt as others (spans, features); leave read_by out"
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
    runs = _runs(ends, _card(n_sentences, workers))
    hashes = _hashes(examples.files, runs[:, 1:])
    for file in examples.files:
        if TextFile.at(file.path) != file:
            raise FileError(
                f"{file.path}: was changed while it was read; begin again when nobody writes it"
            )
    shell = Examples(
        (),
        NumberedLabels([], np.empty(0, np.int32), np.empty(0, np.int64)),
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
    """Where each sentence of a file ends: behind its last empty line, or with the file."""
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
    # Of several empty lines the last.
    ends = ends[np.diff(ends, append=-1) != 1]
    if _is_more(file.path, int(ends[-1]) if len(ends) else 0):
        ends = np.append(ends, at)
    return ends


def _is_more(path: str, behind: int) -> bool:
    """Is there anything but white space behind a place?"""
    with open(path, "rb") as stream:
        stream.seek(behind)
        return bool(stream.read(BLOCK).strip())


def _runs(ends: Sequence[Int64s], card: int) -> Int64s:
    """int64[n, 4]; for each run of bytes its card, its file, its first byte and its length.

    A card with sentences of several files is a run in each.
    """
    found, first = [], 0
    for number, places in enumerate(ends):
        cards = np.arange(first, first + len(places)) // card
        last = np.flatnonzero(np.diff(cards, append=-1))
        stops = places[last]
        starts = np.concatenate([[0], stops[:-1]]) if len(stops) else stops
        found.append(
            np.stack([cards[last], np.full(len(last), number), starts, stops - starts], axis=1)
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
