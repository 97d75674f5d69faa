"""Labels of rows of words as Arrow's lists of dictionary-encoded strings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, missing_extra
from perceptron_nlp.integrations.wordlists import WordLists

try:
    import pyarrow as pa
except ImportError:
    raise missing_extra("pyarrow", "arrow") from None

Numbers = npt.NDArray[np.unsignedinteger[Any]]


class Piece:
    """Some rows of a text, with what else the taggers may look at.

    Parameters
    ----------
    rows : the words
    evidence : for each further column that the taggers look at, its values, of the same shape
    before, after : the sentences around them; None where no tagger looks at a sentence's neighbours
    """

    def __init__(
        self,
        rows: WordLists,
        evidence: Mapping[str, WordLists],
        before: Sequence[pn.Sentence] | None = None,
        after: Sequence[pn.Sentence] | None = None,
    ) -> None:
        self.rows = rows
        self.before = before or ()
        self.after = after or ()
        self._evidence = evidence
        self._sentences: list[pn.Sentence] | None = None

    def sentences(self) -> list[pn.Sentence]:
        """The rows that are not null, one by one."""
        if self._sentences is None:
            columns = {name: lists.lists() for name, lists in self._evidence.items()}
            self._sentences = [
                pn.Sentence(words, {name: values[number] for name, values in columns.items()})
                for number, words in enumerate(self.rows.lists())
            ]
        return self._sentences


class LabelColumn:
    """What labels rows in one column.

    Parameters
    ----------
    tagger : a tagger, whose first column is filled
    threads : see Tagger.tag_sents
    dictionary : whether labels are dictionary-encoded; else they are plain strings
    """

    def __init__(self, tagger: pn.Tagger, threads: int, dictionary: bool) -> None:
        self._tagger = tagger
        self._threads = threads
        self._dictionary = dictionary
        self.window = tagger.window
        self.evidence = tagger.by_column[tagger.column].model.feature_columns
        self.takes_buffers = _takes_buffers(tagger)
        if self.takes_buffers:
            written: Iterable[str] = tagger.tag_buffers(b"", [0], [0])[1]
        else:
            written = sorted(tagger.by_column[tagger.column].model.written_labels)
        # Features as parts of joint labels may be written alike; a dictionary has each label once.
        self._number_of: dict[str, int] = {}
        renumbered = [self._number_of.setdefault(label, len(self._number_of)) for label in written]
        self._renumbered = (
            None if len(self._number_of) == len(renumbered) else np.array(renumbered, np.uint16)
        )
        self._width = np.uint8 if len(self._number_of) <= 256 else np.uint16
        self._labels = pa.array(list(self._number_of), pa.string())

    def type_of(self, rows_are_large: bool) -> Any:
        """The type of the lists of labels."""
        index = pa.from_numpy_dtype(self._width)
        inner = pa.dictionary(index, pa.string()) if self._dictionary else pa.string()
        return pa.large_list(inner) if rows_are_large else pa.list_(inner)

    def fill(self, piece: Piece) -> Any:
        """The labels of some rows, as an array of as many lists; null where a row is null."""
        rows = piece.rows
        numbers = self._numbers(piece).astype(self._width, copy=False)
        labels = pa.DictionaryArray.from_arrays(pa.array(numbers), self._labels)
        if not self._dictionary:
            labels = labels.dictionary_decode()
        mask = None if rows.nulls is None else pa.array(rows.nulls)
        if rows.is_large:
            return pa.LargeListArray.from_arrays(pa.array(rows.offsets), labels, mask=mask)
        offsets = pa.array(rows.offsets.astype(np.int32))
        return pa.ListArray.from_arrays(offsets, labels, mask=mask)

    def _numbers(self, piece: Piece) -> Numbers:
        if self.takes_buffers:
            text, starts = piece.rows.buffers()
            numbers, _ = self._tagger.tag_buffers(
                text, starts, piece.rows.offsets, threads=self._threads
            )
            return numbers if self._renumbered is None else self._renumbered[numbers]
        found = self._tagger.tag_sents(
            piece.sentences(), threads=self._threads, before=piece.before, after=piece.after
        )
        numbered = (self._number_of[label] for labels in found for label in labels)
        return np.fromiter(numbered, np.uint16, int(piece.rows.offsets[-1]))


def with_surroundings(
    pieces: Iterable[tuple[Any, Piece]], window: int
) -> Iterator[tuple[Any, Piece]]:
    """Pieces of one text, each as soon as `window` sentences before and after it are known.

    Parameters
    ----------
    pieces : pairs of something of the caller's and a piece
    window : the number of sentences; 0 leaves the pieces as they are
    """
    if not window:
        yield from pieces
        return
    before: list[pn.Sentence] = []
    waiting: list[tuple[Any, Piece]] = []
    for more in _and_then_none(pieces):
        if more is not None:
            waiting.append(more)
        while waiting:
            after = [sentence for _, piece in waiting[1:] for sentence in piece.sentences()]
            if more is not None and len(after) < window:
                break
            owner, piece = waiting.pop(0)
            piece.before, piece.after = before, after[:window]
            before = [*before, *piece.sentences()][-window:]
            yield owner, piece


def _and_then_none(pieces: Iterable[tuple[Any, Piece]]) -> Iterator[tuple[Any, Piece] | None]:
    yield from pieces
    yield None


def _takes_buffers(tagger: pn.Tagger) -> bool:
    """Can it tag words that stand in buffers? Those that look at more than words cannot."""
    try:
        tagger.tag_buffers(b"", [0], [0])
    except ArgumentError:
        return False
    return True
