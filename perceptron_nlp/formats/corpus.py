"""A text in any of the formats: detected, read as sentences, written back.

The first lines of a text tell its format. Of these rules the first that holds decides:

1. ``conllu``: the file is called ``.conllu`` or ``.conllup``; or its first line is a comment that
   CoNLL-U files begin with (``# global.columns``, ``# newdoc``, ``# newpar``, ``# sent_id``,
   ``# text``); or at least half of its lines, comments left out, have ten fields (separated by
   tabs, or wrongly by spaces) of which the first is a CoNLL-U ID.
2. ``tagged``: at least nine tokens in ten are ``word/TAG``, and there are two or more.
3. ``columns``: at least nine lines in ten have as many fields as most have, that is two or more,
   and there are two lines or more. A text may have this by chance, so there must also be: tabs
   between the fields; or empty lines, with more than one line between them on average; or labels in
   the last field (no small letters but after ``B-``, ``I-``, ``E-``, ``S-``, and some letter).
4. ``columns``: every line has one token, and somewhere two lines follow each other and somewhere an
   empty line separates two lines: words one below the other.
5. ``lines``, a sentence a line with its words separated by spaces: there are full stops, commas or
   the like with spaces around them, and hardly any with a word right before them.
6. ``text``: everything else, and an empty file.
"""

from __future__ import annotations

import importlib
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import ArgumentError, FileError
from perceptron_nlp.formats.lines import LONGEST, SILENCE, LineSource
from perceptron_nlp.formats.opening import BOM, STDIN, Readable, name_of, plain_name
from perceptron_nlp.formats.reading import DOCUMENT_MARK, Format
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp.formats.reading import Segment

AUTO = "auto"

# No text has columns with longer numbers.
MOST_DIGITS = 9

_CONLLU_SUFFIXES = (".conllu", ".conllup")
_CONLLU_COMMENT = re.compile(r"# ?(?:global\.columns|newdoc|newpar|sent_id|text)\b")
_CONLLU_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?")
_TAGGED = re.compile(r"[^ \t]+/[^ \t/]+")
_PREFIXED = re.compile(r"[BIESLU]-.+")
_FOREIGN_MARKS = "。！？，、；：؟،؛۔।"
_MARKS = frozenset(f".,!?;:{_FOREIGN_MARKS}")
# Not a full stop, which may be that of an abbreviation, but behind a long word. Scripts without
# spaces have marks within what spaces separate.
_ATTACHED = re.compile(rf"\S*\w[,!?;:]|\S*\w{{5}}\.|\S*\w[{_FOREIGN_MARKS}]\S*")
_MOST = 0.9


FORMATS = {
    "conllu": "conllu",
    "columns": "columns",
    "tagged": "tagged",
    "lines": "tagged",
    "text": "running",
}
"""The module of each format, which is imported when it is needed."""


def _kind(format: str) -> Format:
    found: dict[str, Format] = importlib.import_module(
        f"perceptron_nlp.formats.{FORMATS[format]}"
    ).FORMATS
    return found[format]


