"""The text that is annotated: sentences in the order of the text, which can be cut anew.

A sentence is known by the characters that it covers, counted without white space from the beginning
of the text; so what was annotated is found again whatever was split or joined.
"""

from __future__ import annotations

import bisect
import difflib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, islice
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError, quote
from perceptron_nlp.formats import (
    CONLLU_COLUMNS,
    Segment,
    TokenSpan,
    sentence_id,
    surface,
    wrong_conllu_value,
)

Span = tuple[int, int]
PoolSource = str | os.PathLike[str] | Iterable[str | os.PathLike[str] | Sequence[str]]

# Longer sentences of raw text, or of lines, are cut.
MOST_TOKENS = 150
_NAME = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?(?:-[0-9]{1,9})?")
# A sentence of the same name with so many of its characters is one whose words were edited.
_ALIKE = 0.7


@dataclass(frozen=True, slots=True)
class Item:
    """A sentence to annotate.

    Attributes
    ----------
    name : its ``sent_id``
    number : the number of its (first) sentence in the text, from 0
    start, end : the characters of the text that it covers, white space not counted
    words : its words
    text : how it stands in the text
    tokens : begin, end and words of each token in ``text``; empty if it is not raw text
    source : the sentence of CoNLL-U that it is, or None
    is_glued : whether what follows stands right behind it
    """

    name: str
    number: int
    start: int
    end: int
    words: tuple[str, ...]
    text: str
    tokens: tuple[TokenSpan, ...] = ()
    source: pn.Sentence | None = None
    is_glued: bool = False

    @property
    def spans(self) -> tuple[Span, ...]:
        """Begin and end in ``text`` of each word's token; empty if it is not raw text."""
        return tuple((start, end) for start, end, words in self.tokens for _ in words)

    def token_of(self, word: int) -> int:
        """Return the number of the token that a word is of."""
        ends = accumulate(len(words) for _, _, words in self.tokens)
        return next(number for number, end in enumerate(ends) if word < end)

    def cut_into(self, tokens: Iterable[TokenSpan]) -> Item:
        """Return the same text cut into other tokens, or other words."""
        own = tuple(tokens)
        return replace(self, tokens=own, words=tuple(word for *_, of in own for word in of))

    @property
    def glued(self) -> list[bool]:
        """For each word whether the next one stands right behind it, or belongs to its token."""
        found: list[bool] = []
        for at, (_, end, words) in enumerate(self.tokens):
            behind = at + 1 < len(self.tokens) and self.tokens[at + 1][0] == end
            found += [*[True] * (len(words) - 1), behind]
        return found or [False] * len(self.words)

    @property
    def forms(self) -> Sequence[str]:
        """Its tokens as they stand in the text; words, but for multiword tokens of raw text."""
        return forms_of(self.text, self.tokens) if self.tokens else self.words


