"""``word/TAG`` text: a sentence a line, its tokens parted by spaces or tabs.

A token is cut at its last separator (a slash, or what the caller says), so a word may
hold it and a tag may not.  There are no comments.  Lines without tokens belong to the
sentence after them, so the texts of all sentences and the tail are the file again.

The one column besides the words is ``tag``.  It answers to any name that is not
``form``: a model that learnt ``upos`` reads and writes it as ``upos``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.lines import BOM, LineSource
from perceptron_nlp.formats.opening import Readable
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.text.sentence import Sentence

SEPARATOR = "/"
TOKEN = re.compile(r"[^ \t\r\n]+|\r(?!\n)")
_TOKEN = re.compile(r"(?:[^ \t\r\n]|\r(?!\n))+")


class TaggedLayout:
    """The text of a sentence, whose tokens begin at ``start``; ``separator`` None: plain."""

    __slots__ = ("separator", "start", "text")

    def __init__(self, text: str, start: int, separator: str | None) -> None:
        self.text = text
        self.start = start
        self.separator = separator

    def alias(self, name: str) -> str | None:
        """Any name stands for the only column."""
        return None if self.separator is None else "tag"


def read_tagged(
    path: Readable, *, separator: str = SEPARATOR, errors: str = "strict"
) -> Iterator[Sentence]:
    """The sentences of ``word/TAG`` text, one after the other; each has at least one word.

    Parameters
    ----------
    path : a path (compressed or not), ``-`` for standard input, or a binary stream
    separator : what parts word and tag; no space
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a token has no separator, no word or no tag; the message names the line
    """
    check_separator(separator)
    with LineSource(path, errors=errors) as source:
        yield from TaggedReader(source, separator)


class TaggedReader:
    """Iterates over the sentences of a source; then ``tail`` is what follows the last."""

    def __init__(self, source: LineSource, separator: str = SEPARATOR) -> None:
        self.tail = ""
        self._source = source
        self._separator = separator

    def __iter__(self) -> Iterator[Sentence]:
        for line, before, tokens, text in token_lines(self._source, self):
            words, tags = [], []
            for token in tokens:
                word, _, tag = token.rpartition(self._separator)
                if not word or not tag:
                    self._refuse(token, line)
                words.append(word)
                tags.append(tag)
            layout = TaggedLayout(text, before, self._separator)
            columns = {"tag": tuple(tags)}
            yield Sentence.from_reader(tuple(words), columns, self._source.name, line, layout)

    def _refuse(self, token: str, line: int) -> None:
        word, found, _ = token.rpartition(self._separator)
        if not found:
            what = f"has no {quote(self._separator)} before its tag"
        else:
            what = "has no tag" if word else "has no word"
        raise FormatError(f"token {quote(token)} {what}", self._source.name, line)


def token_lines(
    source: LineSource, reader: object
) -> Iterator[tuple[int, int, list[str], str]]:
    """For every line with tokens: its number, where in the text it starts, tokens, text.

    The text includes the lines without tokens before it; those after the last become the
    reader's ``tail``.
    """
    before = ""
    for number, line in source.lines():
        start = 1 if number == 1 and line.startswith(BOM) else 0
        tokens = split_tokens(line[start:] if start else line)
        if tokens:
            yield number, len(before) + start, tokens, before + line
            before = ""
        else:
            before += line
    reader.tail = before


def split_tokens(line: str) -> list[str]:
    """What stands between spaces and tabs; no other white space parts tokens."""
    body = line.removesuffix("\n").removesuffix("\r")
    if "\t" in body:
        body = body.replace("\t", " ")
    tokens = body.split(" ")
    return [token for token in tokens if token] if "" in tokens else tokens
