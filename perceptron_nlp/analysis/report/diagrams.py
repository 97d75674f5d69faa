"""The charts of a column, out of its figures."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from perceptron_nlp.analysis.report.charts import (
    BARS,
    DOTS,
    LINE,
    Chart,
    Grid,
    Point,
    Series,
    fitting_range,
)
from perceptron_nlp.analysis.report.judging import Judged
from perceptron_nlp.analysis.report.markup import percent
from perceptron_nlp.tagger.confidence.reliability import Reliability

MOST_LABELS = 20
_LONGEST_NAME = 18
_MOST_X_TICKS = 8


def diagrams(judged: Judged) -> dict[str, Chart | Grid]:
    """What there are figures for, by name: learning, lengths, calibration, confusion."""
    found: list[Chart | Grid | None] = [
        learning(judged),
        lengths(judged),
        calibration(judged.evaluation.calibration),
        confusion(judged),
    ]
    return {chart.name: chart for chart in found if chart is not None}


def learning(judged: Judged) -> Chart | None:
    """Words right in each epoch of training, and on dev; None where the record has no epochs."""
    runs: dict[int, list[dict[str, Any]]] = defaultdict(list)
    for epoch in judged.epochs:
        runs[int(epoch.get("run", 1))].append(epoch)
    series = []
    for run, epochs in sorted(runs.items()):
        # One name for all runs, which differ by chance alone.
        dev = tuple(
            Point(float(e["epoch"]), float(e["dev_accuracy"]))
            for e in epochs
            if e.get("dev_accuracy") is not None
        )
        train = tuple(
            Point(float(e["epoch"]), 1 - e["mistakes"] / judged.train_words)
            for e in epochs
            if judged.train_words and e.get("mistakes") is not None
        )
        is_first = run == min(runs)
        series += [
            Series("training text" if is_first else "", LINE, train, 1),
            Series("dev set" if is_first else "", LINE, dev, 0),
        ]
    series = [one for one in series if one.points]
    if not series:
        return None
    points = [point for one in series for point in one.points]
    last = max(point.x for point in points)
    step = max(1, -(-int(last) // _MOST_X_TICKS))
    named = "; ".join(
        f"{one.name}: {percent(one.points[0].y)} after epoch 1,"
        f" {percent(one.points[-1].y)} at the end"
        for one in series
        if one.name
    )
    return Chart(
        "learning",
        "Learning curve",
        f"Words right over the epochs of training. {named}.",
        "epoch",
        "words right",
        tuple((float(k), str(k)) for k in range(1, int(last) + 1, step)),
        (0.7, last + 0.3),
        fitting_range([point.y for point in points]),
        tuple(series),
    )


def lengths(judged: Judged) -> Chart | None:
    """Words right by the length of their sentence."""
    shown = [
        (k, share, part)
        for k, part in enumerate(judged.lengths)
        if (share := part.share) is not None
    ]
    points = tuple(
        Point(float(k), share, *(part.interval or (None, None))) for k, share, part in shown
    )
    ends = [y for point in points for y in (point.y, point.low, point.high) if y is not None]
    named = ", ".join(f"{part.name} words {percent(share)}" for _, share, part in shown)
    return Chart(
        "lengths",
        "By length of sentence",
        f"Words right by length of sentence: {named}.",
        "words in the sentence",
        "words right",
        tuple((float(k), part.name) for k, _, part in shown),
        (-0.5, len(judged.lengths) - 0.5),
        fitting_range(ends),
        (Series("words right, 95 % interval", DOTS, points, 0),),
    )


def calibration(found: Reliability | None) -> Chart | None:
    """Confidences against shares that are right; None where the model is not calibrated."""
    if found is None:
        return None
    bars = tuple(
        Point((part.low + part.high) / 2, part.accuracy, half=(part.high - part.low) / 2)
        for part in found.bins
        if part.accuracy is not None
    )
    dots = tuple(
        Point(part.confidence, part.accuracy)
        for part in found.bins
        if part.confidence is not None and part.accuracy is not None
    )
    ticks = tuple((k / 5, f"{20 * k} %") for k in range(6))
    return Chart(
        "calibration",
        "Whether confidences hold",
        "Share of words right over their confidence, in 15 bins; calibration error"
        f" {found.ece:.4f}.",
        "confidence",
        "words right",
        ticks,
        (0.0, 1.0),
        (0.0, 1.0),
        (Series("right", BARS, bars, 0), Series("mean confidence", DOTS, dots, 1)),
        diagonal=True,
    )


def confusion(judged: Judged) -> Grid | None:
    """Gold labels against those given; None where there are more than fit on a page."""
    result = judged.evaluation
    names = sorted({label for pair in result.confusion for label in pair})
    if not 1 < len(names) <= MOST_LABELS:
        return None
    shown = tuple(
        name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…" for name in names
    )
    counts = tuple(tuple(result.confusion[gold, given] for given in names) for gold in names)
    wrong = result.tokens - result.correct
    return Grid(
        "confusion",
        "Gold labels and labels given",
        f"Matrix of {len(names)} labels, gold ones down, given ones across; {wrong:,} words off"
        " the diagonal are wrong. The page has it as a table.",
        "given",
        "gold",
        shown,
        counts,
    )