class Pool:
    """All sentences of a text.

    Parameters
    ----------
    source : a path, several, or lists of words; in a file running text, lines of words separated by
        spaces, or CoNLL-U (other formats give their words)
    most : how many sentences are read at most
    segment : cuts running text; see Corpus.cut_by

    Attributes
    ----------
    items : the sentences in order
    warnings : what a person should know of it

    Raises
    ------
    FileError, FormatError : a file cannot be read, breaks its format, or there is no word
    """

    def __init__(self, source: PoolSource, most: int, segment: Segment) -> None:
        self.items: list[Item] = []
        sentences = list(islice(_sentences_of(source, segment), most + 1))
        self.warnings: list[str] = []
        if len(sentences) > most:
            del sentences[most:]
            self.warnings.append(
                f"the first {most:,} sentences are what is asked for; the text has more"
                " (--sentences N)"
            )
        self._end = self._cut = 0
        self._names: set[str] = set()
        for sentence in sentences:
            self._add(sentence)
        if self._cut:
            self.warnings.append(
                f"sentences of more than {MOST_TOKENS} tokens were cut; pieces made: {self._cut}"
            )
        if not self.items:
            paths = [source] if isinstance(source, str | os.PathLike) else source
            named = [os.fspath(one) for one in paths if isinstance(one, str | os.PathLike)]
            raise FormatError(
                "there are no words in the text; give text to annotate", ", ".join(named) or "pool"
            )
        self._starts = [item.start for item in self.items]
        self._characters = "".join(form for item in self.items for form in item.forms)
        self._by_name = {item.name: item for item in self.items}

    def _add(self, sentence: Sequence[str]) -> None:
        layout = getattr(sentence, "layout", None)
        words = tuple(sentence)
        if not words:
            return
        if isinstance(sentence, pn.Sentence) and layout and layout.names == CONLLU_COLUMNS:
            name = sentence_id(sentence) or ""
            self._append(words, " ".join(words), name=name, source=sentence)
            return
        is_raw = layout is not None and layout.format == "text"
        given = sentence if is_raw and isinstance(sentence, pn.Sentence) else pn.Sentence(words)
        text, tokens, is_glued = surface(given)
        # Lists of words are as somebody wants them.
        most = len(words) if layout is None else MOST_TOKENS
        for first in range(0, len(tokens), most):
            own = tokens[first : first + most]
            begin, end = own[0][0], own[-1][1]
            part = tuple(word for _, _, of_token in own for word in of_token)
            raw = moved(own) if is_raw else ()
            is_behind = _is_glued(text, end, is_glued)
            self._append(part, text[begin:end], tokens=raw, is_glued=is_behind)
        self._cut += (len(tokens) - 1) // most

    def _append(self, words: tuple[str, ...], text: str, name: str = "", **more: Any) -> None:
        name = name or str(len(self.items) + 1)
        while name in self._names:
            name += "'"
        self._names.add(name)
        item = Item(name, len(self.items), self._end, self._end, words, text, **more)
        self._end += sum(map(len, item.forms))
        self.items.append(replace(item, end=self._end))

    def piece(self, start: int, end: int, words: Sequence[str] | None = None) -> Item:
        """Return what covers some characters of the text, cut into words as given."""
        first = bisect.bisect_right(self._starts, start) - 1
        last = bisect.bisect_left(self._starts, end) - 1
        item = self.items[first]
        if (item.start, item.end) == (start, end) and words in (None, item.words):
            return item
        found: list[str] = []
        text, is_glued = "", True
        for one in self.items[first : last + 1]:
            at, kept = one.start, []
            spans = [token[:2] for token in one.tokens] or spans_in(one.text, one.words)
            for word, span in zip(one.forms, spans, strict=True):
                low, high = max(at, start), min(at + len(word), end)
                if low < high:
                    found.append(word[low - at : high - at])
                    kept.append((span[0] + low - at, span[1] - (at + len(word) - high)))
                at += len(word)
            text += ("" if is_glued else " ") + one.text[kept[0][0] : kept[-1][1]]
            is_glued = _is_glued(one.text, kept[-1][1], one.is_glued)
        cut = tuple(found if words is None else words)
        offset = f".{start - item.start}" if start > item.start else ""
        name = item.name + offset + (f"-{self.items[last].name}" if last > first else "")
        tokens: tuple[TokenSpan, ...] = ()
        if item.tokens:
            places = spans_in(text, cut)
            tokens = tuple((*span, (word,)) for span, word in zip(places, cut, strict=bool(places)))
        whole = (item.start, item.end) == (start, end)
        source = item.source if whole else None
        return Item(name, first, start, end, cut, text, tokens, source, is_glued)

    def around(self, item: Item) -> tuple[str, str]:
        """Return the texts of the sentences before and after one; empty at the ends of the text."""
        first = bisect.bisect_right(self._starts, item.start) - 1
        last = bisect.bisect_left(self._starts, item.end) - 1
        before = self.items[first - 1].text if first > 0 else ""
        return before, self.items[last + 1].text if last + 1 < len(self.items) else ""

    def place_of(self, sentence: pn.Sentence) -> Span | None:
        """Return the characters that a sentence of an annotated file covers; None if none."""
        name = sentence_id(sentence) or ""
        text, tokens, _ = surface(sentence)
        forms = [text[start:end] for start, end, _ in tokens]
        named = self._by_name.get(name)
        for characters in ("".join("".join(forms).split()), "".join(sentence.words)):
            # Texts have names of their own, also numbers.
            if named is not None and "".join(named.forms) == characters:
                return named.start, named.end
            match = _NAME.fullmatch(name)
            # Only sentences of raw text can have been cut otherwise.
            if (
                match
                and 0 < int(match[1]) <= len(self.items)
                and self.items[int(match[1]) - 1].tokens
            ):
                start = self.items[int(match[1]) - 1].start + int(match[2] or 0)
                end = start + len(characters)
                if self._characters[start:end] == characters:
                    return start, end
        return None

    def place_alike(self, sentence: pn.Sentence) -> Span | None:
        """Return the characters of the sentence of that name if its words were edited."""
        named = self._by_name.get(sentence_id(sentence) or "")
        if named is None:
            return None
        pair = difflib.SequenceMatcher(
            None, "".join(named.words), "".join(sentence.words), autojunk=False
        )
        return (named.start, named.end) if pair.ratio() > _ALIKE else None

    def places_by_words(self) -> dict[tuple[str, ...], list[Item]]:
        """Return the sentences by their words, the last first."""
        found: dict[tuple[str, ...], list[Item]] = {}
        for item in reversed(self.items):
            found.setdefault(item.words, []).append(item)
        return found

    def uncovered(self, covered: Iterable[Span]) -> list[Item]:
        """Return what none of some stretches of characters covers, in order."""
        taken = sorted(covered)
        starts = [start for start, _ in taken]
        found = []
        for item in self.items:
            at = item.start
            number = max(0, bisect.bisect_right(starts, at) - 1)
            while number < len(taken) and taken[number][0] < item.end:
                low, high = taken[number]
                if high > at:
                    if low > at:
                        found.append(self.piece(at, low))
                    at = high
                number += 1
            if at < item.end:
                found.append(item if at == item.start else self.piece(at, item.end))
        return found


