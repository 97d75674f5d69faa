"""The report of a study: its pictures, and a page of HTML with them (extra ``report``)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.errors import FileError
from perceptron_nlp.formats.replace import replace_file
from perceptron_nlp.pages import environment, render
from perceptron_nlp.pages.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    figure,
    inlined,
    percent_axis,
    plotting,
    png,
    styled,
    svg,
)
from perceptron_nlp.perceptrons.study.costs import KEEPERS, VARIABLES, Curve
from perceptron_nlp.perceptrons.study.curves import COMPARED, LearningCurves, Margins, OrderSpread
from perceptron_nlp.perceptrons.study.experiments import POINTS, SIGNS, Cloud, Stage, Study

_OUTPUT_STYLES: dict[str, dict[str, Any]] = {
    "last": {"color": VERMILION, "marker": "s", "linestyle": "--"},
    "voted": {"color": GREEN, "marker": "^", "linestyle": "-."},
    "averaged": {"color": BLUE, "marker": "o", "linestyle": "-"},
}
_STYLES: dict[str, dict[str, Any]] = {
    "L1-L4": {"color": BLACK, "marker": "x", "linestyle": ":"},
    "L5": {"color": VERMILION, "marker": "s", "linestyle": "--"},
    "L6": {"color": ORANGE, "marker": "^", "linestyle": "-."},
    "L7": {"color": PURPLE, "marker": "D", "linestyle": "--"},
    "L8": {"color": "#8C6D1F", "marker": "v", "linestyle": "-."},
    "L9": {"color": SKY, "marker": "P", "linestyle": "-"},
    "L10": {"color": GREEN, "marker": "<", "linestyle": "-"},
    "L11": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "L12": {"color": GREY, "marker": "*", "linestyle": "-"},
}
_LABELS = {"elements": "time: array elements", "bytes": "space: bytes"}
_XLABELS = {"d": "d, features", "D": "T·D, examples", "U": "U, updates"}
_POSITIVE, _NEGATIVE = "#DCEBF5", "#FBE5D6"
_CORNERS = (-4.5, 5.5)


@dataclass(frozen=True)
class Picture:
    """A picture as files."""

    svg: bytes
    png: bytes


def all_pictures(study: Study) -> dict[str, Picture]:
    """Draw every picture of a study, by name.

    Raises MissingExtraError where matplotlib is not installed.
    """
    with styled():
        drawn = {
            "learning-curves": draw_learning_curves(study.curves),
            "order-spread": draw_order_spread(study.orders),
            "margins": draw_margins(study.margins),
            "cost-growth": draw_cost_growth(study.growth),
            "seven-steps": draw_seven_steps(study.stages),
            "separable": draw_separable(study.clouds),
        }
        return {name: Picture(svg(one), png(one)) for name, one in drawn.items()}


def draw_learning_curves(curves: LearningCurves) -> Any:
    """Accuracy on dev over the epochs, and mistakes in training."""
    drawn = figure(9, 4)
    dev, train = drawn.subplots(1, 2, width_ratios=(3, 2))
    epochs = np.arange(1, curves.epochs + 1)
    for output, right in curves.dev.items():
        dev.plot(epochs, right, label=output, **_OUTPUT_STYLES[output])
    dev.set(title="Accuracy on dev", xlabel="epochs", ylabel="accuracy")
    percent_axis(dev.yaxis)
    dev.legend(title="weights", loc="lower right")
    train.plot(epochs, curves.mistakes, color=GREY, marker="o")
    train.set(title="Mistakes in training", xlabel="epoch", ylabel="tokens wrong")
    train.set_ylim(bottom=0)
    for axes in (dev, train):
        axes.set_xticks(epochs[:: max(1, len(epochs) // 5)])
    return drawn


def draw_order_spread(spread: OrderSpread) -> Any:
    """Accuracy on dev for each order of the examples, a point each."""
    drawn = figure(9, 3.4)
    axes = drawn.subplots()
    for row, (output, right) in enumerate(spread.dev.items()):
        style = _OUTPUT_STYLES[output]
        # Points of one value stand above each other; the same order at the same height.
        height = row + np.linspace(-0.24, 0.24, spread.orders)
        axes.scatter(right, height, s=34, color=style["color"], marker=style["marker"], alpha=0.75)
        mean, deviation = spread.mean(output), spread.deviation(output)
        axes.plot([mean, mean], [row - 0.38, row + 0.38], color="black", linewidth=2)
        axes.plot([mean - deviation, mean + deviation], [row - 0.38] * 2, color="black")
    axes.set_yticks(range(len(spread.dev)), list(spread.dev))
    axes.grid(axis="y", visible=False)
    percent_axis(axes.xaxis)
    axes.set(
        title=f"{spread.orders} random orders, {spread.epochs} epochs each",
        xlabel="accuracy on dev; upright line: mean, level line: ± 1 standard deviation",
    )
    return drawn


def draw_margins(margins: Margins) -> Any:
    """The leads of the right label on dev, and accuracy by the margin of the training."""
    drawn = figure(9, 4)
    lead, wanted = drawn.subplots(1, 2)
    everyone = np.concatenate([margins.leads[output] for output in COMPARED])
    for output in COMPARED:
        style = _OUTPUT_STYLES[output]
        leads = np.sort(margins.leads[output])
        share = np.arange(1, len(leads) + 1) / len(leads)
        lead.plot(leads, share, color=style["color"], linestyle=style["linestyle"], label=output)
        right = margins.dev[output]
        wanted.plot(range(len(right)), right, label=output, **style)
    lead.axvline(0, color=GREY, linewidth=1)
    if len(everyone):
        lead.set_xlim(*np.quantile(everyone, [0.002, 0.998]))
    percent_axis(lead.yaxis, 0)
    lead.set(
        title="Leads on dev, trained without margin",
        xlabel="score of right label − best other, over ‖w‖",
        ylabel="words with at most this lead",
    )
    wanted.set_xticks(range(len(margins.wanted)), [f"{b:g}" for b in margins.wanted])
    percent_axis(wanted.yaxis)
    wanted.set(
        title="Trained with margin b (L4)",
        xlabel="margin b wanted in training",
        ylabel="accuracy on dev",
    )
    lead.legend(title="weights", loc="lower right")
    wanted.legend(title="weights", loc="best")
    return drawn


def draw_cost_growth(growth: list[Curve]) -> Any:
    """Counted elements and bytes on doubly logarithmic axes: a line's slope is its power."""
    drawn = figure(10, 7.6)
    panels = drawn.subplots(len(_LABELS), len(VARIABLES), sharey="row")
    for row, quantity in enumerate(_LABELS):
        for column, variable in enumerate(VARIABLES):
            axes = panels[row][column]
            _panel(axes, [c for c in growth if c.quantity == quantity], variable)
            if column == 0:
                axes.set_ylabel(_LABELS[quantity])
            axes.set_xlabel(_XLABELS[variable])
    handles, labels = panels[0][0].get_legend_handles_labels()
    drawn.legend(handles, labels, loc="outside lower center", ncols=3, fontsize=11)
    drawn.suptitle("What it costs to keep weights: level lines have power 0, steep ones power 1")
    return drawn


