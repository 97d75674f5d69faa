"""Rules of CoNLL-U, and the error for a line that breaks one.

Source: https://universaldependencies.org/format.html (CoNLL-U, version 2) and
https://universaldependencies.org/ext-format.html (CoNLL-U Plus). These are the rules of the format
alone; the inventories and guidelines of Universal Dependencies are not checked.

The core judges the lines of usual sentences (_core/conllu/scan.h). A sentence that it
does not accept comes here: for the words of its error, or because it is unusual and yet in order,
such as one of other columns or with carriage returns.
"""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from operator import eq
from typing import NamedTuple, NoReturn

from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.text.layout import CONLLU_COLUMNS, NO_SPACES, wrong_conllu_value

_TREE = ("head", "deprel")

_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY_NODE = re.compile(r"(0|[1-9][0-9]*)\.([1-9][0-9]*)")
_ANY_ID = re.compile(r"[0-9]+([-.][0-9]+)?")
_NUMBER = re.compile(r"0|[1-9][0-9]*")
_HEADS = re.compile(r"(?:^|\|)([0-9.]+):")
# Values in order, by column: a treebank repeats its own, and to look one up costs a tenth.
_GOOD: defaultdict[str, set[str]] = defaultdict(set)
_MOST_GOOD = 1 << 16
_BEGUN_AGAIN = "is an empty line missing before it, or a line?"


class BeyondSentenceError(FormatError):
    """A HEAD, DEPS or range beyond the sentence: perhaps an empty line cuts it in two."""


class Place(NamedTuple):
    """The lines of one sentence: where they start, and the columns they have."""

    path: str
    first_line: int
    columns: tuple[str, ...]

    def refuse(self, row: int, what: str) -> NoReturn:
        """Raise the error for a row, counted from 0."""
        raise FormatError(what, self.path, self.first_line + row)

    def beyond(self, row: int, what: str) -> NoReturn:
        """Raise the error for a row that names what its sentence does not have."""
        raise BeyondSentenceError(what, self.path, self.first_line + row)

    def name(self, column: str) -> str:
        """Return the name of a column in messages: ``column 4 (UPOS)``."""
        return f"column {self.columns.index(column) + 1} ({column.upper()})"


def refuse_grid(lines: Iterable[str], place: Place) -> NoReturn:
    """Raise the error for the first line that is not fields with something in each."""
    width = len(place.columns)
    for row, line in enumerate(lines):
        if not line.strip(" \t\r"):
            place.refuse(row, "a line of spaces; sentences are separated by an empty line")
        fields = line.split("\t")
        if line.startswith("#") and len(fields) != width:
            place.refuse(row, "a comment after the first word of a sentence; " + _BEGUN_AGAIN)
        if len(fields) != width:
            found = f"{len(fields)} field{'s' if len(fields) > 1 else ''} where "
            kind = "CoNLL-U has 10" if place.columns == CONLLU_COLUMNS else f"the file has {width}"
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
    """Return the rows of the words among ranges and empty nodes, with every ID checked."""
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
        what = f"range {quote(ids[range_row])} goes beyond the {len(rows)} words of its sentence"
        place.beyond(range_row, what)
    return tuple(rows)


def _small(number: str) -> int:
    """Return the number, or one beyond every sentence for digits that go on and on."""
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
    place.refuse(row, f"ID {quote(name)} where {expected} should follow; " + _BEGUN_AGAIN)


def starts_in_the_middle(name: str) -> bool:
    """Return True if an ID belongs to a word after the first: the sentence was cut before it."""
    return bool(_ANY_ID.fullmatch(name)) and name != "1" and not name.startswith(("1-", "0."))


def check_values(columns: Mapping[str, Sequence[str]], rows: Sequence[int], place: Place) -> None:
    """Raise for the first value that its column may not have; ``rows`` are the lines of words."""
    if len(rows) < len(columns["id"]):
        check_ranges_and_empties(columns, rows, place)
    for name in ("feats", *NO_SPACES):
        _check_column(name, columns.get(name, ()), place)
    if "head" in columns:
        _check_heads(columns["head"], columns["id"], rows, place)
    if "deps" in columns:
        _check_column("deps", columns["deps"], place)
        check_deps(columns["deps"], {"0", *columns["id"]}, place)


def check_deps(deps: Sequence[str], nodes: set[str], place: Place) -> None:
    """Raise unless every DEPS names nodes of its sentence."""
    if all(map(nodes.issuperset, map(heads_of, {*deps}))):
        return
    for row, value in enumerate(deps):
        for head in heads_of(value):
            if head not in nodes:
                what = f"DEPS {quote(value)} names {quote(head)}, which is not in its sentence"
                place.beyond(row, what)


def check_ranges_and_empties(
    columns: Mapping[str, Sequence[str]], rows: Sequence[int], place: Place
) -> None:
    """Raise for a range with more than FORM, MISC, ``Typo=Yes``, an empty node with a HEAD."""
    words = set(rows)
    for row, name in enumerate(columns["id"]):
        if row in words:
            continue
        kind, empty = ("a range", CONLLU_COLUMNS[2:9]) if "-" in name else ("an empty node", _TREE)
        for column in empty:
            value = columns[column][row] if column in columns else "_"
            if value != "_" and (column, value) != ("feats", "Typo=Yes"):
                what = f"{place.name(column)} of {kind} must be _, not {quote(value)}"
                place.refuse(row, what)


def _check_column(name: str, values: Sequence[str], place: Place) -> None:
    good = _GOOD[name]
    if good.issuperset(values):
        return
    if len(good) > _MOST_GOOD:
        good.clear()
    for row, value in enumerate(values):
        wrong = wrong_conllu_value(name, value)
        if wrong is not None:
            place.refuse(row, f"{place.name(name)} {quote(value)} {wrong}")
        good.add(value)


def _check_heads(
    heads: Sequence[str], ids: Sequence[str], rows: Sequence[int], place: Place
) -> None:
    """Raise unless every HEAD of a word is ``_``, 0, or another word."""
    # Other lines than those of words have no HEAD.
    words = ids if len(rows) == len(ids) else [ids[row] for row in rows]
    wrong = {*heads}.difference(words) - {"_", "0"}
    if wrong:
        row = next(row for row in rows if heads[row] in wrong)
        head = quote(heads[row])
        if not _NUMBER.fullmatch(heads[row]):
            place.refuse(row, f"HEAD {head} is not a number, nor _")
        place.beyond(row, f"HEAD {head} is beyond the {len(rows)} words of its sentence")
    if any(map(eq, heads, ids)):
        row = next(row for row in rows if heads[row] == ids[row])
        place.refuse(row, f"HEAD {quote(heads[row])} is the word itself")


@functools.lru_cache(maxsize=_MOST_GOOD)
def heads_of(value: str) -> list[str]:
    return _HEADS.findall(value)
