"""CoNLL-U and CoNLL-U Plus, read sentence by sentence and written back unchanged.

A sentence is lines of ten tab-separated fields, ended by an empty line. Lines that start with ``#``
before its first word are comments. Words are numbered from 1; ranges (``3-4``) and empty nodes
(``8.1``, ``0.1``) stand among them, are no words, and are only carried along. ``_`` is an ordinary
FORM; FORM, LEMMA and MISC may hold spaces. If the first line is ``# global.columns = ...`` it names
the columns (CoNLL-U Plus).

The columns of a sentence in addition to its words (``form``) go by their lower-case names: lemma,
upos, xpos, feats, head, deprel, deps, misc. :meth:`Sentence.column` also takes any case and the
number of a column, from 1.

What stands between sentences (empty lines, comments without words) belongs to the sentence after
it, so the texts of all sentences and the tail are the file again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._checks import sentences_only
from perceptron_nlp._core.conllu.conlluscan import ConlluScanner
from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.conllu_layout import ConlluLayout, pick, plain_ids
from perceptron_nlp.formats.conllu_rules import (
    GLOBAL_COLUMNS,
    BeyondSentenceError,
    Place,
    check_values,
    columns_named_in,
    refuse_grid,
    starts_in_the_middle,
    word_rows,
)
from perceptron_nlp.formats.lines import LONGEST, LineSource, Scanned, too_long
from perceptron_nlp.formats.opening import BOM, Readable
from perceptron_nlp.formats.reading import Format, join_grid, split_grid, without_empty_line
from perceptron_nlp.formats.replace import joined_lines, write_texts
from perceptron_nlp.formats.values import CONLLU_COLUMNS, wrong_conllu_value
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp._core.conllu.conlluscan import _ScannedSentence

_EAGER = ("upos", "xpos")
_MOST_SHARED = 1 << 16
_GLOBAL_COLUMNS = GLOBAL_COLUMNS.encode()
# Words that a comment would swallow.
_WORD_AFTER_RETURN = re.compile(r"\r[0-9]+(?:[-.][0-9]+)?\t")


def read_conllu(path: Readable, *, errors: str = "strict") -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file; each has at least one word.

    Parameters
    ----------
    path : a path (gzip, bzip2, xz and, from Python 3.14 on, zstd are unpacked), ``-`` for standard
        input, or a binary stream
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a line breaks the format; the message names it
    """
    with LineSource(path, errors=errors) as source:
        yield from ConlluReader(source)


