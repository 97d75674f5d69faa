"""Text with one sentence a line: words, or words with tags (``word/TAG``).

Tokens are separated by spaces and tabs and by nothing else: a no-break space, a lone carriage
return or a form feed is part of a token. There are no comments. Lines without tokens belong to the
sentence after them, so the texts of all sentences and the tail are the file again.

A token of tagged text is cut at its last separator (a slash, or what the caller says), so a word
may hold it and a tag may not. Its one column in addition to the words is ``tag``. It answers to any
name that is not ``form`` or ``1``: a model that learned ``upos`` reads and writes it as ``upos``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from perceptron_nlp.errors import ArgumentError, FormatError, quote
from perceptron_nlp.formats.lines import MOST_WORDS, LineSource, too_long
from perceptron_nlp.formats.opening import BOM, Readable
from perceptron_nlp.formats.reading import Format, Reader, write_sentences
from perceptron_nlp.text.layout import SEPARATOR, Layout, wrong_tag
from perceptron_nlp.text.sentence import Sentence

_TOKEN = re.compile(r"[^ \t]+")


def read_text(path: Readable, *, errors: str = "strict") -> Iterator[Sentence]:
    """Yield the sentences of tokenized text, a line each.

    Parameters
    ----------
    path : a path (compressed or not), ``-`` for standard input, or a binary stream
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : bytes that are not text; the message names the line
    """
    with LineSource(path, errors=errors) as source:
        yield from TokenReader(source, None)


def read_tagged(
    path: Readable, *, separator: str = SEPARATOR, errors: str = "strict"
) -> Iterator[Sentence]:
    """Yield the sentences of ``word/TAG`` text; each has at least one word.

    Parameters
    ----------
    path : a path (compressed or not), ``-`` for standard input, or a binary stream
    separator : what stands between word and tag; without spaces
    errors : ``strict``, or ``replace`` to read bytes that are not UTF-8 as U+FFFD

    Raises
    ------
    FileError : the file cannot be read
    FormatError : a token has no separator, no word or no tag; the message names the line
    """
    _check_separator(separator)
    with LineSource(path, errors=errors) as source:
        yield from TokenReader(source, separator)


class TokenReader(Reader):
    """A Reader of lines; ``separator`` stands between word and tag, None for words alone."""

    def __init__(self, source: LineSource, separator: str | None) -> None:
        super().__init__(source)
        self._separator = separator

    def _lines_or_blocks(self) -> Iterator[tuple[int, str]]:
        return self._source.lines()

    def _start_of_words(self, piece: str, first_line: int) -> int:
        start = 1 if first_line == 1 and piece.startswith(BOM) else 0
        return start if any(_split(piece[start:])) else len(piece)

    def _sentence(self, text: str, start: int, line: int) -> Sentence:
        tokens, path = _split(text[start:]), self._source.name
        if len(tokens) > MOST_WORDS:
            raise too_long("sentence", path, line)
        if self._separator is None:
            layout = Layout("lines", text, (start, len(text)), ("form",))
        else:
            tokens, tags = _words_and_tags(tokens, self._separator, path, line)
            layout = Layout(
                "tagged",
                text,
                (start, len(text)),
                ("form", "tag"),
                separator=self._separator,
                eager={"tag": tags},
            )
        return Sentence.from_reader(tuple(tokens), layout, path, line, layout)


def _split(line: str) -> list[str]:
    body = line.removesuffix("\n").removesuffix("\r").replace("\t", " ")
    tokens = body.split(" ")
    return [token for token in tokens if token] if "" in tokens else tokens


def _words_and_tags(
    tokens: list[str], separator: str, path: str, line: int
) -> tuple[list[str], tuple[str, ...]]:
    words, tags = [], []
    for token in tokens:
        word, found, tag = token.rpartition(separator)
        if not word or not tag:
            what = "has no tag" if word else "has no word"
            if not found:
                what = f"has no {quote(separator)} between word and tag"
            raise FormatError(f"token {quote(token)} {what}", path, line)
        words.append(word)
        tags.append(tag)
    return words, tuple(tags)


def read_pairs(path: Readable) -> Iterator[tuple[int, str, str]]:
    """Yield the lines of a lexicon, which a tab separates: (number from 1, form, label).

    Raises FileError if the file cannot be read; FormatError if a line has no tab or several, or
    nothing before or after it; with file:line.
    """
    with LineSource(path) as source:
        for number, line in source.lines():
            text = line.removesuffix("\n").removesuffix("\r")
            if number == 1:
                text = text.removeprefix(BOM)
            if not text.strip():
                continue
            form, tab, label = text.partition("\t")
            what = None
            if not tab or "\t" in label:
                what = f"a form, a tab and a label are needed, not {quote(text)}"
            elif not form.strip() or not label or label.strip() != label:
                what = f"the form or the label is empty or has spaces around it in {quote(text)}"
            if what is not None:
                raise FormatError(what, source.name, number)
            yield number, form, label


def rewrite(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """Return the ``word/TAG`` text of a sentence, with the labels of the one column given.

    A sentence read from tagged or plain text keeps its spaces and line breaks; another becomes one
    line. Without a column given, the text as it was read, or the sentence with its only column.

    Raises ArgumentError for more than one column, labels that are not as many as words, and a word
    or label that would not be read back as it is.
    """
    layout = sentence.layout
    if not columns and layout is not None and layout.format == "tagged":
        return layout.text
    held = columns or sentence.columns
    if len(held) != 1:
        raise ArgumentError(f"columns: tagged text holds one column, not {len(held)}")
    (labels,) = held.values()
    separator = SEPARATOR
    if layout is not None and layout.format == "tagged":
        separator = layout.separator
    if layout is None or layout.format not in ("tagged", "lines"):
        layout = Layout("lines", _line(sentence), (0, 0), ("form",))
    return _with_tokens(layout, joined(sentence.words, labels, separator))


def rewrite_words(sentence: Sentence, columns: Mapping[str, Sequence[str]]) -> str:
    """Return the text of a sentence as it is, or as `rewrite` with the labels of one column."""
    if columns:
        return rewrite(sentence, columns)
    layout = sentence.layout
    return layout.text if layout is not None and layout.format == "lines" else _line(sentence)


def write_tagged(
    sentences: Iterable[Sentence],
    path: str | os.PathLike[str],
    *,
    column: str | None = None,
    separator: str | None = None,
) -> None:
    """Write sentences as ``word/TAG`` lines to a file, replaced whole or not at all.

    Parameters
    ----------
    column : the column to write; None: the only one there is
    separator : what stands between word and tag; None: as the sentence was read, else ``/``

    Raises
    ------
    FileError : the file cannot be written
    FormatError : a sentence lacks the column
    ArgumentError : tagged text cannot hold a sentence, or ``column`` is needed
    """
    if separator is not None:
        _check_separator(separator)
    write_sentences(sentences, path, lambda one: _text(one, column, separator), empty_line=False)


def _text(sentence: Sentence, column: str | None, separator: str | None) -> str:
    columns = {} if column is None else {column: sentence.column(column)}
    if separator is None:
        return rewrite(sentence, columns)
    if not columns and len(sentence.columns) != 1:
        raise ArgumentError(f"column: which of the {len(sentence.columns)} is to be written?")
    (labels,) = (columns or sentence.columns).values()
    return " ".join(joined(sentence.words, labels, separator)) + "\n"


def joined(words: Sequence[str], tags: Sequence[str], separator: str) -> list[str]:
    """Return ``word/TAG`` tokens; raise ArgumentError for what could not be read back."""
    if isinstance(tags, str) or len(tags) != len(words):
        raise ArgumentError(f"columns: {len(tags)} labels for {len(words)} words")
    _check_words(words)
    for tag in set(tags):
        if wrong_tag(tag, separator):
            raise ArgumentError(
                f"columns: the label {quote(tag)} is empty, or holds a space or "
                f"{quote(separator)}, and so cannot stand in {quote('word' + separator + 'TAG')}"
            )
    return [f"{word}{separator}{tag}" for word, tag in zip(words, tags, strict=True)]


def _with_tokens(layout: Layout, tokens: Sequence[str]) -> str:
    """Return the text of a line with its tokens replaced, and all between them kept."""
    text, start = layout.text, layout.start
    body = text[start:].removesuffix("\n").removesuffix("\r")
    end = start + len(body)
    if "  " in body or "\t" in body or body.startswith(" ") or body.endswith(" "):
        left = iter(tokens)
        line = _TOKEN.sub(lambda _: next(left), body)
    else:
        line = " ".join(tokens)
    return text[:start] + line + text[end:]


def _line(sentence: Sentence) -> str:
    if not sentence.words:
        raise ArgumentError("sentence: a line without words is no sentence")
    _check_words(sentence.words)
    return " ".join(sentence.words) + "\n"


def _check_words(words: Sequence[str]) -> None:
    whole = " ".join(words)
    if whole.count(" ") == len(words) - 1 and not {"\t", "\n"} & {*whole} and all(words):
        return
    for word in words:
        if not word or any(mark in word for mark in " \t\n"):
            raise ArgumentError(f"sentence: the word {quote(word)} is empty or holds a space")


def _check_separator(separator: str) -> None:
    if not separator or separator.split() != [separator]:
        raise ArgumentError(f"separator: {quote(separator)} is empty or holds a space")


FORMATS = {
    "tagged": Format(
        read=lambda source, fields, segment: TokenReader(source, SEPARATOR),
        rewrite=rewrite,
        columns_of=lambda head, fields, path: ("form", "tag"),
        default_column=lambda names: "tag",
    ),
    "lines": Format(
        read=lambda source, fields, segment: TokenReader(source, None), rewrite=rewrite_words
    ),
}
