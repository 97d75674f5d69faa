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

from perceptron_nlp._checks import sentences_only
from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.lines import LONGEST, LineSource, too_long
from perceptron_nlp.formats.opening import BOM, Readable
from perceptron_nlp.formats.reading import Format, split_grid, without_empty_line
from perceptron_nlp.formats.replace import joined_lines, write_texts
from perceptron_nlp.formats.values import names_in
from perceptron_nlp.text.sentence import Sentence

_MARK_LINE = re.compile(r"-DOCSTART-(?:[ \t][^\n]*)?\r?(?:\n|\Z)")
_FIELD = re.compile(r"[^ \t]+")
_TAB_FIELD = re.compile(r"[^\t]+")


# Names of columns in a row of headings; first those of the words.
_FORMS = frozenset({"form", "token", "tokens", "word", "words", "text"})
_HEADINGS = _FORMS | {
    *("id", "index", "sentence", "lemma", "pos", "upos", "xpos", "tag", "tags", "label", "labels"),
    *("gold", "feats", "chunk", "chunks", "ner", "iob", "bio", "entity", "entities"),
}


class ColumnNames:
    """Names of the columns of a file, and what separates them."""

    __slots__ = ("form", "names", "separator")

    def __init__(self, names: tuple[str, ...], separator: str) -> None:
        self.names = names
        self.form = names.index("form")
        self.separator = separator

    def number_of(self, name: str) -> int | None:
        """Return the place, from 0, of a column called by name or by number from 1."""
        if name in self.names:
            return self.names.index(name)
        if name.isascii() and name.isdigit() and 0 < int(name[:6]) <= len(self.names):
            return int(name) - 1
        return None


class ColumnLayout:
    """The text of a sentence; ``text[start:end]`` is the lines of its words."""

    __slots__ = ("columns", "end", "start", "text")

    def __init__(self, text: str, start: int, end: int, columns: ColumnNames) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.columns = columns

    def alias(self, name: str) -> str | None:
        """Return the column of a number."""
        number = self.columns.number_of(name)
        return None if number is None else self.columns.names[number]


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


class ColumnReader:
    """Sentences of a source, to be iterated over once; then ``tail`` is what follows the last."""

    def __init__(self, source: LineSource, fields: tuple[str, ...] | None = None) -> None:
        self.tail = ""
        self._source = source
        self._fields = fields
        self._columns: ColumnNames | None = None

    def __iter__(self) -> Iterator[Sentence]:
        before: list[str] = []
        length = 0
        for first_line, block in self._source.blocks():
            start = _start_of_words(block, first_line)
            before.append(block)
            length += len(block)
            if length > LONGEST:
                raise too_long("sentence", self._source.name, first_line)
            if start == len(block):
                continue
            text = block if len(before) == 1 else "".join(before)
            line = first_line + block.count("\n", 0, start)
            if self._columns is None:
                first = block[start:].partition("\n")[0]
                self._columns = columns_of(first, self._fields, self._source.name)
            before.clear()
            length = 0
            yield self._sentence(text, len(text) - len(block) + start, line, self._columns)
        self.tail = "".join(before)

    def _sentence(self, text: str, start: int, line: int, columns: ColumnNames) -> Sentence:
        body, end = without_empty_line(text, start)
        width = len(columns.names)
        name = self._source.name
        clean = columns.separator == "\t" or "\t" not in body
        cells = split_grid(body, columns.separator, width) if clean else None
        if cells is None:
            rows = body[:-1].split("\n")
            cells = _cells(rows, columns, name, line)
        stride = width + 1
        words = tuple(cells[columns.form :: stride])
        values = {
            column: tuple(cells[number::stride])
            for number, column in enumerate(columns.names)
            if number != columns.form
        }
        layout = ColumnLayout(text, start, end, columns)
        return Sentence.from_reader(words, values, name, range(line, line + len(words)), layout)


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


def columns_of(line: str, fields: tuple[str, ...] | None, path: str) -> ColumnNames:
    """Return names and separator of a file whose first line of a word is ``line``."""
    line = line.removesuffix("\r")
    separator = "\t" if "\t" in line.strip(" \t") else " "
    width = len(line.split("\t")) if separator == "\t" else len(_FIELD.findall(line))
    if fields is None:
        numbers = tuple(str(number) for number in range(2, width + 1))
        return ColumnNames(("form", *numbers), separator)
    if len(fields) != width:
        raise ArgumentError(
            f"fields: {len(fields)} names ({', '.join(fields)}) for the {width} columns of"
            f" {path}; _ leaves one out"
        )
    return ColumnNames(names_of(fields), separator)