def _panel(axes: Any, curves: list[Curve], variable: str) -> None:
    ticks: list[int] = []
    for curve in curves:
        if curve.series.variable == variable and not curve.keeper.in_core:
            axes.plot(
                curve.series.values,
                curve.costs,
                label=f"{curve.keeper.ids} {curve.keeper.name}",
                markerfacecolor="none",
                **_STYLES[curve.keeper.ids],
            )
            ticks = curve.series.values
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    # Every other one is named, or the names would run into each other.
    names = [f"{tick:,}" if place % 2 == 0 else "" for place, tick in enumerate(ticks)]
    axes.set_xticks(ticks, names)
    axes.minorticks_off()


def draw_seven_steps(stages: list[Stage]) -> Any:
    """A panel for each weight vector: its two halves of the plane, and the point it got wrong."""
    drawn = figure(8, 8.3)
    panels = drawn.subplots(2, 2, sharex=True, sharey=True)
    for axes, stage in zip(panels.flat, stages, strict=True):
        _halves(axes, np.array(stage.w[1:] + stage.w[:1], dtype=float), _CORNERS)
        for number, ((_, *where), sign) in enumerate(zip(POINTS, SIGNS, strict=True)):
            _point(axes, where, sign, 110)
            axes.annotate(
                _name(number), where, xytext=(11, 9), textcoords="offset points", fontsize=12
            )
            if number == stage.corrected:
                axes.scatter(*where, s=520, facecolors="none", edgecolors=BLACK, linewidths=2)
        numbers = ", ".join(map(str, stage.w)).replace("-", "−")
        between = ", " if stage.last == stage.first + 1 else " … "
        axes.set_title(f"w({stage.first}){between}w({stage.last}) = ({numbers})")
        axes.set_xlabel(_ending(stage), fontsize=11)
        axes.grid(visible=False)
        axes.set_aspect("equal")
    drawn.supxlabel(
        "circles: z = +1, crosses: z = −1; blue half: w answers +1, orange half: −1;\n"
        "ringed: the mistake that ends w", fontsize=11,
    )  # fmt: skip
    return drawn


