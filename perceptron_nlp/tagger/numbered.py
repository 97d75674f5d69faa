"""Training text as numbers, in memory or in a temporary file that has no name.

A CoNLL-U file of the usual form is scanned in the core, and Sentence objects are made only if
somebody looks at these; anything unusual is left to the checked reader.
"""

from __future__ import annotations

import errno
import functools
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError, FileError
from perceptron_nlp.tagger.sources import read_texts
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import word_bytes

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# Words counted at a time.
_COUNTED = 1 << 16
# Bytes of a number on disk.
_WIDTH = 4


class Digest(Protocol):
    """A digest of the text, such as hashlib has."""

    def update(self, data: bytes, /) -> None:
        """Take bytes in."""


class Limit(Protocol):
    """Bound on memory; `option` is the name of the option that asked for it."""

    option: str

    def check(self) -> None:
        """Raise MemoryLimitError if the bound is passed."""


class WholeSentences(Protocol):
    """A reader that gives the sentences of a text as objects."""

    @property
    def all(self) -> list[Sentence]:
        """All sentences."""


class Numbers(Protocol):
    """int32[n], in memory or not."""

    def __len__(self) -> int:
        """Number of sentences."""

    def __getitem__(self, places: Any, /) -> Any:
        """int32: those of a slice, or at places."""

    def tolist(self) -> Any:
        """All of them."""


@dataclass(frozen=True, slots=True)
class _Made:
    """Sentences that are there as objects."""

    all: list[Sentence]


class TextSentences:
    """The sentences of some texts, read when they are first looked at."""

    def __init__(self, texts: Sequence[tuple[str, bytearray]]) -> None:
        self._texts = texts

    @functools.cached_property
    def all(self) -> list[Sentence]:
        """All sentences."""
        found = list(read_texts(self._texts))
        self._texts = ()
        return found


@dataclass(slots=True, eq=False)
class NumberedText(Sequence[Sentence]):
    """Some sentences of texts.

    whole : all sentences of the texts
    numbers : int32[n] or int64[n]; which of them
    lengths : int64[n]; words in each
    columns : by name, distinct strings in order of appearance (UTF-8), and int32[n_tokens]; the
        others are numbered when they are asked for
    """

    whole: WholeSentences
    numbers: Int32s | Int64s
    lengths: Int64s
    columns: dict[str, tuple[list[bytes], Numbers]]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> NumberedText:
        """Return the same sentences as objects that are there already."""
        if isinstance(sentences, NumberedText):
            return sentences
        lengths = np.array([len(s.words) for s in sentences], np.int64)
        return cls(_Made(list(sentences)), np.arange(len(lengths)), lengths, {})

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.select(range(*index.indices(len(self))))
        return self.whole.all[self.numbers[index]]

    def __iter__(self) -> Iterator[Sentence]:
        return map(self.whole.all.__getitem__, self.numbers.tolist())

    def select(self, numbers: Sequence[int]) -> NumberedText:
        """Some of these, by their places among them."""
        chosen = np.asarray(numbers, np.int64)
        places = token_places(self.lengths, chosen)
        return NumberedText(
            self.whole,
            self.numbers[chosen],
            self.lengths[chosen],
            {
                name: _renumbered(strings, tokens[places])
                for name, (strings, tokens) in self.columns.items()
            },
        )

    def column(self, name: str) -> tuple[list[bytes], Numbers]:
        """The distinct strings of a column, in order of appearance, and each word's number."""
        if name not in self.columns:
            seen: dict[str, int] = {}
            enter = seen.setdefault
            tokens = [enter(text, len(seen)) for values in self.values(name) for text in values]
            self.columns[name] = [word_bytes(text) for text in seen], np.array(tokens, np.int32)
        return self.columns[name]

    def values(self, name: str) -> list[Sequence[str]]:
        """The strings of a column, sentence by sentence; ``form`` is the words."""
        if isinstance(self.whole, _Made) or name not in self.columns:
            return [s.words if name == "form" else s.column(name) for s in self]
        strings, tokens = self.columns[name]
        return _in_sentences([text.decode() for text in strings], tokens, self.lengths)


