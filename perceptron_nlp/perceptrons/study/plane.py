"""Perceptrons in the plane: the seven steps, separable and inseparable points.

Source of the seven steps: B. K. Jenkins' lecture, the graphical example; the lecture gives
no coordinates, these do the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons import textbook as tb
from perceptron_nlp.sampling import uniform

Array = NDArray[Any]

POINTS = ((1, -1, -3), (1, 2, 1), (1, 0, 3), (1, 4, -1), (1, 0, 2))
SIGNS = (-1, 1, 1, -1, 1)
START = (-1, 0, 0)


@dataclass(frozen=True)
class Stage:
    """A weight vector of the seven steps and for how long it stood.

    Attributes
    ----------
    w : the vector (bias, and one weight for each axis)
    first, last : it is w(first) … w(last)
    corrected : the number, from 0, of the point whose mistake ended it, or None
    """

    w: tuple[int, ...]
    first: int
    last: int
    corrected: int | None


def seven_steps() -> list[Stage]:
    """The distinct vectors of the example, w(0) … w(12), from a run of the textbook's L1."""
    run = tb.train(tb.Binary(), _exact(POINTS), SIGNS, start=_exact(START))
    trace = [tuple(int(number) for number in w) for w in run.trace()]
    changes = [step.t for step in run.steps if step.delta]
    firsts, lasts = [0, *changes], [*(t - 1 for t in changes), len(trace) - 1]
    wrong = [(t - 1) % len(POINTS) for t in changes]
    return [
        Stage(trace[first], first, last, corrected)
        for first, last, corrected in zip(firsts, lasts, [*wrong, None], strict=True)
    ]


@dataclass(frozen=True)
class Cloud:
    """Points of two classes and what the binary perceptron (L1, O1) did with them.

    Attributes
    ----------
    X : float64[n, 3], two coordinates and a 1
    y : -1 or +1
    mistakes : in each epoch begun
    halted_by : what ended the training
    last, average : the weights
    bound : Novikoff's (R/γ)², where a separator is known; else None
    """

    X: Array
    y: Array
    mistakes: tuple[int, ...]
    halted_by: str
    last: Array
    average: Array
    bound: float | None

    def accuracy(self, w: Array) -> float:
        """The share of the points that w has on the right side."""
        return float(np.mean(tb.Binary().predict(w, self.X) == self.y))


SEPARATOR = np.array([0.6, 0.75, 0.05])
GAP = 0.12


def clouds(*, points: int = 120, epochs: int = 30) -> tuple[Cloud, Cloud]:
    """Points that a line separates with a gap, and the same with every tenth label turned."""
    where = uniform(2 * 2 * points, -1.0, 1.0, 7).reshape(-1, 2)
    X = tb.augment(where)
    u = SEPARATOR / np.linalg.norm(SEPARATOR)
    X = X[np.abs(X @ u) > GAP][:points]
    y = np.where(X @ u > 0, 1, -1)
    turned = np.where(np.arange(len(y)) % 10 == 9, -y, y)
    radius, gap = float(np.max((X**2).sum(axis=1))), float(np.min(y * (X @ u)))
    return (_cloud(X, y, epochs, radius / gap**2), _cloud(X, turned, epochs, None))


def _cloud(X: Array, y: Array, epochs: int, bound: float | None) -> Cloud:
    run = tb.train(tb.Binary(), X, y, order=tb.Sequential(seed=1), max_epochs=epochs)
    return Cloud(X, y, run.mistakes, str(run.halted_by), run.w, run.average(), bound)


def _exact(numbers: object) -> Array:
    return np.array(numbers, dtype=object)
