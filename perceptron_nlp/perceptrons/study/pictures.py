"""The pictures of a study: panels by themselves for a page, and all of them in one PNG."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._display import percent
from perceptron_nlp.pages.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    PALE_BLUE,
    PALE_ORANGE,
    VERMILION,
    figure,
    percent_axis,
    png,
    styled,
    svg,
)
from perceptron_nlp.perceptrons.study.curves import COMPARED, LearningCurves, Margins, OrderSpread
from perceptron_nlp.perceptrons.study.experiments import POINTS, SIGNS, Cloud, Stage, Study

_OUTPUT_STYLES: dict[str, dict[str, Any]] = {
    "last": {"color": VERMILION, "marker": "s", "linestyle": "--"},
    "voted": {"color": GREEN, "marker": "^", "linestyle": "-."},
    "averaged": {"color": BLUE, "marker": "o", "linestyle": "-"},
}
_CORNERS = (-4.5, 5.5)
# Inches of a panel that fills a phone, and of one that is square.
_PANEL, _SQUARE = (4.7, 3.3), (4.4, 4.4)


class Panel(NamedTuple):
    """A chart by itself: its title, what it shows for those who do not see it, and the drawing."""

    title: str
    alt: str
    draw: Callable[[Any], None]
    size: tuple[float, float] = _PANEL


@dataclass(frozen=True)
class Picture:
    """A picture as files: its panels by themselves for the page, and all in one.

    Attributes
    ----------
    panels : of each its title, text for those who do not see it, and an SVG file
    png : all panels beside each other
    """

    panels: tuple[tuple[str, str, bytes], ...]
    png: bytes


def all_pictures(study: Study) -> dict[str, Picture]:
    """Draw every picture of a study, by name."""
    panels = {
        "learning-curves": _learning_panels(study.curves),
        "order-spread": [_order_panel(study.orders)],
        "margins": _margin_panels(study.margins),
        "seven-steps": [_step_panel(stage) for stage in study.stages],
        "separable": _cloud_panels(study.clouds),
    }
    with styled():
        return {name: picture(own) for name, own in panels.items()}


def picture(panels: list[Panel]) -> Picture:
    """Draw panels, each with its legend below."""
    alone = []
    for panel in panels:
        drawn = figure(*panel.size)
        axes = drawn.subplots()
        panel.draw(axes)
        _add_legend(drawn, [axes])
        alone.append((panel.title, panel.alt, svg(drawn)))
    columns = 2 if len(panels) == 4 else min(3, len(panels))
    rows = -(-len(panels) // columns)
    width, height = panels[0].size
    drawn = figure(width * columns * (1 if columns < 3 else 0.75), height * rows)
    grid = drawn.subplots(rows, columns, squeeze=False)
    for axes, panel in zip(grid.flat, panels, strict=True):
        panel.draw(axes)
        axes.set_title(panel.title)
    _add_legend(drawn, list(grid.flat))
    return Picture(tuple(alone), png(drawn))


def _add_legend(drawn: Any, panels: list[Any]) -> None:
    """Put the legend of some panels below a figure, where it covers nothing."""
    handles: dict[str, Any] = {}
    for axes in panels:
        lines, names = axes.get_legend_handles_labels()
        handles |= dict(zip(names, lines, strict=True))
    if handles:
        drawn.legend(
            handles.values(), handles, loc="outside lower center", ncols=3, columnspacing=1.2
        )


def _learning_panels(curves: LearningCurves) -> list[Panel]:
    """Accuracy on dev over the epochs, and mistakes in training."""
    epochs = np.arange(1, curves.epochs + 1)

    def accuracy(axes: Any) -> None:
        for output, right in curves.dev.items():
            axes.plot(epochs, right, label=output, **_OUTPUT_STYLES[output])
        axes.set(xlabel="epochs", ylabel="accuracy")
        percent_axis(axes.yaxis)
        axes.set_xticks(epochs[:: max(1, len(epochs) // 5)])

    def mistakes(axes: Any) -> None:
        axes.plot(epochs, curves.mistakes, color=GREY, marker="o")
        axes.set(xlabel="epoch", ylabel="tokens wrong")
        axes.set_ylim(bottom=0)
        axes.set_xticks(epochs[:: max(1, len(epochs) // 5)])

    ends = ", ".join(f"{name} {percent(own[-1])}" for name, own in curves.dev.items())
    return [
        Panel("Accuracy on dev", f"Accuracy on dev over the epochs; at the end {ends}", accuracy),
        Panel("Mistakes in training", "Tokens wrong in training in each epoch", mistakes),
    ]


def _order_panel(spread: OrderSpread) -> Panel:
    """Accuracy on dev for each order of the examples, a point each."""

    def draw(axes: Any) -> None:
        for row, (output, right) in enumerate(spread.dev.items()):
            style = _OUTPUT_STYLES[output]
            # Points of one value stand above each other; the same order at the same height.
            height = row + np.linspace(-0.24, 0.24, spread.orders)
            color, marker = style["color"], style["marker"]
            axes.scatter(right, height, s=30, color=color, marker=marker, alpha=0.75)
            mean, deviation = spread.mean(output), spread.deviation(output)
            axes.plot([mean, mean], [row - 0.38, row + 0.38], color=BLACK, linewidth=2)
            axes.plot([mean - deviation, mean + deviation], [row - 0.38] * 2, color=BLACK)
        axes.set_yticks(range(len(spread.dev)), list(spread.dev))
        axes.grid(axis="y", visible=False)
        percent_axis(axes.xaxis)
        axes.set(xlabel="accuracy on dev; lines: mean,\n± 1 standard deviation")

    return Panel(
        f"{spread.orders} random orders, {spread.epochs} epochs each",
        "Accuracy on dev of each order, a point each, for last, voted and averaged weights",
        draw,
        (6.2, 3.3),
    )


def _margin_panels(margins: Margins) -> list[Panel]:
    """The leads of the right label on dev, and accuracy by the margin of the training."""

    def leads(axes: Any) -> None:
        everyone = np.concatenate([margins.leads[output] for output in COMPARED])
        for output in COMPARED:
            style = _OUTPUT_STYLES[output]
            own = np.sort(margins.leads[output])
            # A thousand points are as many as a screen shows.
            shown = own[:: max(1, len(own) // 1000)]
            share = np.arange(1, len(own) + 1)[:: max(1, len(own) // 1000)] / len(own)
            line = {"color": style["color"], "linestyle": style["linestyle"]}
            axes.plot(shown, share, label=output, **line)
        axes.axvline(0, color=GREY, linewidth=1)
        if len(everyone):
            axes.set_xlim(*np.quantile(everyone, [0.002, 0.998]))
        percent_axis(axes.yaxis, 0)
        axes.set(
            xlabel="score of right label − best other, over ‖w‖", ylabel="words with at most this"
        )

    def wanted(axes: Any) -> None:
        for output in COMPARED:
            right = margins.dev[output]
            axes.plot(range(len(right)), right, label=output, **_OUTPUT_STYLES[output])
        axes.set_xticks(range(len(margins.wanted)), [f"{b:g}" for b in margins.wanted])
        percent_axis(axes.yaxis)
        axes.set(xlabel="margin b required in training", ylabel="accuracy on dev")

    return [
        Panel("Leads, trained without margin", "Leads of the gold label on dev", leads),
        Panel("Trained with a margin", "Accuracy on dev over the margin of the training", wanted),
    ]


def _step_panel(stage: Stage) -> Panel:
    """A weight vector: its two halves of the plane, and the point it got wrong."""

    def draw(axes: Any) -> None:
        _halves(axes, np.array(stage.w[1:] + stage.w[:1], dtype=float), _CORNERS)
        where = np.array([point[1:] for point in POINTS])
        _points(axes, where, np.array(SIGNS), 110)
        for number, place in enumerate(where.tolist()):
            axes.annotate(
                _name(number), place, xytext=(11, 9), textcoords="offset points", fontsize=12
            )
            if number == stage.corrected:
                axes.scatter(*place, s=520, facecolors="none", edgecolors=BLACK, linewidths=2)
        axes.set_xlabel(_ending(stage))
        axes.grid(visible=False)
        axes.set_aspect("equal")

    numbers = ", ".join(map(str, stage.w)).replace("-", "−")
    between = ", " if stage.last == stage.first + 1 else " … "
    title = f"w({stage.first}){between}w({stage.last}) = ({numbers})"
    return Panel(
        title, f"The line of {title} between the five points; {_ending(stage)}", draw, _SQUARE
    )


def _cloud_panels(both: tuple[Cloud, Cloud]) -> list[Panel]:
    """Separable and inseparable points with their last and mean lines, and mistakes by epoch."""
    return [
        *(
            Panel(
                title,
                f"{title} points with the lines of the last and the average weights",
                functools.partial(_cloud, cloud),
                _SQUARE,
            )
            for cloud, title in zip(both, ("Separable", "Inseparable"), strict=True)
        ),
        Panel(
            "Mistakes in each epoch",
            "Mistakes in each epoch on both",
            functools.partial(_mistakes, both),
            _SQUARE,
        ),
    ]


def _cloud(cloud: Cloud, axes: Any) -> None:
    _points(axes, cloud.X[:, :2], cloud.y, 22)
    _line(axes, cloud.average, (-1.08, 1.08), color=BLUE, label="average")
    _line(axes, cloud.last, (-1.08, 1.08), color=VERMILION, linestyle="--", label="last w")
    axes.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal")
    axes.set_xticks([-1, 0, 1])
    axes.set_yticks([-1, 0, 1])
    axes.grid(visible=False)


def _mistakes(both: tuple[Cloud, Cloud], axes: Any) -> None:
    separable, inseparable = both
    for cloud, name, style in (
        (inseparable, "inseparable", {"color": VERMILION, "marker": "s", "markersize": 4}),
        (separable, "separable", {"color": BLUE, "marker": "o", "markersize": 6}),
    ):
        axes.plot(range(1, len(cloud.mistakes) + 1), cloud.mistakes, label=name, **style)
    axes.set(xlabel="epoch", ylabel="points wrong")
    axes.set_ylim(bottom=0)


def _ending(stage: Stage) -> str:
    if stage.corrected is None:
        return "five examples without a mistake: halt"
    return f"example {stage.last + 1} is {_name(stage.corrected)}: a mistake"


def _name(number: int) -> str:
    return f"x{'₁₂₃₄₅'[number]}"


def _points(axes: Any, where: NDArray[Any], signs: NDArray[Any], size: float) -> None:
    for sign, style in (
        (1, {"marker": "o", "linewidths": 0}),
        (-1, {"marker": "x", "linewidths": 2}),
    ):
        color = BLUE if sign > 0 else VERMILION
        axes.scatter(*where[signs == sign].T, s=size, color=color, zorder=3, **style)


def _halves(axes: Any, w: NDArray[np.float64], span: tuple[float, float]) -> None:
    """Shade where w answers +1 and where −1, and draw the line between."""
    low, high = span
    edge = np.array([[low, low], [high, low], [high, high], [low, high]])
    axes.fill(*edge.T, color=PALE_ORANGE, linewidth=0)
    axes.fill(*np.transpose(_answered_above(w, edge) or [(low, low)]), color=PALE_BLUE, linewidth=0)
    _line(axes, w, span, color=GREY)
    axes.set(xlim=span, ylim=span)


def _answered_above(w: NDArray[np.float64], edge: NDArray[np.float64]) -> list[Any]:
    """The part of a polygon where w·(x, y, 1) > 0, corner by corner."""
    scores = edge @ w[:2] + w[2]
    corners = []
    for one, two, here, there in zip(
        edge, np.roll(edge, -1, 0), scores, np.roll(scores, -1), strict=True
    ):
        if here > 0:
            corners.append(one)
        if here * there < 0:
            corners.append(one + here / (here - there) * (two - one))
    return corners


def _line(axes: Any, w: NDArray[Any], span: tuple[float, float], **style: Any) -> None:
    """The line w·(x, y, 1) = 0, if there is one."""
    if w[0] or w[1]:
        foot = -w[2] * np.array(w[:2]) / (w[0] ** 2 + w[1] ** 2)
        along = np.array([-w[1], w[0]]) / np.hypot(w[0], w[1]) * 2 * (span[1] - span[0])
        axes.plot(*np.transpose([foot - along, foot + along]), **style)
