"""Pictures of points in the plane: the seven steps, separable and inseparable points."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons.study.pictures.drawing import BLACK, BLUE, GREY, VERMILION, figure
from perceptron_nlp.perceptrons.study.plane import POINTS, SIGNS, Cloud, Stage

_POSITIVE, _NEGATIVE = "#DCEBF5", "#FBE5D6"
_CORNERS = (-4.5, 5.5)


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
