"""The criterion functions that the perceptron descends, and their (sub)gradients.

Source: Jenkins' lecture, "2. Perceptron learning case" and the multiclass perceptron.
Each update is -η times a gradient given here. Where a score is exactly 0 (or two scores
tie) the function has a kink; there the gradient is the side that the update takes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from perceptron_nlp.perceptrons.textbook.stream import Array


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
