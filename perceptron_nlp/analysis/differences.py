"""The result of a comparison of two labelings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from perceptron_nlp._display import counted
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
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Figure, Report, Table

SIGNIFICANT = 0.05
SHOWN = 20
_SCORES = (
    Column("of", label=""),
    Column("measure"),
    Column("score", "percent"),
    Column("low", "percent", "95 %: from"),
    Column("high", "percent", "to"),
    Column("name", label=""),
)
_LABELS = (
    Column("support", "count"),
    Column("f1_a", "percent", "F1 of A"),
    Column("f1_b", "percent", "F1 of B"),
    Column("gained", "count"),
    Column("lost", "count"),
)
_CHANGES = (
    Column("place", label="location"),
    Column("word", label="token"),
    Column("gold"),
    Column("a", label="A"),
    Column("b", label="B"),
    Column("context"),
    *(Column(key, "data") for key in ("outcome", "path", "line", "sentence", "index")),
)


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

    @property
    def place(self) -> str:
        """File and line, or the number of the sentence."""
        return f"{self.path}:{self.line}" if self.line else f"sentence {self.sentence}"

    def row(self) -> tuple[Any, ...]:
        """Return the row of a table."""
        context = " ".join([*self.before, f"[{self.word}]", *self.after])
        labels = (self.place, self.word, self.gold, self.a, self.b)
        return (*labels, context, self.outcome, self.path, self.line, self.sentence, self.index)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison(Reported):
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
    notes : whose labels were compared
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
    notes: tuple[str, ...] = ()

    @property
    def main(self) -> Score:
        """The main measure of the column: F1 where there are spans, else accuracy."""
        return self.accuracy if self.f1 is None else self.f1

    def report(self, names: Sequence[str] = ("A", "B"), limit: int | None = SHOWN) -> Report:
        """Return scores, tests, labels and changed words.

        Parameters
        ----------
        names : what A and B are
        limit : people see so many changed words at most; None for all
        """
        what = "label" if self.f1 is None else "span"
        differing = sum(map(_differs, self.labels.values()))
        figures = [
            Figure("column", self.column, "data"),
            Figure("sentences", self.sentences),
            Figure("tokens", self.tokens),
            Figure("unlabeled", self.unlabeled, label="tokens without a gold label, left out"),
            Figure("gained", self.gained, label="tokens correct in B alone"),
            Figure("lost", self.lost, label="tokens correct in A alone"),
            Figure("mcnemar", self.mcnemar, "p", "p", "McNemar's exact test over tokens"),
            Figure(
                "p_value",
                self.main.p_value,
                "p",
                "p",
                f"approximate randomization, sentences swapped {ROUNDS:,} times",
            ),
            *(Figure(name, value, "data") for name, value in self._drawn().items()),
        ]
        return Report(
            f"column {self.column}, {counted(self.tokens, 'token')}: {self.verdict}",
            [one for one in figures if one.key != "unlabeled" or one.value],
            [
                Table("scores", "", _SCORES, self._scores(names)),
                Table(
                    "labels",
                    f"{what}s that differ",
                    (Column(what), *_LABELS),
                    [(label, *astuple(one)) for label, one in self._ordered()],
                    differing,
                    "without a difference",
                ),
                Table(
                    "changes",
                    f"tokens that changed: {len(self.changes):,}",
                    _CHANGES,
                    [one.row() for one in self.changes],
                    limit,
                    "--limit shows more",
                ),
            ],
            self.notes,
            main="labels",
        )

    @property
    def verdict(self) -> str:
        """The comparison in a sentence."""
        if not self.changes:
            return "A and B give the same labels."
        if self.main.difference == 0:
            return "A and B are equally good."
        better = "B" if self.main.difference > 0 else "A"
        if self.main.p_value <= SIGNIFICANT:
            return f"{better} is better: chance alone would hardly do this."
        return f"{better} scored higher, but that may well be chance."

    def _drawn(self) -> dict[str, Any]:
        return {
            "rounds": ROUNDS,
            "resamples": RESAMPLES,
            "confidence": CONFIDENCE,
            "seed": self.seed,
        }

    def _scores(self, names: Sequence[str]) -> list[tuple[Any, ...]]:
        rows: list[tuple[Any, ...]] = []
        for measure, score in (("accuracy", self.accuracy), ("F1", self.f1)):
            if score is not None:
                for letter, name, value, bounds in (
                    ("A", names[0], score.a, score.interval_a),
                    ("B", names[1], score.b, score.interval_b),
                ):
                    rows.append((letter, measure, value, *bounds, "" if name == letter else name))
                bounds = score.interval_difference
                rows.append(("B − A", measure, score.difference, *bounds, ""))
        return rows

    def _ordered(self) -> list[tuple[str, LabelDifference]]:
        """Return labels, the greatest differences first."""
        return sorted(
            self.labels.items(),
            key=lambda item: (
                not _differs(item[1]),
                -abs(item[1].gained - item[1].lost),
                -item[1].gained,
                item[0],
            ),
        )


def _differs(one: LabelDifference) -> bool:
    return bool(one.gained or one.lost or one.f1_a != one.f1_b)
