"""The charts of one column, drawn from its figures."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_nlp._display import percent, printable
from perceptron_nlp.analysis.report.figures import ColumnFigures
from perceptron_nlp.pages.drawing import (
    BLACK,
    BLUE,
    GREY,
    VERMILION,
    figure,
    inlined,
    percent_axis,
    png,
    styled,
    svg,
)
from perceptron_nlp.probability import Reliability

MAX_LABELS = 20
_LONGEST_NAME = 18
_MAX_TICKS = 8
_SIZE = (4.7, 3.2)


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart as files, with a text for readers who do not see it.

    ``name`` is of its files, without the ending. The page has the matrix as a table instead.
    """

    name: str
    title: str
    alt: str
    svg: bytes
    png: bytes

    def inlined(self, prefix: str) -> str:
        """Return the chart as an element of a page, its ids beginning with `prefix`."""
        return inlined(self.svg, f"{prefix}-{self.name}", self.alt)


@dataclass(frozen=True, slots=True)
class Cell:
    """A square of the confusion matrix: its count, and how strongly it is filled (0 to 1)."""

    count: int
    strength: float
    is_correct: bool


@dataclass(frozen=True, slots=True)
class Grid:
    """The confusion matrix: names of labels, and a row of cells for each gold label."""

    names: list[str]
    rows: list[list[Cell]]


def draw_charts(figures: ColumnFigures, grid: Grid | None) -> list[Chart]:
    """Draw what there are figures for: learning, lengths, calibration, confusion."""
    found = []
    with styled():
        for name, title, drawn, alt in _drawn(figures, grid):
            found.append(Chart(name, title, alt, svg(drawn), png(drawn)))
    return found


def _drawn(figures: ColumnFigures, grid: Grid | None) -> Iterator[tuple[str, str, Any, str]]:
    if any(map(_has_accuracy, epoch_rows(figures))):
        yield "learning", "Learning curve", *_learning(figures)
    yield "lengths", "By length of sentence", *_lengths(figures)
    if figures.evaluation.calibration is not None:
        yield (
            "calibration",
            "Reliability of confidences",
            *_calibration(figures.evaluation.calibration),
        )
    if grid is not None:
        yield "confusion", "Gold and predicted labels", *_confusion(grid)


def epoch_rows(figures: ColumnFigures) -> list[dict[str, Any]]:
    """Return run, epoch, and the accuracies on train and dev (or None) of each epoch."""
    rows = []
    for epoch in figures.epochs:
        errors, tokens = epoch.get("mistakes"), figures.train_tokens
        rows.append(
            {
                "run": epoch.get("run", 1),
                "epoch": epoch.get("epoch", "–"),
                "train": 1 - errors / tokens if tokens and errors is not None else None,
                "dev": epoch.get("dev_accuracy"),
            }
        )
    return rows


def _has_accuracy(row: dict[str, Any]) -> bool:
    return row["train"] is not None or row["dev"] is not None