def draw_separable(both: tuple[Cloud, Cloud]) -> Any:
    """Separable and inseparable points with their last and mean lines, and mistakes by epoch."""
    drawn = figure(11, 4.2)
    *planes, counts = drawn.subplots(1, 3, width_ratios=(1, 1, 1.15))
    for axes, cloud, title in zip(planes, both, ("Separable", "Inseparable"), strict=True):
        for where, sign in zip(cloud.X[:, :2], cloud.y, strict=True):
            _point(axes, where, int(sign), 22)
        _line(axes, cloud.average, (-1.08, 1.08), color=BLUE, label="average")
        _line(axes, cloud.last, (-1.08, 1.08), color=VERMILION, linestyle="--", label="last w")
        axes.set(title=title, xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal")
        axes.set_xticks([-1, 0, 1])
        axes.set_yticks([-1, 0, 1])
        axes.grid(visible=False)
    planes[0].legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, fontsize=11, handlelength=1.6
    )
    _mistakes(counts, both)
    return drawn


def _mistakes(axes: Any, both: tuple[Cloud, Cloud]) -> None:
    separable, inseparable = both
    for cloud, name, style in (
        (inseparable, "inseparable", {"color": VERMILION, "marker": "s", "markersize": 4}),
        (separable, "separable", {"color": BLUE, "marker": "o", "markersize": 6}),
    ):
        axes.plot(range(1, len(cloud.mistakes) + 1), cloud.mistakes, label=name, **style)
    axes.set(title="Mistakes in each epoch", xlabel="epoch", ylabel="points wrong")
    axes.set_ylim(bottom=0, top=max(inseparable.mistakes) * 1.45)
    axes.legend(loc="upper right", fontsize=11)


def _ending(stage: Stage) -> str:
    if stage.corrected is None:
        return "five examples without a mistake: halt"
    return f"example {stage.last + 1} is {_name(stage.corrected)}: a mistake"


def _name(number: int) -> str:
    return f"x{'₁₂₃₄₅'[number]}"


def _point(axes: Any, where: Any, sign: int, size: float) -> None:
    if sign > 0:
        axes.scatter(*where, s=size, color=BLUE, marker="o", zorder=3, linewidths=0)
    else:
        axes.scatter(*where, s=size, color=VERMILION, marker="x", zorder=3, linewidths=2)


def _halves(axes: Any, w: NDArray[np.float64], span: tuple[float, float]) -> None:
    """Shade where w answers +1 and where −1, and draw the line between."""
    low, high = span
    edge = np.array([[low, low], [high, low], [high, high], [low, high]])
    axes.fill(*edge.T, color=_NEGATIVE, linewidth=0)
    axes.fill(*np.transpose(_answered_above(w, edge) or [(low, low)]), color=_POSITIVE, linewidth=0)
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


PAGE = "study.html"
_QUANTITIES = {
    "elements": "Time, in array elements worked on",
    "seconds": "Time, in processor seconds",
    "bytes": "Space, in bytes at the peak",
}


def power_rows(curves: list[Curve], quantity: str) -> list[list[str]]:
    """Return, for each way to keep weights, its name, the stated formula, and fitted powers.

    Powers are in d, D and U, each as ``fitted (stated)``.
    """
    rows = []
    for keeper in KEEPERS:
        own = [c for c in curves if c.keeper is keeper and c.quantity == quantity]
        if own:
            growth = keeper.space if quantity == "bytes" else keeper.time
            # A power of -0.00 would read as a finding.
            powers = [f"{round(c.power, 2) + 0.0:.2f} ({c.stated})" for c in own]
            rows.append([f"{keeper.ids} {keeper.name}", f"O({growth.formula})", *powers])
    return rows


def check_libraries() -> None:
    """Raise MissingExtraError unless the libraries of the extra ``report`` are installed."""
    environment()
    plotting()


def report(study: Study, pictures: dict[str, Picture]) -> bytes:
    """Return the page, which loads nothing from anywhere, in UTF-8."""
    return render(
        "study.html",
        title=f"The perceptron family on {study.corpus.name}",
        study=study,
        drawn=lambda name, alt: inlined(pictures[name].svg, name, alt),
        powers={text: power_rows(study.growth, name) for name, text in _QUANTITIES.items()},
    ).encode("utf-8", "replace")


def write_report(study: Study, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the page and the pictures to a folder, and return the files, the page first.

    The folder is made if need be. Raises MissingExtraError if Jinja2 or matplotlib is not
    installed; FileError if the folder cannot be made or written to.
    """
    pictures = all_pictures(study)
    page = report(study, pictures)
    place = made_folder(folder)
    contents = {PAGE: page} | {f"{name}.png": one.png for name, one in pictures.items()}
    for name, content in contents.items():
        replace_file(place / name, content)
    return [place / name for name in contents]


def made_folder(folder: str | os.PathLike[str]) -> Path:
    """The folder, which is made if need be.

    Raises FileError if it cannot be.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{place}: cannot be made a folder: {reason}") from error
    if not os.access(place, os.W_OK):
        raise FileError(f"{place}: cannot be written to")
    return place
