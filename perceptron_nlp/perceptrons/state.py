"""The weights of a classifier in training: where they begin, their mean, how far they have come."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.train.vectors import mean_to_owed, owed_to_mean
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.sampling import uniform

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


RANDOM_START = (-0.01, 0.01)
"""The range of ``init="random"``: small, as the source advises (Jenkins, general GD, note 3)."""


def start_weights(
    init: Any, vectors: int, width: int, seed: int, *, intercept: bool
) -> tuple[Floats, Floats]:
    """The weights and biases to begin with.

    Parameters
    ----------
    init : "zeros", a number for every weight, "random", (low, high), or an array of shape
        (vectors, width) or, with the biases as last column, (vectors, width + 1); for two
        classes also (width,) or (width + 1,)

    Raises ArgumentError, ArgumentTypeError if `init` is none of these, or holds NaN or infinity.
    """
    full = width + intercept
    if isinstance(init, str) and init == "zeros":
        init = 0.0
    if isinstance(init, int | float | np.number) and not isinstance(init, bool):
        _finite(np.asarray(init, dtype=np.float64))
        # NumPy's zeros come from the system as they are needed, its fills do not.
        shape, a = (vectors, width), float(init)
        weights = np.zeros(shape) if a == 0 else np.full(shape, a)
        return weights, np.full(vectors, a if intercept else 0.0)
    low_high = RANDOM_START if isinstance(init, str) and init == "random" else init
    if isinstance(low_high, tuple):
        return _random(low_high, vectors, full, width, seed)
    if isinstance(init, str):
        raise ArgumentError(f"init {quote(init)} is not 'zeros' or 'random', a number or an array")
    return _from_array(init, vectors, width, intercept)


def _random(
    low_high: tuple[Any, ...], vectors: int, full: int, width: int, seed: int
) -> tuple[Floats, Floats]:
    if len(low_high) != 2:
        raise ArgumentError(f"init {quote(repr(low_high))} must be a range (low, high)")
    try:
        low, high = float(low_high[0]), float(low_high[1])
    except (TypeError, ValueError):
        raise ArgumentTypeError(f"init {quote(repr(low_high))} must hold two numbers") from None
    if not (np.isfinite(low) and np.isfinite(high) and low <= high):
        raise ArgumentError(f"init {quote(repr(low_high))} must be finite, the lower number first")
    table = uniform(vectors * full, low, high, seed).reshape(vectors, full)
    bias = table[:, width].copy() if full > width else np.zeros(vectors)
    return table[:, :width].copy(), bias


def _from_array(init: Any, vectors: int, width: int, intercept: bool) -> tuple[Floats, Floats]:
    try:
        table = np.array(init, dtype=np.float64, ndmin=2)
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"init must be 'zeros', 'random', a number, a pair or an array, got {quote(repr(init))}"
        ) from None
    shapes = [(vectors, width)] + [(vectors, width + 1)] * intercept
    if table.shape not in shapes:
        wanted = " or ".join(map(str, shapes))
        raise ArgumentError(f"init has the shape {np.shape(init)}, but the weights have {wanted}")
    _finite(table)
    bias = table[:, width].copy() if table.shape[1] > width else np.zeros(vectors)
    return table[:, :width].copy(), bias


def _finite(values: Floats) -> None:
    if not np.isfinite(values).all():
        raise ArgumentError("init must be finite")
