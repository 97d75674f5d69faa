"""CoNLL column files: a word a line with its columns, sentences separated by empty lines.

Columns are separated by tabs if the first line with something in it has a tab (then a word may hold
spaces), else by runs of spaces and tabs. Every line of a file has as many fields as its first.
``#`` is a word like any other. A line that begins a block with the field ``-DOCSTART-`` marks a
document: it is kept and is no word, however many fields it has.

Columns are named by ``fields``, one name for each column, one of them ``form`` (the words; ``_``
leaves a column its number). Without names the first column is ``form`` and the others go by their
numbers, ``2``, ``3`` and so on; a number is always a name too.

What stands between sentences belongs to the sentence after it, so the texts of all sentences and
the tail are the file again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.formats.opening import BOM, Readable
from perceptron_nlp.formats.reading import (
    Format,
    Reader,
    check_length,
    lines_of,
    with_columns_put,
    write_sentences,
)
from perceptron_nlp.text.layout import Layout, names_in, split_grid, without_empty_line
from perceptron_nlp.text.sentence import Sentence

_MARK_LINE = re.compile(r"-DOCSTART-(?:[ \t][^\n]*)?\r?(?:\n|\Z)")
_FIELD = re.compile(r"[^ \t]+")


# Names of columns in a row of headings; first those of the words.
_FORMS = frozenset({"form", "token", "tokens", "word", "words", "text"})
_HEADINGS = _FORMS | {
    *("id", "index", "sentence", "lemma", "pos", "upos", "xpos", "tag", "tags", "label", "labels"),
    *("gold", "feats", "chunk", "chunks", "ner", "iob", "bio", "entity", "entities"),
}


def read_columns(
    path: Readable, fields: Sequence[str] | None = None, *, errors: str = "strict"
) -> Iterator[Sentence]:
    """Yield the sentences of a column file; each has at least one word.

    Parameters
    ----------
    path : a path (compressed or not), ``-`` for standard input, or a binary stream
    fields : the names of the columns, or None: ``form``, ``2``, ``3``, ...
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a line does not have the columns of the first; the message names it
    ArgumentError : ``fields`` names no ``form``, or does not fit the file
    """
    checked = checked_fields(fields)
    with LineSource(path, errors=errors) as source:
        yield from ColumnReader(source, checked)


class ColumnReader(Reader):
    """A Reader of columns."""

    def __init__(self, source: LineSource, fields: tuple[str, ...] | None = None) -> None:
        super().__init__(source)
        self._fields = fields
        self._columns: tuple[tuple[str, ...], str] | None = None

    def _start_of_words(self, piece: str, first_line: int) -> int:
        return _start_of_words(piece, first_line)

    def _sentence(self, text: str, start: int, line: int) -> Sentence:
        name = self._source.name
        if self._columns is None:
            first = text[start:].partition("\n")[0]
            self._columns = columns_of(first, self._fields, name)
        names, separator = self._columns
        body, end = without_empty_line(text, start)
        clean = separator == "\t" or "\t" not in body
        cells = split_grid(body, separator, len(names)) if clean else None
        if cells is None:
            cells = _cells(body[:-1].split("\n"), self._columns, name, line)
        values = {one: tuple(cells[at :: len(names) + 1]) for at, one in enumerate(names)}
        words = values.pop("form")
        rows = range(len(words))
        layout = Layout(
            "columns", text, (start, end), names, separator=separator, rows=rows, eager=values
        )
        lines = range(line, line + len(words))
        return Sentence.from_reader(words, layout, name, lines, layout)


def checked_fields(fields: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return ``fields`` as a tuple; raise unless they are different names with ``form``."""
    names = names_in(fields)
    if names is None:
        return None
    if "form" not in names:
        raise ArgumentError(
            f"fields: none of {', '.join(map(quote, names)) or 'no names'} is 'form'; "
            "the words' column must be called that"
        )
    for number, name in enumerate(names, 1):
        if not name or any(mark in name for mark in " \t\n"):
            raise ArgumentError(f"fields: {quote(name)} cannot be the name of a column")
        if name != "_" and names.count(name) > 1:
            raise ArgumentError(f"fields: {quote(name)} is there twice")
        if name.isdigit() and name != str(number):
            raise ArgumentError(f"fields: {quote(name)} is the number of another column")
    return names


def columns_of(line: str, fields: tuple[str, ...] | None, path: str) -> tuple[tuple[str, ...], str]:
    """Return names and separator of a file whose first line of a word is ``line``."""
    line = line.removesuffix("\r")
    separator = "\t" if "\t" in line.strip(" \t") else " "
    width = len(line.split("\t")) if separator == "\t" else len(_FIELD.findall(line))
    if fields is None:
        numbers = tuple(str(number) for number in range(2, width + 1))
        return ("form", *numbers), separator
    if len(fields) != width:
        raise ArgumentError(
            f"fields: {len(fields)} names ({', '.join(fields)}) for the {width} columns of"
            f" {path}; _ leaves one out"
        )
    return names_of(fields), separator