def _learning(figures: ColumnFigures) -> tuple[Any, str]:
    """Accuracy in each epoch of training, and on dev; runs differ by chance alone."""
    drawn = figure(*_SIZE)
    axes = drawn.subplots()
    runs: dict[Any, list[dict[str, Any]]] = defaultdict(list)
    for row in epoch_rows(figures):
        runs[row["run"]].append(row)
    told = []
    for key, name, style in (
        ("train", "training text", {"color": VERMILION, "marker": "s", "linestyle": "--"}),
        ("dev", "dev set", {"color": BLUE, "marker": "o"}),
    ):
        label = name
        for rows in runs.values():
            points = [(row["epoch"], row[key]) for row in rows if row[key] is not None]
            if not points:
                continue
            axes.plot(*zip(*points, strict=True), label=label or None, **style)
            if label:
                told.append(
                    f"{name}: {percent(points[0][1])} after epoch 1,"
                    f" {percent(points[-1][1])} at the end"
                )
            label = ""
    last = max(int(row["epoch"]) for row in epoch_rows(figures))
    axes.set_xticks(range(1, last + 1, max(1, -(-last // _MAX_TICKS))))
    axes.set(xlabel="epoch", ylabel="accuracy")
    _fit(axes)
    drawn.legend(loc="outside lower center", ncols=2)
    return drawn, f"Accuracy over the epochs of training. {'; '.join(told)}."


def _lengths(figures: ColumnFigures) -> tuple[Any, str]:
    """Accuracy by the length of the sentence."""
    drawn = figure(*_SIZE)
    axes = drawn.subplots()
    shown = [(part.name, part.accuracy, part.interval) for part in figures.by_length]
    for place, (_, accuracy, bounds) in enumerate(shown):
        if accuracy is None:
            continue
        ends = None if bounds is None else [[accuracy - bounds[0]], [bounds[1] - accuracy]]
        axes.errorbar([place], [accuracy], ends, color=BLUE, marker="o", capsize=4)
    axes.set_xticks(range(len(shown)), [name for name, _, _ in shown])
    axes.set_xlim(-0.5, len(shown) - 0.5)
    axes.set(xlabel="tokens in the sentence", ylabel="accuracy, 95 % interval")
    _fit(axes)
    named = ", ".join(f"{name} tokens {percent(accuracy)}" for name, accuracy, _ in shown)
    return drawn, f"Accuracy by length of sentence: {named}."


def _calibration(found: Reliability) -> tuple[Any, str]:
    """Mean confidences against accuracies."""
    drawn = figure(*_SIZE)
    axes = drawn.subplots()
    bins = [part for part in found.bins if part.accuracy is not None]
    axes.bar(
        [(part.low + part.high) / 2 for part in bins],
        [part.accuracy for part in bins],
        [part.high - part.low for part in bins],
        color=BLUE,
        alpha=0.3,
        label="accuracy",
    )
    axes.plot([0, 1], [0, 1], color=GREY, linestyle="--", label="equal")
    axes.plot(
        [part.confidence for part in bins],
        [part.accuracy for part in bins],
        color=VERMILION,
        marker="s",
        linestyle="",
        label="mean confidence",
    )
    axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="confidence", ylabel="accuracy")
    percent_axis(axes.xaxis, 0)
    percent_axis(axes.yaxis, 0)
    drawn.legend(loc="outside lower center", ncols=3, columnspacing=1.2, handletextpad=0.5)
    return drawn, f"Accuracy over confidence, in 15 bins; calibration error {found.ece:.4f}."


def confusion_grid(figures: ColumnFigures) -> Grid | None:
    """Return the confusion matrix; None where there are more labels than fit on a page."""
    pairs = figures.evaluation.confusion
    names = sorted({label for pair in pairs for label in pair})
    if not 1 < len(names) <= MAX_LABELS:
        return None
    largest = max((count for (a, b), count in pairs.items() if a != b), default=0)
    rows = []
    for gold in names:
        total = sum(pairs[gold, label] for label in names)
        rows.append(
            [
                Cell(count, _strength(count, total, largest, gold == label), gold == label)
                for label in names
                for count in [pairs[gold, label]]
            ]
        )
    return Grid(names, rows)


def _strength(count: int, total: int, largest: int, is_correct: bool) -> float:
    if not count:
        return 0.0
    return count / total if is_correct else math.sqrt(count / largest)


def _confusion(grid: Grid) -> tuple[Any, str]:
    """The matrix as squares with counts."""
    names = [
        name if len(name) <= _LONGEST_NAME else name[: _LONGEST_NAME - 1] + "…"
        for name in map(printable, grid.names)
    ]
    n = len(names)
    drawn = figure(2.6 + 0.42 * n, 2.2 + 0.42 * n)
    axes = drawn.subplots()
    axes.grid(visible=False)
    axes.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5), aspect="equal")
    for i, row in enumerate(grid.rows):
        for j, cell in enumerate(row):
            if cell.count:
                color = BLUE if cell.is_correct else VERMILION
                square = np.array([[j, i], [j + 1, i], [j + 1, i + 1], [j, i + 1]]) - 0.5
                axes.fill(*square.T, color=color, alpha=0.75 * cell.strength, linewidth=0)
                text = str(cell.count) if cell.count < 10_000 else f"{cell.count // 1000}k"
                axes.text(j, i, text, ha="center", va="center", fontsize=8, color=BLACK)
    axes.set_xticks(range(n), names, rotation=90)
    axes.set_yticks(range(n), names)
    axes.xaxis.tick_top()
    axes.xaxis.set_label_position("top")
    axes.set(xlabel="predicted", ylabel="gold")
    wrong = sum(cell.count for row in grid.rows for cell in row if not cell.is_correct)
    return drawn, (
        f"Matrix of {n} labels, gold ones down, predicted ones across; {wrong:,} tokens off the"
        " diagonal are wrong. The page has it as a table."
    )


def _fit(axes: Any) -> None:
    """Let the axis of accuracies show one hundredth at least, and nothing beyond 0 and 1."""
    low, high = axes.get_ylim()
    if high - low < 0.01:
        low, high = (low + high) / 2 - 0.005, (low + high) / 2 + 0.005
    room = 0.02 * (high - low)
    axes.set_ylim(max(-room, low), min(1 + room, high))
    percent_axis(axes.yaxis)
