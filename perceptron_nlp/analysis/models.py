"""Several models on one test: each score, their mean and deviation, and tests of each pair.

The models may be of several seeds, whose deviation then says how far one training can be trusted,
or of several settings. Source of the correction for several pairs: S. Holm, "A simple sequentially
rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from perceptron_nlp import F1, Evaluation, Tagger, load
from perceptron_nlp._checks import check_int
from perceptron_nlp._display import counted, percent, points
from perceptron_nlp.analysis.crossvalidation import (
    Outcome,
    deviation,
    main_of,
    measure_of,
    score_of,
)
from perceptron_nlp.analysis.significance import Counts, interval, randomisation, resampled
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Figure, Report, Table
from perceptron_nlp.tagger.sources import Labeled, Source

_ON_GOLD = ("accuracy", "known_accuracy", "unknown_accuracy", "sentence_accuracy", "macro_f1")
_FROM_TEXT = ("precision", "recall", "f1", "aligned_accuracy")
_HEADINGS = {
    "known_accuracy": "known",
    "unknown_accuracy": "unknown",
    "sentence_accuracy": "sentences",
    "macro_f1": "macro F1",
    "f1": "F1",
    "aligned_accuracy": "aligned",
}
_PAIRS = (
    Column("column"),
    *(Column(key) for key in ("a", "b")),
    Column("difference", "change", "b − a"),
    Column("low", "change", "95 %: from"),
    Column("high", "change", "to"),
    Column("p_value", "p", "p"),
    Column("p_holm", "p", "p (Holm)"),
)


class PairDifference(NamedTuple):
    """Two models in one column or metric.

    Attributes
    ----------
    column : the column or metric
    a, b : names of the models
    difference : the score of b less that of a, a fraction of 1
    low, high : its 95 % interval, by the percentile bootstrap over sentences
    p_value : of the paired approximate randomization test over sentences
    p_holm : the same, corrected by Holm for as many pairs as there are of this column
    """

    column: str
    a: str
    b: str
    difference: float
    low: float
    high: float
    p_value: float
    p_holm: float


@dataclass(frozen=True, slots=True)
class ModelScores(Reported):
    """The result of ``perceptron_nlp.evaluate_models``.

    Attributes
    ----------
    names : of the models
    outcomes : by column, or from text by metric, what each model got: an Evaluation, or an F1
    pairs : each two models, column by column
    warnings : sentences that say why the figures may mean less than they seem to
    """

    names: tuple[str, ...]
    outcomes: dict[str, tuple[Any, ...]] = field(repr=False)
    pairs: tuple[PairDifference, ...] = field(repr=False)
    warnings: tuple[str, ...] = ()

    def scores(self, column: str | None = None) -> tuple[float, ...]:
        """Return the score of each model, a fraction of 1: accuracy, or F1 of spans and from text.

        Parameters
        ----------
        column : the column or metric; None for the first, or from text for ``Words``

        Raises ArgumentError if there is none of this name.
        """
        name = main_of(self.outcomes) if column is None else column
        if name not in self.outcomes:
            raise ArgumentError(f"column: {name} is none of {', '.join(self.outcomes)}")
        found = self.outcomes[name]
        return tuple(score_of(one, measure_of(found[0])) or 0.0 for one in found)

    def report(self) -> Report:
        """Return the scores of each model with means and deviations, and a test of each pair."""
        name = main_of(self.outcomes)
        scores, first = self.scores(name), self.outcomes[name][0]
        keys: tuple[str, ...] = _FROM_TEXT if isinstance(first, F1) else _ON_GOLD
        if measure_of(first) == "f1" and keys == _ON_GOLD:
            keys = ("f1", *keys)
        columns = [Column(key, "percent", _HEADINGS.get(key)) for key in keys]
        mean, spread = sum(scores) / len(scores), deviation(scores)
        rows = [row for one in self.outcomes for row in self._rows(one, keys)]
        return Report(
            f"{name}: {percent(mean)} ± {points(spread)} over {counted(len(scores), 'model')}",
            [
                Figure("column", name, "data"),
                Figure("mean", mean, "data"),
                Figure("spread", spread, "data"),
            ],
            [
                Table("models", "", (Column("column"), Column("model"), *columns), rows),
                Table(
                    "pairs",
                    "differences of each pair, sentences drawn and swapped",
                    _PAIRS,
                    self.pairs,
                ),
            ],
            self.warnings,
        )

    def _rows(self, column: str, keys: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Yield a row for each model, one of means, and one of standard deviations."""
        table = [[_value(one, key) for key in keys] for one in self.outcomes[column]]
        yield from ((column, name, *row) for name, row in zip(self.names, table, strict=True))
        for what, statistic in (
            ("mean", lambda own: sum(own) / len(own)),
            ("deviation", deviation),
        ):
            yield (
                column,
                what,
                *(None if None in own else statistic(own) for own in zip(*table, strict=True)),
            )


def _value(outcome: Outcome, key: str) -> Any:
    return score_of(outcome, "f1") if key == "f1" else getattr(outcome, key, None)


