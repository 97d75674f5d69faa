"""What the modules of formats share: how a format is described, read and written."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from perceptron_nlp._checks import sentences_only
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats.lines import LONGEST, LineSource, too_long
from perceptron_nlp.formats.replace import joined_lines, write_texts
from perceptron_nlp.text.layout import Layout, TokenSpan
from perceptron_nlp.text.sentence import Sentence

_SPACES = re.compile("([ \t]+)")

Segment = Callable[[Iterable[str]], Iterator[tuple[int, str, Sequence[TokenSpan], bool]]]
"""From the pieces of a text to its sentences: of each its line, its text, its tokens, and whether
the next stands right behind it."""
Rewrite = Callable[[Sentence, Mapping[str, Sequence[str]]], str]
"""From a sentence and columns (name to one value for each word) to its text with them replaced."""


class Reader:
    """Sentences of a source, to be iterated over once; then ``tail`` is what follows the last.

    What stands between sentences belongs to the sentence after it. A format says where the words
    of a line or block begin, and what sentence they are.
    """

    def __init__(self, source: LineSource) -> None:
        self.tail = ""
        self._source = source

    def __iter__(self) -> Iterator[Sentence]:
        self._pieces = self._lines_or_blocks()
        before: list[str] = []
        length = 0
        while True:
            if not before:
                yield from self._usual_sentences()
            first_line, piece = next(self._pieces, (0, ""))
            if not piece:
                break
            start = self._start_of_words(piece, first_line)
            before.append(piece)
            length += len(piece)
            if length > LONGEST:
                raise too_long("sentence", self._source.name, first_line)
            if start == len(piece):
                continue
            text = piece if len(before) == 1 else "".join(before)
            line = first_line + piece.count("\n", 0, start)
            sentence = self._sentence(text, len(text) - len(piece) + start, line)
            if sentence is not None:
                before.clear()
                length = 0
                yield sentence
        self.tail = "".join(before)

    def _lines_or_blocks(self) -> Iterator[tuple[int, str]]:
        return self._source.blocks()

    def _usual_sentences(self) -> Iterable[Sentence]:
        """Return sentences that can be taken from the source in another way."""
        return ()

    def _start_of_words(self, piece: str, first_line: int) -> int:
        """Return where the words of a line or block begin; its length if there are none."""
        raise NotImplementedError

    def _sentence(self, text: str, start: int, line: int) -> Sentence | None:
        """Return the sentence whose words begin at ``start``, in this line; None if it has none."""
        raise NotImplementedError


class Format(NamedTuple):
    """One format: how it is read and written, and what it calls its columns.

    ``read`` takes the names of columns, and what cuts running text, if anything.
    ``columns_of`` gives the names of all columns in order from the first lines of a text;
    ``default_column`` picks from those but the words the one to learn if none is named;
    ``warnings_of`` gives what is likely not as it was meant.
    """

    read: Callable[[LineSource, tuple[str, ...] | None, Segment | None], Reader]
    rewrite: Rewrite
    columns_of: Callable[[str, tuple[str, ...] | None, str], tuple[str, ...]] = (
        lambda head, fields, path: ("form",)
    )
    default_column: Callable[[tuple[str, ...]], str | None] = lambda names: None
    warnings_of: Callable[[str, tuple[str, ...] | None, str], tuple[str, ...]] = (
        lambda head, fields, path: ()
    )


def write_sentences(
    sentences: Iterable[Sentence],
    path: str | os.PathLike[str],
    text_of: Callable[[Sentence], str],
    *,
    empty_line: bool,
) -> None:
    """Replace a file by the texts of sentences, perhaps with an empty line behind each."""
    texts = map(text_of, sentences_only(sentences))
    write_texts(joined_lines(texts, empty_line=empty_line), path)


def lines_of(format: str, columns: Mapping[str, Sequence[str]], names: Sequence[str]) -> Layout:
    """Return the layout of a sentence from elsewhere: lines of columns, tabs, an empty line."""
    values = [columns[name] for name in names]
    body = "".join("\t".join(row) + "\n" for row in zip(*values, strict=True))
    rows = range(len(columns["form"]))
    return Layout(format, body + "\n", (0, len(body)), tuple(names), rows=rows)


def check_length(name: str, values: Sequence[str], length: int) -> None:
    """Raise ArgumentError unless a column has a value for each word."""
    if isinstance(values, str) or len(values) != length:
        raise ArgumentError(f"columns[{quote(name)}]: {len(values)} values for {length} words")


def with_columns_put(layout: Layout, columns: Iterable[tuple[int, Sequence[str]]]) -> str:
    """Return the text of a layout with values of columns, by number from 0, in the lines of words.

    A number beyond the last adds a column at the end of the lines. All other bytes stay.
    """
    lines = layout.text[layout.start : layout.end].split("\n")
    width, in_order = len(layout.names), sorted(columns, key=itemgetter(0))
    for at, row in enumerate(layout.rows):
        line = lines[row]
        body = line.removesuffix("\r")
        # Runs of spaces and tabs are one separator, stay as they are, and may stand at the ends.
        first, step, mark, parts = 0, 1, "\t", body.split("\t")
        if layout.separator == " ":
            mark, parts = "", _SPACES.split(body)
            first, step = 0 if parts[0] else 2, 2
        for number, values in in_order:
            place = first + step * min(number, width - 1)
            before = "" if number < width else parts[place] + layout.separator
            parts[place] = before + values[at]
        lines[row] = mark.join(parts) + line[len(body) :]
    return layout.text[: layout.start] + "\n".join(lines) + layout.text[layout.end :]
