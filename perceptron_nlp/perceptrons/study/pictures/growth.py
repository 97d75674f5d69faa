"""The picture of growing costs: rows of the cost table over d, D and U."""

from __future__ import annotations

from typing import Any

from perceptron_nlp.perceptrons.study.costs import VARIABLES, Curve
from perceptron_nlp.perceptrons.study.pictures.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    figure,
)

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
    axes.set_xticks(ticks, _alternate([f"{tick:,}" for tick in ticks]))
    axes.minorticks_off()


def _alternate(names: list[str]) -> list[str]:
    return [name if place % 2 == 0 else "" for place, name in enumerate(names)]
