"""The criterion functions: their values, their slopes, and the updates that follow them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from perceptron_nlp.perceptrons.textbook import (
    Batch,
    Binary,
    MaximalValue,
    Multiclass,
    binary_criterion,
    binary_gradient,
    multiclass_criterion,
    multiclass_gradient,
    train,
)

seeds = st.integers(0, 2**32 - 1)


def slopes(J: Callable[[Any], Any], w: np.ndarray, h: float = 1e-4) -> np.ndarray:
    """∂J/∂w by central differences."""
    out = np.zeros_like(w)
    for place in np.ndindex(w.shape):
        up, down = w.copy(), w.copy()
        up[place] += h
        down[place] -= h
        out[place] = (J(up) - J(down)) / (2 * h)
    return out


def points(seed: int, classes: int) -> tuple[np.ndarray, np.ndarray, np.random.RandomState]:
    rng = np.random.RandomState(seed)
    return rng.randn(12, 3), rng.randint(0, classes, size=12), rng


def test_the_binary_criterion_adds_up_the_depths_of_the_mistakes() -> None:
    X, z = np.array([[1, 0], [0, 1], [2, 2]]), [1, -1, -1]
    w = np.array([3, -1])
    # Reflected scores: 3, 1, -4.
    assert binary_criterion(w, X, z) == 4
    assert binary_gradient(w, X, z).tolist() == [2, 2]


def test_the_multiclass_criterion_adds_up_how_far_gold_lies_behind() -> None:
    X, k = np.array([[1, 0], [0, 1]]), [1, 2]
    w = np.array([[3, 0], [1, 0], [0, 5]])
    # The first is 2 behind class 0; the second is right.
    assert multiclass_criterion(w, X, k) == 2
    assert multiclass_gradient(w, X, k).tolist() == [[1, 0], [-1, 0], [0, 0]]


@settings(deadline=None, max_examples=50)
@given(seeds)
def test_the_binary_gradient_is_the_slope_where_no_score_is_zero(seed: int) -> None:
    X, y, rng = points(seed, 2)
    z, w = 2 * y - 1, rng.randn(3)
    assume(abs(X @ w).min() > 1e-2)
    found = slopes(lambda v: binary_criterion(v, X, z), w)
    assert found == pytest.approx(binary_gradient(w, X, z), abs=1e-6)


@settings(deadline=None, max_examples=50)
@given(seeds)
def test_the_multiclass_gradient_is_the_slope_where_no_scores_tie(seed: int) -> None:
    X, k, rng = points(seed, 4)
    w = rng.randn(4, 3)
    top = np.sort(X @ w.T, axis=1)
    assume((top[:, -1] - top[:, -2]).min() > 1e-2)
    found = slopes(lambda v: multiclass_criterion(v, X, k), w)
    assert found == pytest.approx(multiclass_gradient(w, X, k), abs=1e-6)


@settings(deadline=None, max_examples=50)
@given(seeds)
def test_every_update_is_minus_eta_times_a_gradient(seed: int) -> None:
    X, k, rng = points(seed, 4)
    z = np.where(k > 1, 1, -1)
    binary_start, multiclass_start = rng.randn(3), rng.randn(4, 3)
    for rows in ([3], list(range(12))):
        options: dict[str, Any] = {"order": Batch(), "rate": lambda i: 0.25, "max_epochs": 1}
        run = train(Binary(), X[rows], z[rows], start=binary_start, **options)
        down = -0.25 * binary_gradient(binary_start, X[rows], z[rows])
        assert run.w - binary_start == pytest.approx(down)
        down = -0.25 * multiclass_gradient(multiclass_start, X[rows], k[rows])
        for learner in (Multiclass(4), MaximalValue(4)):
            run = train(learner, X[rows], k[rows], start=multiclass_start, **options)
            assert run.w - multiclass_start == pytest.approx(down)


def test_where_a_score_is_zero_the_gradient_is_the_side_of_the_update() -> None:
    X, z = np.array([[2, 3]]), [1]
    assert binary_gradient(np.array([0, 0]), X, z).tolist() == [-2, -3]
    assert train(Binary(), X, z, max_epochs=1).w.tolist() == [2, 3]
