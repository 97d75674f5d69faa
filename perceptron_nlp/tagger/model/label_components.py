"""Factored labels: sets of attributes, such as ``Case=Gen|Number=Plur``, and their components.

A component of a label is one of its pieces between ``|``; in most modes, the label as a whole is a
further one, which learns what its pieces do not add up to. They are numbered by code point, and
the labels as wholes, in the order of their own numbers, after all pieces.

Tags that are made of positions, such as ``NNFS1-----A----`` or ``subst:sg:nom:f``, have a piece for
each character, or for each field between separators: ``3=S``.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Sequence
from typing import Any

from perceptron_nlp._core.model.labelparts import LabelParts
from perceptron_nlp.text.tagset import MAX_LABELS, SCHEMES, TagSet

NOTHING = "_"
PIECES, PIECES_AND_WHOLE = "pieces", "pieces+whole"
# How tags of positions are parted, with the label as a whole, by mode; "" at every character.
POSITIONS = {"colons+whole": ":", "dots+whole": ".", "bars+whole": "|", "places+whole": ""}
MODES = (PIECES, PIECES_AND_WHOLE, *POSITIONS)
# A joint label is the part of speech, a bar, and the features: the scheme of models that learn
# both and give the features.
JOINT = "upos|feats"
UPOS, XPOS = "upos", "xpos"
AGREEING = (UPOS, XPOS, "feats")
"""The columns that agree, in the order in which a combination has their labels."""
SCRIPTS = "scripts"
"""The scheme of models whose labels are edit scripts."""


def holds_attributes(labels: Iterable[str]) -> bool:
    """Tell if all labels are ``_`` or lists of ``Name=Value``, at least one of several names."""
    several = False
    for label in labels:
        names = [piece.partition("=") for piece in label.split("|")]
        if label != NOTHING and not all(name and value for name, _, value in names):
            return False
        several = several or len(names) > 1
    return several


def joint(upos: str, feats: str) -> str:
    """The joint label of a word."""
    return f"{upos}|{feats}"


def features_of(label: str) -> str:
    """The features of a joint label."""
    return label.partition("|")[2]


# Labels of a family, in the mean, from which on the bounds of families save more than they take.
_FAMILY_PAYS = 4


# Loading asks twice: how many parts there are, to check weights by, and what they are, to tag.
@functools.lru_cache(maxsize=4)
def parts_of(labels: tuple[str, ...], mode: str) -> LabelParts:
    """Return the components of labels, in the order of their numbers, in the core's form."""
    parts, names = part_numbers(labels, mode)
    fills: list[Any] = [_attribute(piece) for piece in names]
    families = [[fills[piece] for piece in numbers if piece < len(names)] for numbers in parts]
    if _FAMILY_PAYS * len({*map(tuple, families)}) > len(labels):
        # Those of a part of speech, or all.
        heads = {*names}
        families = [[slot for slot in slots if slot in heads] for slots in families]
    slots = {slot: n for n, slot in enumerate(dict.fromkeys(fills))}
    n_wholes = 0 if mode == PIECES else len(labels)
    filled = [slots[slot] for slot in fills]
    return LabelParts(parts, len(fills) + n_wholes, filled, families, n_wholes)


def part_numbers(labels: Sequence[str], mode: str) -> tuple[list[list[int]], list[str]]:
    """The numbers of each label's parts, ascending, and all pieces in the order of theirs."""
    pieces = [pieces_of(label, mode) for label in labels]
    names = sorted(set().union(*pieces))
    numbers = {piece: n for n, piece in enumerate(names)}
    parts = [sorted(numbers[piece] for piece in label) for label in pieces]
    if mode != PIECES:
        parts = [[*label, len(names) + n] for n, label in enumerate(parts)]
    return parts, names


def part_names(labels: Sequence[str], mode: str | None) -> list[tuple[str, str]]:
    """Return (kind, text) of each component of these labels, in the order of their numbers.

    Without a mode, labels have weights as wholes.
    """
    wholes = [("label", label) for label in labels]
    if mode is None:
        return wholes
    pieces = sorted(set().union(*(pieces_of(label, mode) for label in labels)))
    return [*(("piece", piece) for piece in pieces), *(wholes if mode != PIECES else [])]


def pieces_of(label: str, mode: str) -> set[str]:
    """Return the pieces of a label: as they stand there, or each with its place, from 0."""
    separator = POSITIONS.get(mode)
    if separator is None:
        return {*label.split("|")}
    values = label.split(separator) if separator else label
    # Places where nothing stands are as attributes that a set of features lacks.
    return {f"{place}={value}" for place, value in enumerate(values) if value not in ("", "-")}


def _attribute(piece: str) -> str:
    """The name of the attribute that a piece is a value of; a piece without one is its own."""
    return piece.partition("=")[0]


def closure(labels: Iterable[str]) -> TagSet:
    """The labels and all that can be put together of them.

    For each set of attribute names that some label has, every choice of values that were all seen
    with each other, pair by pair, is a label: so a language with rich inflection need not have
    shown every form. Left as they are where there would be too many labels.
    """
    known = set(labels)
    pairs: set[tuple[str, str]] = set()
    values: dict[str, set[str]] = {}
    patterns: set[tuple[str, ...]] = set()
    for label in known:
        pieces = label.split("|")
        pairs.update(itertools.product(pieces, pieces))
        names = tuple(_slot(piece, place) for place, piece in enumerate(pieces))
        patterns.add(names)
        for name, piece in zip(names, pieces, strict=True):
            values.setdefault(name, set()).add(piece)
    found = set(known)
    for names in sorted(patterns):
        ways: list[tuple[str, ...]] = [()]
        for name in names:
            ways = [
                (*way, piece)
                for way in ways
                for piece in sorted(values[name])
                if all((before, piece) in pairs for before in way)
            ]
            if len(ways) + len(found) > MAX_LABELS:
                return TagSet(known)
        found.update("|".join(way) for way in ways)
    return TagSet(found)


def _slot(piece: str, place: int) -> str:
    """Return the attribute that a piece is a value of; a part of speech stands for itself."""
    name, equals, _ = piece.partition("=")
    return name if equals or place else piece


# How the prefix of an IOBES label may be written in each scheme; BILOU is read as IOBES.
_WRITTEN = {
    "bio": {"B": "B", "I": "I", "E": "I", "S": "B"},
    "iob1": {"B": "BI", "I": "I", "E": "I", "S": "BI"},
    "iobes": {"B": "B", "I": "I", "E": "EL", "S": "SU"},
}


def forms_of(label: str, scheme: str | None) -> list[str]:
    """Return the forms in which a learned label may be written."""
    if scheme == JOINT:
        return [features_of(label)]
    if scheme not in SCHEMES or label == "O":
        return [label]
    prefix, _, kind = label.partition("-")
    return [f"{mark}-{kind}" for mark in _WRITTEN[str(scheme)].get(prefix, prefix)]


def written_labels(tags: TagSet, scheme: str | None) -> frozenset[str]:
    """All labels that may be written, given the learned ones."""
    return frozenset(form for label in tags for form in forms_of(label, scheme))