class NumberedLabels(Sequence[Sequence[str | None]]):
    """The distinct labels, None among them if a word has none, and the number of each word's."""

    def __init__(self, labels: list[str | None], numbers: Numbers, lengths: Int64s) -> None:
        self.labels = labels
        self.numbers = numbers
        self._lengths = lengths

    @classmethod
    def of(cls, gold: Sequence[Sequence[str | None]]) -> NumberedLabels:
        """Return the same labels, numbered in order of appearance."""
        if isinstance(gold, NumberedLabels):
            return gold
        seen: dict[str | None, int] = {}
        enter = seen.setdefault
        numbers = [enter(label, len(seen)) for labels in gold for label in labels]
        return cls(
            list(seen), np.array(numbers, np.int32), np.array([len(own) for own in gold], np.int64)
        )

    @functools.cached_property
    def _ends(self) -> Int64s:
        return np.cumsum(self._lengths)

    def __len__(self) -> int:
        return len(self._lengths)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.select(range(*index.indices(len(self))))
        end = self._ends[index]
        return tuple(self.labels[n] for n in self.numbers[end - self._lengths[index] : end])

    def __iter__(self) -> Iterator[Sequence[str | None]]:
        return iter(_in_sentences(self.labels, self.numbers, self._lengths))

    def flat(self) -> Iterator[str | None]:
        """Yield the labels of all words, one after the other, stored ones some at a time."""
        for at in range(0, len(self.numbers), _COUNTED):
            yield from map(self.labels.__getitem__, self.numbers[at : at + _COUNTED].tolist())

    def select(self, numbers: Sequence[int]) -> NumberedLabels:
        """Return the numbers of some of the sentences."""
        chosen = np.asarray(numbers, np.int64)
        return NumberedLabels(
            self.labels, self.numbers[token_places(self._lengths, chosen)], self._lengths[chosen]
        )

    def ids(self, numbers_of: dict[str | None, int]) -> Int32s:
        """int32[n_tokens]: the labels' numbers in another count."""
        numbers: Int32s = self.numbers_in(numbers_of)[self.numbers[:]]
        return numbers

    def numbers_in(self, numbers_of: dict[str | None, int]) -> Int32s:
        """int32[n_labels + 1]: the distinct labels' numbers in another count, and a 0."""
        # One more than needed, so that an empty list is an array of numbers, too.
        return np.array([*(numbers_of[label] for label in self.labels), 0], np.int32)

    @property
    def n_labelled(self) -> int:
        """Words that have a label."""
        if None not in self.labels:
            return len(self.numbers)
        none = self.labels.index(None)
        pieces = range(0, len(self.numbers), _COUNTED)
        return sum(int((self.numbers[at : at + _COUNTED] != none).sum()) for at in pieces)


def numbers_alone(lengths: Int64s, columns: dict[str, tuple[list[bytes], Numbers]]) -> NumberedText:
    """Sentences of which there are numbers and no objects: these columns are all to be had."""
    return NumberedText(TextSentences(()), np.arange(len(lengths)), lengths, columns)


def count_pairs(left: Numbers, right: Numbers) -> Iterator[tuple[int, int, int]]:
    """Pairs of numbers at the same place, and how often they come up; some more than once."""
    for at in range(0, len(left), _COUNTED):
        here = slice(at, at + _COUNTED)
        pairs, counts = np.unique(
            left[here].astype(np.int64) << 32 | right[here], return_counts=True
        )
        yield from zip(
            (pairs >> 32).tolist(), (pairs & 0xFFFFFFFF).tolist(), counts.tolist(), strict=True
        )


