"""Where the weights of the classifier begin."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.sampling import uniform

Floats = NDArray[np.float64]

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

    Raises
    ------
    ArgumentError, ArgumentTypeError
        when `init` is none of these, or holds NaN or infinity
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
