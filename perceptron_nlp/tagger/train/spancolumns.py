"""Columns of spans: learnt and searched in IOBES, written as the training text writes them.

IOBES tells the last word of a span from the others, which helps a linear model (Ratinov and Roth,
2009, "Design challenges and misconceptions in named entity recognition"), and its legal
transitions keep the search from sequences that are no spans.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from perceptron_nlp.tagger.tag.context import is_capitalised
from perceptron_nlp.text.spans import (
    bio_to_iobes,
    broken_positions,
    is_span_column,
    labels_of,
    may_follow,
    scheme_of,
    spans_of,
)
from perceptron_nlp.text.tagset import TagSet

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.tagger.train.examples import Examples

# From this share of spans that begin with a capital letter on, they are taken for names.
NAMES_SHARE = 0.5


def holds_spans(examples: Examples) -> bool:
    """Are all labels span labels, and is every word labelled?"""
    return examples.n_labelled == examples.n_tokens and is_span_column(examples.tags)


def as_iobes(examples: Examples) -> tuple[Examples, int]:
    """The same sentences labelled in IOBES.

    Returns
    -------
    (examples, broken) : with the scheme that they were written in as their `scheme`, and how many
        labels broke it; these are read as conlleval reads them
    """
    whole = [[label for label in labels if label is not None] for labels in examples.gold]
    scheme = scheme_of(whole)
    gold: list[Sequence[str | None]] = [bio_to_iobes(labels) for labels in whole]
    broken = sum(len(broken_positions(labels, scheme=scheme)) for labels in whole)
    tags = TagSet({label for labels in gold for label in labels if label is not None})
    # Here, since training alone needs it.
    from dataclasses import replace

    return replace(examples, gold=gold, tags=tags, scheme=scheme), broken


def hold_names(examples: Examples) -> bool:
    """Do most of the spans begin with a capital letter?"""
    return capital_share(examples) >= NAMES_SHARE


def capital_share(examples: Examples) -> float:
    """Share of the spans, marked where they begin, that begin with a capital letter."""
    first = [
        word
        for sentence, labels in zip(examples.sentences, examples.gold, strict=True)
        for word, label in zip(sentence.words, labels, strict=True)
        if label is not None and label[0] in "BS"
    ]
    return sum(map(is_capitalised, first)) / len(first) if first else 0.0


def transitions(tags: TagSet, right_to_left: bool) -> npt.NDArray[np.bool_]:
    """bool[n_labels + 1, n_labels + 1]: may the second label follow the first, as they are read?

    Row and column n_labels are the sentence's start and end.
    """
    import numpy as np

    return np.array(legal_steps(tags, right_to_left))


def legal_steps(tags: TagSet, right_to_left: bool) -> list[list[bool]]:
    """The same, row by row."""
    labels: list[str | None] = [*tags, None]
    return [
        [may_follow(two, one) if right_to_left else may_follow(one, two) for two in labels]
        for one in labels
    ]


def written(labels: Sequence[str], scheme: str) -> list[str]:
    """IOBES labels of a sentence in another scheme."""
    return labels_of(spans_of(labels), len(labels), scheme=scheme)