def names_of(fields: Sequence[str]) -> tuple[str, ...]:
    """Return the names of columns: a number, from 1, if a name is left out."""
    return tuple(str(at) if name == "_" else name for at, name in enumerate(fields, 1))


def columns_in(head: str, fields: tuple[str, ...] | None, path: str) -> tuple[str, ...]:
    """Return the names of all columns of a text that begins so; ``form`` if it is empty."""
    first = head[_start_of_words(head, 1) :].partition("\n")[0]
    return columns_of(first, fields, path).names if first.strip() else ("form",)


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
    if not isinstance(layout, ColumnLayout):
        layout = _built(sentence)
    text = layout.text
    lines = text[layout.start : layout.end].split("\n")
    for name, values in columns.items():
        _check_values(name, values, len(sentence), layout.columns.separator)
        number = layout.columns.number_of(name)
        for index, value in enumerate(values):
            if number is None:
                lines[index] = _appended(lines[index], value, layout.columns.separator)
            else:
                lines[index] = _replaced(lines[index], number, value, layout.columns.separator)
    return text[: layout.start] + "\n".join(lines) + text[layout.end :]


def write_columns(sentences: Iterable[Sentence], path: str | os.PathLike[str]) -> None:
    """Write sentences to a file, which is replaced whole or not at all.

    Sentences read from columns are written as they were, others as `rewrite` says.

    Raises FileError if the file cannot be written, ArgumentError for a sentence that columns
    cannot hold.
    """
    texts = (rewrite(sentence, {}) for sentence in sentences_only(sentences))
    write_texts(joined_lines(texts, empty_line=True), path)


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


def _cells(rows: list[str], columns: ColumnNames, path: str, line: int) -> list[str]:
    """Return the cells of lines that are no clean grid; raise for the first that is wrong."""
    width = len(columns.names)
    cells: list[str] = []
    for number, row in enumerate(rows, line):
        if not row.strip(" \t\r"):
            what = "a line of spaces; sentences are separated by an empty line"
            raise FormatError(what, path, number)
        fields = row.split("\t") if columns.separator == "\t" else _FIELD.findall(row)
        if len(fields) != width:
            mark = "tabs" if columns.separator == "\t" else "spaces"
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


def _replaced(line: str, number: int, value: str, separator: str) -> str:
    pattern = _TAB_FIELD if separator == "\t" else _FIELD
    body = line.removesuffix("\r")
    for place, match in enumerate(pattern.finditer(body)):
        if place == number:
            return line[: match.start()] + value + line[match.end() :]
    raise AssertionError("a line of a sentence has all its columns")


def _appended(line: str, value: str, separator: str) -> str:
    end = len(
        line.removesuffix("\r").rstrip(" \t") if separator == " " else line.removesuffix("\r")
    )
    return line[:end] + separator + value + line[end:]


def _check_values(name: str, values: Sequence[str], length: int, separator: str) -> None:
    if isinstance(values, str) or len(values) != length:
        raise ArgumentError(f"columns[{quote(name)}]: {len(values)} values for {length} words")
    for value in set(values):
        if not value or "\t" in value or "\n" in value or (separator == " " and " " in value):
            raise ArgumentError(
                f"columns[{quote(name)}]: {quote(value)} is empty, or holds what separates "
                "columns or lines"
            )


def _built(sentence: Sentence) -> ColumnLayout:
    if not sentence.words:
        raise ArgumentError("sentence: columns have no sentences without words")
    names = ("form", *sentence.columns)
    values = [sentence.words, *sentence.columns.values()]
    for name, column in zip(names, values, strict=True):
        _check_values(name, column, len(sentence), "\t")
    body = "".join("\t".join(row) + "\n" for row in zip(*values, strict=True))
    return ColumnLayout(body + "\n", 0, len(body), ColumnNames(names, "\t"))


FORMATS = {
    "columns": Format(
        read=lambda source, fields, segment: ColumnReader(source, fields),
        rewrite=rewrite,
        columns_of=columns_in,
        default_column=lambda names: names[-1] if names else None,
        warnings_of=heading_warnings,
    )
}
