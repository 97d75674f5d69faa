"""Running text: sentences and words are found by the rules of :mod:`perceptron_nlp.text`.

Written with labels of one column it is ``word/TAG`` lines, a sentence each; with those of several,
CoNLL-U, where the columns that CoNLL-U does not have stand in MISC.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats.conllu import rewrite_conllu
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.formats.opening import BOM
from perceptron_nlp.formats.reading import Format, Segment, TokenSpan
from perceptron_nlp.formats.tagged import joined
from perceptron_nlp.formats.values import CONLLU_COLUMNS, SEPARATOR
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.splitter import sentences_in


def by_rules(pieces: Iterable[str]) -> Iterator[tuple[int, str, list[TokenSpan], bool]]:
    """Yield the sentences of a text, cut by the rules of :mod:`perceptron_nlp.text`."""
    for line, text, spans, is_glued in sentences_in(pieces):
        yield line, text, [(start, end, (text[start:end],)) for start, end in spans], is_glued


class RunningLayout:
    """A sentence as it stood: its text, and its tokens in it.

    ``number`` counts the sentences of its file, from 1; ``is_glued`` is True if the next stands
    right behind it.
    """

    __slots__ = ("is_glued", "number", "text", "tokens")

    def __init__(self, text: str, tokens: Sequence[TokenSpan], number: int, is_glued: bool) -> None:
        self.text = text
        self.tokens = tokens
        self.number = number
        self.is_glued = is_glued

    def alias(self, name: str) -> str | None:
        """Return the words for ``1``; there are no other columns."""
        return "form" if name == "1" else None

    def space_after(self) -> list[str]:
        """Return MISC of each word: ``SpaceAfter=No`` if no white space follows its token.

        Of a multiword token it belongs to the range and not to its words.
        """
        misc = []
        for at, (_, _, words) in enumerate(self.tokens):
            single = self._behind(at) if len(words) == 1 else "_"
            misc += [single, *["_"] * (len(words) - 1)]
        return misc

    def _behind(self, at: int) -> str:
        """Return MISC of a token by what follows it."""
        if at + 1 == len(self.tokens):
            return "SpaceAfter=No" if self.is_glued else "_"
        return "SpaceAfter=No" if self.tokens[at + 1][0] == self.tokens[at][1] else "_"

    def with_ranges(self, body: str) -> str:
        """Return the lines of the words in CoNLL-U with the ranges of multiword tokens."""
        if all(len(words) == 1 for _, _, words in self.tokens):
            return body
        lines, word = body.split("\n"), 0
        found = []
        for at, (start, end, words) in enumerate(self.tokens):
            if len(words) > 1:
                form = " ".join(self.text[start:end].split())
                number = f"{word + 1}-{word + len(words)}"
                found.append("\t".join([number, form, *["_"] * 7, self._behind(at)]))
            found += lines[word : word + len(words)]
            word += len(words)
        return "\n".join([*found, *lines[word:]])


class RunningReader:
    """Sentences of a source, to be iterated over once; nothing follows the last one."""

    tail = ""

    def __init__(self, source: LineSource, segment: Segment | None = None) -> None:
        self._source = source
        self._segment = segment or by_rules

    def __iter__(self) -> Iterator[Sentence]:
        cut = self._segment(self._pieces())
        for number, (line, text, tokens, is_glued) in enumerate(cut, 1):
            words = tuple([word for _, _, own in tokens for word in own])
            layout = RunningLayout(text, tokens, number, is_glued)
            lines: Sequence[int] | int = line
            if "\n" in text:
                lines = [line + text.count("\n", 0, start) for start, _, own in tokens for _ in own]
            yield Sentence.from_reader(words, {}, self._source.name, lines, layout)

    def _pieces(self) -> Iterator[str]:
        first = True
        for piece in self._source.pieces():
            yield piece.removeprefix(BOM) if first else piece
            first = False


def rewrite(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """Return the words of a sentence with the labels of columns; without, a line of words.

    In a line of words the spaces within them are no-break spaces.

    Raises ArgumentError for labels that the format cannot hold.
    """
    if len(columns) > 1:
        return as_conllu(sentence, columns)
    words = [word.replace(" ", "\N{NO-BREAK SPACE}") for word in sentence.words]
    if not columns:
        return " ".join(words) + "\n"
    (labels,) = columns.values()
    return " ".join(joined(words, labels, SEPARATOR)) + "\n"


def as_conllu(
    sentence: Sentence, columns: Mapping[str, Sequence[str]], number: int | str | None = None
) -> str:
    """Return a sentence of text as CoNLL-U, with ``# sent_id`` and ``# text``.

    White space within the sentence is one space in ``# text``, and ``SpaceAfter=No`` tells where
    there is none; words that were not cut from text have a space between them. A column ``misc`` is
    written in place of that mark, which it should then hold. The sentence's ``# sent_id`` is
    `number`, or else its place in its file.

    Raises ArgumentError for labels that CoNLL-U cannot hold.
    """
    layout = sentence.layout
    if not isinstance(layout, RunningLayout):
        layout = _spaced(sentence.words)
    misc = list(columns.get("misc", layout.space_after()))
    held = {}
    for name, labels in columns.items():
        if name == "misc":
            continue
        if name in CONLLU_COLUMNS:
            held[name] = labels
            continue
        for at, label in enumerate(labels):
            if not label or any(mark in label for mark in "|\t\n"):
                raise ArgumentError(f"columns: MISC cannot hold the label {quote(label)}")
            pair = f"{name}={label}"
            misc[at] = pair if misc[at] == "_" else f"{misc[at]}|{pair}"
    body = rewrite_conllu(Sentence(sentence.words, {**held, "misc": misc}), {})
    body = layout.with_ranges(body)
    place = layout.number if number is None else number
    return f"# sent_id = {place}\n# text = {' '.join(layout.text.split())}\n{body}"


def _spaced(words: Sequence[str]) -> RunningLayout:
    """Return the layout of words with a space between them."""
    ends = list(itertools.accumulate(len(word) + 1 for word in words))
    tokens = [
        (end - 1 - len(word), end - 1, (word,)) for word, end in zip(words, ends, strict=True)
    ]
    return RunningLayout(" ".join(words), tokens, 1, is_glued=False)


FORMATS = {
    "text": Format(
        read=lambda source, fields, segment: RunningReader(source, segment),
        rewrite=rewrite,
        columns_of=lambda head, fields, path: ("form",),
        default_column=lambda names: None,
    )
}