def _sentences_of(source: PoolSource, segment: Segment) -> Iterator[Sequence[str]]:
    if isinstance(source, bytes) or not isinstance(source, str | os.PathLike | Iterable):
        raise ArgumentTypeError(
            f"pool: a path or lists of words are needed, not {type(source).__name__}"
        )
    for number, one in enumerate([source] if isinstance(source, str | os.PathLike) else source):
        if isinstance(one, str | os.PathLike):
            corpus = pn.open_corpus(one)
            corpus.cut_by(segment)
            yield from corpus
            continue
        try:
            sentence = one if isinstance(one, pn.Sentence) else pn.Sentence(one)
        except ArgumentTypeError as error:
            raise ArgumentTypeError(f"pool[{number}]: {error}") from None
        for word in sentence.words:
            if wrong := wrong_conllu_value("form", word):
                raise ArgumentError(f"pool[{number}]: word {quote(word)} {wrong}")
        yield sentence


def moved(tokens: Sequence[TokenSpan], to: int = 0) -> tuple[TokenSpan, ...]:
    """Return tokens at other places, the first of them at `to`."""
    by = to - tokens[0][0]
    return tuple((start + by, end + by, words) for start, end, words in tokens)


def _is_glued(text: str, place: int, at_end: bool) -> bool:
    """Tell if something stands at a place of a text; at its end `at_end` says so."""
    return at_end if place == len(text) else not text[place].isspace()


def forms_of(text: str, tokens: Iterable[TokenSpan]) -> list[str]:
    """Return the tokens of a text: their words, of multiword tokens what stands in the text."""
    return [
        words[0] if len(words) == 1 else " ".join(text[start:end].split())
        for start, end, words in tokens
    ]


def spans_in(text: str, words: Sequence[str]) -> tuple[Span, ...]:
    """Return the places of words in a text in which nothing but white space is between them."""
    spans = []
    at = 0
    for word in words:
        at += len(text[at:]) - len(text[at:].lstrip())
        if not text.startswith(word, at):
            return ()
        spans.append((at, at + len(word)))
        at += len(word)
    return tuple(spans)
