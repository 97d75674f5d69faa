"""The study's pictures, as PNGs; they need the extra ``plot``."""

from __future__ import annotations

from perceptron_nlp.perceptrons.study.experiments import Study
from perceptron_nlp.perceptrons.study.pictures.drawing import plotting, png, styled
from perceptron_nlp.perceptrons.study.pictures.growth import draw_cost_growth
from perceptron_nlp.perceptrons.study.pictures.learning import (
    draw_learning_curves,
    draw_margins,
    draw_order_spread,
)
from perceptron_nlp.perceptrons.study.pictures.plane import draw_separable, draw_seven_steps

__all__ = ["all_pictures", "plotting"]


def all_pictures(study: Study) -> dict[str, bytes]:
    """Every picture of a study: name -> PNG.

    Raises
    ------
    MissingExtraError
        when matplotlib is not installed
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
        return {name: png(figure) for name, figure in drawn.items()}
