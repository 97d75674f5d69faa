"""What most languages treat alike in running text, counted: patterns, and marks about words.

Training counts how a treebank treats each kind (text/tagset.py); the core does what holds
(patterns.h, cut.h).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from perceptron_nlp.tagger.tag.segment import patterns_of
from perceptron_nlp.text.atoms import character_type
from perceptron_nlp.text.tagset import GOES_ON, NOTHING, SENTENCE, SPACE

# Quotes open in one language what they close in another.
_QUOTES, _SINGLE = '"\u00ab\u00bb\u2039\u203a\u201c\u201d\u201e', "\u2018\u201a"
_OPENING, _CLOSING = f"([{{{_QUOTES}{_SINGLE}", f")]}}{_QUOTES}"
_CASELESS = "chkz"
_BEGINS = f"A{_CASELESS}"
_FINAL = ".,;:!?\u2026"
_END_KINDS = {"!": "exclamation", "?": "question", "\u061f": "question", "\u2026": "ellipsis"}


def ordinal_ends(words: Sequence[str], gaps: Sequence[str]) -> list[int]:
    """Return which atoms are full stops of numbers before a small letter, as in *3. března*.

    The numbers are in digits, or Roman ones.
    """
    return [
        at
        for at in range(1, len(words) - 1)
        if (words[at], gaps[at - 1], gaps[at]) == (".", NOTHING, SPACE)
        and character_type(words[at + 1][0]) == "a"
        and (words[at - 1][0].isdecimal() or not words[at - 1].strip("IVXLC"))
    ]


class Enclosed(NamedTuple):
    """A place beside a mark that encloses words.

    kind : the mark's, ``bracket`` or ``quote``
    place : the atom behind which a token ends
    is_outside : is it the place before an opening mark, or behind a closing one?
    """

    kind: str
    place: int
    is_outside: bool


def enclosed(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Enclosed]:
    """Yield the places beside brackets and quotes that enclose words with nothing between."""
    begin, looks = 0, "".join(map(_look, words))
    for end, gap in enumerate(gaps, 1):
        if gap == NOTHING and end < len(gaps):
            continue
        own = looks[begin:end]
        if len(own) > 1 and not (own[0] + own[-1]).isalpha():
            before = looks[begin - 1] if begin and gaps[begin - 1] == SPACE else ""
            behind = looks[end : end + 1] if gap == SPACE else ""
            for mark, place, is_outside in _enclosed(before, own, behind):
                yield Enclosed(
                    "bracket" if mark in "([{}])" else "quote", begin + place, is_outside
                )
        begin = end


def _look(word: str) -> str:
    """Return a for what begins small, A for other words and numbers, c for one caseless letter."""
    look = character_type(word[0])
    if look in _CASELESS:
        return "A" if len(word) > 1 else "c"
    return "a" if look == "a" else "A" if look in "A9" else word[0]


def _enclosed(before: str, own: str, behind: str) -> Iterator[tuple[str, int, bool]]:
    begin = len(own[:-1]) - len(own[:-1].lstrip(_OPENING))
    if begin and own[begin] == "a" and before and before in "aAc,":
        yield own[0], -1, True
    if own[begin] in "aA":
        for place, mark in enumerate(own[:begin]):
            if mark * 2 not in own[max(0, place - 1) : place + 2]:
                yield mark, place, False
    inner = own[begin:].rstrip(_FINAL) or own[begin]
    closing = _CLOSING + ("'" if {*own[:begin]} & {*_SINGLE} else "")
    last = begin + max(1, len(inner.rstrip(closing)))
    if own[last - 1] not in "aA.!?\u2026":
        return
    for place in range(last, begin + len(inner)):
        is_part = own[place] in ")]}" and {*own[begin : last - 1]} & {*"([{"}
        if is_part or own[place] * 2 in own[place - 1 : place + 2]:  # )))) smiles
            continue
        yield own[place], place - 1, False
        if place + 1 == len(own) and behind == "a":
            yield own[place], place, True


def sentence_ends(words: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[str, int]]:
    """Yield the kind, and the atom that it ends with, of what ends sentences in most languages."""
    looks, begin = "".join(map(_look, words)), 0
    for end, gap in enumerate(gaps, 1):
        if gap == NOTHING and end < len(gaps):
            continue
        own, begin = looks[begin:end], end
        at = end
        has_dash = looks[at : at + 1] in ("-", "\u2013", "\u2014") and gaps[at] == SPACE
        at += has_dash
        at += looks[at : at + 1] in tuple(_OPENING + "\u00a1\u00bf") and gaps[at] == NOTHING
        if gap != SPACE or at >= len(words) or character_type(words[at][0]) not in _BEGINS:
            continue
        open_end = own.rstrip(_CLOSING + "'") or own[0]
        mark = open_end[-1]
        if mark in ".!?\u2026\u061f" and open_end != own:
            yield "closed", end - 1
        elif mark in _END_KINDS:
            yield _END_KINDS[mark], end - 1
        elif mark == "." and (own[-2:] == ".." or has_dash):
            yield "ellipsis" if own[-2:] == ".." else "dash", end - 1


def count_patterns(
    text: str, words: Sequence[str], gaps: Sequence[str], labels: Sequence[str], single: str = ""
) -> dict[str, list[int]]:
    """Return how the labels of a text's atoms treat its patterns.

    words, gaps : its atoms, and what stands behind them
    """
    counts: dict[str, list[int]] = {}
    for kind, is_other in _treated(text, words, gaps, labels, single):
        own = counts.setdefault(kind, [0, 0])
        own[0] += 1
        own[1] += is_other
    return dict(sorted(counts.items()))


def _treated(
    text: str, words: Sequence[str], gaps: Sequence[str], labels: Sequence[str], single: str
) -> Iterator[tuple[str, bool]]:
    """Yield the kind of each pattern, and whether labels treat it in another way than most do."""
    for kind, begin, end in patterns_of(text, single):
        yield kind, any(label != GOES_ON for label in labels[begin : end - 1])
    for at in ordinal_ends(words, gaps):
        yield "ordinal", labels[at] == SENTENCE
    for kind, at, is_outside in enclosed(words, gaps):
        yield kind, labels[at] == (SENTENCE if is_outside else GOES_ON)
    for kind, at in sentence_ends(words, gaps):
        # Of questions and cries in a row some make one sentence: that says nothing of others.
        if words[at + 1] not in ("\u00a1", "\u00bf"):
            yield kind, labels[at] != SENTENCE
