"""How far the work is, how good the model is, and what should be looked at again.

Likely errors are those that the doctor finds; a second annotator's file gives the agreement.
"""

from __future__ import annotations

import math
import os
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import perceptron_nlp as pn
from perceptron_nlp.annotation.calibration import COVERAGE, Estimate, Judged, estimate
from perceptron_nlp.annotation.goldfile import Record
from perceptron_nlp.annotation.labels import given_labels, wrong_value
from perceptron_nlp.annotation.pool import Item
from perceptron_nlp.crossfit import unheard
from perceptron_nlp.errors import FormatError

_RECENT_TOKENS = 200
_STOP_BELOW = 0.003
# Seconds of work from which a pace can be told.
_LEAST_PACE = 60.0
# With fewer sentences each of them is a part by itself.
_FOLDS = 10
# A label is doubted if another one has at least this probability.
_LIKELY = 0.8
# Sentences that are asked for again at a time.
MOST_DOUBTED = 20


class Doubt(NamedTuple):
    """Why a word should be looked at again, and the label that may be meant."""

    reason: str
    label: str


Doubts = Mapping[str, Mapping[int, Doubt]]


@dataclass(frozen=True, slots=True)
class TagAgreement:
    """Agreement on one tag: how often each annotator gave it, and how often both did.

    ``kappa`` is Cohen's, of this tag against all others; None where chance alone agrees.
    """

    tag: str
    ours: int
    theirs: int
    both: int
    kappa: float | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two annotators in one column.

    Attributes
    ----------
    column : what was compared
    tokens, agreed : of sentences that both have, with the same words; tokens to which both gave
        labels
    left_out : sentences of the second file that the first one does not have
    kappa : Cohen's; None if there is nothing to compare, or chance alone agrees
    tags : by tag, the least agreed on first
    """

    column: str
    tokens: int
    agreed: int
    left_out: int
    kappa: float | None
    tags: tuple[TagAgreement, ...]


def likely_errors(records: Sequence[Record], column: str) -> Doubts:
    """Return the labels that the doctor doubts most, sentences with the worst first.

    Words that were looked at already are not doubted again.
    """
    sentences = [
        pn.Sentence(r.sentence.words, {column: r.sentence.column(column)}) for r in records
    ]
    with unheard():
        found = pn.doctor(sentences, column=column, folds=max(2, min(_FOLDS, len(sentences))))
    doubts: dict[str, dict[int, Doubt]] = {}
    for one in found.candidates:
        record = records[one.sentence - 1]
        item = record.item
        if item is None or one.confidence < _LIKELY or one.index in record.reviewed:
            continue
        if item.name in doubts or len(doubts) < MOST_DOUBTED:
            reason = f"{one.expected} is likelier: {one.reason}"
            doubts.setdefault(item.name, {})[one.index] = Doubt(reason, one.expected)
    return doubts


def compared(
    records: Iterable[Record], other: str | os.PathLike[str], column: str
) -> tuple[Agreement, Doubts]:
    """Compare with a second annotator's CoNLL-U: agreement, and where labels differ, in order."""
    theirs: dict[tuple[str, ...], list[pn.Sentence]] = {}
    n_theirs = 0
    for sentence in pn.read_conllu(other):
        theirs.setdefault(sentence.words, []).append(sentence)
        n_theirs += 1
    pairs: list[tuple[str, str]] = []
    doubts: dict[str, dict[int, Doubt]] = {}
    n_found = 0
    for record in records:
        same = theirs.get(record.sentence.words)
        if not same:
            continue
        n_found += 1
        first = given_labels(record.sentence, column)
        second = given_labels(same.pop(0), column)
        for at, (ours, other_label) in enumerate(zip(first, second, strict=True)):
            if ours is None or other_label is None:
                continue
            pairs.append((ours, other_label))
            if ours != other_label and record.item is not None:
                reason = f"{ours} here, {other_label} in the other file"
                doubts.setdefault(record.item.name, {})[at] = Doubt(reason, other_label)
    if not n_found:
        raise FormatError("has none of the annotated sentences; name another file", str(other))
    return agreement_of(pairs, column, n_theirs - n_found), doubts


def agreement_of(pairs: Sequence[tuple[str, str]], column: str, left_out: int = 0) -> Agreement:
    """Return the agreement of pairs of labels, one of each annotator."""
    total = len(pairs)
    ours, theirs = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    both = Counter(a for a, b in pairs if a == b)
    agreed = both.total()
    chance = sum(count * theirs[tag] for tag, count in ours.items())
    tags = []
    for tag in sorted(ours | theirs):
        a, b, c = ours[tag], theirs[tag], both[tag]
        same = total - a - b + 2 * c
        expected = a * b + (total - a) * (total - b)
        tags.append(TagAgreement(tag, a, b, c, _kappa(same, expected, total)))
    tags.sort(key=lambda one: (1.0 if one.kappa is None else one.kappa, one.tag))
    return Agreement(column, total, agreed, left_out, _kappa(agreed, chance, total), tuple(tags))


def _kappa(agreed: int, chance: int, total: int) -> float | None:
    """Cohen's kappa; `chance` is what chance agrees on, times the total."""
    if not total or chance == total * total:
        return None
    return (agreed * total - chance) / (total * total - chance)


