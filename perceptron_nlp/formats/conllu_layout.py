"""A sentence as it stands in CoNLL-U: its text and cells, its comments, its surface tokens."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from perceptron_nlp.formats.reading import split_grid, without_empty_line
from perceptron_nlp.text.sentence import Sentence

_IDS = [str(number) for number in range(1, 257)]
_SENT_ID = re.compile(r"^# ?sent_id *=(.*)$", re.MULTILINE)
_NEW_DOCUMENT = re.compile(r"^(?:# ?newdoc\b|-DOCSTART-(?:\s|$))", re.MULTILINE)
_NEW_PARAGRAPH = re.compile(r"^# ?new(?:par|doc)\b", re.MULTILINE)


class ConlluLayout(Mapping[str, tuple[str, ...]]):
    """The text of a sentence, and its columns, split again when one is asked for.

    ``text[start:end]`` is the lines of words, ranges and empty nodes; what is before are comments
    and what stood between the sentences, what is after is the empty line.
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
        return pick(self.cells()[self.names.index(name) :: len(self.names) + 1], self.rows)

    def __contains__(self, name: object) -> bool:
        return name in self.names and name not in ("id", "form")

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.names if name not in ("id", "form"))

    def __len__(self) -> int:
        return len(self.names) - 2

    def alias(self, name: str) -> str | None:
        """Return the column of a name in any case, or of a number from 1."""
        folded = name.lower()
        if name.isascii() and name.isdigit() and 0 < int(name[:6]) <= len(self.names):
            folded = self.names[int(name) - 1]
        return folded if folded in self.names and folded != "id" else None

    def cells(self) -> list[str]:
        """Return the fields of all lines, as `split_grid` does; line breaks are line feeds."""
        body, _ = without_empty_line(self.text[: self.end], self.start)
        return split_grid(body, "\t", len(self.names)) or []


def plain_ids(length: int) -> list[str]:
    """Return the IDs of a sentence of so many words and nothing else."""
    if length <= len(_IDS):
        return _IDS[:length]
    return [str(number) for number in range(1, length + 1)]


def pick(values: Sequence[str], rows: Sequence[int]) -> tuple[str, ...]:
    """Return the values of some rows."""
    if len(rows) == len(values):
        return tuple(values)
    if len(rows) < 2:
        return tuple(values[row] for row in rows)
    picked: tuple[str, ...] = itemgetter(*rows)(values)
    return picked


def sentence_id(sentence: Sentence) -> str | None:
    """Return ``# sent_id`` of a sentence of CoNLL-U; None if there is none."""
    found = _SENT_ID.search(_before_words(sentence))
    return found[1].strip() if found else None


def opens_document(sentence: Sentence) -> bool:
    """Return True if ``# newdoc`` or ``-DOCSTART-`` stands before the sentence in its file."""
    return _NEW_DOCUMENT.search(_before_words(sentence)) is not None


def opens_paragraph(sentence: Sentence) -> bool:
    """Return True if ``# newpar`` or ``# newdoc`` stands before the sentence."""
    return _NEW_PARAGRAPH.search(_before_words(sentence)) is not None


def _before_words(sentence: Sentence) -> str:
    """Return comments, marks and empty lines between the sentence before and this one."""
    layout = sentence.layout
    return "" if layout is None else layout.text[: getattr(layout, "start", 0)]


class SurfaceToken(NamedTuple):
    """A token as it is written: a word, or a range of words written as one (French *du*).

    ``first`` is the number of its first word in the sentence, from 0; ``space_after`` is False if
    MISC says ``SpaceAfter=No``; a range (``is_range``) may have one word.
    """

    form: str
    first: int
    n_words: int
    space_after: bool
    is_range: bool = False


class RunningText(NamedTuple):
    """A text, where each of its tokens begins and ends, and whether a sentence ends with it."""

    text: str
    tokens: list[tuple[int, int]]
    ends: list[bool]


def surface_tokens(sentence: Sentence) -> list[SurfaceToken]:
    """Return the tokens of a sentence; of one that is not from CoNLL-U, its words."""
    layout = sentence.layout
    if not isinstance(layout, ConlluLayout) or "misc" not in layout.names:
        return [SurfaceToken(word, i, 1, True) for i, word in enumerate(sentence.words)]
    cells = layout.cells()
    stride = len(layout.names) + 1
    form, misc = layout.names.index("form"), layout.names.index("misc")
    tokens: list[SurfaceToken] = []
    covered = word = 0
    for at in range(0, len(cells), stride):
        number, _, last = cells[at].partition("-")
        if "." in number:
            continue
        space_after = "SpaceAfter=No" not in cells[at + misc].split("|")
        if last:
            covered = int(last)
            n_words = covered - int(number) + 1
            tokens.append(SurfaceToken(cells[at + form], word, n_words, space_after, True))
        else:
            if int(number) > covered:
                tokens.append(SurfaceToken(cells[at + form], word, 1, space_after))
            word += 1
    return tokens


def running_text(sentences: Iterable[Sentence]) -> RunningText:
    """Return sentences as one text: an empty line before each paragraph, else one space."""
    pieces: list[str] = []
    tokens: list[tuple[int, int]] = []
    ends: list[bool] = []
    place, space = 0, True
    for sentence in sentences:
        gap = "\n\n" if pieces and opens_paragraph(sentence) else " " if pieces and space else ""
        for token in surface_tokens(sentence):
            pieces += (gap, token.form)
            place += len(gap)
            tokens.append((place, place + len(token.form)))
            ends.append(False)
            place += len(token.form)
            space = token.space_after
            gap = " " if space else ""
        ends[-1] = True
    return RunningText("".join(pieces), tokens, ends)
