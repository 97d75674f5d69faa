"""A text in any of the formats: detected (detection.py), read as sentences, written back."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import ArgumentError, FileError
from perceptron_nlp.formats.lines import LONGEST, SILENCE, LineSource
from perceptron_nlp.formats.opening import (
    BOM,
    DOCUMENT_MARK,
    STDIN,
    Readable,
    is_conllu_name,
    name_of,
)
from perceptron_nlp.text.sentence import Sentence

if TYPE_CHECKING:
    from perceptron_nlp.formats.reading import Format, Segment

AUTO = "auto"

# No text has columns with longer numbers.
MOST_DIGITS = 9

FORMATS = {
    "conllu": "conllu",
    "columns": "columns",
    "tagged": "tagged",
    "lines": "tagged",
    "text": "plaintext",
    "jsonl": "jsonlines",
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
    format : ``conllu``, ``columns``, ``tagged``, ``lines``, ``text`` or ``jsonl``
    column_names : the columns but the words (``form``)
    default_column : the one to learn if none is named: ``upos``, the last of column files, ``tag``;
        None for lines of words and running text
    warnings : what is likely not as it was meant, such as a row of headings that is read as a word
    fields : the names that the columns of a column file were given; None if they have numbers
    tail : once all sentences have been read, the text after the last of them

    ``rewrite(sentence, {})`` of all sentences and ``tail`` are the text, byte for byte; of running
    text (``text``), which a tagger cuts into sentences and words (``cut_by``), they are its words,
    a sentence a line. A file can be iterated over again, a stream only once.
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
            is_open = format == AUTO and not is_conllu_name(self.path)
            if is_open:
                # Here, since the name of most files, or somebody, says what they are.
                from perceptron_nlp.formats.detection import comma_warnings, detect

                format = detect(head, name=self.path)
            self.format = "conllu" if format == AUTO else format
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
            # Text of words alone is often read as bytes, without the module of its format.
            if self.format not in ("text", "lines"):
                kind = _kind(self.format)
                self._columns = kind.columns_of(head, fields, self.path)
                self.warnings = kind.warnings_of(head, fields, self.path)
            if is_open and len(self._columns) == 1:
                self.warnings += comma_warnings(head, self.path, self.format)
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

    def lines(self) -> Iterator[tuple[int, str]]:
        """Yield all lines with their numbers, in place of sentences; JSON lines have none."""
        with self._take_source() as source:
            yield from source.lines()

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
        """Cut running text, before it is iterated over; see Tagger.segmenter."""
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
    format : ``auto`` looks at the first 64 KiB, or what a pipe gives first (see detection.py);
        ``conllu``, ``columns``, ``tagged``, ``lines`` (a sentence a line, words separated by
        spaces), ``text`` (running text) or ``jsonl`` (records, for `Corpus.lines`) says it
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


def _tells_columns(head: str) -> bool:
    """Return True if there is a whole line other than empty ones, document marks and comments."""
    lines = head.removeprefix(BOM).split("\n")[:-1]
    marks = DOCUMENT_MARK, "# "
    return any(line.strip(" \t\r") and not line.startswith(marks) for line in lines)
