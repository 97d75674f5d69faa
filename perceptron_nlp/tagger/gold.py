"""Comparison of a tagger's labels with gold ones."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from perceptron_nlp._display import percent
from perceptron_nlp.pages.renderers import Reported, tsv
from perceptron_nlp.pages.reports import Column, Figure, Report, Table
from perceptron_nlp.probability import Reliability
from perceptron_nlp.tagger.evaluation import MORE, Evaluation, Mistake
from perceptron_nlp.tagger.label_scores import span_scores, untrained_labels
from perceptron_nlp.tagger.labelers import ColumnLabelers
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.overlap import trained_on
from perceptron_nlp.tagger.sources import Source, check_labeled, gold_for
from perceptron_nlp.text.sentence import Sentence

logger = logging.getLogger("perceptron_nlp")

_CONTEXT = 5
_COLUMNS = (
    Column("column"),
    Column("accuracy", "percent"),
    Column("known_accuracy", "percent", "known"),
    Column("unknown_accuracy", "percent", "unknown"),
    Column("sentence_accuracy", "percent", "sentences"),
    Column("macro_f1", "percent", "macro F1"),
    Column("tokens", "count"),
)
_MISTAKE = ("place", "column", "token", "gold", "predicted", "confidence", "before", "after")


def labels_note(columns: Sequence[str], labeled: Sequence[str]) -> str:
    """Return whose labels are judged, of a model of several columns; else nothing.

    Parameters
    ----------
    columns : that the model fills
    labeled : those of them that were labeled together
    """
    if len(columns) == 1:
        return ""
    if len(labeled) == 1:
        return f"column {labeled[0]} by itself, as tag --column {labeled[0]} writes it"
    return f"{', '.join(labeled)} together, as tag writes them"


def mistakes_in(
    sentences: Iterable[Sentence],
    gold: Iterable[Sequence[str | None]],
    predicted: Iterable[Sequence[str]],
    confidences: Iterable[Sequence[float | None]] | None = None,
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


class Evaluations(Reported, dict[str, Evaluation]):
    """Evaluations of columns of one text, by column."""

    def report(self, *, everything: bool = False) -> Report:
        """Return a table of the columns, and the report on each; of one column, its report.

        Parameters
        ----------
        everything : people see the details of all columns, with all labels and errors, not only the
            most frequent ones of ``upos``, or else of the first column
        """
        each = [*self.values()]
        if len(each) == 1:
            return each[0].report(everything=everything)
        share = Evaluation.all_tags(each)
        # Of another program's output nobody can tell which words it knew.
        told = [c for c in _COLUMNS if "known" not in c.key or any(e.known_tokens for e in each)]
        rows = [tuple(getattr(one, column.key) for column in told) for one in each]
        details = sorted(each, key=lambda one: one.column != "upos")
        return Report(
            f"{', '.join(self)}: all right in {percent(share)} of the tokens",
            [Figure("all_tags", share, "percent", "all columns right")],
            [Table("columns", "", told, rows)],
            sections=[one.report(everything=everything) for one in details],
            limit=None if everything else 1,
            more=MORE,
        )

    def mistakes_table(self) -> str:
        """Return mistakes as a table: a heading, then a line each, separated by tabs.

        Column by column, the most frequent confusions come first, and of a confusion the mistakes
        that the tagger was surest of. Text that a spreadsheet would calculate gets an apostrophe.
        """
        rows: list[tuple[object, ...]] = []
        for evaluation in self.values():
            mistakes = evaluation.mistakes or []
            counts = Counter((one.gold, one.predicted) for one in mistakes)
            order = sorted(
                mistakes,
                key=lambda one: (
                    -counts[one.gold, one.predicted],
                    one.gold,
                    one.predicted,
                    -(one.confidence or 0.0),
                ),
            )
            rows += [
                (
                    f"{one.path}:{one.line}" if one.line else one.path,
                    evaluation.column,
                    *(one.token, one.gold, one.predicted),
                    None if one.confidence is None else f"{one.confidence:.4f}",
                    *(" ".join(one.before), " ".join(one.after)),
                )
                for one in order
            ]
        return tsv(Table("mistakes", "", [Column(name) for name in _MISTAKE], rows))


def evaluated(
    labelers: ColumnLabelers,
    source: Source,
    column: str,
    threads: int = 1,
    *,
    calibration: bool = False,
    mistakes: bool = False,
) -> Evaluation:
    """Compare a column with the labels of the tagger's column of its name, or of the first."""
    labelers.check_tags()
    names = [*labelers.by_column]
    own = column if column in names else names[0]
    model = labelers.by_column[own].model
    sure = calibration or (mistakes and model.calibration is not None)

    def label(sentences: list[Sequence[str]]) -> Any:
        return labelers.label(sentences, threads, columns=[own], sure=sure)[own]

    how = {"calibration": calibration, "mistakes": mistakes}
    return judge(model, source, column, label, **how, labeled=labels_note(names, [own]))


def evaluated_together(
    labelers: ColumnLabelers,
    source: Source,
    threads: int = 1,
    *,
    calibration: bool = False,
    mistakes: bool = False,
) -> Evaluations:
    """Compare all columns of a tagger, labeled together; see Tagger.evaluate_columns."""
    models = {name: labeler.model for name, labeler in labelers.by_column.items()}
    calibrated = all(model.calibration is not None for model in models.values())
    sure = calibration or (mistakes and calibrated)
    found = labelers.label(list(source), threads, sure=sure)
    how = {"calibration": calibration, "mistakes": mistakes}
    note = labels_note([*models], [*models])
    return Evaluations(
        (name, judge(model, source, name, lambda _, own=found[name]: own, **how, labeled=note))  # type: ignore[misc]
        for name, model in models.items()
    )


def judge(
    model: TaggerModel,
    source: Source,
    column: str,
    label: Callable[[list[Sequence[str]]], tuple[list[list[str]], list[list[float | None]] | None]],
    *,
    calibration: bool = False,
    mistakes: bool = False,
    labeled: str = "",
) -> Evaluation:
    """A model's labels against those of a column.

    Parameters
    ----------
    model : of one column
    source : the sentences
    column : the one with the gold labels
    label : gives sentences their labels, and confidences in them or None
    calibration : measure how far the confidences hold
    mistakes : keep the words labeled wrong
    labeled : whose labels they are

    Raises FormatError where a file breaks its format, or no word has a gold label.
    """
    sentences = list(source)
    gold = gold_for(model, sentences, column)
    found, sure = label(model.inputs(sentences))
    result = Evaluation(
        column,
        spans=span_scores(gold, found),
        untrained=untrained_labels(model, sentences, gold),
        labeled=labeled,
    )
    for sentence, truth, given in zip(sentences, gold, found, strict=True):
        result.add(truth, given, map(model.knows, sentence.words))
    check_labeled(result.tokens, source, column)
    warning = trained_on(model.record, sentences, source.place)
    if warning is not None:
        result.warnings.append(warning)
        logger.warning("%s", warning)
    if mistakes:
        result.mistakes = mistakes_in(sentences, gold, found, sure)
    if calibration and sure is not None:
        words = [
            (x, truth == own)
            for truths, labels, confidences in zip(gold, found, sure, strict=True)
            for truth, own, x in zip(truths, labels, confidences, strict=True)
            if truth is not None and x is not None
        ]
        result.calibration = Reliability.of([x for x, _ in words], [hit for _, hit in words])
    return result
