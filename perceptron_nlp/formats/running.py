"""Running text: sentences and words are found by the rules of :mod:`perceptron_nlp.text`.

Written with labels of one column it is ``word/TAG`` lines, a sentence each; with those of several,
CoNLL-U, where the columns that CoNLL-U does not have stand in MISC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats.conllu_rules import COLUMNS
from perceptron_nlp.formats.conllu_writing import rewrite as conllu_text
from perceptron_nlp.formats.lines import BOM, LineSource
from perceptron_nlp.formats.tokenlines import SEPARATOR, joined
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.splitter import sentences_in
from perceptron_nlp.text.tokenizer import Span


class RunningLayout:
    """A sentence as it stood: its text, and where its words begin and end in it.

    ``number`` counts the sentences of its file, from 1.
    """

    __slots__ = ("number", "spans", "text")

    def __init__(self, text: str, spans: list[Span], number: int) -> None:
        self.text = text
        self.spans = spans
        self.number = number

    def alias(self, name: str) -> str | None:
        """``1`` stands for the words; there are no other columns."""
        return "form" if name == "1" else None

    def space_after(self) -> list[str]:
        """MISC of each word: whether no white space follows it in the sentence."""
        starts = [start for start, _ in self.spans[1:]]
        return [
            *(
                "SpaceAfter=No" if start == end else "_"
                for start, (_, end) in zip(starts, self.spans, strict=False)
            ),
            "_",
        ]


class RunningReader:
    """Iterates over the sentences of a source; nothing follows the last one."""

    tail = ""

    def __init__(self, source: LineSource) -> None:
        self._source = source

    def __iter__(self) -> Iterator[Sentence]:
        for number, (line, text, spans) in enumerate(sentences_in(self._pieces()), 1):
            words = tuple([text[start:end] for start, end in spans])
            layout = RunningLayout(text, spans, number)
            lines = (
                [line + text.count("\n", 0, start) for start, _ in spans]
                if ("\n" in text)
                else line
            )
            yield Sentence.from_reader(words, {}, self._source.name, lines, layout)

    def _pieces(self) -> Iterator[str]:
        first = True
        for piece in self._source.pieces():
            yield piece.removeprefix(BOM) if first else piece
            first = False


def rewrite(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """The words of a sentence with the labels of a column or several; without, a line of words.

    Raises ArgumentError for labels that the format cannot hold.
    """
    if len(columns) > 1:
        return as_conllu(sentence, columns)
    if not columns:
        return " ".join(sentence.words) + "\n"
    (labels,) = columns.values()
    return " ".join(joined(sentence.words, labels, SEPARATOR)) + "\n"


def as_conllu(
    sentence: Sentence, columns: Mapping[str, Sequence[str]], number: int | None = None
) -> str:
    """A sentence of running text as CoNLL-U, with ``# sent_id`` and ``# text``.

    White space within the sentence is one space in ``# text``, and ``SpaceAfter=No`` tells where
    there is none. A column ``misc`` is written in place of that mark, which it should then hold.
    The sentence's ``# sent_id`` is `number`, or else its place in its file.

    Raises ArgumentError for labels that CoNLL-U cannot hold.
    """
    layout = sentence.layout
    if not isinstance(layout, RunningLayout):
        raise ArgumentError("sentence: not one of running text")
    misc = list(columns.get("misc", layout.space_after()))
    held = {}
    for name, labels in columns.items():
        if name == "misc":
            continue
        if name in COLUMNS:
            held[name] = labels
            continue
        for at, label in enumerate(labels):
            if not label or any(mark in label for mark in "|\t\n"):
                raise ArgumentError(f"columns: MISC cannot hold the label {quote(label)}")
            pair = f"{name}={label}"
            misc[at] = pair if misc[at] == "_" else f"{misc[at]}|{pair}"
    body = conllu_text(Sentence(sentence.words, {**held, "misc": misc}), {})
    place = layout.number if number is None else number
    return f"# sent_id = {place}\n# text = {' '.join(layout.text.split())}\n{body}"
