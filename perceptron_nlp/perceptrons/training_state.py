"""Where a training stands: weights, their mean, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.vectors import mean_to_owed, owed_to_mean

Floats = NDArray[np.float64]


@dataclass
class TrainingState:
    """All that a training needs in order to go on.

    Attributes
    ----------
    weights : float64[vectors, width], the last ones; one vector for two classes, else one a class
    bias : float64[vectors]
    averaged : whether the mean is kept
    mean, mean_bias : means after each example; None before the first
    seen : examples so far
    epochs, steps : how many so far
    """

    weights: Floats
    bias: Floats
    averaged: bool
    mean: Floats | None = None
    mean_bias: Floats | None = None
    seen: int = 0
    epochs: int = 0
    steps: int = 0

    def resumed(self, width: int, weight: float) -> TrainingState:
        """A copy to train on; new features, up to `width`, have had `weight` all the time."""
        added = np.full((width - self.weights.shape[1], len(self.bias)), weight)

        def widened(weights: Floats) -> Floats:
            return np.concatenate([weights.T, added]).T if added.size else weights.copy(order="K")

        mean = None if self.mean is None else widened(self.mean)
        return replace(self, weights=widened(self.weights), bias=self.bias.copy(), mean=mean)

    def laid_out(self, *, sparse: bool) -> None:
        """Lay weights out by feature for sparse rows, by class for dense ones."""
        order: Literal["F", "C"] = "F" if sparse else "C"
        self.weights = np.asarray(self.weights, order=order)
        if self.mean is not None:
            self.mean = np.asarray(self.mean, order=order)

    def owed(self) -> tuple[Floats, Floats]:
        """What N weights and biases exceed the sum after each example by, flat as in memory."""
        if self.mean is None or self.mean_bias is None:
            return np.zeros(self.weights.size), np.zeros(self.bias.size)
        return (
            mean_to_owed(flat_view(self.weights), flat_view(self.mean), self.seen),
            mean_to_owed(self.bias, self.mean_bias, self.seen),
        )

    def settle(self, owed: Floats, owed_bias: Floats) -> None:
        """Turn what is owed now into the mean, in place: at 10^7 features a copy shows."""
        owed_to_mean(flat_view(self.weights), owed, self.seen)
        owed_to_mean(self.bias, owed_bias, self.seen)
        by_class = self.weights.flags.c_contiguous
        self.mean = owed.reshape(self.weights.shape, order="C" if by_class else "F")
        self.mean_bias = owed_bias

    def result(self) -> tuple[Floats, Floats]:
        """The weights and biases that training gives: the mean where one is kept."""
        if self.mean is None or self.mean_bias is None:
            return self.weights, self.bias
        return self.mean, self.mean_bias


def flat_view(weights: Floats) -> Floats:
    """Weights in the order in which they lie in memory; a view, never a copy."""
    turned = weights if weights.flags.c_contiguous else weights.T
    return turned.reshape(-1)
