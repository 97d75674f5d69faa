"""Cross-validation: how good a tagger is, from the text alone that it is trained on.

Segmentation is measured on the running text of a held-out part, by the metrics of text_scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from perceptron_nlp import F1, Evaluation, Evaluations, Sentence, Tagger, TrainingOptions, train
from perceptron_nlp._checks import check_callback, check_int
from perceptron_nlp._display import counted, percent, points
from perceptron_nlp.crossfit import in_parallel, unheard
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Figure, Report, Table
from perceptron_nlp.tagger.model.model import TEXT
from perceptron_nlp.tagger.sources import (
    Labeled,
    LabelLists,
    Source,
    check_labeled,
    gold_labels,
    learned_columns,
    named_columns,
    with_labels,
)
from perceptron_nlp.tagger.train.folds import make_folds
from perceptron_nlp.tagger.train.options import LearningOptions, options_from
from perceptron_nlp.tagger.train.pipeline import stages_of
from perceptron_nlp.tagger.train.sidebyside import checked_threads

FOLDS = 10
CURVE_FOLDS = 5
MAX_SEEDS = 1000
LEMMA = "lemma"
Progress = Callable[[int, int], object]
Extractor = Callable[..., Any]
Outcome = Evaluation | F1
"""What a held-out part gives: of a column the evaluation, of a metric of running text its F1."""
# The other options are of models that are kept.
_OPTIONS = {option.name for option in fields(LearningOptions)} | {"raw", "lexicon"}


@dataclass(frozen=True, slots=True)
class CrossValidation(Reported):
    """The accuracy of taggers that were each tested on a part of the text held out from them.

    Attributes
    ----------
    column : the column; or if segmentation was learned, a metric of running text (``Words``, …)
    folds : the evaluation of each part, seed by seed; of a metric, an F1
    pooled : their counts summed: accuracy, known and unknown words, scores of labels, confusions
    remarks : what should be known about the parts
    by_column : of several columns and metrics, the same of each, this one being one of them
    seeds : the seeds that there are folds of; empty for one
    """

    column: str
    folds: tuple[Any, ...] = field(repr=False)
    pooled: Any = field(repr=False)
    remarks: tuple[str, ...] = ()
    by_column: dict[str, CrossValidation] = field(default_factory=dict, repr=False)
    seeds: tuple[int, ...] = ()

    @property
    def measure(self) -> str:
        """``f1`` for a column of spans and for metrics of running text, else ``accuracy``."""
        return measure_of(self.pooled)

    @property
    def scores(self) -> tuple[float, ...]:
        """Score of each part, a fraction of 1; of spans, of each part that has some."""
        found = (score_of(fold, self.measure) for fold in self.folds)
        return tuple(score for score in found if score is not None)

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return sum(self.scores) / len(self.scores)

    @property
    def spread(self) -> float:
        """Standard deviation of the scores of parts; 0 if there is only one."""
        return deviation(self.scores)

    @property
    def of_seeds(self) -> tuple[float, ...]:
        """Score of each seed, a fraction of 1: the mean of its parts."""
        n_folds = len(self.folds) // max(1, len(self.seeds))
        return tuple(
            replace(self, folds=self.folds[first : first + n_folds], seeds=()).mean
            for first in range(0, len(self.folds), n_folds)
        )

    def report(self, *, everything: bool = False) -> Report:
        """Return the scores over the parts, and the evaluation of all parts together.

        Parameters
        ----------
        everything : people see the details of all columns, with all labels and errors
        """
        columns = [*(self.by_column or {self.column: self}).values()]
        tags = [one for one in columns if isinstance(one.pooled, Evaluation)]
        pooled = Evaluations({one.column: one.pooled for one in tags})
        names = [*pooled, *(["text"] if len(tags) < len(columns) else [])]
        what = "accuracy" if self.measure == "accuracy" else f"F1{'' if pooled else ' of words'}"
        n_seeds = max(1, len(self.seeds))
        n_folds = counted(len(self.folds) // n_seeds, "fold")
        n_words = self.pooled.tokens if pooled else self.pooled.gold
        times = f" with {n_seeds} seeds" if self.seeds else ""
        return Report(
            f"{', '.join(names)}: {what} {percent(self.mean)} ± {points(self.spread)} in {n_folds}"
            f" of {counted(n_words // n_seeds, 'word')}{times}",
            [Figure(key, getattr(self, key), "data") for key in ("column", "measure", "mean")],
            [
                Table("columns", "", _COLUMNS, [one._row() for one in columns]),
                Table("seeds", "", _SEEDS, [*_seed_rows(columns)] if self.seeds else []),
                Table(
                    "folds",
                    "",
                    _FOLDS,
                    [
                        (one.column, number, *(getattr(fold, c.key, None) for c in _FOLDS[2:]))
                        for one in columns
                        for number, fold in enumerate(one.folds, 1)
                    ],
                    0,
                ),
            ],
            self.remarks,
            [pooled.report(everything=everything)] if pooled else (),
            main="folds" if pooled else "columns",
        )

    def _row(self) -> tuple[Any, ...]:
        """Return the row of a table of columns."""
        scores, what = self.scores, self.measure if isinstance(self.pooled, Evaluation) else "F1"
        over_seeds = deviation(self.of_seeds) if self.seeds else None
        return self.column, what, self.mean, self.spread, over_seeds, min(scores), max(scores)


_COLUMNS = (
    Column("column"),
    Column("measure"),
    Column("mean", "percent"),
    Column("spread", "percent", "deviation"),
    Column("seed_spread", "percent", "over seeds"),
    Column("lowest", "percent"),
    Column("highest", "percent"),
)
_FOLDS = (
    Column("column"),
    *(Column(key, "count") for key in ("fold", "sentences", "tokens")),
    *(Column(key, "percent") for key in ("accuracy", "known_accuracy", "unknown_accuracy")),
)


_SEEDS = (Column("column"), Column("seed", "text"), Column("mean", "percent"))


def _seed_rows(columns: Sequence[CrossValidation]) -> Iterator[tuple[str, int, float]]:
    for one in columns:
        for seed, score in zip(one.seeds, one.of_seeds, strict=True):
            yield one.column, seed, score


def measure_of(outcome: Outcome) -> str:
    """Return the name of the score of an outcome: ``accuracy`` or ``f1``."""
    return "f1" if isinstance(outcome, F1) or outcome.spans is not None else "accuracy"


def score_of(outcome: Outcome, measure: str = "accuracy") -> float | None:
    """Return accuracy or F1, a fraction of 1; None of spans if there are none."""
    if isinstance(outcome, F1):
        return outcome.f1
    if measure == "accuracy":
        return outcome.accuracy
    return None if outcome.spans is None else outcome.spans.f1


def pooled_outcome(parts: Sequence[Any]) -> Any:
    """Return the counts of several outcomes of one column or metric, summed."""
    return (F1 if isinstance(parts[0], F1) else Evaluation).pooled(parts)


def deviation(values: Sequence[float]) -> float:
    """Return the standard deviation of a sample; 0 for fewer than two values."""
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    return math.sqrt(sum((value - mean) ** 2 for value in values) / (len(values) - 1))


def cross_validate(
    data: Labeled,
    labels: LabelLists | None = None,
    *,
    folds: int | None = None,
    seeds: int = 1,
    column: str | Sequence[str] | None = None,
    features: Extractor | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int | None = None,
    callback: Progress | None = None,
    **options: Any,
) -> CrossValidation:
    """Estimate the accuracy of a training by holding each part of the text out in turn.

    Parameters
    ----------
    data, labels : labeled text, as for ``perceptron_nlp.train``
    folds : 2 to 1,000; into how many parts it is cut; None for 10, or fewer in a small text.
        Documents (``# newdoc``, ``-DOCSTART-``) stay whole where there are enough of them for parts
        of about one size
    seeds : 1 to 1,000; do all of it with so many seeds, from ``seed`` on, each of which cuts other
        parts
    column, features, format, fields : as for ``perceptron_nlp.train``. Of ``text`` and ``all``, the
        running text of each part is cut and labeled, too, as by ``Tagger.evaluate_text``; then
        stretches of sentences are dealt out in place of single ones
    threads : 1 to 1,024; folds that are trained at a time; None for as many as there are
        processors. The result does not depend on it
    callback : called after each fold with how many are done, and how many there are
    **options : the fields of ``perceptron_nlp.TrainingOptions`` that decide what is learned, with
        ``raw`` and ``lexicon``; ``seed`` decides the parts, too

    Returns
    -------
    CrossValidation

    Raises
    ------
    FileError, FormatError : as for ``perceptron_nlp.train``, or fewer than two sentences have
        labels
    ArgumentError, ArgumentTypeError : an option cannot be used, or there are fewer sentences than
        folds

    Examples
    --------
    ``perceptron_nlp.cross_validate("mine.conllu").mean``
    """
    threads = checked_threads(threads)
    check_callback(callback)
    check_int("seeds", seeds, 1, MAX_SEEDS)
    text = GoldText.read(data, labels, column, features, format, fields, options)
    works, remarks = [], list[str]()
    for seed in range(text.seed, text.seed + seeds):
        parts, remarks = make_folds(
            text.sentences, text.sizes, folds, seed, FOLDS, text.place, running=text.cuts
        )
        works += [(part, {} if seeds == 1 else {"seed": seed}) for part in parts]

    def measured(work: tuple[list[int], dict[str, Any]]) -> dict[str, Outcome]:
        held_out = {*work[0]}
        rest = [number for number in range(len(text.sentences)) if number not in held_out]
        return text.measured(
            text.trained(rest, **work[1]), [text.sentences[number] for number in work[0]]
        )

    found = list(in_parallel(measured, works, threads, callback))
    overlapping = sum(
        bool(getattr(one, "warnings", None)) for fold in found for one in list(fold.values())[:1]
    )
    if overlapping:
        remarks.append(
            f"in {overlapping} of {len(works)} folds, many sentences are copies of sentences in the"
            " others, so accuracy on new text is lower"
        )
    columns = {
        name: CrossValidation(
            name,
            tuple(fold[name] for fold in found),
            pooled_outcome([fold[name] for fold in found]),
            tuple(remarks),
            seeds=tuple(range(text.seed, text.seed + seeds)) if seeds > 1 else (),
        )
        for name in found[0]
    }
    return replace(columns[main_of(columns)], by_column=columns)


def main_of(found: Mapping[str, Any]) -> str:
    """Return the name of the column that stands for all: the first, or of metrics, ``Words``."""
    first = next(iter(found))
    return "Words" if first == "Tokens" else first


@dataclass(frozen=True, slots=True)
class GoldText:
    """Labeled sentences, and what is to be learned from parts of them.

    sentences : the sentences
    columns : the columns to learn
    sizes : how many words of each sentence have a label in every column
    place : what messages call them
    cuts : segmentation is learned, too
    """

    sentences: list[Sentence]
    columns: tuple[str, ...]
    sizes: list[int]
    place: str
    cuts: bool
    _how: dict[str, Any]

    @classmethod
    def read(
        cls,
        data: Labeled,
        labels: LabelLists | None,
        column: str | Sequence[str] | None,
        features: Extractor | None,
        format: str,
        names: Sequence[str] | None,
        options: dict[str, Any],
    ) -> GoldText:
        """Read everything; errors are those of cross_validate."""
        options_from(options, TrainingOptions)
        for name in options:
            if name not in _OPTIONS:
                raise ArgumentError(
                    f"{name}: is for a model that is kept, and none is kept here; leave it out"
                )
        if isinstance(options.get("raw"), Iterator):
            # It is gone over again for each training.
            options = {**options, "raw": list(options["raw"])}
        source = Source(with_labels(data, labels, "data"), "data", format=format, fields=names)
        source.hold()
        stages = stages_of(named_columns(column), source)
        columns = stages.columns
        if not (columns and stages.lemmas) and (columns or stages.lemmas or not stages.text):
            columns = learned_columns(columns if not stages.lemmas else (LEMMA,), source)
        elif stages.lemmas:
            columns = (*columns, LEMMA)
        sentences = list(source)
        gold = [[gold_labels(sentence, name) for sentence in sentences] for name in columns]
        for name, rows in zip(columns, gold, strict=True):
            check_labeled(sum(x is not None for row in rows for x in row), source, name)
        sizes = [
            min(sum(x is not None for x in row) for row in rows) for rows in zip(*gold, strict=True)
        ]
        return cls(
            sentences,
            columns,
            sizes or [*map(len, sentences)],
            _place(source, sentences),
            stages.text,
            {"features": features, "fields": names, "threads": 1, **options},
        )

    @property
    def seed(self) -> int:
        """The seed of the options."""
        seed: int = self._how.get("seed", TrainingOptions().seed)
        return seed

    def trained(self, numbers: Sequence[int], **other: Any) -> Tagger:
        """Return a tagger that is trained on the sentences of these numbers, with other options."""
        columns = ((TEXT,) if self.cuts else ()) + self.columns
        with unheard():
            return train(
                [self.sentences[number] for number in numbers],
                column=columns,
                **{**self._how, **other},
            )

    def measured(self, tagger: Tagger, held_out: list[Sentence]) -> dict[str, Outcome]:
        """Return the outcome of each column on its gold tokens, and of each metric of the text."""
        with unheard():
            columns = tagger.evaluate_columns(held_out) if self.columns else {}
            return {**columns, **(tagger.evaluate_text(held_out) if self.cuts else {})}


def _place(source: Source, sentences: Sequence[Sentence]) -> str:
    """Return what messages call a text: the file of its sentences, if it is one."""
    files = {one.path for one in sentences if len(one) and one.line_of(0)}
    return files.pop() if len(files) == 1 else source.place
