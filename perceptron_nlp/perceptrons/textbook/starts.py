"""Where the weights begin: zeros, a·1, or random numbers in a range.

Source: Jenkins' lecture, "Notes – perceptron GD", note 3: the start is arbitrary.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import prod

import numpy as np

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.perceptrons.schedule import Rate
from perceptron_nlp.perceptrons.textbook.stream import Array
from perceptron_nlp.sampling import uniform

Start = Callable[[tuple[int, ...]], Array]


def zeros(shape: tuple[int, ...]) -> Array:
    """w(0) = 0."""
    return np.zeros(shape, dtype=np.int64)


def all_equal(a: Rate) -> Start:
    """w(0) = a·1."""
    return lambda shape: np.full(shape, a, dtype=np.int64 if isinstance(a, int) else object)


def random_in(low: float, high: float, *, seed: int) -> Start:
    """w(0) random, each number from low to high; the same for the same seed."""
    return lambda shape: uniform(prod(shape), low, high, seed).reshape(shape)


def begun(start: Start | Array, shape: tuple[int, ...]) -> Array:
    """The start as weights of `shape`; an array is taken as it is."""
    w = np.asarray(start(shape) if callable(start) else start)
    if w.shape != shape:
        raise ArgumentError(f"start must have the shape {shape} of the weights, got {w.shape}")
    return w


def exact(w: Array) -> Array:
    """The weights as exact numbers, floats as the fractions that they are."""
    numbers = [Fraction(value) if isinstance(value, float) else value for value in w.flat]
    return np.array(numbers, dtype=object).reshape(w.shape)
