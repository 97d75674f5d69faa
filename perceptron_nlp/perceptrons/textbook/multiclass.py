"""L2, L3 and L4 for C classes: one weight vector a class, the highest score wins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons.schedule import Rate
from perceptron_nlp.perceptrons.textbook.checks import classes_checked, margin_checked
from perceptron_nlp.perceptrons.textbook.stream import Array, Delta


@dataclass(frozen=True)
class Multiclass:
    """The multiclass perceptron (L2). Labels are 0 … C-1; weights are w[C, d].

    Source: Kuhlmann, "The perceptron learning algorithm".
    """

    classes: int

    def __post_init__(self) -> None:
        classes_checked(self.classes)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The labels, lowest class first."""
        return np.arange(self.classes)

    def shape(self, d: int) -> tuple[int, ...]:
        """The shape of the weights for vectors of d numbers."""
        return (self.classes, d)

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """What the example adds to w, before the rate; None where w stays.

        ::

            p ← that class k for which the activation x·w_k is maximal
            if p ≠ y do
                w_p ← w_p - x
                w_y ← w_y + x
        """
        p = int(np.argmax(w @ x))
        if p != y:
            return Delta.of_rows({p: -x, y: x})
        return None

    def choose(self, w: Array, X: Array) -> NDArray[np.int64]:
        """``arg max_k x·w_k`` for each row of X; of equal scores the lowest class."""
        return np.asarray(np.argmax(X @ w.T, axis=1), dtype=np.int64)

    def predict(self, w: Array, X: Array) -> NDArray[np.int64]:
        """The label of each row of X, which is its class."""
        return self.choose(w, X)


@dataclass(frozen=True)
class MaximalValue(Multiclass):
    """The maximal-value method with strict maximum (L3); with a margin b > 0, L4.

    The gold class must beat all others: a tie for the highest score is a mistake.

    Source: Jenkins, the multiclass perceptron ("For C > 2, using maximal value
    method"); the margin after "Variants of perceptron learning algorithm".
    """

    margin: Rate = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        margin_checked(self.margin)

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """What the example adds to w, before the rate; None where w stays.

        ::

            l = argmax_{j ≠ k} { g_j(x) }        (k, the given class, is y here)
            If g_k(x) > g_j(x) ∀ j ≠ k           (with margin: g_k(x) - g_l(x) > b)
            then: w_m stays ∀ m
            else: w_k ← w_k + η x
                  w_l ← w_l - η x
        """
        g = w @ x
        rival = int(np.argmax(np.delete(g, y)))
        l = rival if rival < y else rival + 1  # noqa: E741
        if g[y] - g[l] > self.margin:
            return None
        return Delta.of_rows({y: x, l: -x})
