"""Spans in a column of labels, read as conlleval reads them.

A label is ``O`` or ``PREFIX-TYPE``, cut at the first hyphen. Prefixes: ``B`` begins a span, ``I``
goes on, ``E`` (or ``L``) ends one, ``S`` (or ``U``) is a span of one word. These serve four ways of
writing, and the same reading is right for all:

- IOB1: ``B`` only where a span directly follows another of its type;
- BIO (IOB2): every span begins with ``B``;
- IOBES and BILOU: the last word and the span of one word have their own prefix.

The reading follows ``conlleval`` (Tjong Kim Sang and Buchholz 2000, the CoNLL-2000 shared task): a
span opens at ``B`` and ``S``; at ``I`` and ``E`` if the word before is ``O``, of another type, or
has closed its span (``E``, ``S``). So no sequence is impossible to read; :func:`broken_positions`
counts those that break their scheme. A sentence is read by itself: no span reaches over its ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from perceptron_nlp._checks import check_choice
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.text.tagset import SCHEMES, SPAN_PREFIXES

Span = tuple[str, int, int]
"""Type, first word, and the word after the last, counted from 0."""

_OUTSIDE = ("O", "")


def spans_of(labels: Sequence[str]) -> list[Span]:
    """Return the spans of one sentence, in order.

    Raises ArgumentError for a label that is neither ``O`` nor ``PREFIX-TYPE``.

    >>> spans_of(["B-NP", "I-NP", "I-VP", "O"])
    [('NP', 0, 2), ('VP', 2, 3)]
    """
    spans = []
    start = 0
    previous = _OUTSIDE
    for index, label in enumerate(labels):
        current = _split(label, index)
        if _opens(previous, current):
            if previous != _OUTSIDE:
                spans.append((previous[1], start, index))
            start = index
        elif previous != _OUTSIDE and current == _OUTSIDE:
            spans.append((previous[1], start, index))
        previous = current
    if previous != _OUTSIDE:
        spans.append((previous[1], start, len(labels)))
    return spans


def labels_of(spans: Iterable[Span], length: int, *, scheme: str = "bio") -> list[str]:
    """Return the labels of a sentence of ``length`` words, written in ``scheme``.

    Raises ArgumentError for spans that overlap, are empty, or leave the sentence, and for a scheme
    that is not ``bio``, ``iobes`` or ``iob1``.
    """
    check_choice("scheme", scheme, SCHEMES)
    labels = ["O"] * length
    end_before, type_before = 0, ""
    for kind, start, end in sorted(spans, key=lambda span: span[1]):
        if not end_before <= start < end <= length:
            raise ArgumentError(
                f"spans: {(kind, start, end)} overlaps another, is empty, or leaves a sentence "
                f"of {length} words"
            )
        labels[start:end] = [f"I-{kind}"] * (end - start)
        touches_its_like = start == end_before and kind == type_before
        if scheme != "iob1" or touches_its_like:
            labels[start] = f"B-{kind}"
        if scheme == "iobes":
            labels[end - 1] = f"E-{kind}" if end - start > 1 else f"S-{kind}"
        end_before, type_before = end, kind
    return labels


def written(labels: Sequence[str], scheme: str) -> list[str]:
    """Return the labels of a sentence rewritten in a scheme, from whatever they are in."""
    return labels_of(spans_of(labels), len(labels), scheme=scheme)


def scheme_of(sentences: Iterable[Sequence[str]]) -> str:
    """Return the scheme that a corpus of span labels follows: ``bio``, ``iobes`` or ``iob1``.

    Any ``E``, ``S``, ``L`` or ``U`` makes it ``iobes``. Otherwise it is ``iob1`` if more labels
    break BIO than break IOB1, else ``bio``.
    """
    breaks_bio = breaks_iob1 = 0
    for labels in sentences:
        if any(label[0] in "ESLU" for label in labels if label != "O"):
            return "iobes"
        breaks_bio += len(broken_positions(labels, scheme="bio"))
        breaks_iob1 += len(broken_positions(labels, scheme="iob1"))
    return "iob1" if breaks_bio > breaks_iob1 else "bio"


def broken_positions(labels: Sequence[str], *, scheme: str = "bio") -> list[int]:
    """Return the words of one sentence whose label cannot follow the label before it.

    In ``bio`` an ``I`` that opens a span is broken; in ``iob1`` a ``B`` that does not follow a word
    of its type; in ``iobes`` an ``I`` or ``E`` that opens a span, and whatever follows a ``B`` or
    ``I`` without going on with it (``len(labels)`` if the sentence ends there).
    """
    check_choice("scheme", scheme, SCHEMES)
    broken = []
    previous = _OUTSIDE
    for index, label in enumerate(labels):
        current = _split(label, index)
        if not _may_follow(previous, current, scheme):
            broken.append(index)
        previous = current
    if scheme == "iobes" and previous[0] in ("B", "I"):
        broken.append(len(labels))
    return broken


def may_follow(before: str | None, label: str | None) -> bool:
    """Return True if a label may follow another in IOBES; None stands for the sentence's ends.

    Raises ArgumentError for a label that is neither ``O`` nor ``PREFIX-TYPE``.

    >>> may_follow("B-NP", "E-NP"), may_follow("B-NP", None)
    (True, False)
    """
    previous = _OUTSIDE if before is None else _split(before, 0)
    current = _OUTSIDE if label is None else _split(label, 1)
    return _may_follow(previous, current, "iobes")


def _split(label: str, index: int) -> tuple[str, str]:
    if label == "O":
        return _OUTSIDE
    prefix, hyphen, kind = label.partition("-")
    if not (hyphen and kind and prefix in SPAN_PREFIXES):
        raise ArgumentError(
            f"labels[{index}]: {quote(label)} is neither O nor a span label such as B-NP"
        )
    return SPAN_PREFIXES[prefix], kind


def _opens(previous: tuple[str, str], current: tuple[str, str]) -> bool:
    if current == _OUTSIDE:
        return False
    return current[0] in ("B", "S") or previous[0] in ("O", "E", "S") or previous[1] != current[1]


def _may_follow(previous: tuple[str, str], current: tuple[str, str], scheme: str) -> bool:
    prefix, kind = current
    if scheme == "iob1":
        return prefix != "B" or (previous[0] in ("B", "I") and previous[1] == kind)
    if prefix in ("I", "E"):
        return not _opens(previous, current)
    return not (scheme == "iobes" and previous[0] in ("B", "I"))


def legal_steps(labels: Iterable[str], right_to_left: bool) -> list[list[bool]]:
    """Table of label pairs: true if the second may follow the first, in reading direction.

    Row and column ``n_labels`` are the start and the end of the sentence.
    """
    steps: list[str | None] = [*labels, None]
    return [
        [may_follow(two, one) if right_to_left else may_follow(one, two) for two in steps]
        for one in steps
    ]
