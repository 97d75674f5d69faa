"""Charts as what they show, for both who draw them: svg.py and png.py."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LINE, DOTS, BARS = "line", "dots", "bars"
_STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.25)
_MOST_TICKS = 6
_LEAST = 0.01
# Points do not lie on the lower axis, in parts of a step.
_ROOM = 0.1


@dataclass(frozen=True, slots=True)
class Point:
    """A place in a chart.

    Attributes
    ----------
    x, y : where; y is a fraction of 1
    low, high : None, or the ends of an interval around y
    half : of a bar, half of its width, in units of x
    """

    x: float
    y: float
    low: float | None = None
    high: float | None = None
    half: float = 0.0


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together.

    Attributes
    ----------
    name : what the legend calls them
    kind : LINE, DOTS or BARS
    points : from left to right
    style : 0 to 2; colour, dashes and markers all differ, so that none of them is needed
    """

    name: str
    kind: str
    points: tuple[Point, ...]
    style: int = 0


@dataclass(frozen=True, slots=True)
class Chart:
    """Shares over something.

    Attributes
    ----------
    name : of its files, without the ending
    title, alt : what it is called, and what it shows, for those who do not see it
    x_label, y_label : what the axes are of
    x_ticks : (place, text) of those below
    x_range, y_range : the ends of the axes
    series : what is drawn, the first one at the bottom
    diagonal : whether a line marks where both axes are equal
    """

    name: str
    title: str
    alt: str
    x_label: str
    y_label: str
    x_ticks: tuple[tuple[float, str], ...]
    x_range: tuple[float, float]
    y_range: tuple[float, float]
    series: tuple[Series, ...]
    diagonal: bool = False

    @property
    def y_ticks(self) -> tuple[tuple[float, str], ...]:
        """(place, text) at the left."""
        return share_ticks(*self.y_range)


@dataclass(frozen=True, slots=True)
class Grid:
    """Counts of pairs, as a matrix of squares.

    Attributes
    ----------
    name, title, alt : as of a Chart
    x_label, y_label : what columns and rows are
    names : of both
    counts : one row a name
    """

    name: str
    title: str
    alt: str
    x_label: str
    y_label: str
    names: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]

    def strength(self, row: int, column: int) -> float:
        """How strongly a square is filled, 0 to 1: off the diagonal against the largest there.

        Roots, or a few frequent pairs would leave all others blank.
        """
        if row == column:
            total = sum(self.counts[row])
            return self.counts[row][column] / total if total else 0.0
        largest = max(
            (count for i, line in enumerate(self.counts) for j, count in enumerate(line) if i != j),
            default=0,
        )
        return math.sqrt(self.counts[row][column] / largest) if largest else 0.0


def fitting_range(values: Sequence[float]) -> tuple[float, float]:
    """The ends of an axis of shares that shows these values, at ticks, at least 1 % apart."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    for step in _STEPS:
        bottom = max(0.0, math.floor(low / step - _ROOM) * step)
        top = min(1.0, max(math.ceil(high / step - 1e-9) * step, bottom + step))
        if (top - bottom) / step <= _MOST_TICKS - 1 + 1e-9 and top - bottom > _LEAST - 1e-9:
            break
    return bottom, top


def share_ticks(low: float, high: float) -> tuple[tuple[float, str], ...]:
    """(place, text in percent) of the ticks of an axis of shares."""
    step = _step(low, high)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    decimals = max(0, -math.floor(math.log10(step * 100) + 1e-9)) if step < 0.01 else 0
    return tuple((k * step, f"{100 * k * step:.{decimals}f} %") for k in range(first, last + 1))


def _step(low: float, high: float) -> float:
    span = max(high - low, _LEAST)
    return next((step for step in _STEPS if span / step <= _MOST_TICKS - 1 + 1e-9), _STEPS[-1])
