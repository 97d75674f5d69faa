"""Atoms of text as text/atoms.py tells them, by an expression of the classes of characters."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection
from functools import partial
from typing import NamedTuple

from perceptron_nlp._core.text.cutter import TextAtoms
from perceptron_nlp.text.atoms import EMPTY_LINE, character_classes, class_page
from perceptron_nlp.text.tagset import (
    ENTITY,
    NOT_SEEN,
    NOTHING,
    PARAGRAPH,
    PATTERN_KINDS,
    SPACE,
    character_of,
    word_bytes,
)

LONGEST_ATOM = 10_000
"""Characters of an atom, and of the marks behind digits; a longer run is several."""

_ATOM = (
    f"Z{{0,{LONGEST_ATOM - 1}}}(?:L[LMZ]{{0,{LONGEST_ATOM - 1}}}|[HOM][MZ]{{0,{LONGEST_ATOM - 1}}}"
    f"|D{{1,{LONGEST_ATOM}}}[MZ]{{0,{LONGEST_ATOM}}})|Z{{1,{LONGEST_ATOM}}}"
)


class Atoms(NamedTuple):
    """The atoms of a text.

    spans : begin and end of each, in characters
    gaps : what stands behind each: NOTHING, SPACE or PARAGRAPH; behind the last, PARAGRAPH
    """

    spans: list[tuple[int, int]]
    gaps: list[str]


def atoms_of(text: str, single: str = "") -> Atoms:
    """Return the atoms of a text, which may be any str.

    single : classes of letters of which every one is an atom, of CASED and CASELESS
    """
    read = ENTITY.sub(_at_length, text) if "&" in text else text
    spans = [
        found.span() for found in re.finditer(_ATOM, read.translate(character_classes(single)))
    ]
    gaps = []
    for (_, end), (start, _) in itertools.pairwise(spans):
        if start == end:
            gaps.append(NOTHING)
        else:
            between = text[end:start]
            is_over = between != " " and re.search(EMPTY_LINE, between)
            gaps.append(PARAGRAPH if is_over else SPACE)
    if spans:
        gaps.append(PARAGRAPH)
    return Atoms(spans, gaps)


def _at_length(entity: re.Match[str]) -> str:
    """Return what an entity stands for, and what belongs to it in its other places."""
    one = character_of(entity)
    fill = one if one.isdecimal() or one in NOT_SEEN else "\u0301"
    return one + fill * (len(entity[0]) - len(one))


def core_atoms(text: str, single: str = "") -> TextAtoms:
    """Return the atoms of a text as the core has them."""
    return TextAtoms(word_bytes(text), partial(class_page, single=single))


def patterns_of(text: str) -> list[tuple[str, int, int]]:
    """Return the patterns that the core finds: kind, first atom, the one behind the last."""
    return [(PATTERN_KINDS[kind], begin, end) for kind, begin, end in core_atoms(text).patterns()]


def marks_of(text: str) -> list[tuple[str, int, bool]]:
    """Return what marks say to the core: kind, atom, and whether a sentence ends with it."""
    return [(PATTERN_KINDS[kind], at, is_end) for kind, at, is_end in core_atoms(text).marks()]


def matches_of(text: str, entries: Collection[str], single: str = "") -> list[str]:
    """Return the column ``matches`` that the core gives the atoms of a text: see matches.h."""
    return core_atoms(text, single).matches([*map(word_bytes, entries)])
