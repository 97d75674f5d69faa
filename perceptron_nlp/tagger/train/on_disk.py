"""Training on more text than memory: the text is read once, in pieces, and kept on disk.

What is read is the same as without: distinct strings in order of appearance, the digest, and every
error.
"""

from __future__ import annotations

import hashlib
import os
import sys
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import parse_size
from perceptron_nlp._core.conllu.numbering import number_conllu
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.errors import ArgumentError, MemoryLimitError
from perceptron_nlp.formats import Corpus
from perceptron_nlp.tagger.numbered import (
    NumberedLabels,
    NumberedText,
    Numbers,
    StoredNumbers,
    whole_text_needed,
)
from perceptron_nlp.tagger.sources import Source, gold_labels, has_ten_columns
from perceptron_nlp.tagger.train.data import Examples, columns_to_scan, digest_sentence
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import UNLABELLED, UNLABELLED_COLUMNS, word_bytes

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# Bytes of a file scanned at a time, and words of other sources gathered before they are stored.
BLOCK = 1 << 21
GATHERED = 1 << 15
# Words made features of at a time.
CHUNK = 1 << 15
# What reading needs at a time: a piece of text, its numbers, and the library's own pages.
ROOM = 24 << 20
# What averaging, rounding and sorting the weights take at the end. With rows of all labels it
# depends on how many of a row's labels have a weight, mostly few: so many bytes for a feature, for
# one that has learned something, and for each label, half as much again as was measured with 5 and
# with 17 labels. With others it is a share of the table, of which 0.7 to 1.14 were measured. Four
# runs, which are summed, took 1.4 where one took 0.5.
FEATURE_BYTES, ROW_BYTES, LABEL_BYTES, USUAL_LABELS = 20, 80, 45, 4
CELL_SHARE, SHARE_OF_RUN = 1.25, 0.5


class MemoryLimit:
    """A bound on the resident memory of this process, looked at while it reads and learns.

    `size` is in bytes, or text such as ``"500MB"``: at least what the process has already and some
    room to read into; `option` asked for it. Raises MemoryLimitError if it is too small for any
    training; ArgumentError, ArgumentTypeError if it is no size, or the system does not tell what a
    process holds.
    """

    option = "max_memory"

    def __init__(self, size: int | str) -> None:
        self._size = size = parse_size(size, self.option)
        self._table: WeightTable | None = None
        self._runs = 1.0
        held = resident()
        if held is None:
            raise ArgumentError(
                "max_memory: this system does not tell how much memory a process"
                " holds; leave max_memory out"
            )
        if size < held + ROOM:
            raise MemoryLimitError(
                f"max_memory: {_megabytes(size)} are too few: this process holds"
                f" {_megabytes(held)} before it has read anything, and reading needs"
                f" {_megabytes(ROOM)}; allow at least {_megabytes(held + ROOM)}"
            )

    def watch(self, table: WeightTable, *, runs: int) -> None:
        """Leave room from now on for a model of so many tables, learned one after the other."""
        self._table = table
        self._runs = 1 + SHARE_OF_RUN * (runs - 1)

    def _needed(self) -> int:
        """Bytes that making a model will take."""
        if self._table is None:
            return 0
        rows, n = self._table.rows_learnt, self._table.n_labels
        needed = (
            CELL_SHARE * self._table.bytes_used
            if rows is None
            else self._table.n_rows * FEATURE_BYTES
            + rows * (ROW_BYTES + LABEL_BYTES * min(n, USUAL_LABELS))
        )
        return int(self._runs * needed)

    def check(self) -> None:
        """Raise MemoryLimitError where what is held, and what the model will need, are too much."""
        held = resident() or 0
        needed = self._needed()
        if held + needed <= self._size:
            return
        making = (
            f", and making a model of what it has learned takes up to {_megabytes(needed)} more"
            if needed
            else ""
        )
        raise MemoryLimitError(
            f"max_memory: {_megabytes(self._size)} are too few: this process holds"
            f" {_megabytes(held)}{making}. Sentences are kept on disk, but distinct words, features"
            ' and their weights in memory: set table_bits or preset="fast", which have fewer, or'
            " allow more"
        )


def resident() -> int | None:
    """Bytes of memory that this process holds; where only the most it ever held is known, that."""
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def _megabytes(size: int) -> str:
    return f"{-(-size // 10**6):,} MB"


class _Gone:
    """The sentences of a text that was read piece by piece, for the sake of an option."""

    def __init__(self, option: str) -> None:
        self._option = option

    @property
    def all(self) -> list[Sentence]:
        """Raises ArgumentError: they are no longer there."""
        raise whole_text_needed(self._option)


class _Column:
    """The distinct strings of a column, and on disk those of each word, by their numbers."""

    def __init__(self, limit: MemoryLimit) -> None:
        self.numbers: dict[str | None, int] = {}
        self.stored = StoredNumbers(limit)
        self._gathered = array("i")

    def add(self, values: Sequence[str | None]) -> None:
        """A sentence's values."""
        enter = self.numbers.setdefault
        self._gathered.extend([enter(value, len(self.numbers)) for value in values])
        if len(self._gathered) >= GATHERED:
            self.flush()

    def add_numbered(self, values: Sequence[str | None], tokens: Int32s) -> None:
        """Many words' values: the distinct ones in order of appearance, and each word's."""
        self.flush()
        enter = self.numbers.setdefault
        known = np.array([enter(value, len(self.numbers)) for value in values], np.int32)
        self.stored.append(known[tokens])

    def flush(self) -> None:
        """Store what is gathered."""
        if self._gathered:
            self.stored.append(np.frombuffer(self._gathered, np.int32))
            self._gathered = array("i")