class Draft:
    """Labels that another program gave to sentences, which a person corrects.

    Parameters
    ----------
    path : its CoNLL-U, or None
    columns : those that are annotated
    items : the sentences of the text; the draft is of those with the same words

    Raises FileError, and FormatError for a file that has none of them.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None, columns: Sequence[str], items: Sequence[Item]
    ) -> None:
        self._labels: dict[tuple[str, ...], dict[str, Sequence[str | None]]] = {}
        self.warnings: list[str] = []
        for sentence in () if path is None else pn.read_conllu(path):
            own = {name: given_labels(sentence, name) for name in columns}
            self._labels.setdefault(sentence.words, own)
        n_here = sum(item.words in self._labels for item in items)
        if path is not None and not n_here:
            raise FormatError("has none of the sentences of the text", os.fspath(path))
        if path is not None and n_here < len(items):
            self.warnings.append(
                f"{os.fspath(path)}: has {n_here:,} of the {len(items):,} sentences of the text"
            )

    def put_into(
        self,
        proposed: dict[str, list[str | None]],
        words: Sequence[str],
        tags: Collection[str] | None,
    ) -> dict[str, list[str | None]]:
        """Return what is proposed for a sentence, with the draft's labels where they can be."""
        first = next(iter(proposed))
        return proposed | {
            name: [
                old if wrong_value(name, new, tags if name == first else None) else new
                for new, old in zip(labels, proposed[name], strict=True)
            ]
            for name, labels in self._labels.get(tuple(words), {}).items()
        }

    def accuracy(self, records: Iterable[Record]) -> dict[str, Estimate]:
        """Return by column the share of its labels that are right.

        In sentences drawn at random, as soon as there are some.
        """
        samples: dict[str, list[tuple[int, int]]] = {}
        known = [record for record in records if record.sentence.words in self._labels]
        for record in [one for one in known if one.is_check] or known:
            for name, theirs in self._labels[record.sentence.words].items():
                ours = given_labels(record.sentence, name)
                right = sum(a == b is not None for a, b in zip(theirs, ours, strict=True))
                total = sum(label is not None for label in ours)
                samples.setdefault(name, []).append((right, total))
        found = {}
        for name, sample in samples.items():
            # One more right and one more wrong, so that a share of 1 has a variance.
            share = (sum(right for right, _ in sample) + 1) / (sum(n for _, n in sample) + 2)
            judged = [Judged(n, right, n * share * (1 - share)) for right, n in sample]
            found[name] = estimate(0.0, judged)
        return {name: one for name, one in found.items() if one is not None}


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of the work: what was done, how good the model is, and what more would bring.

    Attributes
    ----------
    sentences, tokens : annotated
    waiting : sentences that are not
    corrections_per_100 : of the last 200 tokens or more, how many proposals were wrong
    estimate : the accuracy on the rest of the text, by the sentences that were drawn at random and
        not learned from; None before the first of them, and below 60 tokens
    draft : by column, that of the draft on them; empty without one
    curve : (tokens, accuracy) in order: mean confidences, corrected as that of now is
    after_1000 : the accuracy that 1,000 more tokens promise, or None
    tokens_an_hour : in this session, or None before its second minute
    after_an_hour : the accuracy that an hour promises, or None
    stop : whether 1,000 more tokens promise less than 0.3 points
    """

    sentences: int
    tokens: int
    waiting: int
    corrections_per_100: float | None
    estimate: Estimate | None
    draft: Mapping[str, Estimate]
    curve: list[tuple[int, float]]
    after_1000: float | None
    tokens_an_hour: float | None
    after_an_hour: float | None
    stop: bool


def progress_of(
    records: Sequence[Record],
    waiting: int,
    confidence: float | None,
    now: Estimate | None,
    draft: Draft,
    pace: Sequence[tuple[float, int]],
) -> Progress:
    """Return the progress of a session, with the mean confidence and the accuracy of now."""
    n_tokens, sure = 0, list[tuple[int, float]]()
    for record in records:
        if record.confidence is not None and (not sure or sure[-1][1] != record.confidence):
            sure.append((n_tokens, record.confidence))
        n_tokens += len(record.sentence)
    curve = list[tuple[int, float]]()
    if now is not None and confidence is not None:
        # Of few sentences, estimates differ by chance more than models do.
        more = now.share - confidence
        curve = [
            (at, min(1.0, max(0.0, one + more))) for at, one in [*sure, (n_tokens, confidence)]
        ]
    after = forecast(curve, 1000)
    seconds = sum(pause for pause, _ in pace)
    an_hour = sum(n for _, n in pace) * 3600 / seconds if seconds > _LEAST_PACE else None
    gains = now is None or after is None or after - now.share >= _STOP_BELOW
    return Progress(
        sentences=len(records),
        tokens=n_tokens,
        waiting=waiting,
        corrections_per_100=_corrections(records),
        estimate=now,
        draft=draft.accuracy(records),
        curve=curve,
        after_1000=after,
        tokens_an_hour=an_hour,
        after_an_hour=None if an_hour is None else forecast(curve, round(an_hour)),
        stop=n_tokens >= COVERAGE and not gains,
    )


def forecast(curve: Sequence[tuple[int, float]], more: int) -> float | None:
    """Return the accuracy after so many more tokens, by a power law; None below 200 tokens."""
    if not curve or curve[-1][0] < 200:
        return None
    n_tokens, now = curve[-1]
    before = [point for point in curve if point[0] <= n_tokens / 2]
    if not before or not 0 < now < 1 or before[-1][1] >= 1:
        return None
    earlier, then = before[-1]
    power = max(0.0, math.log((1 - then) / (1 - now)) / math.log(n_tokens / earlier))
    share: float = 1 - (1 - now) * ((n_tokens + more) / n_tokens) ** -power
    return share


def _corrections(records: Sequence[Record]) -> float | None:
    n_tokens = n_wrong = 0
    for record in reversed(records):
        if record.order and n_tokens < _RECENT_TOKENS:
            n_tokens += len(record.sentence)
            n_wrong += record.corrections
    return 100 * n_wrong / n_tokens if n_tokens else None
