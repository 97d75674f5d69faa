"""L1 and L4 for two classes: the perceptron, and the perceptron with margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons.schedule import Rate
from perceptron_nlp.perceptrons.textbook.checks import margin_checked
from perceptron_nlp.perceptrons.textbook.stream import Array, Delta


@dataclass(frozen=True)
class Binary:
    """The binary perceptron (L1); with a margin b > 0, Jenkins' variant (L4).

    Labels are -1 (class 0) and +1 (class 1). Weights are one vector w of d numbers.

    Sources: Johansson, "Perceptron pseudocode"; Nguyen, Algorithm 1, lines 7 to 9;
    Jenkins, "Variants of perceptron learning algorithm".
    """

    margin: Rate = 0

    def __post_init__(self) -> None:
        margin_checked(self.margin)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The labels, lowest class first."""
        return np.array([-1, 1])

    def shape(self, d: int) -> tuple[int, ...]:
        """The shape of the weights for vectors of d numbers."""
        return (d,)

    def correction(self, w: Array, x: Array, y: int) -> Delta | None:
        """What the example adds to w, before the rate; None where w stays.

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
