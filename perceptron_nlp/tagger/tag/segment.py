"""Segmentation of running text with a model that learned it: sentences, tokens, and their words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from perceptron_nlp.tagger.model.model import Segmentation
from perceptron_nlp.tagger.tag.label import make_labeller
from perceptron_nlp.text.atoms import (
    GOES_ON,
    PARAGRAPH,
    SENTENCE,
    TOKEN,
    Atoms,
    atoms_of,
    place_keys,
    put_together,
)
from perceptron_nlp.text.scripts import WHOLE, split
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.splitter import LineCount, with_gaps_shortened

WINDOW = 4_000
"""Atoms of a paragraph that are labeled at a time, so that memory stays bounded."""
_WINDOW_CHARACTERS = 40_000
# Atoms at the end of a window whose labels are not taken: what follows may change them.
_MARGIN = 200
# Paragraphs that are labeled in one call.
_BATCH = 128
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n\s*|\r\n[^\S\n]*\r\n\s*|\r[^\S\r\n]*\r\s*|[\f\u2029]\s*")


class SegmentedToken(NamedTuple):
    """A token of running text.

    Attributes
    ----------
    start, end : its place, in characters
    words : its words; the token itself, but for multiword tokens
    """

    start: int
    end: int
    words: tuple[str, ...]


class Segmenter:
    """Cuts running text as a segmentation says; any number of threads may use it at once."""

    def __init__(self, segmentation: Segmentation, cache_limit: int | None = None) -> None:
        self._cut = make_labeller(segmentation.cut, None, cache_limit)
        self._certain = dict(segmentation.certain)
        splits = segmentation.splits
        self._splits = None if splits is None else make_labeller(splits, None, cache_limit)

    def sentences_of(self, text: str) -> Iterator[list[SegmentedToken]]:
        """Yield the sentences of a text, which may be any str, each its tokens."""
        for sentences, _ in self._taken(text, at_end=True):
            yield from sentences

    def sentences_in(
        self, pieces: Iterable[str]
    ) -> Iterator[tuple[int, str, list[SegmentedToken]]]:
        """Yield the sentences of a text that comes in pieces, each as soon as it is over.

        They are those of ``sentences_of`` for all pieces in one, but that white space of more than
        a thousand characters is shortened. No more than some paragraphs are held at a time.

        Returns
        -------
        for each sentence the line that it begins on, from 1, its text, and its tokens, whose places
        are counted from its first character
        """
        lines, text = LineCount(), ""
        for piece in pieces:
            text = with_gaps_shortened(text, piece, lines)
            if len(text) < 2 * _WINDOW_CHARACTERS and not _EMPTY_LINE.search(piece):
                continue
            done = 0
            for sentences, place in self._taken(text, at_end=False):
                done = place
                for tokens in sentences:
                    yield _cut_out(text, tokens, lines)
            lines.forget(text, done)
            text = text[done:]
        for sentences, _ in self._taken(text, at_end=True):
            for tokens in sentences:
                yield _cut_out(text, tokens, lines)

    def _taken(
        self, text: str, *, at_end: bool
    ) -> Iterator[tuple[list[list[SegmentedToken]], int]]:
        """Yield sentences with the place up to which the text is done with.

        Without `at_end` the text may go on, and its last paragraph waits for the rest.
        """
        ready: list[tuple[int, str, Atoms]] = []
        for begin, end, is_whole in _paragraphs(text, at_end):
            place = begin
            while place < end and (is_whole or end - place > _WINDOW_CHARACTERS):
                piece = text[place : min(end, place + _WINDOW_CHARACTERS)]
                atoms = atoms_of(piece)
                if is_whole and place + len(piece) == end and len(atoms.spans) <= WINDOW:
                    ready.append((place, piece, atoms))
                    place = end
                    if len(ready) == _BATCH:
                        yield self._segmented(ready), place
                        ready = []
                    break
                if ready:
                    yield self._segmented(ready), place
                    ready = []
                sentences, length = self._window(place, piece, atoms)
                place += length
                yield sentences, place
        if ready:
            yield self._segmented(ready), ready[-1][0] + len(ready[-1][1])

    def _window(
        self, place: int, piece: str, atoms: Atoms
    ) -> tuple[list[list[SegmentedToken]], int]:
        """Return the sentences of the beginning of a long paragraph, and the end of the last."""
        if len(atoms.spans) < 2:
            # White space is longer than the piece. An atom at the end waits for the next piece.
            begin, end = atoms.spans[0] if atoms.spans else (len(piece), len(piece))
            if end == len(piece):
                return [], begin
        # The last atom may be longer than it looks.
        count = max(1, min(WINDOW, len(atoms.spans) - 1))
        window = Atoms(atoms.spans[:count], atoms.gaps[:count])
        (labels,) = self._labels([(place, piece, window)])
        last = max(1, count - _MARGIN)
        if SENTENCE in labels[:last]:
            last -= labels[last - 1 :: -1].index(SENTENCE)
        elif TOKEN in labels[:last]:
            last -= labels[last - 1 :: -1].index(TOKEN)
        labels = [*labels[: last - 1], SENTENCE]
        done = Atoms(window.spans[:last], window.gaps[:last])
        return self._put_together([(place, piece, done)], [labels]), done.spans[-1][1]

    def _segmented(self, paragraphs: list[tuple[int, str, Atoms]]) -> list[list[SegmentedToken]]:
        return self._put_together(paragraphs, self._labels(paragraphs))

    def _labels(self, paragraphs: Sequence[tuple[int, str, Atoms]]) -> list[list[str]]:
        """Return the labels of atoms, those of certain places without asking the tagger."""
        certain = [
            [
                SENTENCE if gap == PARAGRAPH else self._certain.get(key)
                for key, gap in zip(place_keys(text, atoms), atoms.gaps, strict=True)
            ]
            for _, text, atoms in paragraphs
        ]
        asked = [number for number, labels in enumerate(certain) if None in labels]
        sentences: list[Sequence[str]] = []
        for number in asked:
            _, text, atoms = paragraphs[number]
            words = tuple([text[start:end] for start, end in atoms.spans])
            sentences.append(Sentence.from_reader(words, {"gap": tuple(atoms.gaps)}, "", 0, None))
        found = self._cut.label(sentences, [certain[number] for number in asked])
        for number, labels in zip(asked, found, strict=True):
            certain[number] = [*labels]
        return [[label or GOES_ON for label in labels] for labels in certain]

    def _put_together(
        self, paragraphs: Sequence[tuple[int, str, Atoms]], labels: Sequence[Sequence[str]]
    ) -> list[list[SegmentedToken]]:
        spans: list[list[tuple[int, int]]] = []
        forms: list[list[str]] = []
        for (place, text, atoms), own in zip(paragraphs, labels, strict=True):
            for sentence in put_together(atoms, own):
                forms.append([text[start:end] for start, end in sentence])
                spans.append([(place + start, place + end) for start, end in sentence])
        scripts = (
            [[WHOLE] * len(words) for words in forms]
            if self._splits is None
            else self._splits.label(list(forms))
        )
        return [
            [
                SegmentedToken(*place, (form,) if label == WHOLE else split(label, form) or (form,))
                for place, form, label in zip(*sentence, strict=True)
            ]
            for sentence in zip(spans, forms, scripts, strict=True)
        ]


def _paragraphs(text: str, at_end: bool) -> Iterator[tuple[int, int, bool]]:
    """Yield begin and end of each paragraph, and whether that is its end."""
    begin = 0
    for gap in _EMPTY_LINE.finditer(text):
        yield begin, gap.start(), True
        begin = gap.end()
    yield begin, len(text), at_end


def _cut_out(
    text: str, tokens: Sequence[SegmentedToken], lines: LineCount
) -> tuple[int, str, list[SegmentedToken]]:
    first, last = tokens[0].start, tokens[-1].end
    moved = [SegmentedToken(a - first, b - first, words) for a, b, words in tokens]
    return lines.of(text, first), text[first:last], moved
