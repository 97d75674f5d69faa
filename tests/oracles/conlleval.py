"""Counts of spans as the scorer of the CoNLL-2000 shared task makes them: one pass over the words
of both columns together, asking of each pair of labels whether a span ends and whether one starts.

Written from the rules, apart from `perceptron_nlp.text.spans`, which reads each column by itself.
"""

from __future__ import annotations

from collections.abc import Sequence


def ends(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Does a span end between two words, given as (prefix, type)?"""
    if before[0] == "O":
        return False
    return before[0] in "ES" or now[0] in "BSO" or before[1] != now[1]


def starts(before: tuple[str, str], now: tuple[str, str]) -> bool:
    """Does a span start at the second of two words?"""
    if now[0] == "O":
        return False
    return now[0] in "BS" or before[0] in "ESO" or before[1] != now[1]


def counts(gold: Sequence[str], given: Sequence[str]) -> tuple[int, int, int]:
    """Spans in the gold labels, in those given, and in both, of one sentence."""
    outside = ("O", "")
    n_gold = n_given = n_right = 0
    agree = False
    before = (outside, outside)
    for labels in [*zip(gold, given, strict=True), ("O", "O")]:
        one, two = now = tuple(
            tuple(label.split("-", 1)) if label != "O" else outside for label in labels
        )
        over = ends(before[0], one), ends(before[1], two)
        if agree and any(over):
            n_right += all(over)
            agree = False
        opens = starts(before[0], one), starts(before[1], two)
        n_gold += opens[0]
        n_given += opens[1]
        if any(opens):
            agree = all(opens) and one[1] == two[1]
        before = now
    return n_gold, n_given, n_right