def evaluate_models(
    models: Sequence[Any] | Mapping[str, Any],
    test: Labeled,
    *,
    column: str | None = None,
    from_text: bool = False,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int = 1,
    seed: int = 1,
) -> ModelScores:
    """Evaluate several models on one test, of several seeds or settings.

    Parameters
    ----------
    models : at least two, each a Tagger or the path of a model file; or by the names to call them
    test : the gold text: a path, several paths, or labeled sentences; from text, CoNLL-U
    column : the column to compare, labeled by itself; None for each that all of them fill, labeled
        together as ``tag`` does
    from_text : cut and label the running text of `test`; see ``Tagger.evaluate_text``
    format, fields : see ``perceptron_nlp.open_corpus``
    threads : 1 to 1,024 that tag
    seed : 0 to 2**64 - 1; for the random numbers of the tests

    Raises
    ------
    ArgumentError : there are fewer than two models, or they fill no common column
    FormatError : a file breaks its format, or has no gold labels
    FileError, ModelError : a file cannot be read, or is damaged

    Examples
    --------
    ``perceptron_nlp.evaluate_models(["seed1.model", "seed2.model"], "test.conllu").scores()``
    """
    check_int("seed", seed, 0, 2**64 - 1)
    named = models if isinstance(models, Mapping) else _named(models)
    if len(named) < 2:
        raise ArgumentError("models: at least two are needed; of one, use Tagger.evaluate")
    sentences, found = None, []
    for given in named.values():
        tagger = given if isinstance(given, Tagger) else load(given)
        if sentences is None:
            usual = tagger.model.fields or ()
            source = Source(test, "test", format=format, fields=fields, usual_fields=usual)
            sentences = list(source)
        found.append(_outcomes(tagger, sentences, column, from_text, threads))
    shared = [name for name in found[0][0] if all(name in own for own, _ in found)]
    if not shared:
        raise ArgumentError("models: they fill no common column; evaluate them one by one")
    return ModelScores(
        tuple(named),
        {name: tuple(own[name] for own, _ in found) for name in shared},
        tuple(
            pair
            for name in shared
            for pair in _pairs(name, [*named], [counts[name] for _, counts in found], seed)
        ),
        tuple(
            dict.fromkeys(
                text
                for own, _ in found
                for one in own.values()
                if isinstance(one, Evaluation)
                for text in one.warnings
            )
        ),
    )


def _named(models: Sequence[Any]) -> dict[str, Any]:
    """Return models by what reports call them: the path, or a number."""
    names = [
        f"model {number}" if isinstance(one, Tagger) else str(one)
        for number, one in enumerate(models, 1)
    ]
    for name in names:
        if names.count(name) > 1:
            raise ArgumentError(f"models: {name} is there twice")
    return dict(zip(names, models, strict=True))


def _outcomes(
    tagger: Tagger, sentences: list[Any], column: str | None, from_text: bool, threads: int
) -> tuple[dict[str, Outcome], dict[str, Counts]]:
    """Return what a model gets in each column or metric, and its counts by sentence."""
    if from_text:
        scores = tagger.evaluate_text(sentences, threads=threads)
        return dict(scores), {name: Counts.of(own) for name, own in scores.by_sentence().items()}
    if column is None:
        own = dict(tagger.evaluate_columns(sentences, threads=threads))
    else:
        one = tagger.evaluate(sentences, column=column, threads=threads)
        own = {one.column: one}
    ends = np.cumsum([0, *map(len, sentences)])
    return dict(own), {name: _counts(one, ends) for name, one in own.items()}


def _counts(evaluation: Evaluation, ends: Any) -> Counts:
    """Return correct labels by sentence, from the outcome of each token."""
    outcomes = np.frombuffer(evaluation.outcomes, np.uint8)
    sums = [np.concatenate([[0], np.cumsum(mask)])[ends] for mask in (outcomes != 2, outcomes == 1)]
    labeled, right = (np.diff(one).astype(np.int64) for one in sums)
    return Counts(labeled, labeled, right)


def _pairs(
    column: str, names: Sequence[str], counts: Sequence[Counts], seed: int
) -> Iterator[PairDifference]:
    """Yield each two models, with the significance of their difference."""
    drawn = resampled(counts, seed=seed)
    pairs = [*itertools.combinations(range(len(names)), 2)]
    chances = [randomisation(counts[a], counts[b], seed=seed) for a, b in pairs]
    for (a, b), chance, corrected in zip(pairs, chances, holm(chances), strict=True):
        difference = counts[b].score - counts[a].score
        bounds = interval(drawn[b] - drawn[a])
        yield PairDifference(column, names[a], names[b], difference, *bounds, chance, corrected)


def holm(chances: Sequence[float]) -> list[float]:
    """Return p-values corrected for as many tests as there are, each 0 to 1."""
    order = sorted(range(len(chances)), key=lambda number: chances[number])
    found, least = [0.0] * len(chances), 0.0
    for rank, number in enumerate(order):
        least = max(least, min(1.0, (len(chances) - rank) * chances[number]))
        found[number] = least
    return found