def token_places(lengths: Int64s, chosen: Int64s) -> Int64s:
    """int64[n]: where the tokens of some sentences are among those of all."""
    sizes = lengths[chosen]
    starts = (np.cumsum(lengths) - lengths)[chosen]
    return np.repeat(starts - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


def _renumbered(strings: list[bytes], tokens: Int32s) -> tuple[list[bytes], Int32s]:
    """Strings and numbers again, of these tokens alone."""
    kept, first, number = np.unique(tokens, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return [strings[k] for k in kept[order].tolist()], rank[number.reshape(-1)]


def _in_sentences(strings: Sequence[Any], tokens: Numbers, lengths: Int64s) -> list[Any]:
    flat = tuple(map(strings.__getitem__, tokens.tolist()))
    ends = np.cumsum(lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


class StoredNumbers:
    """A sequence of int32 that grows at its end, read piece by piece.

    The file is in the folder for temporary files (``TMPDIR``). It loses its name as soon as it is
    made, so the system frees it however the process ends. The limit is checked at every reading and
    writing. Raises FileError if no temporary file can be made, written or read.
    """

    def __init__(self, limit: Limit) -> None:
        import tempfile  # here, since most trainings do without

        self._limit = limit
        self._length = 0
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        except OSError as error:
            raise _failed("made", error) from error
        weakref.finalize(self, self._file.close)

    def __len__(self) -> int:
        return self._length

    def append(self, numbers: npt.NDArray[Any]) -> None:
        """Add numbers at the end."""
        data = np.ascontiguousarray(numbers, np.int32).reshape(-1).view(np.uint8).data
        done = 0
        try:
            self._file.seek(self._length * _WIDTH)
            while done < len(data):
                done += self._file.write(data[done:]) or 0
        except OSError as error:
            raise _failed("written", error) from error
        self._length += len(data) // _WIDTH
        self._limit.check()

    def take(self, starts: Int64s, sizes: Int64s) -> Int32s:
        """Some runs of the numbers, one after the other: where each begins, how long it is."""
        found = np.empty(int(sizes.sum()), np.int32)
        if len(found):
            self._read(found.view(np.uint8).data, starts, sizes)
        self._limit.check()
        return found

    def _read(self, into: memoryview, starts: Int64s, sizes: Int64s) -> None:
        at = 0
        seek, read = self._file.seek, self._file.readinto
        try:
            for start, size in zip(
                (starts * _WIDTH).tolist(), (sizes * _WIDTH).tolist(), strict=True
            ):
                seek(start)
                end = at + size
                while at < end:
                    n_bytes = read(into[at:end])
                    if not n_bytes:
                        raise OSError(errno.EIO, "it was cut short")
                    at += n_bytes
        except OSError as error:
            raise _failed("read", error) from error

    def __getitem__(self, places: slice | Int64s) -> Int32s:
        """The numbers of a slice without step, or at places, of which runs are read at once."""
        if isinstance(places, slice):
            start, stop, _ = places.indices(self._length)
            return self.take(np.array([start]), np.array([max(0, stop - start)]))
        starts = np.flatnonzero(np.diff(places, prepend=-2) != 1)
        return self.take(places[starts], np.diff(starts, append=len(places)))

    def tolist(self) -> list[int]:
        """Never all at once: raises ArgumentError."""
        raise whole_text_needed(self._limit.option)


def whole_text_needed(option: str = "max_memory") -> ArgumentError:
    """Return the error for something that looks at whole sentences, which are not in memory."""
    return ArgumentError(
        f"{option}: what is learned here looks at whole sentences, not at one word after the other:"
        " columns of spans (unless beam=1) and of features (unless beam=2), raw and lexicon,"
        f" templates that look at a word's other places; leave {option} out"
    )


def _failed(what: str, error: OSError) -> FileError:
    import tempfile

    folder = tempfile.tempdir or "TMPDIR"
    return FileError(
        f"{folder}: the temporary file for max_memory cannot be {what}: {error.strerror};"
        " set TMPDIR to a folder on a disk with more room"
    )
