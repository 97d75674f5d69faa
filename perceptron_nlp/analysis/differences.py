"""The result of a comparison of two labelings."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from perceptron_nlp._display import Tabular, p_value, percent
from perceptron_nlp.analysis.significance import (
    CONFIDENCE,
    RESAMPLES,
    ROUNDS,
    Counts,
    Interval,
    interval,
    randomisation,
    resampled,
)


def _listed(found: Change | Score) -> dict[str, Any]:
    """Return the fields as JSON has them."""
    return {k: list(v) if isinstance(v, tuple) else v for k, v in asdict(found).items()}


@dataclass(frozen=True, slots=True)
class Change:
    """A word that the two label differently, with up to four words on either side.

    ``line`` is 0 if it is from no file; ``sentence`` counts from 1, ``index`` from 0.
    """

    path: str
    line: int
    sentence: int
    index: int
    word: str
    gold: str
    a: str
    b: str
    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def outcome(self) -> str:
        """``gained`` (b is right), ``lost`` (a is right) or ``other`` (neither is)."""
        return "gained" if self.b == self.gold else "lost" if self.a == self.gold else "other"


@dataclass(frozen=True, slots=True)
class LabelDifference:
    """One label, or one type of spans: F1 of each (fractions of 1), and how many the gold text has.

    ``gained`` and ``lost`` are how many of these only b, and only a has found.
    """

    support: int
    f1_a: float
    f1_b: float
    gained: int
    lost: int


@dataclass(frozen=True, slots=True)
class Score:
    """A measure of both (fractions of 1) and of their difference (b less a), with 95 % intervals.

    Intervals are of the percentile bootstrap over sentences, the p-value of the paired approximate
    randomization test.
    """

    a: float
    b: float
    interval_a: Interval
    interval_b: Interval
    interval_difference: Interval
    p_value: float

    @classmethod
    def of(cls, a: Counts, b: Counts, seed: int) -> Score:
        """From the counts of both."""
        of_a, of_b = resampled([a, b], seed=seed)
        return cls(
            a.score,
            b.score,
            interval(of_a),
            interval(of_b),
            interval(of_b - of_a),
            randomisation(a, b, seed=seed),
        )

    @property
    def difference(self) -> float:
        """The score of b less that of a."""
        return self.b - self.a

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**_listed(self), "difference": self.difference}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Tabular):
    """The result of ``perceptron_nlp.compare``.

    Attributes
    ----------
    column : the column compared
    sentences, tokens : sentences and words with a gold label
    unlabeled : words without one, which do not count
    accuracy : shares of words that are right
    f1 : in a column of spans, their F1; else None
    gained, lost : words that only b, and only a has right
    mcnemar : p-value of McNemar's exact test over words
    labels : the difference for each label of the gold text or given, or each type of spans
    changes : every word that the two label differently, in the order of the text
    seed : of the tests' random numbers
    """

    column: str
    sentences: int
    tokens: int
    unlabeled: int
    accuracy: Score
    f1: Score | None
    gained: int
    lost: int
    mcnemar: float
    labels: dict[str, LabelDifference]
    changes: tuple[Change, ...]
    seed: int

    @property
    def main(self) -> Score:
        """The main measure of the column: F1 where there are spans, else accuracy."""
        return self.accuracy if self.f1 is None else self.f1

    def to_dict(self, *, limit: int | None = None) -> dict[str, Any]:
        """All of it, for JSON; `limit` is how many changes there are at most."""
        return {
            "column": self.column,
            "sentences": self.sentences,
            "tokens": self.tokens,
            "unlabeled": self.unlabeled,
            "accuracy": self.accuracy.to_dict(),
            "f1": None if self.f1 is None else self.f1.to_dict(),
            "gained": self.gained,
            "lost": self.lost,
            "tests": {
                "mcnemar": {"unit": "words", "p_value": self.mcnemar},
                "randomisation": {
                    "unit": "sentences",
                    "rounds": ROUNDS,
                    "seed": self.seed,
                    "p_value": self.main.p_value,
                },
                "bootstrap": {
                    "unit": "sentences",
                    "resamples": RESAMPLES,
                    "seed": self.seed,
                    "confidence": CONFIDENCE,
                },
            },
            "labels": {label: asdict(difference) for label, difference in self.labels.items()},
            "changed": len(self.changes),
            "changes": [{**_listed(c), "outcome": c.outcome} for c in self.changes[:limit]],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each label, or each type of spans."""
        return [{"label": label, **asdict(one)} for label, one in self.labels.items()]

    def __str__(self) -> str:
        name = "accuracy" if self.f1 is None else "F1"
        return (
            f"{self.column}: {percent(self.main.a)} and {percent(self.main.b)} {name},"
            f" {p_value(self.main.p_value)}"
        )
