"""``word/TAG`` text: a sentence a line, its tokens parted by spaces or tabs.

A token is cut at its last separator (a slash, or what the caller says), so a word may
hold it and a tag may not.  There are no comments.  Lines without tokens belong to the
sentence after them, so the texts of all sentences and the tail are the file again.

The one column besides the words is ``tag``.  It answers to any name that is not
``form`` or ``1``: a model that learnt ``upos`` reads and writes it as ``upos``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NoReturn

from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.joining import joined_lines
from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.formats.opening import Readable
from perceptron_nlp.formats.packedtext import packed
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.formats.tokenlines import (
    SEPARATOR,
    TokenLayout,
    TokenLines,
    built,
    joined,
    with_tokens,
)
from perceptron_nlp.text.sentence import Sentence


def read_tagged(
    path: Readable, *, separator: str = SEPARATOR, errors: str = "strict"
) -> Iterator[Sentence]:
    """The sentences of ``word/TAG`` text, one after the other; each has at least one word.

    Parameters
    ----------
    path : a path (compressed or not), ``-`` for standard input, or a binary stream
    separator : what parts word and tag; without spaces
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a token has no separator, no word or no tag; the message names the line
    """
    _check_separator(separator)
    with LineSource(path, errors=errors) as source:
        yield from TaggedReader(source, separator)


class TaggedReader:
    """Iterates over the sentences of a source; then ``tail`` is what follows the last."""

    def __init__(self, source: LineSource, separator: str = SEPARATOR) -> None:
        self._path = source.name
        self._lines = TokenLines(source)
        self._separator = separator

    @property
    def tail(self) -> str:
        """What follows the last sentence, once all have been read."""
        return self._lines.tail

    def __iter__(self) -> Iterator[Sentence]:
        separator = self._separator
        for line, start, tokens, text in self._lines:
            words, tags = [], []
            for token in tokens:
                word, _, tag = token.rpartition(separator)
                if not word or not tag:
                    self._refuse(token, line)
                words.append(word)
                tags.append(tag)
            layout = TokenLayout(text, start, separator)
            columns = {"tag": tuple(tags)}
            yield Sentence.from_reader(tuple(words), columns, self._path, line, layout)

    def _refuse(self, token: str, line: int) -> NoReturn:
        word, found, _ = token.rpartition(self._separator)
        if not found:
            what = f"has no {quote(self._separator)} between word and tag"
        else:
            what = "has no tag" if word else "has no word"
        raise FormatError(f"token {quote(token)} {what}", self._path, line)


def rewrite(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """The ``word/TAG`` text of a sentence, with the labels of the one column given.

    A sentence read from tagged or plain text keeps its spaces and line breaks; another
    becomes one line.  Without a column given, the text as it was read, or the sentence
    with its only column.

    Raises ArgumentError for more than one column, labels that are not as many as words,
    and a word or label that would not be read back as it is.
    """
    layout = sentence.layout
    if not columns and isinstance(layout, TokenLayout) and layout.separator is not None:
        return layout.text
    if len(columns or sentence.columns) != 1:
        raise ArgumentError(
            f"columns: tagged text holds one column, not {len(columns or sentence.columns)}"
        )
    (labels,) = (columns or sentence.columns).values()
    if not isinstance(layout, TokenLayout):
        layout = built(sentence, SEPARATOR)
    tokens = joined(sentence.words, labels, layout.separator or SEPARATOR)
    return with_tokens(layout.text, layout.start, tokens)


def write_tagged(
    sentences: Iterable[Sentence],
    path: str | os.PathLike[str],
    *,
    column: str | None = None,
    separator: str | None = None,
) -> None:
    """Writes sentences as ``word/TAG`` lines to a file, replaced whole or not at all.

    Parameters
    ----------
    column : the column to write; None: the only one there is
    separator : what parts word and tag; None: as the sentence was read, else ``/``

    Raises
    ------
    FileError : the place cannot be written
    FormatError : a sentence lacks the column
    ArgumentError : tagged text cannot hold a sentence, or ``column`` is needed
    """
    if separator is not None:
        _check_separator(separator)
    texts = (_text(sentence, column, separator) for sentence in sentences)
    replace_file(path, packed(path, (text.encode("utf-8") for text in joined_lines(texts))))


def _text(sentence: Sentence, column: str | None, separator: str | None) -> str:
    columns = {} if column is None else {column: sentence.column(column)}
    if separator is None:
        return rewrite(sentence, columns)
    if not columns and len(sentence.columns) != 1:
        raise ArgumentError(f"column: which of the {len(sentence.columns)} is to be written?")
    (labels,) = (columns or sentence.columns).values()
    return " ".join(joined(sentence.words, labels, separator)) + "\n"


def _check_separator(separator: str) -> None:
    if not separator or separator.split() != [separator]:
        raise ArgumentError(f"separator: {quote(separator)} is empty or holds a space")
