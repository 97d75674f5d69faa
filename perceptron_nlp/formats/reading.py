"""What the modules of formats share: how a format is described, and lines as cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from perceptron_nlp.formats.lines import LineSource
from perceptron_nlp.text.sentence import Sentence

DOCUMENT_MARK = "-DOCSTART-"
TokenSpan = tuple[int, int, tuple[str, ...]]
"""Begin and end of a token in its sentence, and its words: one, but of multiword tokens."""
Segment = Callable[[Iterable[str]], Iterator[tuple[int, str, Sequence[TokenSpan], bool]]]
"""From the pieces of a text to its sentences: of each its line, its text, its tokens, and whether
the next stands right behind it."""


class Reader(Protocol):
    """Sentences of a source, to be iterated over once; then ``tail`` is what follows the last."""

    tail: str

    def __iter__(self) -> Iterator[Sentence]: ...


class Format(NamedTuple):
    """One format: how it is read and written, and what it calls its columns.

    ``read`` takes the names of columns, and what cuts running text if not rules.
    ``columns_of`` gives the names of all columns in order from the first lines of a text;
    ``default_column`` picks from those but the words the one to learn if none is named;
    ``warnings_of`` gives what is likely not as it was meant.
    """

    read: Callable[[LineSource, tuple[str, ...] | None, Segment | None], Reader]
    rewrite: Callable[[Sentence, Mapping[str, Sequence[str]]], str]
    columns_of: Callable[[str, tuple[str, ...] | None, str], tuple[str, ...]]
    default_column: Callable[[tuple[str, ...]], str | None]
    warnings_of: Callable[[str, tuple[str, ...] | None, str], tuple[str, ...]] = (
        lambda head, fields, path: ()
    )


def without_empty_line(text: str, start: int) -> tuple[str, int]:
    """Return the lines from ``start`` to the empty line, with line feeds alone, and their end."""
    end = len(text)
    if text.endswith("\n\n"):
        end -= 1
    elif text.endswith("\n\r\n"):
        end -= 2
    body = text[start:end].replace("\r\n", "\n")
    return body if body.endswith("\n") else body + "\n", end


def split_grid(body: str, separator: str, width: int) -> list[str] | None:
    """Return the cells of lines that each end in a line feed, at the speed of ``str.split``.

    n lines with w fields each become n·(w+1) cells, every last one of a line being its line feed:
    column k is ``cells[k :: w + 1]``. None unless every line has ``width`` fields, cut at every
    ``separator``, and none is empty.
    """
    cells = body.replace("\n", f"{separator}\n{separator}").split(separator)
    cells.pop()
    lines, stride = body.count("\n"), width + 1
    if len(cells) != lines * stride or cells[width::stride].count("\n") != lines or "" in cells:
        return None
    return cells


def join_grid(cells: list[str], separator: str) -> str:
    """Return the text that :func:`split_grid` took apart, with whatever was put in its cells."""
    return (separator.join(cells) + separator).replace(f"{separator}\n{separator}", "\n")
