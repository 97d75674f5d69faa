"""The perceptron family, measured: growth of the cost of keeping weights, and what averaging gives.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/family.py [--epochs N] [--png FILE]

Prints Markdown. Powers are fitted over streams in which one variable doubles three times. The
second table is of the EWT treebank, each word by itself, the whole of train and dev.
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path
from typing import Any

import numpy as np
from corpora import treebank
from costs import KEEPERS, VARIABLES, Curve, growth_curves

from perceptron_nlp.pages.drawing import (
    BLACK,
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILION,
    styled,
)
from perceptron_nlp.perceptrons.study.corpus import read_study_corpus
from perceptron_nlp.perceptrons.study.experiments import Comparison, compare
from perceptron_nlp.perceptrons.study.pictures import Panel, picture

TOLERANCE = 0.15
TITLES = {
    "elements": "Time: array elements copied, computed, picked out or written",
    "bytes": "Space: bytes at the peak",
    "seconds": "Time: processor seconds",
}


_STYLES: dict[str, dict[str, Any]] = {
    "L1-L4": {"color": BLACK, "marker": "x", "linestyle": ":"},
    "L5": {"color": VERMILION, "marker": "s", "linestyle": "--"},
    "L6": {"color": ORANGE, "marker": "^", "linestyle": "-."},
    "L7": {"color": PURPLE, "marker": "D", "linestyle": "--"},
    "L8": {"color": BLACK, "marker": "v", "linestyle": "-."},
    "L9": {"color": SKY, "marker": "P", "linestyle": "-"},
    "L10": {"color": GREEN, "marker": "<", "linestyle": "-"},
    "L11": {"color": BLUE, "marker": "o", "linestyle": "-"},
    "L12": {"color": GREY, "marker": "*", "linestyle": "-"},
}
_LABELS = {"elements": "time: array elements", "bytes": "space: bytes"}
_XLABELS = {"d": "d, features", "D": "T·D, examples", "U": "U, updates"}


def power_rows(curves: list[Curve], quantity: str) -> list[list[str]]:
    """Return, for each way to keep weights, its name, the stated formula, and fitted powers."""
    rows = []
    for keeper in KEEPERS:
        own = [c for c in curves if c.keeper.name == keeper.name and c.quantity == quantity]
        if own:
            growth = keeper.space if quantity == "bytes" else keeper.time
            # A power of -0.00 would read as a finding.
            powers = [f"{round(c.power, 2) + 0.0:.2f} ({c.stated})" for c in own]
            rows.append([f"{keeper.name} ({keeper.ids})", f"O({growth.formula})", *powers])
    return rows


def cost_panels(growth: list[Curve]) -> list[Panel]:
    """Counted elements and bytes on doubly logarithmic axes: a line's slope is its power."""
    return [
        Panel(
            f"{_LABELS[quantity].partition(':')[0].capitalize()} over {_XLABELS[variable]}",
            f"{_LABELS[quantity]} over {_XLABELS[variable]}, a line for each way to keep weights",
            functools.partial(
                _cost, [c for c in growth if c.quantity == quantity], quantity, variable
            ),
        )
        for quantity in _LABELS
        for variable in VARIABLES
    ]


def _cost(curves: list[Curve], quantity: str, variable: str, axes: Any) -> None:
    ticks: list[int] = []
    for curve in curves:
        if curve.series.variable == variable and not curve.keeper.in_core:
            axes.plot(
                curve.series.values,
                curve.costs,
                label=f"{curve.keeper.name} ({curve.keeper.ids})",
                markerfacecolor="none",
                **_STYLES[curve.keeper.ids],
            )
            ticks = curve.series.values
    axes.set(xscale="log", yscale="log", xlabel=_XLABELS[variable], ylabel=_LABELS[quantity])
    axes.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axes.yaxis.set_major_formatter(lambda value, _: f"10{_raised(value)}")
    axes.minorticks_off()


def _raised(value: float) -> str:
    """Return the power of ten of a value as superscripts."""
    return str(round(np.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """A Markdown table."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def print_growth(growth: list[Curve]) -> None:
    """Fitted powers, and how far the worst is from the stated one."""
    for quantity, title in TITLES.items():
        print(f"## {title}\n\nFitted power (stated power).\n")
        print_table(["row", "stated", *VARIABLES], power_rows(growth, quantity))
        worst = max(
            (c for c in growth if c.quantity == quantity), key=lambda c: abs(c.power - c.stated)
        )
        off = abs(worst.power - worst.stated)
        print(
            f"Worst: {worst.keeper.ids} in {worst.series.variable}, off by {off:.2f}"
            f" ({'within' if off <= TOLERANCE else 'NOT within'} {TOLERANCE}).\n"
        )


def print_comparison(found: Comparison) -> None:
    """Standard against averaged."""
    rows = [
        [name, f"{each.seconds:.3f} s", f"{each.accuracy:.4f}"]
        for name, each in (("standard", found.standard), ("averaged", found.averaged))
    ]
    print_table(["weights", "training", "right on dev"], rows)
    print(
        f"The average takes {100 * found.more_time:+.1f} % time; {found.epochs} epochs, the"
        f" fastest of {found.repeats} in turn, processor time."
    )


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--png", type=Path, help="a file for the picture of the costs")
    chosen = parser.parse_args()
    train, dev = treebank("EWT", "train"), treebank("EWT", "dev")
    print("# The perceptron family\n")
    growth = growth_curves()
    print_growth(growth)
    if chosen.png is not None:
        with styled():
            chosen.png.write_bytes(picture(cost_panels(growth)).png)
    corpus = read_study_corpus([train], dev=dev, tokens=10**9)
    print(
        f"## Standard against averaged: {corpus.column} of EWT, {len(corpus.train):,} words,"
        f" {corpus.train.X.shape[1]:,} features, {len(corpus.dev):,} words of dev\n"
    )
    print_comparison(compare(corpus, epochs=chosen.epochs, repeats=9))


if __name__ == "__main__":
    main()