def names_of(fields: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns: a number, from 1, if a name is left out."""
    return tuple(str(at) if name == "_" else name for at, name in enumerate(fields, 1))


def columns_in(head: str, fields: tuple[str, ...] | None, path: str) -> tuple[str, ...]:
    """Return the names of all columns of a text that begins so; ``form`` if it is empty."""
    first = head[_start_of_words(head, 1) :].partition("\n")[0]
    return columns_of(first, fields, path)[0] if first.strip() else ("form",)


def heading_warnings(head: str, fields: tuple[str, ...] | None, path: str) -> tuple[str, ...]:
    """Return what to say of a row of headings at the beginning of a text, if there is one.

    Such rows are no part of the format: they are read as words. A row is taken for one if all of
    its cells are called like columns, the words' column among them, or if they are the names in
    `fields`.
    """
    start = _start_of_words(head, 1)
    row = head[start:].partition("\n")[0].strip()
    cells = row.casefold().split()
    named = tuple(cells) == tuple(name.casefold() for name in fields or ())
    if len(cells) < 2 or not (named or (_HEADINGS.issuperset(cells) and _FORMS & {*cells})):
        return ()
    line = head.count("\n", 0, start) + 1
    return (
        f"{path}:{line}: {quote(row)} looks like a row of headings, and is read as a word and its"
        " labels; delete it",
    )


def rewrite(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a sentence with columns replaced, or added at the end of its lines.

    A sentence read from columns is as it was in all other bytes; a new column follows the last,
    after a tab or a space as in the file. A sentence from elsewhere becomes lines of its words and
    all its columns, separated by tabs, and an empty line.

    Raises ArgumentError for values that are not as many as words, and for a value that the file
    cannot hold.
    """
    layout = sentence.layout
    if layout is None or layout.format != "columns":
        if not sentence.words:
            raise ArgumentError("sentence: columns have no sentences without words")
        held: dict[str, Sequence[str]] = {"form": sentence.words, **sentence.columns}
        for name, values in held.items():
            _check_values(name, values, len(sentence), "\t")
        layout = lines_of("columns", held, tuple(held))
    numbered = []
    for name, values in columns.items():
        _check_values(name, values, len(sentence), layout.separator)
        actual = layout.alias(name)
        number = len(layout.names) if actual is None else layout.names.index(actual)
        numbered.append((number, values))
    return with_columns_put(layout, numbered)


def write_columns(sentences: Iterable[Sentence], path: str | os.PathLike[str]) -> None:
    """Write sentences to a file, which is replaced whole or not at all.

    Sentences read from columns are written as they were, others as `rewrite` says.

    Raises FileError if the file cannot be written, ArgumentError for a sentence that columns
    cannot hold.
    """
    write_sentences(sentences, path, lambda one: rewrite(one, {}), empty_line=True)


def _start_of_words(block: str, first_line: int) -> int:
    start = 1 if first_line == 1 and block.startswith(BOM) else 0
    while True:
        if block.startswith("\n", start):
            start += 1
        elif block.startswith("\r\n", start):
            start += 2
        elif match := _MARK_LINE.match(block, start):
            start = match.end()
        else:
            return start


def _cells(
    rows: list[str], columns: tuple[tuple[str, ...], str], path: str, line: int
) -> list[str]:
    """Return the cells of lines that are no clean grid; raise for the first that is wrong."""
    width, separator = len(columns[0]), columns[1]
    cells: list[str] = []
    for number, row in enumerate(rows, line):
        if not row.strip(" \t\r"):
            what = "a line of spaces; sentences are separated by an empty line"
            raise FormatError(what, path, number)
        fields = row.split("\t") if separator == "\t" else _FIELD.findall(row)
        if len(fields) != width:
            mark = "tabs" if separator == "\t" else "spaces"
            raise FormatError(
                f"{len(fields)} field{'s' if len(fields) > 1 else ''} where the first line has "
                f"{width} (separated by {mark})",
                path,
                number,
            )
        if "" in fields:
            raise FormatError(f"column {fields.index('') + 1} is empty", path, number)
        cells += fields
        cells.append("\n")
    return cells


def _check_values(name: str, values: Sequence[str], length: int, separator: str) -> None:
    check_length(name, values, length)
    for value in set(values):
        if not value or "\t" in value or "\n" in value or (separator == " " and " " in value):
            raise ArgumentError(
                f"columns[{quote(name)}]: {quote(value)} is empty, or holds what separates "
                "columns or lines"
            )


FORMATS = {
    "columns": Format(
        read=lambda source, fields, segment: ColumnReader(source, fields),
        rewrite=rewrite,
        columns_of=columns_in,
        default_column=lambda names: names[-1] if names else None,
        warnings_of=heading_warnings,
    )
}
