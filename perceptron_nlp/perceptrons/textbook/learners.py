"""L1 to L4: the perceptron for two classes and for C, with margins, and the criteria they descend.

Source of the criteria and their (sub)gradients: Jenkins' lecture, "2. Perceptron learning case" and
the multiclass perceptron. Each update is -η times a gradient given here. Where a score is exactly 0
(or two scores tie) the function has a kink; there the gradient is the side that the update takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.perceptrons.textbook.schedule import Rate, not_negative
from perceptron_nlp.perceptrons.textbook.stream import Array, Delta, at_least


@dataclass(frozen=True)
class Binary:
    """The binary perceptron (L1); with a margin b > 0, Jenkins' variant (L4).

    Labels are -1 (class 0) and +1 (class 1). Weights are one vector w of d numbers.

    Sources: Johansson, "Perceptron pseudocode"; Nguyen, Algorithm 1, lines 7 to 9; Jenkins,
    "Variants of perceptron learning algorithm".
    """

    margin: Rate = 0

    def __post_init__(self) -> None:
        not_negative("margin", self.margin)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The labels, lowest class first."""
        return np.array([-1, 1])

    def shape(self, d: int) -> tuple[int, ...]:
        """The shape of the weights for vectors of d numbers."""
        return (d,)

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """Return the change of w by the example, before the rate; None where w stays.

        ::

            if y(wx) ≤ 0 then           (with margin: ≤ b)
                w ← w + yx
        """
        if y * (w @ x) <= self.margin:
            return Delta.of(y * x)
        return None

    def choose(self, w: Array, X: Array) -> NDArray[np.int64]:
        """The class, 0 or 1, of each row of X: ``sign(wx)``, a score of 0 being class 0."""
        return np.asarray(X @ w > 0, dtype=np.int64)

    def predict(self, w: Array, X: Array) -> NDArray[np.int64]:
        """The label, -1 or +1, of each row of X."""
        return self.labels[self.choose(w, X)]


@dataclass(frozen=True)
class Multiclass:
    """The multiclass perceptron (L2). Labels are 0 … C-1; weights are w[C, d].

    Source: Kuhlmann, "The perceptron learning algorithm".
    """

    classes: int

    def __post_init__(self) -> None:
        at_least("classes", self.classes, 2)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The labels, lowest class first."""
        return np.arange(self.classes)

    def shape(self, d: int) -> tuple[int, ...]:
        """The shape of the weights for vectors of d numbers."""
        return (self.classes, d)

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """Return the change of w by the example, before the rate; None where w stays.

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

    Source: Jenkins, the multiclass perceptron ("For C > 2, using maximal value method"); the margin
    after "Variants of perceptron learning algorithm".
    """

    margin: Rate = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        not_negative("margin", self.margin)

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """Return the change of w by the example, before the rate; None where w stays.

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


def binary_criterion(w: Array, X: Array, z: ArrayLike) -> Any:
    """J(w) = Σ_n -w·z_n x_n [w·z_n x_n ≤ 0], with z_n = ±1."""
    scores = np.asarray(z) * (X @ w)
    return -scores[scores <= 0].sum()


def binary_gradient(w: Array, X: Array, z: ArrayLike) -> Array:
    """∇J(w) = Σ_n -z_n x_n [w·z_n x_n ≤ 0]."""
    reflected = np.asarray(z)[:, None] * X
    return np.asarray(-reflected[reflected @ w <= 0].sum(axis=0))


def multiclass_criterion(w: Array, X: Array, k: ArrayLike) -> Any:
    """J(w_0 … w_{C-1}) = -Σ_n [l_n ≠ k_n] (w_k·x_n - w_l·x_n), l_n = argmax_m w_m·x_n."""
    scores, gold, rows = X @ w.T, np.asarray(k), np.arange(len(X))
    return -(scores[rows, gold] - scores[rows, np.argmax(scores, axis=1)]).sum()


def multiclass_gradient(w: Array, X: Array, k: ArrayLike) -> Array:
    """∂J/∂w_k and ∂J/∂w_l for every misclassified x_n: -x_n and +x_n. Shape of w."""
    gradient = np.zeros_like(w)
    for x, k_n, l_n in zip(X, np.asarray(k), np.argmax(X @ w.T, axis=1), strict=True):
        if l_n != k_n:
            gradient[k_n] -= x
            gradient[l_n] += x
    return gradient
