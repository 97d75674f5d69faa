"""Text with one sentence a line: what plain and ``word/TAG`` text have in common.

Tokens are parted by spaces and tabs and by nothing else: a no-break space, a lone
carriage return or a form feed is part of a token.  Lines without tokens belong to the
sentence after them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.formats.lines import BOM, LONGEST, MOST_WORDS, LineSource, too_long
from perceptron_nlp.text.sentence import Sentence

SEPARATOR = "/"
_TOKEN = re.compile(r"[^ \t]+")


class TokenLayout:
    """The text of a sentence: its line begins at ``start``, after lines without tokens.

    ``separator`` parts word and tag; None if there are no tags.
    """

    __slots__ = ("separator", "start", "text")

    def __init__(self, text: str, start: int, separator: str | None) -> None:
        self.text = text
        self.start = start
        self.separator = separator

    def alias(self, name: str) -> str | None:
        """Any name stands for the only column, if there is one; ``1`` for the words."""
        if name == "1":
            return "form"
        return None if self.separator is None else "tag"


class TokenLines:
    """Iterates over the lines with tokens of a source; then ``tail`` is what follows them.

    Each item is the number of the line, where it starts in the text, its tokens, and the
    text: the line and the lines without tokens before it.
    """

    def __init__(self, source: LineSource) -> None:
        self.tail = ""
        self._source = source

    def __iter__(self) -> Iterator[tuple[int, int, list[str], str]]:
        before = ""
        for number, line in self._source.lines():
            start = 1 if number == 1 and line.startswith(BOM) else 0
            tokens = _split(line[start:])
            if len(before) + len(line) > LONGEST or len(tokens) > MOST_WORDS:
                raise too_long("sentence", self._source.name, number)
            before += line
            if tokens:
                text, before = before, ""
                yield number, len(text) - len(line) + start, tokens, text
        self.tail = before


def with_tokens(text: str, start: int, tokens: Sequence[str]) -> str:
    """``text`` with the tokens of the line at ``start`` replaced, and all between them kept."""
    body = text[start:].removesuffix("\n").removesuffix("\r")
    end = start + len(body)
    if "  " in body or "\t" in body or body.startswith(" ") or body.endswith(" "):
        left = iter(tokens)
        line = _TOKEN.sub(lambda _: next(left), body)
    else:
        line = " ".join(tokens)
    return text[:start] + line + text[end:]


def joined(words: Sequence[str], tags: Sequence[str], separator: str) -> list[str]:
    """``word/TAG`` tokens; raises ArgumentError for what could not be read back."""
    if isinstance(tags, str) or len(tags) != len(words):
        raise ArgumentError(f"columns: {len(tags)} labels for {len(words)} words")
    for word in words:
        if not word or any(mark in word for mark in " \t\n"):
            raise ArgumentError(f"sentence: the word {quote(word)} is empty or holds a space")
    for tag in set(tags):
        if not tag or separator in tag or any(mark in tag for mark in " \t\n"):
            raise ArgumentError(
                f"columns: the label {quote(tag)} is empty, or holds a space or "
                f"{quote(separator)}, and so cannot stand in {quote('word' + separator + 'TAG')}"
            )
    return [f"{word}{separator}{tag}" for word, tag in zip(words, tags, strict=True)]


def built(sentence: Sentence, separator: str | None) -> TokenLayout:
    """The layout of a sentence that was not read from such text."""
    if not sentence.words:
        raise ArgumentError("sentence: a line without words is no sentence")
    for word in sentence.words:
        if not word or any(mark in word for mark in " \t\n"):
            raise ArgumentError(f"sentence: the word {quote(word)} is empty or holds a space")
    return TokenLayout(" ".join(sentence.words) + "\n", 0, separator)


def _split(line: str) -> list[str]:
    body = line.removesuffix("\n").removesuffix("\r").replace("\t", " ")
    tokens = body.split(" ")
    return [token for token in tokens if token] if "" in tokens else tokens
