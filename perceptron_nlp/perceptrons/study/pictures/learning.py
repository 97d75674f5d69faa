"""Pictures of what was learnt on the corpus: curves, orders, margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptron_nlp.perceptrons.study.curves import COMPARED, LearningCurves, Margins, OrderSpread
from perceptron_nlp.perceptrons.study.pictures.drawing import GREY, OUTPUT_STYLES, figure, percent


def draw_learning_curves(curves: LearningCurves) -> Any:
    """Accuracy on dev over the epochs, and mistakes in training."""
    drawn = figure(9, 4)
    dev, train = drawn.subplots(1, 2, width_ratios=(3, 2))
    epochs = np.arange(1, curves.epochs + 1)
    for output, right in curves.dev.items():
        dev.plot(epochs, right, label=output, **OUTPUT_STYLES[output])
    dev.set(title="Accuracy on dev", xlabel="epochs", ylabel="words right")
    percent(dev.yaxis)
    dev.legend(title="weights", loc="lower right")
    train.plot(epochs, curves.mistakes, color=GREY, marker="o")
    train.set(title="Mistakes in training", xlabel="epoch", ylabel="words wrong")
    train.set_ylim(bottom=0)
    for axes in (dev, train):
        axes.set_xticks(epochs[:: max(1, len(epochs) // 5)])
    return drawn


def draw_order_spread(spread: OrderSpread) -> Any:
    """Accuracy on dev for each order of the examples, a point each."""
    drawn = figure(9, 3.4)
    axes = drawn.subplots()
    for row, (output, right) in enumerate(spread.dev.items()):
        style = OUTPUT_STYLES[output]
        # Points of one value stand above each other; the same order at the same height.
        height = row + np.linspace(-0.24, 0.24, spread.orders)
        axes.scatter(right, height, s=34, color=style["color"], marker=style["marker"], alpha=0.75)
        mean, deviation = spread.mean(output), spread.deviation(output)
        axes.plot([mean, mean], [row - 0.38, row + 0.38], color="black", linewidth=2)
        axes.plot([mean - deviation, mean + deviation], [row - 0.38] * 2, color="black")
    axes.set_yticks(range(len(spread.dev)), list(spread.dev))
    axes.grid(axis="y", visible=False)
    percent(axes.xaxis)
    axes.set(
        title=f"{spread.orders} random orders, {spread.epochs} epochs each",
        xlabel="words right on dev; upright line: mean, level line: ± 1 standard deviation",
    )
    return drawn


def draw_margins(margins: Margins) -> Any:
    """The leads of the right label on dev, and accuracy by the margin of the training."""
    drawn = figure(9, 4)
    lead, wanted = drawn.subplots(1, 2)
    everyone = np.concatenate([margins.leads[output] for output in COMPARED])
    for output in COMPARED:
        style = OUTPUT_STYLES[output]
        leads = np.sort(margins.leads[output])
        share = np.arange(1, len(leads) + 1) / len(leads)
        lead.plot(leads, share, color=style["color"], linestyle=style["linestyle"], label=output)
        right = margins.dev[output]
        wanted.plot(range(len(right)), right, label=output, **style)
    lead.axvline(0, color=GREY, linewidth=1)
    if len(everyone):
        lead.set_xlim(*np.quantile(everyone, [0.002, 0.998]))
    percent(lead.yaxis, 0)
    lead.set(
        title="Leads on dev, trained without margin",
        xlabel="score of right label − best other, over ‖w‖",
        ylabel="words with at most this lead",
    )
    wanted.set_xticks(range(len(margins.wanted)), [f"{b:g}" for b in margins.wanted])
    percent(wanted.yaxis)
    wanted.set(
        title="Trained with margin b (L4)",
        xlabel="margin b wanted in training",
        ylabel="words right on dev",
    )
    lead.legend(title="weights", loc="lower right")
    wanted.legend(title="weights", loc="best")
    return drawn
