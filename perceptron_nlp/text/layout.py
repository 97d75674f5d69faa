"""A sentence as it stands in a file: its text, lines, cells and tokens, and what they can hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from perceptron_nlp.errors import ArgumentTypeError

SEPARATOR = "/"
"""What stands between a word and its tag."""
CONLLU_COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
NO_SPACES = ("upos", "xpos", "deprel")
_FEATS = re.compile(r"[^\s|=]+=[^\s|=]+(?:\|[^\s|=]+=[^\s|=]+)*")
_NODE = r"(?:0|[1-9][0-9]*)(?:\.[1-9][0-9]*)?"
_DEPS = rf"{_NODE}:[^\s|]+(?:\|{_NODE}:[^\s|]+)*"

TokenSpan = tuple[int, int, tuple[str, ...]]
"""Begin and end of a token in its sentence, and its words: one, but of multiword tokens."""


class Layout(Mapping[str, tuple[str, ...]]):
    """The text of a sentence, and its columns, split again when one is asked for.

    Attributes
    ----------
    format : what it was read as: ``conllu``, ``columns``, ``tagged``, ``lines`` or ``text``
    text : all of it, with what stands between the sentence before and this one
    start, end : ``text[start:end]`` is its lines, without the empty one behind them
    names : the columns of its file in their order; ``form`` is the words
    separator : what stands between columns, or between a word and its tag; may be empty
    rows : which of its lines are words
    tokens : of running text, the tokens in ``text``
    is_glued : True if the next sentence of running text stands right behind it
    number : which sentence of its text it is, from 1; 0 if nobody counted
    """

    __slots__ = (
        "_eager",
        "end",
        "format",
        "is_glued",
        "names",
        "number",
        "rows",
        "separator",
        "start",
        "text",
        "tokens",
    )

    def __init__(
        self,
        format: str,
        text: str,
        span: tuple[int, int],
        names: tuple[str, ...],
        *,
        separator: str = "\t",
        rows: Sequence[int] = (),
        eager: Mapping[str, tuple[str, ...]] | None = None,
        tokens: Sequence[TokenSpan] = (),
        is_glued: bool = False,
        number: int = 0,
    ) -> None:
        self.format = format
        self.text = text
        self.start, self.end = span
        self.names = names
        self.separator = separator
        self.rows = rows
        self._eager = eager or {}
        self.tokens = tokens
        self.is_glued = is_glued
        self.number = number

    def __getitem__(self, name: str) -> tuple[str, ...]:
        if name in self._eager:
            return self._eager[name]
        if name not in self:
            raise KeyError(name)
        return self._picked(self.cells(), name)

    def _picked(self, cells: Sequence[str], name: str) -> tuple[str, ...]:
        return pick(cells[self.names.index(name) :: len(self.names) + 1], self.rows)

    def keep(self, names: Iterable[str]) -> None:
        """Keep columns as they are now split, for who asks for them many times."""
        wanted = [name for name in names if name in self and name not in self._eager]
        if wanted:
            cells = self.cells()
            self._eager = {**self._eager, **{name: self._picked(cells, name) for name in wanted}}

    def __contains__(self, name: object) -> bool:
        return name in self.names and name not in ("id", "form")

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name not in ("id", "form"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def alias(self, name: str) -> str | None:
        """Return the column that ``name`` stands for (``form`` for the words), or None.

        A column goes by its number, from 1, too; one of CoNLL-U in any case, and the only one of
        tagged text by any name.
        """
        if name.isascii() and name.isdigit() and 0 < int(name[:6]) <= len(self.names):
            name = self.names[int(name) - 1]
        elif self.format == "conllu":
            name = name.lower()
        if name in self.names and name != "id":
            return name
        return "tag" if self.format == "tagged" else None

    def cells(self) -> list[str]:
        """Return the fields of all lines, as `split_grid` does; line breaks are line feeds."""
        body, _ = without_empty_line(self.text[: self.end], self.start)
        return split_grid(body, self.separator, len(self.names)) or []


def pick(values: Sequence[str], rows: Sequence[int]) -> tuple[str, ...]:
    """Return the values of some rows."""
    if len(rows) == len(values):
        return tuple(values)
    if len(rows) < 2:
        return tuple(values[row] for row in rows)
    picked: tuple[str, ...] = itemgetter(*rows)(values)
    return picked


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


def wrong_conllu_value(column: str, value: str) -> str | None:
    """Return what is wrong with a value by itself, or None."""
    if not value or "\t" in value or "\n" in value:
        return "is empty or holds a tab or a line break"
    if value == "_":
        return None
    if column in NO_SPACES and (" " in value or "\u00a0" in value):
        return "holds a space, which only FORM, LEMMA and MISC may"
    if column == "feats":
        if not _FEATS.fullmatch(value):
            return "is not Name=Value pairs joined by |, nor _"
        names = [pair.partition("=")[0] for pair in value.split("|")]
        return None if len(set(names)) == len(names) else "names a feature twice"
    if column == "deps" and not re.fullmatch(_DEPS, value):
        return "is not head:relation pairs joined by |, nor _"
    return None


@lru_cache(4096)
def wrong_tag(tag: str, separator: str = SEPARATOR) -> bool:
    """Return True for a label that could not be read back from ``word/TAG``."""
    return not tag or separator in tag or any(mark in tag for mark in " \t\n")


def names_in(fields: Sequence[str] | None) -> tuple[str, ...] | None:
    """Return ``fields`` as a tuple; raise unless they are a list of names, or None."""
    if fields is None:
        return None
    if (
        isinstance(fields, str)
        or not isinstance(fields, Sequence)
        or not all(isinstance(name, str) for name in fields)
    ):
        raise ArgumentTypeError("fields: a list of column names is needed")
    return tuple(fields)
