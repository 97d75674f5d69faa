"""Cross-validation: how good a tagger is, from the text alone that it is trained on."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

from perceptron_nlp import Evaluation, Evaluations, Sentence, Tagger, TrainingOptions, train
from perceptron_nlp._checks import check_callback, check_int
from perceptron_nlp._display import counted, percent, points
from perceptron_nlp.crossfit import by_size, crossfit, unheard
from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.formats import opens_document
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Column, Figure, Report, Table
from perceptron_nlp.tagger.model.model import TEXT
from perceptron_nlp.tagger.sources import (
    ALL,
    Labeled,
    LabelLists,
    Source,
    check_labeled,
    gold_labels,
    learned_columns,
    named_columns,
    with_labels,
)
from perceptron_nlp.tagger.train.options import LearningOptions, options_from
from perceptron_nlp.tagger.train.pipeline import stages_of
from perceptron_nlp.tagger.train.sidebyside import checked_threads

FOLDS = 10
CURVE_FOLDS = 5
MAX_FOLDS = 1000
# Where the largest part has more than so many times the tokens of the smallest, documents are cut.
_UNEQUAL = 2
LEMMA = "lemma"
Progress = Callable[[int, int], object]
Extractor = Callable[..., Any]
# The other options are of models that are kept.
_OPTIONS = {option.name for option in fields(LearningOptions)} | {"raw", "lexicon"}


@dataclass(frozen=True, slots=True)
class CrossValidation(Reported):
    """The accuracy of taggers that were each tested on a part of the text held out from them.

    Attributes
    ----------
    column : the column
    folds : the evaluation of each part
    pooled : their counts summed: accuracy, known and unknown words, scores of labels, confusions
    remarks : what should be known about the parts
    by_column : of several columns, the same of each, this one being the first
    """

    column: str
    folds: tuple[Evaluation, ...] = field(repr=False)
    pooled: Evaluation = field(repr=False)
    remarks: tuple[str, ...] = ()
    by_column: dict[str, CrossValidation] = field(default_factory=dict, repr=False)

    @property
    def measure(self) -> str:
        """``f1`` for a column of spans, else ``accuracy``."""
        return "accuracy" if self.pooled.spans is None else "f1"

    @property
    def scores(self) -> tuple[float, ...]:
        """Score of each part, a fraction of 1; of spans, of each part that has some."""
        if self.measure == "accuracy":
            return tuple(fold.accuracy for fold in self.folds)
        return tuple(fold.spans.f1 for fold in self.folds if fold.spans is not None)

    @property
    def mean(self) -> float:
        """Mean of the scores."""
        return sum(self.scores) / len(self.scores)

    @property
    def spread(self) -> float:
        """Standard deviation of the scores of parts; 0 if there is only one."""
        return deviation(self.scores)

    def report(self, *, everything: bool = False) -> Report:
        """Return the scores over the parts, and the evaluation of all parts together.

        Parameters
        ----------
        everything : people see the details of all columns, with all labels and errors
        """
        columns = [*(self.by_column or {self.column: self}).values()]
        pooled = Evaluations({one.column: one.pooled for one in columns})
        what = "accuracy" if self.measure == "accuracy" else "F1"
        return Report(
            f"{', '.join(one.column for one in columns)}: {what} {percent(self.mean)} ±"
            f" {points(self.spread)} in {counted(len(self.folds), 'fold')} of"
            f" {counted(self.pooled.tokens, 'word')}",
            [Figure(key, getattr(self, key), "data") for key in ("column", "measure", "mean")],
            [
                Table("columns", "", _COLUMNS, [one._row() for one in columns]),
                Table(
                    "folds",
                    "",
                    _FOLDS,
                    [
                        (one.column, number, *(getattr(fold, c.key) for c in _FOLDS[2:]))
                        for one in columns
                        for number, fold in enumerate(one.folds, 1)
                    ],
                    0,
                ),
            ],
            self.remarks,
            [pooled.report(everything=everything)],
            main="folds",
        )

    def _row(self) -> tuple[Any, ...]:
        """Return the row of a table of columns."""
        scores = self.scores
        return (self.column, self.measure, self.mean, self.spread, min(scores), max(scores))


_COLUMNS = (
    Column("column"),
    Column("measure"),
    Column("mean", "percent"),
    Column("spread", "percent", "deviation"),
    Column("lowest", "percent"),
    Column("highest", "percent"),
)
_FOLDS = (
    Column("column"),
    *(Column(key, "count") for key in ("fold", "sentences", "tokens")),
    *(Column(key, "percent") for key in ("accuracy", "known_accuracy", "unknown_accuracy")),
)


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
    column, features, format, fields : as for ``perceptron_nlp.train``; ``all`` leaves segmentation
        out, which ``Tagger.evaluate_text`` measures
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
    text = GoldText.read(data, labels, column, features, format, fields, options)
    parts, remarks = make_folds(text.sentences, text.sizes, folds, text.seed, FOLDS, text.place)

    def measured(tagger: Tagger, held_out: list[int]) -> dict[str, Evaluation]:
        with unheard():
            return tagger.evaluate_columns([text.sentences[number] for number in held_out])

    found = list(crossfit(parts, text.trained, measured, threads, callback))
    remarks = [*text.remarks, *remarks]
    overlapping = sum(bool(one.warnings) for fold in found for one in list(fold.values())[:1])
    if overlapping:
        remarks.append(
            f"in {overlapping} of {len(parts)} folds, many sentences are copies of sentences in the"
            " others, so accuracy on new text is lower"
        )
    columns = {
        name: CrossValidation(
            name,
            tuple(fold[name] for fold in found),
            Evaluation.pooled([fold[name] for fold in found]),
            tuple(remarks),
        )
        for name in found[0]
    }
    return replace(next(iter(columns.values())), by_column=columns)


@dataclass(frozen=True, slots=True)
class GoldText:
    """Labeled sentences, and what is to be learned from parts of them.

    sentences : the sentences
    columns : the columns to learn
    sizes : how many words of each sentence have a label in every column
    place : what messages call them
    remarks : what was left out
    """

    sentences: list[Sentence]
    columns: tuple[str, ...]
    sizes: list[int]
    place: str
    remarks: tuple[str, ...]
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
        named = named_columns(column)
        stages = stages_of(named, source)
        if TEXT in named:
            raise ArgumentError(
                "column: text has no labels to compare; leave it out, or train on one file and use"
                " evaluate --from-text with another"
            )
        columns = stages.columns
        if not (columns and stages.lemmas):
            columns = learned_columns(columns if not stages.lemmas else (LEMMA,), source)
        elif stages.lemmas:
            columns = (*columns, LEMMA)
        sentences = list(source)
        gold = [[gold_labels(sentence, name) for sentence in sentences] for name in columns]
        for name, rows in zip(columns, gold, strict=True):
            check_labeled(sum(x is not None for row in rows for x in row), source, name)
        return cls(
            sentences,
            columns,
            [
                min(sum(x is not None for x in row) for row in rows)
                for rows in zip(*gold, strict=True)
            ],
            _place(source, sentences),
            ("segmentation is not measured; evaluate --from-text does it",) if ALL in named else (),
            {"features": features, "fields": names, "threads": 1, **options},
        )

    @property
    def seed(self) -> int:
        """The seed of the options."""
        seed: int = self._how.get("seed", TrainingOptions().seed)
        return seed

    def trained(self, numbers: Sequence[int]) -> Tagger:
        """Return a tagger that is trained on the sentences of these numbers."""
        with unheard():
            return train(
                [self.sentences[number] for number in numbers], column=self.columns, **self._how
            )


def _place(source: Source, sentences: Sequence[Sentence]) -> str:
    """Return what messages call a text: the file of its sentences, if it is one."""
    files = {one.path for one in sentences if len(one) and one.line_of(0)}
    return files.pop() if len(files) == 1 else source.place


def make_folds(
    sentences: Sequence[Sentence],
    sizes: Sequence[int],
    n_folds: int | None,
    seed: int,
    usual: int = CURVE_FOLDS,
    place: str = "train",
) -> tuple[list[list[int]], list[str]]:
    """Cut a text into folds of whole documents, or of sentences where documents do not suit.

    Raises FormatError if fewer than two sentences have labels; ArgumentError, ArgumentTypeError if
    `n_folds` is out of range, or more than there are sentences, or sentences with labels.
    """
    if n_folds is not None:
        check_int("folds", n_folds, 2, MAX_FOLDS)
    single = [[number] for number in range(len(sizes))]
    n_labeled = sum(map(bool, sizes))
    if n_labeled < 2:
        raise FormatError(
            "fewer than two sentences have labels; give more text, or text to test on", place
        )
    remarks = []
    wanted = n_folds or min(usual, n_labeled)
    if n_folds is None and wanted < usual:
        remarks.append(f"the text is cut into {wanted} parts, as few sentences have labels")
    if wanted > len(single):
        raise ArgumentError(f"folds: {wanted} is more than the {len(single)} sentences there are")
    if wanted > n_labeled:
        raise ArgumentError(
            f"folds: {wanted} is more than the {n_labeled} sentences that have labels"
        )
    whole = documents(sentences)
    if len(whole) > 1:
        of_documents = [sum(sizes[number] for number in unit) for unit in whole]
        if sum(map(bool, of_documents)) >= wanted:
            folds = by_size(whole, of_documents, wanted, seed)
            filled = [sum(sizes[number] for number in fold) for fold in folds]
            if max(filled) <= _UNEQUAL * min(filled):
                return folds, remarks
        remarks.append(
            f"{len(whole)} documents are too few or too unequal for {wanted} parts, so sentences"
            " are dealt out; the score may be a little too good"
        )
    return by_size(single, sizes, wanted, seed), remarks


def documents(sentences: Sequence[Sentence]) -> list[list[int]]:
    """Return the numbers of each document's sentences; one document where there are no marks."""
    found: list[list[int]] = []
    for number, sentence in enumerate(sentences):
        if not found or opens_document(sentence):
            found.append([])
        found[-1].append(number)
    return found
