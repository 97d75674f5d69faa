"""The words that a tagger labels wrong, each with its place and its context."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from perceptron_nlp._display import printable
from perceptron_nlp.text.sentence import Sentence

_CONTEXT = 5
TABLE_COLUMNS = ("place", "column", "token", "gold", "predicted", "confidence", "before", "after")


class Mistake(NamedTuple):
    """A word that is labeled wrong.

    Attributes
    ----------
    path, line : where it stands; line 0 where that is no file
    token : the word
    gold, predicted : its labels
    confidence : in the predicted label, 0 to 1; None where the model is not calibrated
    before, after : up to five words on either side
    """

    path: str
    line: int
    token: str
    gold: str
    predicted: str
    confidence: float | None
    before: tuple[str, ...]
    after: tuple[str, ...]


def mistakes_in(
    sentences: Iterable[Sentence],
    gold: Iterable[Sequence[str | None]],
    predicted: Iterable[Sequence[str]],
    confidences: Iterable[Sequence[float]] | None = None,
) -> list[Mistake]:
    """Return the words whose label is not the gold one, in the order of the text."""
    labels = list(predicted)
    sure: Iterable[Sequence[float | None]] = (
        [[None] * len(own) for own in labels] if confidences is None else confidences
    )
    return [
        Mistake(
            sentence.path,
            sentence.line_of(i),
            sentence.words[i],
            truth,
            label,
            confidence,
            sentence.words[max(0, i - _CONTEXT) : i],
            sentence.words[i + 1 : i + 1 + _CONTEXT],
        )
        for sentence, truths, own, chances in zip(sentences, gold, labels, sure, strict=True)
        for i, (truth, label, confidence) in enumerate(zip(truths, own, chances, strict=True))
        if truth is not None and truth != label
    ]


def mistakes_table(by_column: Iterable[tuple[str, Sequence[Mistake]]]) -> str:
    """Return mistakes as a table: a heading, then a line each, separated by tabs.

    Column by column, the most frequent confusions come first, and of a confusion the mistakes that
    the tagger was surest of. Control characters are escaped as Python writes them.
    """
    lines = ["\t".join(TABLE_COLUMNS)]
    for column, mistakes in by_column:
        counts = Counter((one.gold, one.predicted) for one in mistakes)
        for one in sorted(
            mistakes,
            key=lambda one: (
                -counts[one.gold, one.predicted],
                one.gold,
                one.predicted,
                -(one.confidence or 0.0),
            ),
        ):
            cells = (
                f"{one.path}:{one.line}" if one.line else one.path,
                column,
                one.token,
                one.gold,
                one.predicted,
                "" if one.confidence is None else f"{one.confidence:.4f}",
                " ".join(one.before),
                " ".join(one.after),
            )
            lines.append("\t".join(map(printable, cells)))
    return "\n".join(lines) + "\n"
