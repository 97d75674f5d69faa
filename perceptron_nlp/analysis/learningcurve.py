"""The learning curve: accuracy by the size of the training text, and a forecast of its next point.

Errors fall about as a power of the size, so a line is laid through the logarithms of both, each
point weighing as much as its tokens. Source: J. Hestness et al., "Deep learning scaling is
predictable, empirically", 2017, section 2.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, replace
from typing import Any, NamedTuple

from perceptron_nlp import F1, Evaluation, replace_file
from perceptron_nlp._checks import check_callback, check_number
from perceptron_nlp._display import percent, points
from perceptron_nlp.analysis.crossvalidation import (
    CURVE_FOLDS,
    Extractor,
    GoldText,
    Outcome,
    Progress,
    deviation,
    main_of,
    pooled_outcome,
    score_of,
)
from perceptron_nlp.crossfit import in_parallel
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError
from perceptron_nlp.pages import drawing
from perceptron_nlp.pages.html import page
from perceptron_nlp.pages.renderers import Reported
from perceptron_nlp.pages.reports import Chart, Column, Figure, Report, Table
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.sources import Labeled, LabelLists, Source
from perceptron_nlp.tagger.train.folds import make_folds
from perceptron_nlp.tagger.train.sidebyside import checked_threads

SIZES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
CHARTS = (".svg", ".png", ".html")
# Fewer points say nothing of a slope.
_FEWEST = 3
# No accuracy of a sample is certain: a token more is counted wrong by half.
_HALF = 0.5


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """Accuracy of trainings on a part of the text.

    Attributes
    ----------
    share : of the sentences that can be trained on, above 0 and at most 1
    sentences, tokens : how many a training had; with folds, the mean
    accuracy, known_accuracy, unknown_accuracy : over all tokens that were tested; of a metric of
        running text, its F1 alone
    spread : standard deviation of the accuracy over the folds; 0 with a test set
    """

    share: float
    sentences: float
    tokens: float
    accuracy: float
    known_accuracy: float | None
    unknown_accuracy: float | None
    spread: float


class Forecast(NamedTuple):
    """An accuracy expected from smaller sizes.

    Attributes
    ----------
    tokens : the size that it is expected of
    accuracy : the accuracy expected
    measured : the accuracy that it turned out to be; None where nobody has measured it
    """

    tokens: float
    accuracy: float
    measured: float | None = None


@dataclass(frozen=True, slots=True)
class LearningCurve(Reported):
    """Accuracy by the size of the training text.

    Attributes
    ----------
    column : the column, or the metric of running text (``Words``, …)
    points : a point for each size, ascending
    tested : how many tokens (of ``Sentences`` sentences) the accuracies are of
    folds : how many parts were held out in turn; 0 with a test set
    full : of the largest size, the evaluation: of the test set, or pooled over the folds
    remarks : what should be known
    by_column : of several columns and metrics, the same of each, this one being one of them
    """

    column: str
    points: tuple[CurvePoint, ...]
    tested: int
    folds: int
    full: Outcome
    remarks: tuple[str, ...] = ()
    by_column: dict[str, LearningCurve] = field(default_factory=dict, repr=False)

    def forecast(self, tokens: float) -> float | None:
        """Return the accuracy to expect of a size, 0 to 1; None of fewer than three points.

        Parameters
        ----------
        tokens : of the training text, above 0

        Raises ArgumentError, ArgumentTypeError for another number of them.
        """
        check_number("tokens", tokens, 0, 1e15, above=True)
        return self._expected(self.points, tokens)

    @property
    def next_doubling(self) -> Forecast | None:
        """The accuracy to expect of twice as much text; None of fewer than three points."""
        tokens = 2 * self.points[-1].tokens
        accuracy = self.forecast(tokens)
        return None if accuracy is None else Forecast(tokens, accuracy)

    @property
    def past_forecasts(self) -> tuple[Forecast, ...]:
        """Forecasts of each size from the smaller ones alone, with the accuracy measured there."""
        found = []
        for number in range(_FEWEST, len(self.points)):
            point = self.points[number]
            accuracy = self._expected(self.points[:number], point.tokens)
            if accuracy is not None:
                found.append(Forecast(point.tokens, accuracy, point.accuracy))
        return tuple(found)

    def _expected(self, points: Sequence[CurvePoint], tokens: float) -> float | None:
        errors = [max(1 - point.accuracy, _HALF / self.tested) for point in points]
        error = power_law([point.tokens for point in points], errors, tokens)
        return None if error is None else 1 - min(1.0, error)

    def save_chart(self, path: str | os.PathLike[str]) -> None:
        """Write the curve as a picture, or as a page with it and its figures.

        Parameters
        ----------
        path : ends in ``.svg``, ``.png`` or ``.html``; the file is replaced whole or not at all

        Raises
        ------
        ArgumentError : the path ends in something else
        FileError : it cannot be written
        MissingExtraError : matplotlib, or for pages Jinja2, is not installed (extra ``report``)
        """
        kind = os.path.splitext(os.fspath(path))[1].lower()
        if kind not in CHARTS:
            raise ArgumentError(f"path: {os.fspath(path)} does not end in {', '.join(CHARTS)}")
        with drawing.styled():
            drawn, alt = _drawn(self)
            if kind == ".html":
                chart = Chart("curve", "Learning curve", alt, drawing.svg(drawn))
                data = page(replace(self.report(), charts=[chart])).encode("utf-8", "replace")
            else:
                data = drawing.svg(drawn) if kind == ".svg" else drawing.png(drawn)
        replace_file(path, data)

    def _row(self, point: CurvePoint) -> tuple[Any, ...]:
        """Return the row of a point; without folds, nothing is spread."""
        return astuple(point) if self.folds else (*astuple(point)[:-1], None)

    def report(self) -> Report:
        """Return the points, the forecast, and how far off forecasts of the points were.

        Of several columns and metrics, there is a table of all, and a section for each.
        """
        if len(self.by_column) < 2:
            return self._own_report()
        parts = [replace(one, by_column={}, remarks=()) for one in self.by_column.values()]
        own = [one.report() for one in parts]
        rows = [(one.column, *one._row(point)) for one in parts for point in one.points]
        return Report(
            f"{own[0].title}; and of {', '.join(one.column for one in parts[1:])}",
            own[0].figures[1:3],
            [
                Table("forecasts", "", _SUMMARY, [one._summary() for one in parts]),
                Table("points", "", (Column("column"), *_POINTS), rows, 0),
            ],
            self.remarks,
            own,
            main="points",
        )

    def _summary(self) -> tuple[Any, ...]:
        """Return the row of a table of columns."""
        forecast = self.next_doubling
        expected = None if forecast is None else forecast.accuracy
        return self.column, self.points[-1].accuracy, expected, self.forecast_error

    @property
    def forecast_error(self) -> float | None:
        """Mean absolute error of the past forecasts, a fraction of 1; None if there are none."""
        off = [abs(one.accuracy - (one.measured or 0.0)) for one in self.past_forecasts]
        return sum(off) / len(off) if off else None

    def _own_report(self) -> Report:
        forecast, last, past = self.next_doubling, self.points[-1], self.past_forecasts
        line = f"{self.column}: {percent(last.accuracy)} with {last.tokens:,.0f} words"
        if forecast is not None:
            line += f", {percent(forecast.accuracy)} forecast for twice as many"
        figures = [
            Figure("column", self.column, "data"),
            Figure("tested", self.tested, label="tokens tested"),
            Figure("folds", self.folds, "count" if self.folds else "data", "parts held out"),
            Figure("next_doubling", forecast and forecast._asdict(), "data"),
        ]
        mean = self.forecast_error
        if forecast is not None and mean is not None:
            note = f"± {points(mean)}, the mean error of those below"
            figures.append(
                Figure("forecast", forecast.accuracy, "percent", "forecast of twice the text", note)
            )
        if mean is not None:
            last_off = abs(past[-1].accuracy - (past[-1].measured or 0.0))
            note = f"on average, {points(last_off)} at the last"
            figures.append(Figure("forecast_error", mean, "percent", "forecasts off by", note))
        columns = [*_POINTS]
        if isinstance(self.full, F1):
            columns[3] = columns[3]._replace(label="F1")
        measured = Table("points", "", columns, [self._row(one) for one in self.points])
        forecasts = Table(
            "past_forecasts", "accuracy forecast from the smaller sizes", _FORECASTS, past
        )
        return Report(line, figures, [measured, forecasts], self.remarks)


_POINTS = (
    Column("share", "percent", "share, %"),
    Column("sentences", "count"),
    Column("tokens", "count"),
    Column("accuracy", "percent"),
    *(Column(f"{key}_accuracy", "percent", key) for key in ("known", "unknown")),
    Column("spread", "percent", "deviation"),
)
_FORECASTS = (
    Column("tokens", "count"),
    Column("accuracy", "percent"),
    Column("measured", "percent"),
)


_SUMMARY = (
    Column("column"),
    Column("accuracy", "percent", "measured"),
    Column("forecast", "percent", "twice the text"),
    Column("forecast_error", "percent", "forecasts off by"),
)


def _drawn(curve: LearningCurve) -> tuple[Any, str]:
    """Return the chart of a curve, and a text for readers who do not see it."""
    drawn = drawing.figure(7.0, 4.2)
    axes = drawn.subplots()
    sizes = [point.tokens for point in curve.points]
    accuracies = [point.accuracy for point in curve.points]
    spreads = [point.spread for point in curve.points] if curve.folds else None
    axes.errorbar(
        sizes, accuracies, spreads, color=drawing.BLUE, marker="o", capsize=4, label="measured"
    )
    forecast = curve.next_doubling
    alt = f"Accuracy of column {curve.column} by tokens of training text: " + ", ".join(
        f"{percent(point.accuracy)} with {point.tokens:,.0f}" for point in curve.points
    )
    if forecast is not None:
        axes.plot(
            [sizes[-1], forecast.tokens],
            [accuracies[-1], forecast.accuracy],
            color=drawing.VERMILION,
            marker="s",
            linestyle="--",
            markevery=[1],
            label="forecast",
        )
        alt += f"; forecast {percent(forecast.accuracy)} with {forecast.tokens:,.0f}"
    axes.set_xscale("log")
    axes.set(xlabel="tokens of training text", ylabel="accuracy")
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
    drawing.percent_axis(axes.yaxis, 0 if accuracies[-1] - accuracies[0] > 0.06 else 1)
    axes.legend(loc="lower right")
    return drawn, f"{alt}."


def power_law(sizes: Sequence[float], errors: Sequence[float], size: float) -> float | None:
    """Return the error to expect of a size, by the power of the size that fits best.

    sizes, errors : what was measured, all above 0; each weighs as much as its size
    size : that is asked for

    Returns
    -------
    float : on a line that never rises with the size
    None : there are fewer than three sizes
    """
    if len(sizes) < _FEWEST:
        return None
    x, y = [math.log(value) for value in sizes], [math.log(value) for value in errors]
    total = sum(sizes)
    mean_x = sum(w * a for w, a in zip(sizes, x, strict=True)) / total
    mean_y = sum(w * b for w, b in zip(sizes, y, strict=True)) / total
    across = sum(w * (a - mean_x) ** 2 for w, a in zip(sizes, x, strict=True))
    along = sum(w * (a - mean_x) * (b - mean_y) for w, a, b in zip(sizes, x, y, strict=True))
    slope = min(0.0, along / across) if across > 0 else 0.0
    return math.exp(mean_y + slope * (math.log(size) - mean_x))


def learning_curve(
    data: Labeled,
    labels: LabelLists | None = None,
    *,
    test: Labeled | None = None,
    folds: int | None = None,
    sizes: Sequence[float] = SIZES,
    column: str | Sequence[str] | None = None,
    features: Extractor | None = None,
    format: str = "auto",
    fields: Sequence[str] | None = None,
    threads: int | None = None,
    callback: Progress | None = None,
    **options: Any,
) -> LearningCurve:
    """Measure the accuracy of trainings on more and more of the text.

    Sentences are drawn at random, each smaller part out of the larger ones; the largest is trained
    on as it stands, as by ``perceptron_nlp.train``.

    Parameters
    ----------
    data, labels : labeled text, as for ``perceptron_nlp.train``
    test : the like, to be tested on; None to hold parts of the text out in turn
    folds : 2 to 1,000; without `test`, how many parts; None for 5, or fewer in a small text
    sizes : shares of the sentences that can be trained on, above 0 and at most 1
    column, features, format, fields : as for ``perceptron_nlp.cross_validate``; of several columns
        all are learned in one training, and there is a curve of each
    threads : 1 to 1,024; trainings at a time; None for as many as there are processors. The result
        does not depend on it
    callback : called after each training with how many are done, and how many there are
    **options : as for ``perceptron_nlp.cross_validate``

    Raises
    ------
    FileError, FormatError, ArgumentError, ArgumentTypeError : as for
        ``perceptron_nlp.cross_validate``

    Examples
    --------
    ``perceptron_nlp.learning_curve("train.conllu", test="test.conllu").next_doubling``
    """
    threads = checked_threads(threads)
    check_callback(callback)
    shares = _checked_sizes(sizes)
    text = GoldText.read(data, labels, column, features, format, fields, options)
    if test is None:
        parts, remarks = make_folds(
            text.sentences, text.sizes, folds, text.seed, CURVE_FOLDS, text.place, running=text.cuts
        )
    elif folds is not None:
        raise ArgumentError("folds: there is a test set, too; leave one of them out")
    else:
        parts, remarks = [[]], []
    held = None if test is None else list(Source(test, "test", format=format, fields=fields))
    if held is not None and not held:
        raise FormatError("there are no sentences", "test")
    orders = [_order(text, part) for part in parts]
    works = [
        (number, count)
        for number, order in enumerate(orders)
        for count in _counts(shares, len(order))
    ]

    def measured(work: tuple[int, int]) -> dict[str, Outcome]:
        number, count = work
        tagger = text.trained(sorted(orders[number][:count]))
        tested = [text.sentences[one] for one in parts[number]] if held is None else held
        return text.measured(tagger, tested)

    found = dict(zip(works, in_parallel(measured, works, threads, callback), strict=True))
    lengths = [len(sentence) for sentence in text.sentences]
    curves = {}
    for name in found[works[0]]:
        own = {work: outcomes[name] for work, outcomes in found.items()}
        points, full = _points(shares, orders, lengths, own)
        curves[name] = LearningCurve(
            name,
            tuple(points),
            full.gold if isinstance(full, F1) else full.tokens,
            0 if held is not None else len(parts),
            full,
            tuple(remarks),
        )
    return replace(curves[main_of(curves)], by_column=curves)


def _points(
    shares: Sequence[float],
    orders: Sequence[Sequence[int]],
    lengths: Sequence[int],
    found: dict[tuple[int, int], Outcome],
) -> tuple[list[CurvePoint], Outcome]:
    """Return a point for each share that is not the one before, and the last one's evaluation."""
    points: list[CurvePoint] = []
    before: list[int] = []
    whole: Outcome = Evaluation("")
    for share in shares:
        counts = [_count(share, len(order)) for order in orders]
        if counts == before:
            continue
        before = counts
        each = [found[number, count] for number, count in enumerate(counts)]
        whole = pooled_outcome(each)
        tokens = [
            sum(lengths[one] for one in order[:count])
            for order, count in zip(orders, counts, strict=True)
        ]
        points.append(
            CurvePoint(
                share,
                sum(counts) / len(counts),
                sum(tokens) / len(tokens),
                score_of(whole) or 0.0,
                getattr(whole, "known_accuracy", None),
                getattr(whole, "unknown_accuracy", None),
                deviation([score_of(one) or 0.0 for one in each]),
            )
        )
    return points, whole


def _order(text: GoldText, held_out: Sequence[int]) -> list[int]:
    """Return the sentences to train on in random order, the first one with labels."""
    left = sorted({*range(len(text.sentences))} - {*held_out})
    order = [left[place] for place in permutation(len(left), text.seed).tolist()]
    first = next((place for place, number in enumerate(order) if text.sizes[number]), 0)
    return [order[first], *order[:first], *order[first + 1 :]] if order else []


def _count(share: float, n_sentences: int) -> int:
    return max(1, round(share * n_sentences))


def _counts(shares: Sequence[float], n_sentences: int) -> list[int]:
    return sorted({_count(share, n_sentences) for share in shares})


def _checked_sizes(sizes: Sequence[float]) -> list[float]:
    if isinstance(sizes, str) or not isinstance(sizes, Sequence):
        raise ArgumentTypeError("sizes: a list of shares is needed, such as [0.1, 0.5, 1]")
    if not sizes:
        raise ArgumentError("sizes: it is empty; give shares such as [0.1, 0.5, 1]")
    for size in sizes:
        check_number("sizes", size, 0, 1, above=True)
    return sorted({float(size) for size in sizes})