class ConlluReader:
    """Sentences of a source, to be iterated over once; then ``tail`` is what follows the last.

    The core takes the usual sentences, many at a time. With ``scanned=False`` all are read here,
    line by line; what comes of it is the same.
    """

    def __init__(self, source: LineSource, *, scanned: bool = True) -> None:
        self.tail = ""
        self._source = source
        self._scanner = ConlluScanner() if scanned else None
        self._known: dict[str, str] = {}
        self._columns: tuple[str, ...] = CONLLU_COLUMNS

    def __iter__(self) -> Iterator[Sentence]:
        before: list[str] = []
        length = 0
        blocks = self._source.blocks()
        while True:
            if self._scanner is not None and not before and self._columns == CONLLU_COLUMNS:
                yield from self._usual_sentences()
            first_line, block = next(blocks, (0, ""))
            if not block:
                break
            start = self._start_of_words(block, first_line)
            before.append(block)
            length += len(block)
            if length > LONGEST:
                raise too_long("sentence", self._source.name, first_line)
            if start == len(block):
                continue
            text = block if len(before) == 1 else "".join(before)
            line = first_line + block.count("\n", 0, start)
            try:
                sentence = self._sentence(text, len(text) - len(block) + start, line)
            except BeyondSentenceError as error:
                self._blame_what_cuts_the_sentence(blocks)
                raise FormatError(error.message, error.path, error.line) from None
            if sentence is not None:
                before.clear()
                length = 0
                yield sentence
        self.tail = "".join(before)

    def _usual_sentences(self) -> Iterator[Sentence]:
        """Yield the sentences up to the next that the core does not accept."""
        name = self._source.name
        while taken := self._source.scan(self._take):
            for text, start, line, height, some, words, upos, xpos in taken:
                rows: Sequence[int] = range(height)
                lines: Sequence[int] = range(line, line + height)
                if some is not None:
                    rows = some
                    lines = [line + row for row in some]
                columns = {"upos": upos, "xpos": xpos}
                layout = ConlluLayout(text, (start, len(text) - 1), CONLLU_COLUMNS, rows, columns)
                yield Sentence.from_reader(words, layout, name, lines, layout)

    def _take(self, text: bytearray, line: int) -> Scanned[_ScannedSentence]:
        if self._scanner is None or (line == 1 and text.startswith(_GLOBAL_COLUMNS)):
            return [], 0, 0, False
        return self._scanner.take(text, line)

    def _start_of_words(self, block: str, first_line: int) -> int:
        start = 0
        if first_line == 1:
            start = 1 if block.startswith(BOM) else 0
            self._columns = columns_named_in(block[start:], self._source.name)
        while block.startswith(("#", "\n", "\r\n"), start):
            end = block.find("\n", start) + 1 or len(block)
            if _WORD_AFTER_RETURN.search(block, start, end):
                raise FormatError(
                    "a carriage return alone ends a line; convert it to a line feed",
                    self._source.name,
                    first_line + block.count("\n", 0, start),
                )
            start = end
        return start

    def _sentence(self, text: str, start: int, line: int) -> Sentence | None:
        """Return the sentence whose lines begin at ``start``; None if it has no words."""
        place = Place(self._source.name, line, self._columns)
        body, end = without_empty_line(text, start)
        cells = split_grid(body, "\t", len(self._columns))
        if cells is None:
            refuse_grid(body[:-1].split("\n"), place)
        stride = len(self._columns) + 1
        column = {name: cells[at::stride] for at, name in enumerate(self._columns)}
        ids = column["id"]
        rows: Sequence[int] = range(len(ids))
        lines: Sequence[int] = range(line, line + len(ids))
        if ids != plain_ids(len(ids)):
            rows = word_rows(ids, place)
            lines = [line + row for row in rows]
        check_values(column, rows, place)
        if not rows:
            return None
        words = self._shared(pick(column["form"], rows))
        eager = {name: self._shared(pick(column[name], rows)) for name in _EAGER if name in column}
        layout = ConlluLayout(text, (start, end), self._columns, rows, eager)
        return Sentence.from_reader(words, layout, self._source.name, lines, layout)

    def _shared(self, values: Sequence[str]) -> tuple[str, ...]:
        """Return the values, equal ones as one object, so that a corpus in memory stays small."""
        if len(self._known) > _MOST_SHARED:
            self._known.clear()
        return tuple(map(self._known.setdefault, values, values))

    def _blame_what_cuts_the_sentence(self, blocks: Iterator[tuple[int, str]]) -> None:
        """After a head beyond its sentence: raise for what follows if it is the missing rest."""
        for first_line, block in blocks:
            start = self._start_of_words(block, first_line)
            if start == len(block):
                continue
            name = block[start:].partition("\t")[0]
            if start == 0 and starts_in_the_middle(name):
                word_rows([name], Place(self._source.name, first_line, self._columns))
            return


def write_conllu(sentences: Iterable[Sentence], path: str | os.PathLike[str]) -> None:
    """Write sentences to a file, which is replaced whole or not at all.

    Sentences read from CoNLL-U are written as they were, others in ten columns.

    Raises FileError if the file cannot be written, ArgumentError for a sentence that CoNLL-U cannot
    hold.
    """
    texts = (rewrite_conllu(sentence, {}) for sentence in sentences_only(sentences))
    write_texts(joined_lines(texts, empty_line=True), path)