class Corpus(Iterable[Sentence]):
    """A text as sentences, read as they are asked for.

    Attributes
    ----------
    path : what messages call the text
    format : ``conllu``, ``columns``, ``tagged``, ``lines`` or ``text``
    column_names : the columns but the words (``form``)
    default_column : the one to learn if none is named: ``upos``, the last of column files, ``tag``;
        None for lines of words and running text
    warnings : what is likely not as it was meant, such as a row of headings that is read as a word
    fields : the names that the columns of a column file were given; None if they have numbers
    tail : once all sentences have been read, the text after the last of them

    ``rewrite(sentence, {})`` of all sentences and ``tail`` are the text, byte for byte; of running
    text (``text``), which the rules of :mod:`perceptron_nlp.text` cut into sentences and words,
    they are its words, a sentence a line. A file can be iterated over again, a stream only once.
    """

    def __init__(
        self, path: Readable, format: str, fields: tuple[str, ...] | None, errors: str
    ) -> None:
        self.path = name_of(path)
        self.tail = ""
        self._opened_from = path
        self.fields = fields
        self._errors = errors
        self._source: LineSource | None = LineSource(path, errors=errors)
        try:
            # Only guessing needs more than the first line, and takes what a pipe gives first: a
            # program that writes a sentence and waits for its labels is answered.
            silence = SILENCE if format == AUTO else 0
            head = self._source.head(_tells_columns, silence).removeprefix(BOM)
            self.format = format if format != AUTO else detect(head, name=self.path)
            if fields is not None and self.format != "columns":
                raise ArgumentError(
                    f"fields: only column files have them; {self.path} is read as {self.format}"
                )
            if self.format != "text":
                self._source.refuse_bare_returns()
            self._segment: Segment | None = None
            self._columns: tuple[str, ...] = ("form",)
            self.warnings: tuple[str, ...] = ()
            self.default_column: str | None = None
            # Running text is often read as bytes, without the module of its format.
            if self.format != "text":
                kind = _kind(self.format)
                self._columns = kind.columns_of(head, fields, self.path)
                self.warnings = kind.warnings_of(head, fields, self.path)
            self.column_names = tuple(n for n in self._columns if n not in ("id", "form"))
            if self.column_names:
                self.default_column = kind.default_column(self.column_names)
        except BaseException:
            self._source.close()
            raise

    def __iter__(self) -> Iterator[Sentence]:
        with self._take_source() as source:
            if source.is_over():
                # All of it was taken as bytes.
                return
            reader = _kind(self.format).read(source, self.fields, self._segment)
            yield from reader
            self.tail = reader.tail

    def read_as(self, format: str) -> None:
        """Take the text for one of another format without columns; before it is iterated over."""
        self.format = format

    def take_fields(self, fields: Sequence[str]) -> bool:
        """Name the columns of a column file that has as many and that nobody named; return True if
        so.

        Before it is iterated over. Raises ArgumentError for what cannot be names of columns.
        """
        if self.fields is not None or self.format != "columns":
            return False
        if len(fields) != len(self._columns):
            return False
        columns = importlib.import_module("perceptron_nlp.formats.columns")
        self.fields = columns.checked_fields(fields)
        self._columns = columns.names_of(fields)
        self.column_names = tuple(name for name in self._columns if name != "form")
        self.default_column = _kind(self.format).default_column(self.column_names)
        return True

    def cut_by(self, segment: Segment) -> None:
        """Cut running text with a running.Segment in place of rules; before it is iterated over."""
        if self.format == "text":
            self._segment = segment

    def column_named(self, column: str) -> str:
        """Return the name of a column for its number, from 1; a name as it is."""
        number = int(column) if column.isdecimal() and len(column) <= MOST_DIGITS else 0
        return self._columns[number - 1] if 0 < number <= len(self._columns) else column

    def rewrite(self, sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
        """Return the text of a sentence with columns replaced, in the format of this text.

        ``lines`` and ``text`` become ``word/TAG``; ``text`` with several columns becomes CoNLL-U.
        Raises ArgumentError for labels that the format cannot hold, or not as many as the words.
        """
        return _kind(self.format).rewrite(sentence, columns)

    def peek_text(self) -> bytearray | None:
        """Return the whole text, without using it up; None if it cannot be read to its end.

        It is the corpus's own until ``close``: it changes if the corpus is iterated over.
        """
        self.reopen()
        return None if self._source is None else self._source.peek_text()

    def take_text(self, least: int) -> bytes:
        """Take the characters that come next as bytes, unread; empty at the end of the text."""
        return b"" if self._source is None else self._source.take_text(least)

    def take_blocks(self, least: int, most: int = LONGEST) -> bytes:
        """Take whole sentences as bytes, unread, so that iteration begins behind them.

        Empty if none are left, or iteration has begun, or the first sentence has more than ``most``
        bytes. ``least`` is how many bytes to read at a time.
        """
        return b"" if self._source is None else self._source.take_blocks(least, most)

    def take_blocks_into(self, memory: bytearray) -> int:
        """Take them into memory that can be used again; return how many bytes."""
        return 0 if self._source is None else self._source.take_blocks_into(memory)

    def reopen(self) -> None:
        """Go to the start of a file that was closed or read; do nothing if it is open.

        Raises FileError for a stream that has been read.
        """
        if self._source is None:
            self._source = self._take_source()

    def answer(self, before_waiting: Callable[[], object]) -> None:
        """Have a function called before a pipe is waited for.

        Running text ends at its last line break if the pipe is silent for half a second.
        """
        if self._source is not None:
            self._source.answer(before_waiting)

    def end_at_lines(self) -> None:
        """Take each line of running text for a text of its own; before it is iterated over."""
        if self._source is not None:
            self._source.end_at_lines()

    def is_waiting(self) -> bool:
        """Return True if a pipe has nothing to read now."""
        return self._source is not None and self._source.is_waiting()

    def put_back(self, piece: bytes | memoryview) -> None:
        """Undo the last ``take_blocks``, or the last few: iteration begins with ``piece``."""
        if self._source is not None:
            self._source.put_back(piece)

    def close(self) -> None:
        """Close the file, if it is open and was opened by this library."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _take_source(self) -> LineSource:
        source, self._source = self._source, None
        if source is not None:
            return source
        path = self._opened_from
        if path == STDIN or not isinstance(path, (str, os.PathLike)):
            raise FileError(f"{self.path}: a stream can be read only once; it has been")
        return LineSource(path, errors=self._errors)


def open_corpus(
    path: Readable,
    *,
    format: str = AUTO,
    fields: Sequence[str] | None = None,
    errors: str = "strict",
) -> Corpus:
    """Open a text and detect its format; see :class:`Corpus`.

    Parameters
    ----------
    path : a path (gzip, bzip2, xz and, from Python 3.14 on, zstd are unpacked), ``-`` for standard
        input, or a binary stream
    format : ``auto`` looks at the first 64 KiB (see the module); ``conllu``, ``columns``,
        ``tagged``, ``lines`` (a sentence a line, words separated by spaces) or ``text`` (running
        text) says it
    fields : the names of the columns of a column file; with ``auto`` it is one
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    ArgumentError, ArgumentTypeError : an unknown format, or ``fields`` that do not fit
    FileError : the file cannot be read
    FormatError : it is no text; later, in iteration, a line breaks the format
    """
    check_format(format)
    checked: tuple[str, ...] | None = None
    if fields is not None:
        checked = importlib.import_module("perceptron_nlp.formats.columns").checked_fields(fields)
        format = "columns" if format == AUTO else format
    return Corpus(path, format, checked, errors)


def check_format(format: object) -> None:
    """Raise ArgumentError or ArgumentTypeError for what is no format, nor ``auto``."""
    check_choice("format", format, [AUTO, *FORMATS])


def detect(head: str, *, name: str = "") -> str:
    """Return ``conllu``, ``columns``, ``tagged``, ``lines`` or ``text`` by a text's first lines.

    Of the name of its file only CoNLL-U's suffixes count, with or without that of a compression.
    """
    if plain_name(name).lower().endswith(_CONLLU_SUFFIXES):
        return "conllu"
    text = head.removeprefix(BOM)
    if "\n" not in text:
        # Formats with lines refuse such a text; running text has it.
        text = text.replace("\r", "\n")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    filled = [line for line in lines if line.strip(" \t")]
    if not filled:
        return "text"
    if _CONLLU_COMMENT.match(filled[0]) or _is_conllu(filled):
        return "conllu"
    if _is_tagged(filled):
        return "tagged"
    rows = [line for line in filled if not line.startswith(DOCUMENT_MARK)]
    if _is_columns(rows, lines) or _is_one_column(rows, lines):
        return "columns"
    return "lines" if _is_cut(filled) else "text"


def _is_conllu(lines: list[str]) -> bool:
    rows = [line for line in lines if not line.startswith("#")]
    good = 0
    for row in rows:
        fields = row.split("\t")
        if len(fields) == 1:
            fields = row.split()
        good += len(fields) == 10 and bool(_CONLLU_ID.fullmatch(fields[0]))
    return 2 * good >= len(rows) > 0


def _is_tagged(lines: list[str]) -> bool:
    tokens = [token for line in lines for token in line.replace("\t", " ").split(" ") if token]
    good = sum(1 for token in tokens if _TAGGED.fullmatch(token))
    return len(tokens) > 1 and good >= _MOST * len(tokens)


def _is_columns(rows: list[str], lines: list[str]) -> bool:
    if len(rows) < 2:
        return False
    tabbed = "\t" in rows[0].strip(" \t")
    fields = [row.split("\t") if tabbed else row.replace("\t", " ").split() for row in rows]
    (width, count), *_ = Counter(map(len, fields)).most_common(1)
    if width < 2 or count < _MOST * len(rows):
        return False
    if tabbed or (_blocks(lines) * 1.5 <= len(rows) and _blocks(lines) > 1):
        return True
    last = [row[-1] for row in fields if len(row) == width]
    labels = all(label == label.upper() or _PREFIXED.fullmatch(label) for label in last)
    return labels and any(character.isupper() for label in last for character in label)


def _is_one_column(rows: list[str], lines: list[str]) -> bool:
    one_each = all(len(row.replace("\t", " ").split(" ")) == 1 for row in rows)
    return one_each and 1 < _blocks(lines) < len(rows) and not any(map(_ATTACHED.fullmatch, rows))


def _is_cut(lines: list[str]) -> bool:
    """Return True if marks stand alone, as in text whose words are separated by spaces."""
    pieces = [piece for line in lines for piece in line.replace("\t", " ").split(" ")]
    alone = sum(1 for piece in pieces if piece in _MARKS)
    attached = sum(1 for piece in pieces if _ATTACHED.fullmatch(piece))
    return alone > 0 and attached <= (1 - _MOST) * alone


def _blocks(lines: list[str]) -> int:
    """Return the number of runs of lines between empty lines."""
    filled = [bool(line) for line in lines]
    return sum(now and not before for before, now in zip([False, *filled], filled, strict=False))


def _tells_columns(head: str) -> bool:
    """Return True if there is a whole line other than empty ones, document marks and comments."""
    lines = head.removeprefix(BOM).split("\n")[:-1]
    marks = DOCUMENT_MARK, "# "
    return any(line.strip(" \t\r") and not line.startswith(marks) for line in lines)
