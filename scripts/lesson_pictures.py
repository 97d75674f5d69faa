"""Draw the pictures of docs/perceptron-family.md that show a learner's boundary in the plane.

``make pictures`` runs it: ``python scripts/lesson_pictures.py docs/images``. All points are drawn
with a seed, the learners are those of ``perceptron_nlp.perceptrons.textbook``, and the files are
the same on each run.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.pages.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    VERMILION,
    figure,
    percent_axis,
    styled,
    svg,
)
from perceptron_nlp.perceptrons import textbook as tb

Array = NDArray[np.float64]
SEED = 4
TRAININGS = 12
SHOWN = 1  # the training of which every line is drawn
LIMIT = 4.0
_TINTS = ("#FBE5D6", "#DCEBF5", "#DDF1E8")
_COLORS = (VERMILION, BLUE, GREEN)
_MARKERS = ("s", "o", "^")


@dataclass(frozen=True)
class Cloud:
    """Points of two or more classes in the plane.

    Attributes
    ----------
    X : float64[n, 3], the two coordinates and a 1
    y : int[n], the classes: -1 and 1, or 0, 1, 2
    """

    X: Array
    y: NDArray[np.int64]


def cloud(
    centers: list[tuple[float, float]], labels: list[int], n: int, spread: float, seed: int
) -> Cloud:
    """Draw n points around each center."""
    rng = np.random.default_rng(seed)
    points = [rng.normal(center, spread, (n, 2)) for center in centers]
    order = rng.permutation(n * len(centers))
    X = np.column_stack([np.concatenate(points), np.ones(n * len(centers))])
    return Cloud(X[order], np.repeat(labels, n)[order])


def overlapping(seed: int = SEED, n: int = 40) -> Cloud:
    """Draw two clouds that no line separates: the points near the middle never come to rest."""
    return cloud([(-1.1, -0.6), (1.1, 0.6)], [-1, 1], n, 1.15, seed)


def separated(seed: int = SEED, n: int = 20) -> Cloud:
    """Draw two clouds with a gap between them."""
    return cloud([(-1.7, -1.0), (1.7, 1.0)], [-1, 1], n, 0.65, seed)


def three(seed: int = SEED, n: int = 25) -> Cloud:
    """Draw three clouds that touch."""
    return cloud([(-1.5, -0.9), (1.5, -0.9), (0.0, 1.6)], [0, 1, 2], n, 1.0, seed)


def errors(w: Array, points: Cloud) -> float:
    """Return the share of points that a weight vector gets wrong."""
    return float(np.mean(tb.Binary().predict(w, points.X) != points.y))


def averaging_figures() -> list[tuple[float, float]]:
    """Return shares of errors on new points, of the last vector and of the average, by training."""
    new = overlapping(seed=SEED + 100, n=2000)
    found = []
    for seed in range(TRAININGS):
        points = overlapping(seed=seed)
        run = tb.train(tb.Binary(), points.X, points.y, max_epochs=5)
        found.append((errors(run.w, new), errors(run.average(), new)))
    return found


def draw_line(axes: Any, w: Array, offset: float = 0.0, **style: Any) -> None:
    """Draw where w·x is the offset."""
    a, b, c = (float(value) for value in w)
    c -= offset
    ends = np.array([-2 * LIMIT, 2 * LIMIT])
    if abs(b) >= abs(a):
        axes.plot(ends, -(a * ends + c) / b, **style)
    elif a:
        axes.plot(-(b * ends + c) / a, ends, **style)


def draw_points(axes: Any, points: Cloud, labels: tuple[int, ...] = (-1, 1)) -> None:
    """Draw the points, a shape and a color for each class."""
    for label, color, marker in zip(labels, _COLORS, _MARKERS, strict=False):
        here = points.X[points.y == label]
        axes.scatter(
            here[:, 0],
            here[:, 1],
            s=26,
            c=color,
            marker=marker,
            linewidths=0.6,
            edgecolors="#ffffff",
        )
    axes.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), aspect="equal", xticks=[], yticks=[])
    axes.grid(False)


def shade(axes: Any, predict: Any, labels: tuple[int, ...]) -> None:
    """Tint the plane by what is predicted there."""
    from matplotlib.colors import ListedColormap

    side = np.linspace(-LIMIT, LIMIT, 97)
    x, y = np.meshgrid(side, side)
    grid = np.column_stack([x.ravel(), y.ravel(), np.ones(x.size)])
    numbers = np.searchsorted(labels, predict(grid)).reshape(x.shape)
    axes.contourf(
        x, y, numbers, levels=np.arange(len(labels) + 1) - 0.5,
        cmap=ListedColormap(_TINTS[: len(labels)]), zorder=-1,
    )  # fmt: skip


def draw_update() -> Any:
    """Draw one mistake: the line turns until the point is on its right side."""
    drawn = figure(7.6, 3.9)
    w, x = np.array([2.0, -1.2, 0.0]), np.array([0.8, 1.9, 1.0])
    after = w + x
    points = Cloud(
        np.array([[-1.9, 1.0, 1], [-1.2, -1.6, 1], [2.0, -0.6, 1], x]), np.array([-1, -1, 1, 1])
    )
    titles = {"w": "x is on the wrong side", "w + x": "the line has turned"}
    for axes, vector, (name, title) in zip(
        drawn.subplots(1, 2), (w, after), titles.items(), strict=True
    ):
        shade(axes, lambda grid, v=vector: np.where(grid @ v > 0, 1, -1), (-1, 1))
        draw_line(axes, vector, color=BLACK)
        draw_points(axes, points)
        axes.scatter(*x[:2], s=150, facecolors="none", edgecolors=BLACK, linewidths=1.5)
        axes.annotate("", vector[:2] * 0.8, (0, 0), arrowprops={"arrowstyle": "->", "color": BLACK})
        axes.annotate(name, vector[:2] * 0.8, xytext=(5, 4), textcoords="offset points")
        axes.annotate("x", x[:2], xytext=(10, 6), textcoords="offset points")
        axes.set_title(title, fontsize=12)
    return drawn


def draw_averaging() -> Any:
    """Draw the vectors of one training and their average; errors of both in many trainings."""
    drawn = figure(9.0, 4.3)
    left, right = drawn.subplots(1, 2, width_ratios=(1, 1))
    points = overlapping(seed=SHOWN)
    run = tb.train(tb.Binary(), points.X, points.y, max_epochs=5)
    distinct = {tuple(w): w for w in run.trace()[-len(points.y) :]}
    for w in distinct.values():
        draw_line(left, w, color=GREY, linewidth=0.7, alpha=0.55)
    draw_points(left, points)
    draw_line(left, run.w, color=ORANGE, linestyle="--", linewidth=2.4, label="last")
    draw_line(left, run.average(), color=BLACK, linewidth=2.8, label="average")
    left.plot([], [], color=GREY, linewidth=0.9, label="each one of the last epoch")
    left.set_title(f"training {SHOWN + 1} of those on the right", fontsize=12)
    left.legend(
        loc="lower center", bbox_to_anchor=(0.5, -0.2), ncols=3, fontsize=10, handlelength=1.6
    )
    for number, (last, mean) in enumerate(averaging_figures(), 1):
        right.plot([number, number], [last, mean], color=GREY, linewidth=1.0)
        right.plot(number, last, color=ORANGE, marker="D", linestyle="")
        right.plot(number, mean, color=BLACK, marker="o", linestyle="")
    right.set(xlabel="training, each on other points", ylabel="errors on 4,000 new points")
    percent_axis(right.yaxis, 0)
    right.set_ylim(0, None)
    right.set_title("last and average of twelve trainings", fontsize=12)
    return drawn


def draw_margin() -> Any:
    """Draw the first line that separates, and one that wanted a margin."""
    drawn = figure(7.6, 3.9)
    points = separated()
    for axes, margin in zip(drawn.subplots(1, 2), (0, 12), strict=True):
        run = tb.train(tb.Binary(margin=margin), points.X, points.y, max_epochs=200)
        shade(axes, lambda grid, w=run.w: np.where(grid @ w > 0, 1, -1), (-1, 1))
        least = float(np.min(points.y * (points.X @ run.w)))
        for offset in (-least, least):
            draw_line(axes, run.w, offset, color=BLACK, linewidth=1.0, linestyle=":")
        draw_line(axes, run.w, color=BLACK)
        draw_points(axes, points)
        width = 2 * least / float(np.hypot(*run.w[:2]))
        name = "no margin wanted" if not margin else "margin wanted"
        axes.set_title(f"{name}: a band of {width:.2f}", fontsize=12)
    return drawn


def draw_classes() -> Any:
    """Draw three classes: the regions of the last vectors, of a vote, of the average."""
    drawn = figure(9.6, 3.6)
    points = three()
    run = tb.train(tb.Multiclass(3), points.X, points.y.tolist(), max_epochs=3)
    ways = {
        "last": lambda grid: tb.Multiclass(3).predict(run.w, grid),
        "voted": lambda grid: tb.voted_improved(run, grid),
        "averaged": lambda grid: tb.Multiclass(3).predict(run.average(), grid),
    }
    for axes, (name, predict) in zip(drawn.subplots(1, 3), ways.items(), strict=True):
        shade(axes, predict, (0, 1, 2))
        draw_points(axes, points, (0, 1, 2))
        axes.set_title(name, fontsize=12)
    return drawn


PICTURES = {
    "lesson-update": draw_update,
    "lesson-averaging": draw_averaging,
    "lesson-margin": draw_margin,
    "lesson-classes": draw_classes,
}


def main(folder: Path) -> None:
    """Write every picture into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    with styled():
        for name, draw in PICTURES.items():
            (folder / f"{name}.svg").write_bytes(svg(draw()))


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images"))