def rewrite_conllu(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a sentence with columns (name to one value for each word) replaced.

    A sentence read from CoNLL-U is as it was in all other bytes: comments, ranges, empty nodes,
    other columns, line breaks. A sentence from elsewhere becomes ten columns, with those of its
    columns that CoNLL-U has, and an empty line after it.

    Raises ArgumentError for an unknown column, values that are not as many as words, and a value
    that CoNLL-U cannot hold there.
    """
    layout = sentence.layout
    if not isinstance(layout, ConlluLayout):
        layout = _built(sentence)
    if not columns:
        return layout.text
    cells = layout.cells()
    stride = len(layout.names) + 1
    for name, values in columns.items():
        actual = layout.alias(name)
        if actual is None:
            there = ", ".join(layout.names[1:])
            raise ArgumentError(f"columns: no column {quote(name)}; there are: {there}")
        _check_labels(actual, values, len(sentence))
        number = layout.names.index(actual)
        if len(layout.rows) * stride == len(cells):
            cells[number::stride] = values
            continue
        for row, value in zip(layout.rows, values, strict=True):
            cells[number + row * stride] = value
    text, start, end = layout.text, layout.start, layout.end
    return text[:start] + _with_breaks_of(text[start:end], join_grid(cells, "\t")) + text[end:]


def _with_breaks_of(old: str, new: str) -> str:
    """Return ``new`` with the line breaks of ``old``, which has as many lines."""
    if "\r\n" not in old:
        return new if old.endswith("\n") else new[:-1]
    breaks = ["\r\n" if line.endswith("\r") else "\n" for line in old.split("\n")]
    lines = new[:-1].split("\n")
    if not old.endswith("\n"):
        breaks[len(lines) - 1] = ""
    return "".join(line + end for line, end in zip(lines, breaks, strict=False))


def _check_labels(name: str, values: Sequence[str], length: int) -> None:
    if isinstance(values, str) or len(values) != length:
        raise ArgumentError(f"columns[{quote(name)}]: {len(values)} values for {length} words")
    for value in set(values):
        wrong = wrong_conllu_value(name, value)
        if wrong is not None:
            raise ArgumentError(f"columns[{quote(name)}]: {quote(value)} {wrong}")


def _built(sentence: Sentence) -> ConlluLayout:
    if not sentence.words:
        raise ArgumentError("sentence: CoNLL-U has no sentences without words")
    length = len(sentence)
    held = {"form": sentence.words, **sentence.columns}
    fields: list[Sequence[str]] = [plain_ids(length)]
    for name in CONLLU_COLUMNS[1:]:
        values = held.get(name, ("_",) * length)
        _check_labels(name, values, length)
        fields.append(values)
    body = "".join("\t".join(row) + "\n" for row in zip(*fields, strict=True))
    return ConlluLayout(body + "\n", (0, len(body)), CONLLU_COLUMNS, range(length), {})


def with_misc(value: str, key: str, new: str) -> str:
    """Return a MISC field with the attribute ``key`` set to ``new``; the others stay in place.

    >>> with_misc("SpaceAfter=No", "Unknown", "Yes")
    'SpaceAfter=No|Unknown=Yes'

    Raises ArgumentError for a key or value that MISC cannot hold.
    """
    if not key or not new or any(mark in key + new for mark in "|\t\n") or "=" in key:
        raise ArgumentError(f"key, new: {quote(key + '=' + new)} cannot be an attribute of MISC")
    names = [] if value == "_" else [pair.partition("=")[0] for pair in value.split("|")]
    pairs = [pair for pair in value.split("|") if names and pair.partition("=")[0] != key]
    pairs.insert(names.index(key) if key in names else len(pairs), f"{key}={new}")
    return "|".join(pairs)


def without_misc(value: str, key: str) -> str:
    """Return a MISC field without the attribute ``key``; the others stay in place.

    >>> without_misc("SpaceAfter=No|Unknown=Yes", "Unknown")
    'SpaceAfter=No'
    """
    return "|".join(pair for pair in value.split("|") if pair.partition("=")[0] != key) or "_"


FORMATS = {
    "conllu": Format(
        read=lambda source, fields, segment: ConlluReader(source),
        rewrite=rewrite_conllu,
        columns_of=lambda head, fields, path: columns_named_in(head, path),
        default_column=lambda names: "upos" if "upos" in names else None,
    )
}
