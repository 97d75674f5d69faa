"""What labels got right, counted sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence

from perceptron_nlp.analysis.compare.significance import Counts
from perceptron_nlp.text.spans import spans_of

Labels = Sequence[Sequence[str]]
Gold = Sequence[Sequence[str | None]]


def word_counts(gold: Gold, given: Labels) -> Counts:
    """Words with a gold label, and those labelled right."""
    return Counts.of(
        (
            n := sum(truth is not None for truth in truths),
            n,
            sum(truth == label for truth, label in zip(truths, labels, strict=True)),
        )
        for truths, labels in zip(gold, given, strict=True)
    )


def span_counts(gold: Gold, given: Labels) -> Counts:
    """Gold spans, spans given, and those among them that are right.

    Sentences with a word that has no gold label count for nothing.
    """
    rows = []
    for truths, labels in zip(gold, given, strict=True):
        whole = [truth for truth in truths if truth is not None]
        if len(whole) < len(truths):
            rows.append((0, 0, 0))
            continue
        truth, found = set(spans_of(whole)), set(spans_of(labels))
        rows.append((len(truth), len(found), len(truth & found)))
    return Counts.of(rows)
