"""A text in any of the formats: its sentences, and how they are written back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any, NamedTuple, Protocol

from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import ArgumentError, FileError, quote
from perceptron_nlp.formats import columns as column_format
from perceptron_nlp.formats import conllu, detect
from perceptron_nlp.formats.conllu_rules import columns_named_in
from perceptron_nlp.formats.lines import LONGEST, LineSource
from perceptron_nlp.formats.opening import BOM, STDIN, Readable, name_of
from perceptron_nlp.text.sentence import Sentence

AUTO = "auto"
Segment = Callable[[Iterable[str]], Iterator[tuple[int, str, Sequence[Any]]]]

# No text has columns with longer numbers.
MOST_DIGITS = 9


class SentenceReader(Protocol):
    """Sentences of a source; after the last, ``tail`` is the text that follows it."""

    @property
    def tail(self) -> str:
        """The text after the last sentence."""

    def __iter__(self) -> Iterator[Sentence]:
        """The sentences, once."""


class Format(NamedTuple):
    """One format: how it is read and written, and what it calls its columns.

    ``columns_of`` gives the names of all columns in order from the first lines of a text;
    ``default_column`` picks from those besides the words the one to learn if none is named.
    """

    read: Callable[[LineSource, tuple[str, ...] | None], SentenceReader]
    rewrite: Callable[[Sentence, Mapping[str, Sequence[str]]], str]
    columns_of: Callable[[str, tuple[str, ...] | None, str], tuple[str, ...]]
    default_column: Callable[[tuple[str, ...]], str | None]


class Corpus(Iterable[Sentence]):
    """A text as sentences, read as they are asked for.

    Attributes
    ----------
    path : what messages call the text
    format : ``conllu``, ``columns``, ``tagged``, ``lines`` or ``text``
    column_names : the columns besides the words (``form``)
    default_column : the one to learn if none is named: ``upos``, the last of column files,
        ``tag``; None for lines of words and running text
    warnings : what is likely not as it was meant, such as a row of headings that is read as a word
    tail : once all sentences have been read, the text after the last of them

    ``rewrite(sentence, {})`` of all sentences and ``tail`` are the text, byte for byte; of running
    text (``text``), which the rules of :mod:`perceptron_nlp.text` cut into sentences and words,
    they are its words, a sentence a line.
    A file can be iterated over again, a stream only once.
    """

    def __init__(
        self, path: Readable, format: str, fields: tuple[str, ...] | None, errors: str
    ) -> None:
        self.path = name_of(path)
        self.tail = ""
        self._opened_from = path
        self._fields = fields
        self._errors = errors
        self._source: LineSource | None = LineSource(path, errors=errors)
        try:
            # Only guessing needs more than the first line: a program that writes a
            # sentence and waits for its labels is answered when the format is given.
            enough = None if format == AUTO else _tells_columns
            head = self._source.head(enough).removeprefix(BOM)
            self.format = format if format != AUTO else detect.detect(head, name=self.path)
            if fields is not None and self.format != "columns":
                raise ArgumentError(
                    f"fields: only column files have them; {self.path} is read as {self.format}"
                )
            if self.format != "text":
                self._source.refuse_bare_returns()
            self._kind = FORMATS[self.format]
            self._columns = self._kind.columns_of(head, fields, self.path)
            self.warnings = self._warnings(head)
            self.column_names = tuple(n for n in self._columns if n not in ("id", "form"))
        except BaseException:
            self._source.close()
            raise
        self.default_column = self._kind.default_column(self.column_names)

    def __iter__(self) -> Iterator[Sentence]:
        with self._take_source() as source:
            reader = self._kind.read(source, self._fields)
            yield from reader
            self.tail = reader.tail

    def _warnings(self, head: str) -> tuple[str, ...]:
        found = column_format.heading_row(head, self._fields) if self.format == "columns" else None
        if found is None:
            return ()
        line, row = found
        return (
            f"{self.path}:{line}: {quote(row)} looks like a row of headings, and is read as a word"
            " and its labels; delete it",
        )

    def read_as(self, format: str) -> None:
        """Take the text for one of another format without columns; before it is iterated over."""
        self.format = format
        self._kind = FORMATS[format]

    @property
    def fields(self) -> tuple[str, ...] | None:
        """The names that the columns of a column file were given; None if they have numbers."""
        return self._fields

    def take_fields(self, fields: Sequence[str]) -> bool:
        """Name the columns of a column file that has as many and that nobody named.

        Before it is iterated over.

        Returns
        -------
        True if the columns have these names from now on

        Raises ArgumentError for what cannot be names of columns.
        """
        if self._fields is not None or self.format != "columns":
            return False
        if len(fields) != len(self._columns):
            return False
        self._fields = column_format.checked_fields(fields)
        self._columns = column_format.names_of(fields)
        self.column_names = tuple(name for name in self._columns if name != "form")
        self.default_column = self._kind.default_column(self.column_names)
        return True

    def cut_by(self, segment: Segment) -> None:
        """Cut running text with this in place of rules; before it is iterated over.

        Parameters
        ----------
        segment : from the pieces of a text to its sentences: of each its line, its text, and its
            tokens, see running.Segment
        """
        if self.format == "text":
            reader = _module("running").RunningReader
            self._kind = self._kind._replace(read=lambda source, fields: reader(source, segment))

    def column_named(self, column: str) -> str:
        """The name of a column that is given by its number, from 1; a name as it is."""
        number = int(column) if column.isdecimal() and len(column) <= MOST_DIGITS else 0
        return self._columns[number - 1] if 0 < number <= len(self._columns) else column

    def rewrite(self, sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
        """The text of a sentence with columns replaced, in the format of this text.

        ``lines`` and ``text`` become ``word/TAG``; ``text`` with several columns becomes CoNLL-U.
        Raises ArgumentError for labels that the format
        cannot hold, or that are not as many as the words.
        """
        return self._kind.rewrite(sentence, columns)

    def peek_text(self) -> bytearray | None:
        """The whole text as bytes, without using it up; None where it cannot be read to its end.

        It is the corpus's own until ``close``: it changes if the corpus is iterated over.
        """
        self.reopen()
        return None if self._source is None else self._source.peek_text()

    def take_blocks(self, least: int, most: int = LONGEST) -> bytes:
        """Whole sentences of the text as bytes, unread, so that iteration begins behind them.

        Empty where none are left, or iteration has begun, or the first sentence has more than
        ``most`` bytes.  ``least`` is how many bytes to read at a time.
        """
        return b"" if self._source is None else self._source.take_blocks(least, most)

    def take_blocks_into(self, memory: bytearray) -> int:
        """The same, written into memory that can be used again; how many bytes."""
        return 0 if self._source is None else self._source.take_blocks_into(memory)

    def reopen(self) -> None:
        """Goes to the start of a file that was closed or read; does nothing where it is open.

        Raises FileError for a stream that has been read.
        """
        if self._source is None:
            self._source = self._take_source()

    def put_back(self, piece: bytes | memoryview) -> None:
        """Undoes the last ``take_blocks``, or the last few: iteration begins with ``piece``."""
        if self._source is not None:
            self._source.put_back(piece)

    def close(self) -> None:
        """Closes the file, if it is open and was opened by this library."""
        if self._source is not None:
            self._source.close()
            self._source = None

    def __enter__(self) -> Corpus:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
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
    """Opens a text and finds out its format; see :class:`Corpus`.

    Parameters
    ----------
    path : a path (gzip, bzip2, xz and, from Python 3.14 on, zstd are unpacked), ``-`` for
        standard input, or a binary stream
    format : ``auto`` looks at the first 64 KiB (:mod:`perceptron_nlp.formats.detect`);
        ``conllu``, ``columns``, ``tagged``, ``lines`` (a sentence a line, words parted by spaces)
        or ``text`` (running text) says it
    fields : the names of the columns of a column file; with ``auto`` it is one
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    ArgumentError, ArgumentTypeError : an unknown format, or ``fields`` that do not fit
    FileError : the file cannot be read
    FormatError : it is no text; later, in iteration, a line breaks the format
    """
    check_format(format)
    checked = column_format.checked_fields(fields)
    if checked is not None and format == AUTO:
        format = "columns"
    return Corpus(path, format, checked, errors)


def check_format(format: object) -> None:
    """Raise ArgumentError or ArgumentTypeError for what is no format, nor ``auto``."""
    check_choice("format", format, [AUTO, *FORMATS])


def _tells_columns(head: str) -> bool:
    """Whether ``head`` has a whole line other than empty ones and document marks."""
    lines = head.removeprefix(BOM).split("\n")[:-1]
    return any(
        line.strip(" \t\r") and not line.startswith(column_format.DOCUMENT_MARK) for line in lines
    )


def _conllu_columns(head: str, fields: tuple[str, ...] | None, path: str) -> tuple[str, ...]:
    return columns_named_in(head, path)


def _file_columns(head: str, fields: tuple[str, ...] | None, path: str) -> tuple[str, ...]:
    return column_format.columns_in(head, fields, path)


def _module(name: str) -> Any:
    # Here, since texts with columns do without the rules that cut running text.
    from perceptron_nlp.formats import running, tagged

    return {"running": running, "tagged": tagged}[name]


FORMATS: dict[str, Format] = {
    "conllu": Format(
        read=lambda source, fields: conllu.ConlluReader(source),
        rewrite=conllu.rewrite,
        columns_of=_conllu_columns,
        default_column=lambda names: "upos" if "upos" in names else None,
    ),
    "columns": Format(
        read=column_format.ColumnReader,
        rewrite=column_format.rewrite,
        columns_of=_file_columns,
        default_column=lambda names: names[-1] if names else None,
    ),
    "tagged": Format(
        read=lambda source, fields: _module("tagged").TokenReader(source, "/"),
        rewrite=lambda sentence, columns: str(_module("tagged").rewrite(sentence, columns)),
        columns_of=lambda head, fields, path: ("form", "tag"),
        default_column=lambda names: "tag",
    ),
    "lines": Format(
        read=lambda source, fields: _module("tagged").TokenReader(source, None),
        rewrite=lambda sentence, columns: str(_module("tagged").rewrite_words(sentence, columns)),
        columns_of=lambda head, fields, path: ("form",),
        default_column=lambda names: None,
    ),
    "text": Format(
        read=lambda source, fields: _module("running").RunningReader(source),
        rewrite=lambda sentence, columns: str(_module("running").rewrite(sentence, columns)),
        columns_of=lambda head, fields, path: ("form",),
        default_column=lambda names: None,
    ),
}
