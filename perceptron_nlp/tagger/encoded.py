"""Encoded text: the words, feature columns and labels of training sentences as numbers.

Sentence objects are made only if somebody looks at these. With a bound on memory
(train/memory.py) the numbers lie in files, and there are no objects.
"""

from __future__ import annotations

import functools
import mmap
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.tagset import UNLABELED, word_bytes

Int32s = npt.NDArray[np.int32]
Int64s = npt.NDArray[np.int64]

# Tokens that are counted at a time.
CHUNK = 1 << 15


class Objects:
    """The sentences of some texts as objects, made when they are first looked at."""

    def __init__(self, make: Callable[[], list[Sentence]]) -> None:
        self._make = make
        self._guard = threading.Lock()

    @functools.cached_property
    def all(self) -> list[Sentence]:
        """All sentences."""
        with self._guard:
            found: list[Sentence] = self.__dict__.get("all") or self._make()
            # What they were made of is needed no longer.
            self.__dict__["all"], self._make = found, list
        return found

    @property
    def are_made(self) -> bool:
        """Tell if they are there already."""
        return "all" in self.__dict__


def made(sentences: list[Sentence]) -> Objects:
    """Return sentences that are there already."""
    found = Objects(lambda: sentences)
    assert found.all is sentences
    return found


@dataclass(slots=True, eq=False)
class EncodedText(Sequence[Sentence]):
    """Some sentences of texts.

    whole : all sentences of the texts, as objects
    numbers : int32[n] or int64[n]; which of them
    lengths : int64[n]; words in each
    columns : by name, distinct strings in order of appearance (UTF-8), and int32[n_tokens]; the
        others are numbered when they are asked for
    """

    whole: Objects
    numbers: Int32s | Int64s
    lengths: Int64s
    columns: dict[str, tuple[list[bytes], Int32s]]

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> EncodedText:
        """Return the same sentences as objects that are there already."""
        if isinstance(sentences, EncodedText):
            return sentences
        lengths = np.array([len(s.words) for s in sentences], np.int64)
        return cls(made(list(sentences)), np.arange(len(lengths)), lengths, {})

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self.select(range(*index.indices(len(self))))
        return self.whole.all[self.numbers[index]]

    def __iter__(self) -> Iterator[Sentence]:
        return map(self.whole.all.__getitem__, self.numbers.tolist())

    def select(self, numbers: Sequence[int]) -> EncodedText:
        """Some of these, by their places among them."""
        chosen = np.asarray(numbers, np.int64)
        places = token_places(self.lengths, chosen)
        return EncodedText(
            self.whole,
            self.numbers[chosen],
            self.lengths[chosen],
            {
                name: _renumbered(strings, tokens[places])
                for name, (strings, tokens) in self.columns.items()
            },
        )

    def column(self, name: str) -> tuple[list[bytes], Int32s]:
        """The distinct strings of a column, in order of appearance, and each word's number."""
        if name not in self.columns:
            seen: dict[str, int] = {}
            enter = seen.setdefault
            tokens = [enter(text, len(seen)) for values in self.values(name) for text in values]
            self.columns[name] = [word_bytes(text) for text in seen], np.array(tokens, np.int32)
        return self.columns[name]

    def values(self, name: str) -> list[Sequence[str]]:
        """The strings of a column, sentence by sentence; ``form`` is the words."""
        if self.whole.are_made or name not in self.columns:
            return [s.words if name == "form" else s.column(name) for s in self]
        strings, tokens = self.columns[name]
        return _in_sentences([text.decode() for text in strings], tokens, self.lengths)


def _in_memory(n: int) -> Int32s:
    return np.empty(n, np.int32)


class EncodedLabels(Sequence[Sequence[str | None]]):
    """The distinct labels, None among them if a word has none, and the number of each word's."""

    def __init__(self, labels: list[str | None], numbers: Int32s, lengths: Int64s) -> None:
        self.labels = labels
        self.numbers = numbers
        self._lengths = lengths

    @classmethod
    def of(cls, gold: Sequence[Sequence[str | None]]) -> EncodedLabels:
        """Return the same labels, numbered in order of appearance."""
        if isinstance(gold, EncodedLabels):
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
        """Yield the labels of all words, one after the other."""
        for at in range(0, len(self.numbers), CHUNK):
            yield from map(self.labels.__getitem__, self.numbers[at : at + CHUNK].tolist())

    @property
    def with_none(self) -> EncodedLabels:
        """The same, in which ``_`` is the label of the words that have none."""
        labels: list[str | None] = [UNLABELED if one is None else one for one in self.labels]
        return EncodedLabels(labels, self.numbers, self._lengths)

    def select(self, numbers: Sequence[int]) -> EncodedLabels:
        """Return the numbers of some of the sentences."""
        chosen = np.asarray(numbers, np.int64)
        return EncodedLabels(
            self.labels, self.numbers[token_places(self._lengths, chosen)], self._lengths[chosen]
        )

    def ids(
        self, numbers_of: dict[str | None, int], empty: Callable[[int], Int32s] = _in_memory
    ) -> Int32s:
        """int32[n_tokens]: the labels' numbers in another count; `empty` makes the array."""
        # One more than needed, so that an empty list is an array of numbers, too.
        numbers = np.array([*(numbers_of[label] for label in self.labels), 0], np.int32)
        n = len(self.numbers)
        found = empty(n)
        for at in range(0, n, CHUNK):
            found[at : at + CHUNK] = numbers[self.numbers[at : at + CHUNK]]
        return found

    @property
    def n_labeled(self) -> int:
        """Words that have a label."""
        if None not in self.labels:
            return len(self.numbers)
        none = self.labels.index(None)
        pieces = range(0, len(self.numbers), CHUNK)
        return sum(int((self.numbers[at : at + CHUNK] != none).sum()) for at in pieces)


def count_pairs(left: Int32s, right: Int32s) -> Iterator[tuple[int, int, int]]:
    """Pairs of numbers at the same place, and how often they come up; some more than once."""
    for at in range(0, len(left), CHUNK):
        here = slice(at, at + CHUNK)
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


def _is_mapped(array: npt.NDArray[Any]) -> bool:
    """Return True for an array whose numbers lie in a file."""
    base: Any = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    if isinstance(base, memoryview):
        base = base.obj
    return isinstance(base, mmap.mmap)


def _in_sentences(strings: Sequence[Any], tokens: Int32s, lengths: Int64s) -> list[Any]:
    if _is_mapped(tokens):
        raise whole_text_needed()
    flat = tuple(map(strings.__getitem__, tokens.tolist()))
    ends = np.cumsum(lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, lengths.tolist(), strict=True)]


def whole_text_needed() -> ArgumentError:
    """Return the error for something that looks at whole sentences, which are not in memory."""
    return ArgumentError(
        "max_memory: what is learned here looks at whole sentences, not at one word after the"
        " other: columns of spans (unless beam=1) and of features (unless beam=2), raw and lexicon,"
        " templates that look at a word's other places; leave max_memory out"
    )
