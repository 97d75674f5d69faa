"""What a sentence read from CoNLL-U keeps: its text, and where its words are in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from perceptron_nlp.formats.grid import split_grid

_IDS = [str(number) for number in range(1, 257)]


class ConlluLayout(Mapping[str, tuple[str, ...]]):
    """The text of a sentence, and its columns, split again when one is asked for.

    ``text[start:end]`` is the lines of words, ranges and empty nodes; what is before
    are comments and what stood between the sentences, what is after is the empty line.
    """

    __slots__ = ("_eager", "end", "names", "rows", "start", "text")

    def __init__(
        self,
        text: str,
        span: tuple[int, int],
        names: tuple[str, ...],
        rows: Sequence[int],
        eager: dict[str, tuple[str, ...]],
    ) -> None:
        self.text = text
        self.start, self.end = span
        self.names = names
        self.rows = rows
        self._eager = eager

    def __getitem__(self, name: str) -> tuple[str, ...]:
        if name in self._eager:
            return self._eager[name]
        if name not in self:
            raise KeyError(name)
        stride = len(self.names) + 1
        return pick(self.cells()[self.names.index(name) :: stride], self.rows)

    def __contains__(self, name: object) -> bool:
        return name in self.names and name not in ("id", "form")

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name not in ("id", "form"))

    def __len__(self) -> int:
        return len(self.names) - 2

    def alias(self, name: str) -> str | None:
        """The column of a name in any case, or of a number from 1."""
        folded = name.lower()
        if name.isascii() and name.isdigit() and 0 < int(name[:6]) <= len(self.names):
            folded = self.names[int(name) - 1]
        return folded if folded in self.names and folded != "id" else None

    def cells(self) -> list[str]:
        """The fields of all lines, as `split_grid` gives them; line breaks are line feeds."""
        cells = split_grid(
            without_empty_line(self.text[: self.end], self.start)[0], "\t", len(self.names)
        )
        return [] if cells is None else cells


def without_empty_line(text: str, start: int) -> tuple[str, int]:
    """The lines of ``text`` from ``start`` up to its empty line, and where they end in it.

    Each line is ended by a line feed alone.
    """
    end = len(text)
    if text.endswith("\n\n"):
        end -= 1
    elif text.endswith("\n\r\n"):
        end -= 2
    body = text[start:end]
    if "\r\n" in body:
        body = body.replace("\r\n", "\n")
    return body if body.endswith("\n") else body + "\n", end


def plain_ids(length: int) -> list[str]:
    if length <= len(_IDS):
        return _IDS[:length]
    return [str(number) for number in range(1, length + 1)]


def pick(values: Sequence[str], rows: Sequence[int]) -> tuple[str, ...]:
    if len(rows) == len(values):
        return tuple(values)
    if len(rows) < 2:
        return tuple(values[row] for row in rows)
    picked: tuple[str, ...] = itemgetter(*rows)(values)
    return picked
