"""How far the work is, how good the model is, and what more would bring."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import perceptron_nlp as pn
from perceptron_nlp.annotation.calibration import Estimate
from perceptron_nlp.annotation.goldfile import Record
from perceptron_nlp.annotation.labels import given_labels
from perceptron_nlp.annotation.learning import COVERAGE

_RECENT_TOKENS = 200
_STOP_BELOW = 0.003
# Seconds of work from which a pace can be told.
_LEAST_PACE = 60.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of the work: what was done, how good the model is, and what more would bring.

    Attributes
    ----------
    sentences, tokens : annotated
    waiting : sentences that are not
    corrections_per_100 : of the last 200 tokens or more, how many proposals were wrong
    estimate : the accuracy on the rest of the text, with its interval; None below 60 tokens
    check : the accuracy on the check sample, of a model that has not learned from it, or None
    curve : (tokens, estimate) in order
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
    check: Estimate | None
    curve: list[tuple[int, Estimate]]
    after_1000: float | None
    tokens_an_hour: float | None
    after_an_hour: float | None
    stop: bool


def progress_of(
    records: Sequence[Record],
    waiting: int,
    now: Estimate | None,
    check: Estimate | None,
    pace: Sequence[tuple[float, int]],
) -> Progress:
    """Return the progress of a session."""
    n_tokens, curve = 0, list[tuple[int, Estimate]]()
    for record in records:
        if record.estimate is not None and (not curve or curve[-1][1] != record.estimate):
            curve.append((n_tokens, record.estimate))
        n_tokens += len(record.sentence)
    if now is not None:
        curve.append((n_tokens, now))
    shares = [(tokens, estimate.share) for tokens, estimate in curve]
    after = forecast(shares, 1000)
    seconds = sum(pause for pause, _ in pace)
    an_hour = sum(n for _, n in pace) * 3600 / seconds if seconds > _LEAST_PACE else None
    gains = now is None or after is None or after - now.share >= _STOP_BELOW
    return Progress(
        sentences=len(records),
        tokens=n_tokens,
        waiting=waiting,
        corrections_per_100=_corrections(records),
        estimate=now,
        check=check,
        curve=curve,
        after_1000=after,
        tokens_an_hour=an_hour,
        after_an_hour=None if an_hour is None else forecast(shares, round(an_hour)),
        stop=n_tokens >= COVERAGE and not gains,
    )


def checked(records: Sequence[Record], tagger: pn.Tagger | None, column: str) -> Estimate | None:
    """Return the accuracy of a tagger on the check sample; None if there is none yet."""
    sample = [record.sentence for record in records if record.is_check]
    if not sample or tagger is None:
        return None
    found = tagger.by_column[column].tag_sents([sentence.words for sentence in sample])
    hits = [
        a == b
        for labels, sentence in zip(found, sample, strict=True)
        for a, b in zip(labels, given_labels(sentence, column), strict=True)
        if b is not None
    ]
    return Estimate.of_counts(sum(hits), len(hits)) if hits else None


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
