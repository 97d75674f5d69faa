"""Running text, which a tagger cuts into sentences and words.

Written with labels of one column it is ``word/TAG`` lines, a sentence each; with those of several,
CoNLL-U, where the columns that CoNLL-U does not have stand in MISC.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats.conllu import rewrite_conllu, surface
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.formats.opening import BOM
from perceptron_nlp.formats.reading import Format, Reader, Segment
from perceptron_nlp.formats.tagged import joined
from perceptron_nlp.text.layout import CONLLU_COLUMNS, SEPARATOR, Layout
from perceptron_nlp.text.sentence import Sentence


class RunningReader(Reader):
    """A Reader of running text; nothing follows the last sentence."""

    def __init__(self, source: LineSource, segment: Segment | None = None) -> None:
        super().__init__(source)
        self._segment = segment

    def __iter__(self) -> Iterator[Sentence]:
        if self._segment is None:
            raise ArgumentError(
                f"{self._source.name}: read as running text, which has no labels, and is cut by a"
                " tagger (cut_by(tagger.segmenter.sentences_in)); if it is labeled, say its format"
            )
        cut = self._segment(self._texts())
        for number, (line, text, tokens, is_glued) in enumerate(cut, 1):
            words = tuple([word for _, _, own in tokens for word in own])
            layout = Layout(
                "text",
                text,
                (0, len(text)),
                ("form",),
                tokens=tokens,
                is_glued=is_glued,
                number=number,
            )
            lines: Sequence[int] | int = line
            if "\n" in text:
                lines = [line + text.count("\n", 0, start) for start, _, own in tokens for _ in own]
            yield Sentence.from_reader(words, {}, self._source.name, lines, layout)

    def _texts(self) -> Iterator[str]:
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
    text, tokens, _ = surface(sentence)
    behind = _misc_of_tokens(sentence)
    misc = list(columns.get("misc", space_after(sentence)))
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
    lines = rewrite_conllu(Sentence(sentence.words, {**held, "misc": misc}), {}).split("\n")
    found, word = [], 0
    for (start, end, words), own in zip(tokens, behind, strict=True):
        if len(words) > 1:
            form = " ".join(text[start:end].split())
            found.append("\t".join([f"{word + 1}-{word + len(words)}", form, *["_"] * 7, own]))
        found += lines[word : word + len(words)]
        word += len(words)
    if number is None:
        number = 1 if sentence.layout is None else sentence.layout.number or 1
    head = f"# sent_id = {number}\n# text = {' '.join(text.split())}\n"
    return head + "\n".join([*found, *lines[word:]])


def space_after(sentence: Sentence) -> list[str]:
    """Return MISC of each word: ``SpaceAfter=No`` if no white space follows its token.

    Of a multiword token it belongs to the range and not to its words.
    """
    misc = []
    for (_, _, words), own in zip(surface(sentence)[1], _misc_of_tokens(sentence), strict=True):
        misc += [own] if len(words) == 1 else ["_"] * len(words)
    return misc


def _misc_of_tokens(sentence: Sentence) -> list[str]:
    """Return MISC of each token by what follows it."""
    _, tokens, is_glued = surface(sentence)
    ends = [one[1] == two[0] for one, two in itertools.pairwise(tokens)] + [is_glued]
    return ["SpaceAfter=No" if glued else "_" for glued in ends[: len(tokens)]]


FORMATS = {
    "text": Format(
        read=lambda source, fields, segment: RunningReader(source, segment), rewrite=rewrite
    )
}