class _Reading:
    """One source as it is read: the learned column and the feature columns."""

    def __init__(self, column: str, feature_columns: Sequence[str], limit: MemoryLimit) -> None:
        self.column = column
        self.feature_columns = feature_columns
        self.digest = hashlib.sha256()
        self.columns = {name: _Column(limit) for name in ("form", *feature_columns)}
        self.labels = _Column(limit)
        self.lengths = array("i")
        self._none = UNLABELLED if column.lower() in UNLABELLED_COLUMNS else None
        self._scanned = columns_to_scan(column, feature_columns)

    def read(self, source: Source) -> None:
        """Every sentence of the source."""
        for corpus in source.corpora if self._scanned else ():
            if has_ten_columns(corpus):
                self._scan(corpus)
            self._add_all(sentence for sentence in corpus if sentence.words)
        if not (source.corpora and self._scanned):
            self._add_all(source)
        for column in (*self.columns.values(), self.labels):
            column.flush()

    def _scan(self, corpus: Corpus) -> None:
        """The sentences up to the first unusual ones, or to the last that no empty line ends."""
        corpus.reopen()
        while block := corpus.take_blocks(BLOCK, 8 * BLOCK):
            found = number_conllu(
                [block],
                self._scanned,
                underscore_is_none=self._none is not None,
                digest=self.digest,
            )
            if found is None:
                corpus.put_back(block)
                return
            strings, tokens, lengths = found
            for k, column in enumerate(self.columns.values()):
                column.add_numbered([text.decode() for text in strings[k]], tokens[k])
            values = [text.decode() for text in strings[-1]]
            labels = [None if value == self._none else value for value in values]
            self.labels.add_numbered(labels, tokens[-1])
            self.lengths.frombytes(lengths.astype(np.intc).tobytes())

    def _add_all(self, sentences: Iterator[Sentence] | Source) -> None:
        for sentence in sentences:
            labels = gold_labels(sentence, self.column)
            digest_sentence(self.digest, sentence, self.feature_columns, labels)
            self.columns["form"].add(sentence.words)
            for name in self.feature_columns:
                self.columns[name].add(sentence.column(name))
            self.labels.add(labels)
            self.lengths.append(len(labels))


def read_stored(
    source: Source, column: str, feature_columns: Sequence[str], limit: MemoryLimit
) -> Examples:
    """Return the examples of a source, gone over once, their words and labels on disk.

    Raises FormatError, with file:line; also if no word is labeled; FileError if a file cannot be
    read, or the temporary ones cannot be written; MemoryLimitError if the distinct words alone are
    too many.
    """
    return Examples.checked(
        source, column, feature_columns, *read_numbers(source, column, feature_columns, limit)
    )


def read_numbers(
    source: Source, column: str, feature_columns: Sequence[str], limit: MemoryLimit
) -> tuple[NumberedText, NumberedLabels, str]:
    """As read_stored: sentences, labels, and the digest."""
    reading = _Reading(column, feature_columns, limit)
    reading.read(source)
    lengths = np.array(reading.lengths, np.int64)
    columns: dict[str, tuple[list[bytes], Numbers]] = {
        name: ([word_bytes(word or "") for word in found.numbers], found.stored)
        for name, found in reading.columns.items()
    }
    numbers = np.arange(len(lengths), dtype=np.int32)
    return (
        NumberedText(_Gone(limit.option), numbers, lengths, columns),
        NumberedLabels(list(reading.labels.numbers), reading.labels.stored, lengths),
        reading.digest.hexdigest(),
    )


class StoredSentences:
    """Sentences that a core TrainingSet reads from examples on disk, and writes their features to.

    strings : for each column the distinct strings, in order of appearance
    lengths, starts : int64[n_sentences], int64[n_sentences + 1]; words in each sentence, and where
        it begins among all words
    records : what the training set keeps of each word
    check : raises MemoryLimitError if the limit is passed
    """

    def __init__(self, examples: Examples, columns: Sequence[str], limit: MemoryLimit) -> None:
        text, gold = examples.sentences, examples.gold
        found = [text.column(name) for name in columns]
        self.strings = [strings for strings, _ in found]
        self.records = StoredNumbers(limit)
        self.lengths = text.lengths
        self.starts = np.concatenate([[0], np.cumsum(text.lengths)])
        self._tokens = [tokens for _, tokens in found]
        self._labels = gold
        self._label_ids = gold.numbers_in(examples.label_ids())
        self.check = limit.check

    def chunks(self) -> Iterator[tuple[Int32s, Int32s, Int64s]]:
        """All sentences in order: int32[n_columns, n], their labels, and the lengths."""
        for first, last in self.ranges():
            words = slice(int(self.starts[first]), int(self.starts[last]))
            yield (
                np.stack([column[words] for column in self._tokens]),
                self._label_ids[self._labels.numbers[words]],
                self.lengths[first:last],
            )

    def ranges(self) -> Iterator[tuple[int, int]]:
        """The sentences from one number to before another, a few at a time."""
        first, ends = 0, self.starts[1:]
        while first < len(ends):
            last = int(np.searchsorted(ends, self.starts[first] + CHUNK, "right"))
            yield first, max(first + 1, last)
            first = max(first + 1, last)


def reader(
    columns: Sequence[str], limit: MemoryLimit, options: Mapping[str, object]
) -> Callable[..., Examples]:
    """Return what reads a text onto disk; ArgumentError for options that need it in memory."""
    if len(columns) > 1:
        raise ArgumentError(
            "max_memory: one column at a time is learned from text kept on disk,"
            f" not {len(columns)}; train a model for each, or leave max_memory out"
        )
    for name, given in options.items():
        if given:
            raise ArgumentError(
                f"max_memory: {name} needs whole sentences or a second copy of the"
                f" model in memory; leave {name} out, or max_memory"
            )
    return partial(read_stored, limit=limit)
