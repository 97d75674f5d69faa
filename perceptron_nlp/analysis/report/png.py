"""Charts as PNG, by matplotlib where it is installed, in the style of the study's pictures."""

from __future__ import annotations

from typing import Any

from perceptron_nlp._display import printable
from perceptron_nlp.analysis.report.charts import BARS, DOTS, Chart, Grid
from perceptron_nlp.errors import MissingExtraError
from perceptron_nlp.perceptrons.study.pictures.drawing import (
    BLACK,
    BLUE,
    GREEN,
    VERMILION,
    figure,
    plotting,
    png,
    styled,
)

_COLOURS, _MARKERS, _DASHES = (BLUE, VERMILION, GREEN), "os^", ("-", "--", ":")
_CELL = 0.42


def is_possible() -> bool:
    """Is matplotlib installed?"""
    try:
        plotting()
    except MissingExtraError:
        return False
    return True


def file(chart: Chart | Grid) -> bytes:
    """The chart as a PNG.

    Raises MissingExtraError where matplotlib is not installed.
    """
    with styled():
        return png(_grid(chart) if isinstance(chart, Grid) else _chart(chart))


def _chart(chart: Chart) -> Any:
    drawn = figure(7, 4.2)
    axes = drawn.subplots()
    if chart.diagonal:
        axes.plot(
            chart.x_range,
            chart.x_range,
            color=BLACK,
            linestyle=(0, (5, 4)),
            linewidth=1,
            label="equal",
        )
    for series in chart.series:
        xs, ys = ([p.x for p in series.points], [p.y for p in series.points])
        colour = _COLOURS[series.style]
        if series.kind == BARS:
            axes.bar(
                xs,
                ys,
                [2 * p.half for p in series.points],
                color=colour,
                alpha=0.3,
                label=series.name,
            )
            continue
        spans = [p for p in series.points if p.low is not None and p.high is not None]
        axes.errorbar(
            [p.x for p in spans],
            [p.y for p in spans],
            [[p.y - (p.low or 0) for p in spans], [(p.high or 0) - p.y for p in spans]],
            fmt="none",
            ecolor=colour,
            capsize=4,
        )
        axes.plot(
            xs,
            ys,
            color=colour,
            marker=_MARKERS[series.style],
            markerfacecolor="white",
            linestyle="" if series.kind == DOTS else _DASHES[series.style],
            label=series.name or None,
        )
    axes.set(
        title=printable(chart.title),
        xlabel=chart.x_label,
        ylabel=chart.y_label,
        xlim=chart.x_range,
        ylim=chart.y_range,
    )
    axes.set_xticks([x for x, _ in chart.x_ticks], [text for _, text in chart.x_ticks])
    axes.set_yticks([y for y, _ in chart.y_ticks], [text for _, text in chart.y_ticks])
    axes.legend(loc="best")
    return drawn


def _grid(grid: Grid) -> Any:
    n = len(grid.names)
    names = [_plain(name) for name in grid.names]
    side = 1.6 + _CELL * n + 0.07 * max(map(len, names))
    drawn = figure(side, side)
    axes = drawn.subplots()
    axes.grid(False)
    axes.set(
        title=printable(grid.title),
        xlabel=grid.x_label,
        ylabel=grid.y_label,
        xlim=(-0.5, n - 0.5),
        ylim=(n - 0.5, -0.5),
        aspect="equal",
    )
    for i, row in enumerate(grid.counts):
        for j, count in enumerate(row):
            if count:
                axes.bar(
                    j,
                    1,
                    1,
                    i - 0.5,
                    color=BLUE if i == j else VERMILION,
                    alpha=0.75 * grid.strength(i, j),
                )
                axes.text(j, i, str(count), ha="center", va="center", fontsize=8)
    axes.set_xticks(range(n), names, rotation=90, fontsize=9)
    axes.set_yticks(range(n), names, fontsize=9)
    return drawn


def _plain(name: str) -> str:
    """A label as it is: what the drawing package would take for a formula is told from one."""
    return printable(name).replace("$", r"\$")
