"""The format of a text, told by its first lines.

Of these rules the first that holds decides:

1. ``jsonl``: the file is called ``.jsonl`` or ``.ndjson``, or begins with a JSON object.
2. ``conllu``: the file is called ``.conllu`` or ``.conllup``; or its first line is a comment that
   CoNLL-U files begin with (``# global.columns``, ``# newdoc``, ``# newpar``, ``# sent_id``,
   ``# text``); or at least half of its lines, comments left out, have ten fields (separated by
   tabs, or wrongly by spaces) of which the first is a CoNLL-U ID.
3. ``tagged``: at least nine tokens in ten are ``word/TAG``, there are two or more, and what follows
   the slashes looks like labels: it has no small letters, or half of it repeats, or a mark such as
   ``./.`` is a token.
4. ``columns``: at least nine lines in ten have as many fields as most have, that is two or more,
   and there are two lines or more. A text may have this by chance, so there must also be: tabs
   between the fields; or labels in the last field (no small letters but after ``B-``, ``I-``,
   ``E-``, ``S-``, and some letter); or empty lines, with more than one line between them on
   average, and last fields that have no small letters, or half of which repeat, or a mark that is
   a word.
5. ``columns``: every line has one token, and somewhere two lines follow each other and somewhere an
   empty line separates two lines: words one below the other.
6. ``lines``, a sentence a line with its words separated by spaces: there are full stops, commas or
   the like with spaces around them, and hardly any with a word right before them.
7. ``text``: everything else, and an empty file.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from perceptron_nlp.formats.opening import BOM, DOCUMENT_MARK, is_conllu_name, plain_name

_CONLLU_COMMENT = r"# ?(?:global\.columns|newdoc|newpar|sent_id|text)\b"
_RECORD = r'\{\s*"(?:[^"\\]|\\.)*"\s*:'
_CONLLU_ID = r"[0-9]+(?:[-.][0-9]+)?"
_FOREIGN_MARKS = "。！？，、；：؟،؛۔।"
_MARKS = frozenset(f".,!?;:{_FOREIGN_MARKS}")
# Not a full stop, which may be that of an abbreviation, but behind a long word. Scripts without
# spaces have marks within what spaces separate.
_ATTACHED = rf"\S*\w[,!?;:]|\S*\w{{5}}\.|\S*\w[{_FOREIGN_MARKS}]\S*"
_MOST = 0.9


def detect(head: str, *, name: str = "") -> str:
    """Return ``conllu``, ``columns``, ``tagged``, ``lines``, ``text`` or ``jsonl``.

    It looks at a text's first lines; of the name of its file only the suffixes of CoNLL-U and JSON
    lines count, with or without that of a compression.
    """
    if is_conllu_name(name):
        return "conllu"
    if plain_name(name).lower().endswith((".jsonl", ".ndjson")):
        return "jsonl"
    text = head.removeprefix(BOM)
    if "\n" not in text:
        # Formats with lines refuse such a text; running text has it.
        text = text.replace("\r", "\n")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    filled = [line for line in lines if line.strip(" \t")]
    if not filled:
        return "text"
    first = filled[0].lstrip()
    if first.startswith("{") and re.match(_RECORD, first):
        return "jsonl"
    is_comment = filled[0].startswith("#")
    if (is_comment and re.match(_CONLLU_COMMENT, filled[0])) or _is_conllu(filled):
        return "conllu"
    if _is_tagged(filled):
        return "tagged"
    rows = [line for line in filled if not line.startswith(DOCUMENT_MARK)]
    if _is_columns(rows, lines) or _is_one_column(rows, lines):
        return "columns"
    return "lines" if _is_cut(filled) else "text"


def _is_conllu(lines: list[str]) -> bool:
    rows = [line for line in lines if not line.startswith("#")]
    good = 0
    for row in rows:
        fields = row.split("\t")
        if len(fields) == 1:
            fields = row.split()
        good += len(fields) == 10 and bool(re.fullmatch(_CONLLU_ID, fields[0]))
    return 2 * good >= len(rows) > 0


def _is_tagged(lines: list[str]) -> bool:
    tokens = [token for line in lines for token in line.replace("\t", " ").split(" ") if token]
    good = [parts for token in tokens if all(parts := token.rpartition("/"))]
    if len(tokens) < 2 or len(good) < _MOST * len(tokens):
        return False
    words, _, tags = zip(*good, strict=True)
    return _are_labels(tags) or _repeat(words, tags)


def _is_columns(rows: list[str], lines: list[str]) -> bool:
    if len(rows) < 2:
        return False
    tabbed = "\t" in rows[0].strip(" \t")
    fields = [row.split("\t") if tabbed else row.replace("\t", " ").split() for row in rows]
    (width, count), *_ = Counter(map(len, fields)).most_common(1)
    if width < 2 or count < _MOST * len(rows):
        return False
    whole = [row for row in fields if len(row) == width]
    last = [row[-1] for row in whole]
    if tabbed or _are_labels(last):
        return True
    in_blocks = _blocks(lines) * 1.5 <= len(rows) and _blocks(lines) > 1
    return in_blocks and (_are_capital(last) or _repeat([row[0] for row in whole], last))


def _are_labels(values: Sequence[str]) -> bool:
    """Return True for values without small letters but behind a prefix, and with some letter."""
    some = any(character.isupper() for value in values for character in value)
    return some and _are_capital(values)


def _are_capital(values: Sequence[str]) -> bool:
    return all(value == value.upper() or re.fullmatch("[BIESLU]-.+", value) for value in values)


def _repeat(words: Sequence[str], values: Sequence[str]) -> bool:
    """Return True if values repeat as labels do, or marks are words as they are beside labels."""
    return 2 * len({*values}) <= len(values) or not _MARKS.isdisjoint(words)


def comma_warnings(head: str, path: str, format: str) -> tuple[str, ...]:
    """Return what to say of comma-separated values, which no format has."""
    lines = [line for line in map(str.rstrip, head.split("\n")) if line]
    is_named = plain_name(path).lower().endswith(".csv")
    if not lines or not (is_named or _separated_by_commas(lines)):
        return ()
    return (
        f"{path}: looks like comma-separated values, and is read as {format}; columns are separated"
        " by tabs or spaces, with a word a line and an empty line after each sentence",
    )


def _separated_by_commas(lines: list[str]) -> bool:
    """Return True for lines that have as many commas, or semicolons, each, and hardly spaces."""
    counts = [(line.count(","), line.count(";")) for line in lines]
    commas, semicolons = counts[0]
    joined = sum(", " in line or "; " in line for line in lines)
    return (
        len(lines) > 2
        and max(commas, semicolons) > 0
        and len({*counts}) == 1
        and joined <= (1 - _MOST) * len(lines)
    )


def _is_one_column(rows: list[str], lines: list[str]) -> bool:
    one_each = all(len(row.replace("\t", " ").split(" ")) == 1 for row in rows)
    return one_each and 1 < _blocks(lines) < len(rows) and not _attached(rows)


def _is_cut(lines: list[str]) -> bool:
    """Return True if marks stand alone, as in text whose words are separated by spaces."""
    pieces = [piece for line in lines for piece in line.replace("\t", " ").split(" ")]
    alone = sum(1 for piece in pieces if piece in _MARKS)
    return alone > 0 and _attached(pieces) <= (1 - _MOST) * alone


def _attached(pieces: Sequence[str]) -> int:
    """Return how many pieces are words with a mark right behind them."""
    return sum(re.fullmatch(_ATTACHED, piece) is not None for piece in pieces)


def _blocks(lines: list[str]) -> int:
    """Return the number of runs of lines between empty lines."""
    filled = [bool(line) for line in lines]
    return sum(now and not before for before, now in zip([False, *filled], filled, strict=False))
