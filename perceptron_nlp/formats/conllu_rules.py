"""What CoNLL-U allows in a line, and the error for what it does not.

Source: https://universaldependencies.org/format.html (CoNLL-U, version 2) and
https://universaldependencies.org/ext-format.html (CoNLL-U Plus).  These are the rules of
the format alone; the inventories and guidelines of Universal Dependencies are not
checked.  The values that repeat are checked once each, so that a whole treebank costs
little more than its splitting.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Sequence
from operator import eq
from typing import NamedTuple, NoReturn

from perceptron_nlp.errors import FormatError, quote

NO_SPACES = ("upos", "xpos", "deprel")
GLOBAL_COLUMNS = "# global.columns"
COLUMNS = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")

_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
_ANY_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_SPACE = re.compile("[ \u00a0]")
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_FEATS = re.compile(r"[^\s|=]+=[^\s|=]+(?:\|[^\s|=]+=[^\s|=]+)*")
_NODE = r"(?:0|[1-9][0-9]*)(?:\.[1-9][0-9]*)?"
_DEPS = re.compile(rf"{_NODE}:[^\s|]+(?:\|{_NODE}:[^\s|]+)*")
# Sentences of so many words at most are told by sets of HEADs that are kept.
_USUAL_LENGTH = 128
_STARTED_ANEW = "is an empty line missing before it, or a line?"


class Place(NamedTuple):
    """The lines of one sentence: where they start, and the columns they have."""

    path: str
    first_line: int
    columns: tuple[str, ...]

    def refuse(self, row: int, what: str) -> NoReturn:
        """Raises the error for a row, counted from 0."""
        raise FormatError(what, self.path, self.first_line + row)

    def name(self, column: str) -> str:
        """How messages call a column: ``column 4 (UPOS)``."""
        return f"column {self.columns.index(column) + 1} ({column.upper()})"


def refuse_grid(lines: Iterable[str], place: Place) -> NoReturn:
    """Raises the error for the first line that is not fields with something in each."""
    width = len(place.columns)
    for row, line in enumerate(lines):
        if not line.strip(" \t\r"):
            place.refuse(row, "a line of spaces; sentences are separated by an empty line")
        fields = line.split("\t")
        if line.startswith("#") and len(fields) != width:
            place.refuse(row, "a comment after the first word of a sentence; " + _STARTED_ANEW)
        if len(fields) != width:
            found = f"{len(fields)} field{'s' if len(fields) > 1 else ''} where "
            kind = "CoNLL-U has 10" if place.columns == COLUMNS else f"the file has {width}"
            spaced = len(fields) == 1 and len(line.split()) >= width
            hint = (
                "are the tabs written as spaces?" if spaced else "tabs, not spaces, separate them"
            )
            place.refuse(row, f"{found}{kind} ({hint})")
        if "" in fields:
            column = place.name(place.columns[fields.index("")])
            place.refuse(row, f"{column} is empty; write _ where there is no value")
    raise AssertionError("a clean grid")


def word_rows(ids: Sequence[str], place: Place) -> tuple[int, ...]:
    """The rows of the words among ranges and empty nodes, with every ID checked."""
    rows: list[int] = []
    empties = 0
    range_start = range_end = range_row = 0
    for row, name in enumerate(ids):
        count = len(rows)
        if name == str(count + 1):
            rows.append(row)
            empties = 0
        elif match := _RANGE.fullmatch(name):
            start, end = (_small(number) for number in match.groups())
            if start != count + 1 or start <= range_end or end < start:
                place.refuse(
                    row,
                    f"range {quote(name)} does not stand before its first word, "
                    "is turned round, or overlaps another",
                )
            range_start, range_end, range_row = start, end, row
        elif _EMPTY_NODE.fullmatch(name):
            expected = f"{count}.{empties + 1}"
            if name != expected or range_start > count:
                place.refuse(row, f"empty node {quote(name)} where {expected} could stand")
            empties += 1
        else:
            _refuse_id(row, name, count + 1, place)
    if range_end > len(rows):
        raise BeyondSentenceError(
            f"range {quote(ids[range_row])} goes beyond the {len(rows)} words of its sentence",
            place.path,
            place.first_line + range_row,
        )
    return tuple(rows)


def _small(number: str) -> int:
    """The number, or one beyond every sentence for digits that go on and on."""
    return int(number) if len(number) < 10 else 10**10


def _refuse_id(row: int, name: str, expected: int, place: Place) -> NoReturn:
    if not _ANY_ID.fullmatch(name):
        place.refuse(row, f"ID {quote(name)} is not a number, a range (1-2) or an empty node (1.1)")
    if row == 0:
        place.refuse(
            row,
            f"ID {quote(name)} begins a sentence where 1 should: "
            "is the empty line before it in the middle of a sentence?",
        )
    place.refuse(row, f"ID {quote(name)} where {expected} should follow; " + _STARTED_ANEW)


def starts_in_the_middle(name: str) -> bool:
    """Whether an ID belongs to a word after the first: the sentence was cut before it."""
    return bool(_ANY_ID.fullmatch(name)) and name != "1" and not name.startswith(("1-", "0."))


@functools.lru_cache(maxsize=_USUAL_LENGTH)
def _possible(length: int) -> frozenset[str]:
    """What HEAD may be in a sentence of so many words, numbered from 1."""
    return frozenset(["_", *map(str, range(length + 1))])


def check_heads(
    heads: Sequence[str], ids: Sequence[str], place: Place, rows: Sequence[int]
) -> None:
    """Every HEAD is ``_``, 0, or another word of the sentence.

    ``heads`` and ``ids`` are those of its words, ``rows`` their rows.
    """
    length = len(ids)
    possible = _possible(length) if length < _USUAL_LENGTH else {"_", "0", *ids}
    if not possible.issuperset(heads):
        index, head = next((i, head) for i, head in enumerate(heads) if head not in possible)
        if not _NUMBER.fullmatch(head):
            place.refuse(rows[index], f"HEAD {quote(head)} is not a number, nor _")
        raise BeyondSentenceError(
            f"HEAD {quote(head)} is beyond the {len(rows)} words of its sentence",
            place.path,
            place.first_line + rows[index],
        )
    if any(map(eq, heads, ids)):
        index = next(i for i, head in enumerate(heads) if head == ids[i])
        place.refuse(rows[index], f"HEAD {quote(heads[index])} is the word itself")


class BeyondSentenceError(FormatError):
    """A HEAD, DEPS or range beyond the sentence: perhaps an empty line cuts it in two."""


def check_ranges_and_empties(
    cells: list[str], ids: Sequence[str], words: Sequence[int], place: Place
) -> None:
    """A range has only FORM, MISC and ``Typo=Yes``; an empty node no HEAD and DEPREL."""
    width = len(place.columns)
    word_set = set(words)
    for row, name in enumerate(ids):
        if row in word_set:
            continue
        is_range = "-" in name
        fields = cells[row * (width + 1) : row * (width + 1) + width]
        for column, value in zip(place.columns, fields, strict=True):
            if value == "_":
                continue
            if is_range and column in COLUMNS[2:9] and (column, value) != ("feats", "Typo=Yes"):
                place.refuse(row, f"{place.name(column)} of a range must be _, not {quote(value)}")
            if not is_range and column in ("head", "deprel"):
                place.refuse(
                    row, f"{place.name(column)} of an empty node must be _, not {quote(value)}"
                )


def wrong_value(column: str, value: str) -> str | None:
    """What is wrong with a value by itself, or None."""
    if not value or "\t" in value or "\n" in value:
        return "is empty or holds a tab or a line break"
    rule = _VALUE_RULES.get(column)
    return None if rule is None or value == "_" else rule(value)


def may_hold_spaces(text: str) -> bool:
    """Whether a space or no-break space is anywhere in ``text``; seldom, so look closer then."""
    return " " in text or "\u00a0" in text


def _no_space(value: str) -> str | None:
    return "holds a space, which only FORM, LEMMA and MISC may" if _SPACE.search(value) else None


def _feats(value: str) -> str | None:
    if not _FEATS.fullmatch(value):
        return "is not Name=Value pairs joined by |, nor _"
    names = [pair.partition("=")[0] for pair in value.split("|")]
    return None if len(set(names)) == len(names) else "names a feature twice"


def _deps(value: str) -> str | None:
    return None if _DEPS.fullmatch(value) else "is not head:relation pairs joined by |, nor _"


_VALUE_RULES: dict[str, Callable[[str], str | None]] = {
    "upos": _no_space,
    "xpos": _no_space,
    "feats": _feats,
    "deprel": _no_space,
    "deps": _deps,
}
