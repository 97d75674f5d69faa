"""A sentence to annotate with what is proposed, and what a person answers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import perceptron_nlp as pn
from perceptron_nlp._checks import check_tokens
from perceptron_nlp.annotation.goldfile import Record
from perceptron_nlp.annotation.labels import given_labels, label_names, wrong_value
from perceptron_nlp.annotation.learning import Learned
from perceptron_nlp.annotation.review import Doubt
from perceptron_nlp.errors import ArgumentError, quote
from perceptron_nlp.probability import softmax

# Of a column of many labels, so many are proposed.
_MOST_ALTERNATIVES = 20

Labels = Mapping[str, Sequence[str]] | Sequence[str]
Alternatives = tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class Task:
    """A sentence to annotate, with what is proposed.

    Attributes
    ----------
    name : its ``sent_id``
    words : its words
    labels : by column, for each word the label proposed, or None
    alternatives : for each word (label, confidence) of the first column, the best first; empty if
        nothing was learned yet
    known : for each word whether it was annotated before
    origin : ``"pool"``, ``"check"`` (of the random sample), ``"again"`` (it was annotated before),
        ``"review"``
    doubts : why words are to be looked at again, by their number, and what labels may be meant
    note : the person's remark
    spans : begin and end of each word in the text; empty where it cannot be cut otherwise
    glued : for each word whether the next one stands right behind it, or belongs to its token
    """

    name: str
    words: tuple[str, ...]
    labels: dict[str, list[str | None]]
    alternatives: list[Alternatives]
    known: list[bool]
    origin: str = "pool"
    doubts: Mapping[int, Doubt] = field(default_factory=dict)
    note: str = ""
    spans: tuple[tuple[int, int], ...] = ()
    glued: Sequence[bool] = ()


def checked_labels(
    labels: Labels | None, task: Task, columns: Sequence[str], tags: Collection[str] | None
) -> dict[str, list[str]]:
    """Return the labels that a person gives to a task, by column; None for those of the task.

    Raises ArgumentError, ArgumentTypeError for labels that cannot be.
    """
    given: Mapping[str, Sequence[str | None]]
    if labels is None:
        given = task.labels
    elif isinstance(labels, Mapping):
        given = {**task.labels, **labels}
        if unknown := labels.keys() - {*columns}:
            raise ArgumentError(
                f"labels: there is no column {quote(min(unknown))}; there are {', '.join(columns)}"
            )
    else:
        check_tokens(labels)
        given = {**task.labels, columns[0]: list(labels)}
    checked: dict[str, list[str]] = {}
    for name, values in given.items():
        if len(values) != len(task.words):
            raise ArgumentError(
                f"labels: {len(values)} labels of {name} for {len(task.words)} words"
            )
        allowed = tags if name == columns[0] else None
        for number, (word, value) in enumerate(zip(task.words, values, strict=True), 1):
            wrong = wrong_value(name, value, allowed)
            if wrong is not None:
                raise ArgumentError(f"labels: word {number}, {quote(word)}: {wrong}")
        checked[name] = [str(value) for value in values]
    return checked


def proposals(
    learned: Learned, words: Sequence[str], columns: Sequence[str]
) -> tuple[dict[str, list[str | None]], list[Alternatives]]:
    """Return labels by column, None where nothing is proposed, and alternatives in the first."""
    proposed: dict[str, list[str | None]] = {name: [None] * len(words) for name in columns}
    tagger = learned.tagger
    if tagger is None:
        return proposed, [()] * len(words)
    found = tagger.tag(words, columns=tagger.columns)
    proposed |= {name: list(found[name]) for name in columns if name in found}
    return proposed, ranked(tagger.by_column[columns[0]], words, learned.calibration.temperature)


def initial_labels(
    record: Record | None, proposed: dict[str, list[str | None]], words: Sequence[str]
) -> dict[str, list[str | None]]:
    """Return by column the labels of a record of these words, else what is proposed."""
    if record is None or record.sentence.words != words:
        return proposed
    return {
        name: [own or new for own, new in zip(given, labels, strict=True)]
        for name, labels in proposed.items()
        if (given := given_labels(record.sentence, name))
    }


def ranked(part: pn.Tagger, words: Sequence[str], temperature: float) -> list[Alternatives]:
    """Return for each word its likeliest labels with their confidences, the best first."""
    names = label_names(part)
    found = []
    for row in softmax(part.scores(words), temperature):
        best: dict[str, float] = {}
        for at in np.argsort(-row, kind="stable")[:_MOST_ALTERNATIVES].tolist():
            best.setdefault(names[at], round(float(row[at]), 4))
        found.append(tuple(best.items()))
    return found
