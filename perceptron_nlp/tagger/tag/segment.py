"""Segmentation of running text with a model that learned it: sentences, tokens, and their words.

People write Polish or Greek without accents, and messages in small letters, in capitals, or with
letters that are draaawn out. The core (reading.h) reads such words as those that training has.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from unicodedata import combining, normalize

from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp._core.text.cutter import CutText, TextCutter
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.tagger.model.lemmas import StoredLemmas
from perceptron_nlp.tagger.model.model import Segmentation, TaggerModel
from perceptron_nlp.tagger.tag.label import decoder_of
from perceptron_nlp.text.atoms import (
    LineCount,
    class_page,
    is_abbreviation,
    is_glued,
    place_numbers,
    small_numbers,
    with_gaps_shortened,
    word_numbers,
)
from perceptron_nlp.text.scripts import split_plan, stem_cuts
from perceptron_nlp.text.tagset import MATCHES, held_bits, word_bytes, word_hash

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

WINDOW = 40_000
"""Characters of a sentence after which it is over, so that memory stays bounded."""
_PIECE = 1 << 20
_LONG_REST = 1 << 12
# Latin letters of which Unicode does not say that they are others with a stroke or without a dot.
_STROKES = {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ı": "i"}
# Letters of Latin and Greek script end here, those without accents and all: in others, marks make
# letters of their own, which nobody leaves out.
_PLAIN_END, _END = 0x400, 0x2000
# An accented letter is one of a language if so many of its letters are; a language with fewer
# accents altogether is written without them.
_LEAST_SHARE, _LEAST_ACCENTED = 0.0001, 0.01


TokenSpan = tuple[int, int, tuple[str, ...]]
"""Where a token begins and ends, in characters, and its words: those of a multiword token, or the
token itself, white space in it as one space."""


Rest: TypeAlias = "tuple[bytes, int] | tuple[bytes, int, bytes]"
"""What the core needs to know to go on cutting a text: see CutText.rest."""


class Reading(NamedTuple):
    """How words are read.

    accents : (a letter, the same with an accent) in code points, those of a letter together, the
        most frequent first
    vocabulary : uint32[n], see TaggerModel
    least : the number of letters of which one has an accent in the mean; 0: no accents
    turkic : I is the capital of ı
    """

    accents: list[tuple[int, int]]
    vocabulary: npt.NDArray[np.uint32] | memoryview
    least: int
    turkic: bool


def reading_of(model: TaggerModel) -> Reading:
    """Return how a model reads words.

    Which letters have accents is seen in the lemmas that it knows: a model without has none.
    """
    known = next((own.lemmas for own in model.parts_by_column if own.lemmas is not None), None)
    text = b"" if known is None else StoredLemmas.of(known.lemmas).strings.text.tobytes()
    accents, least = _accents_of(text)
    return Reading(accents, model.vocabulary, least, known is not None and "I" in known.alphabet)


def _accents_of(text: bytes) -> tuple[list[tuple[int, int]], int]:
    """Return the accents of lemmas in UTF-8, and `least` of Reading."""
    if len(text.decode("ascii", "ignore")) > (1 - _LEAST_ACCENTED / 2) * len(text):
        return [], 0
    counts = Counter(text.decode("utf-8", "surrogatepass"))
    # Parts of speech, which stand behind each lemma, are in capitals.
    times = {letter: n for letter, n in counts.items() if letter.islower()}
    n_letters = sum(times.values())
    accented = sorted(
        (plain, -n, letter)
        for letter, n in times.items()
        if n >= _LEAST_SHARE * n_letters and (plain := _plain(letter)) != letter
    )
    share = -sum(n for _, n, _ in accented) / max(1, n_letters)
    if share < _LEAST_ACCENTED:
        return [], 0
    pairs = [(plain, letter) for plain, _, letter in accented]
    pairs += [(plain.upper(), letter.upper()) for plain, letter in pairs if letter != "ı"]
    pairs += [("I", "İ")] if "ı" in times else []
    # The sort is stable: the most frequent stay the first.
    pairs.sort(key=lambda pair: pair[0])
    return [(ord(a), ord(b)) for a, b in pairs if len(b) == 1], math.ceil(1 / share)


def _plain(letter: str) -> str:
    """Return a small letter without its accents; itself if it has none."""
    parts = normalize("NFD", _STROKES.get(letter, letter))
    is_one = ord(letter) < _END and ord(parts[0]) < _PLAIN_END and all(map(combining, parts[1:]))
    return parts[0] if is_one else letter


class Segmenter:
    """Cuts running text as a segmentation says; any number of threads may use it at once.

    memory : what its caches may take together with others; None for the default
    window : characters of a sentence, white space left out, after which it is over
    reading : how words of sentences in other hands are read; None for as they are written

    Attributes
    ----------
    cutter : the core's form of it
    splits_tokens : True if it has learned multiword tokens
    """

    def __init__(
        self,
        segmentation: Segmentation,
        memory: CacheMemory | None = None,
        window: int = WINDOW,
        reading: Reading | None = None,
    ) -> None:
        splits, lead = segmentation.splits, segmentation.lead
        has_matches = MATCHES in segmentation.cut.feature_columns
        cut = decoder_of(segmentation.cut, memory)
        self.cutter = TextCutter(
            cut,
            place_numbers(segmentation.certain),
            word_numbers(segmentation.words),
            small_numbers(segmentation.small),
            partial(class_page, single=segmentation.single),
            None if splits is None else decoder_of(splits, cut.memory),
            [] if splits is None else [split_plan(label) for label in splits.tags],
            [(word_hash(stem), only) for stem, only in segmentation.stems.items()],
            [] if splits is None else stem_cuts(splits.tags),
            window,
            held_bits(segmentation.patterns),
            [word_bytes(word) for word in segmentation.entries] if has_matches else None,
            [word_hash(word) for word in segmentation.abbreviations],
            parted=segmentation.parted,
            uncapitalized=segmentation.uncapitalized,
            wrapped=segmentation.wrapped,
            lead=None if lead is None else math.ceil(lead * segmentation.cut.weights.scale),
            reading=reading,
        )
        self.splits_tokens = splits is not None

    def sentences_of(self, text: str) -> Iterator[list[TokenSpan]]:
        """Yield the sentences of a text, which may be any str, each its tokens."""
        for place, found in self.cut_pieces(text):
            sentences = found.sentences()
            self.cutter.give_back(found)
            for sentence in sentences:
                yield (
                    [(place + a, place + b, words) for a, b, words in sentence]
                    if place
                    else sentence
                )

    def words_of(self, text: str) -> list[str]:
        """Return the words of a text in a row; a French *du*, which is two, is one as it stands."""
        words: list[str] = []
        for _, found in self.cut_pieces(text):
            words += found.word_list()
            self.cutter.give_back(found)
        return words

    def spans_of(self, text: str) -> list[tuple[int, int]]:
        """Return where the sentences of a text begin and end."""
        spans: list[tuple[int, int]] = []
        for place, found in self.cut_pieces(text):
            own = found.spans()
            spans += [(place + a, place + b) for a, b in own] if place else own
            self.cutter.give_back(found)
        return spans

    def cut_pieces(self, text: str, length: int = _PIECE) -> Iterator[tuple[int, CutText]]:
        """Yield a text cut in pieces that end with a sentence, each with where it begins."""
        rest: Rest = b"", 0
        begin, least = 0, length
        while True:
            end = begin + length
            found = self._cut(text[begin:end], rest, at_end=end >= len(text))
            taken, rest = found.taken[1], found.rest
            yield begin, found
            begin += taken
            if begin >= len(text):
                return
            length = least if taken else 2 * length

    def sentences_in(
        self, pieces: Iterable[str]
    ) -> Iterator[tuple[int, str, list[TokenSpan], bool]]:
        """Yield the sentences of a text that comes in pieces, each as soon as it is over.

        They are those of ``sentences_of`` for all pieces in one, but that white space of more than
        a thousand characters is shortened. No more than some paragraphs are held at a time.

        Returns
        -------
        for each sentence the line that it begins on, from 1, its text, its tokens, whose places
        are counted from its first character, and whether the next stands right behind it
        """
        lines, text, seen = LineCount(), "", 0
        rest: Rest = b"", 0
        for piece in pieces:
            text = with_gaps_shortened(text, piece, lines)
            if not is_worth_cutting(len(text), seen):
                continue
            found = self._cut(text, rest, at_end=False)
            yield from self._cut_out(text, found, lines)
            done, rest = found.taken[1], found.rest
            self.cutter.give_back(found)
            lines.forget(text, done)
            text = text[done:]
            seen = len(text)
        yield from self._cut_out(text, self._cut(text, rest, at_end=True), lines)

    def _cut(self, text: str, rest: Rest, *, at_end: bool) -> CutText:
        return self.cutter.cut_text(text.encode("utf-8", "surrogatepass"), at_end, *rest)

    @staticmethod
    def _cut_out(
        text: str, found: CutText, lines: LineCount
    ) -> Iterator[tuple[int, str, list[TokenSpan], bool]]:
        for tokens in found.sentences():
            first, last = tokens[0][0], tokens[-1][1]
            moved = [(a - first, b - first, words) for a, b, words in tokens]
            yield lines.of(text, first), text[first:last], moved, is_glued(text, last)


def is_worth_cutting(length: int, seen: int) -> bool:
    """Tell if the rest of a stream is to be cut again: a long one only once it has grown by part.

    length : its characters
    seen : those of them that were there the last time
    """
    return length < _LONG_REST or length - seen > length // 16


AbbreviationSource: TypeAlias = "str | os.PathLike[str] | Iterable[str]"


def abbreviations_of(source: AbbreviationSource) -> list[str]:
    """Return abbreviations without their last full stop, out of a file, one a line, or a list.

    Raises FileError if the file cannot be read; FormatError for a line that is none (file:line);
    ArgumentError, ArgumentTypeError for the same of a list, or if there are none.
    """
    if isinstance(source, str | os.PathLike):
        with LineSource(source) as lines:
            path, listed = lines.name, [*lines.lines()]
    elif isinstance(source, Iterable) and not isinstance(source, bytes):
        path, listed = "", [*enumerate(source)]
    else:
        raise ArgumentTypeError(
            f"abbreviations: a path or a list is needed, not {type(source).__name__}"
        )
    found = set()
    for number, word in listed:
        place = f"abbreviations[{number}]"
        if not isinstance(word, str):
            raise ArgumentTypeError(f"{place}: a str is needed, not {type(word).__name__}")
        parts = word.lstrip("\ufeff").split()
        own = {part.removesuffix(".") for part in parts if part[-1] == "." or len(parts) == 1}
        if not all(map(is_abbreviation, own)) or bool(parts) != bool(own):
            said = f"{quote(word.strip())} is none: letters, with full stops behind them, are"
            if path:
                raise FormatError(said, path, number)
            raise ArgumentError(f"{place}: {said}")
        found |= own
    if not found:
        raise ArgumentError("abbreviations: there are none; give some, or leave them out")
    return sorted(found)
