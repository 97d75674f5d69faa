"""Which format a text is in, found by looking at its first lines.

The rules, in order; the first that holds decides:

1. ``conllu``: the file is called ``.conllu`` or ``.conllup``; or its first line is a
   comment that CoNLL-U files begin with (``# global.columns``, ``# newdoc``, ``# newpar``,
   ``# sent_id``, ``# text``); or at least half of its lines, comments left out, have ten
   fields (parted by tabs, or wrongly by spaces) of which the first is a CoNLL-U ID.
2. ``tagged``: at least nine tokens in ten are ``word/TAG``, and there are two or more.
3. ``columns``: at least nine lines in ten have as many fields as most have, that is two
   or more, and there are two lines or more.  A text may have this by chance, so there
   must also be: tabs between the fields; or empty lines, with more than one line between
   them on average; or labels in the last field (no small letters but after ``B-``, ``I-``,
   ``E-``, ``S-``, and some letter).
4. ``columns``: every line has one token, and somewhere two lines follow each other and
   somewhere an empty line parts two lines: words one below the other.
5. ``lines``, a sentence a line with its words parted by spaces: there are full stops, commas or the
   like with spaces around them, and hardly any with a word right before them.
6. ``text``: everything else, and an empty file.
"""

from __future__ import annotations

import re
from collections import Counter

from perceptron_nlp.formats.columns import DOCUMENT_MARK
from perceptron_nlp.formats.opening import BOM, plain_name

_CONLLU_SUFFIXES = (".conllu", ".conllup")
_CONLLU_COMMENT = re.compile(r"# ?(?:global\.columns|newdoc|newpar|sent_id|text)\b")
_CONLLU_ID = re.compile(r"[0-9]+(?:[-.][0-9]+)?")
_TAGGED = re.compile(r"[^ \t]+/[^ \t/]+")
_LABEL = re.compile(r"[BIESLU]-.+|[^a-z]+")
_MARKS = frozenset(".,!?;:")
# Not a full stop, which may be that of an abbreviation, but behind a long word.
_ATTACHED = re.compile(r"\S*\w[,!?;:]|\S*\w{5}\.")
_MOST = 0.9


def detect(head: str, *, name: str = "") -> str:
    """``conllu``, ``columns``, ``tagged``, ``lines`` or ``text``.

    Parameters
    ----------
    head : the first lines of a text
    name : the name of its file; only CoNLL-U's suffixes count, with or without that of a
        compression
    """
    if plain_name(name).lower().endswith(_CONLLU_SUFFIXES):
        return "conllu"
    text = head.removeprefix(BOM)
    if "\n" not in text:
        # Formats with lines refuse such a text; running text has it.
        text = text.replace("\r", "\n")
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    filled = [line for line in lines if line.strip(" \t")]
    if not filled:
        return "text"
    if _CONLLU_COMMENT.match(filled[0]) or _is_conllu(filled):
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
        good += len(fields) == 10 and bool(_CONLLU_ID.fullmatch(fields[0]))
    return 2 * good >= len(rows) > 0


def _is_tagged(lines: list[str]) -> bool:
    tokens = [token for line in lines for token in line.replace("\t", " ").split(" ") if token]
    good = sum(1 for token in tokens if _TAGGED.fullmatch(token))
    return len(tokens) > 1 and good >= _MOST * len(tokens)


def _is_columns(rows: list[str], lines: list[str]) -> bool:
    if len(rows) < 2:
        return False
    tabbed = "\t" in rows[0].strip(" \t")
    fields = [row.split("\t") if tabbed else row.replace("\t", " ").split() for row in rows]
    (width, count), *_ = Counter(map(len, fields)).most_common(1)
    if width < 2 or count < _MOST * len(rows):
        return False
    if tabbed or (_blocks(lines) * 1.5 <= len(rows) and _blocks(lines) > 1):
        return True
    last = [row[-1] for row in fields if len(row) == width]
    labels = all(_LABEL.fullmatch(label) for label in last)
    return labels and any(character.isalpha() for label in last for character in label)


def _is_one_column(rows: list[str], lines: list[str]) -> bool:
    one_each = all(len(row.replace("\t", " ").split(" ")) == 1 for row in rows)
    return one_each and 1 < _blocks(lines) < len(rows)


def _is_cut(lines: list[str]) -> bool:
    """Do marks stand alone, as in text whose words are parted by spaces already?"""
    pieces = [piece for line in lines for piece in line.replace("\t", " ").split(" ")]
    alone = sum(1 for piece in pieces if piece in _MARKS)
    attached = sum(1 for piece in pieces if _ATTACHED.fullmatch(piece))
    return alone > 0 and attached <= (1 - _MOST) * alone


def _blocks(lines: list[str]) -> int:
    """How many runs of lines there are between empty lines."""
    filled = [bool(line) for line in lines]
    return sum(now and not before for before, now in zip([False, *filled], filled, strict=False))
