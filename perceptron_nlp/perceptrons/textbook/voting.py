"""L5 and L6: every vector that there was has a vote.

Source: Huang's chapter, the voted perceptron (Freund and Schapire 1999).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from perceptron_nlp.perceptrons.textbook.averaging import distinct
from perceptron_nlp.perceptrons.textbook.checks import vectors
from perceptron_nlp.perceptrons.textbook.stream import Array
from perceptron_nlp.perceptrons.textbook.training import Run


def voted_naive(run: Run, X: ArrayLike) -> NDArray[np.int64]:
    """L5: the label that most of the N vectors w_1 … w_N give to each row of X.

    Keeps the vector after *every* example: O(N·d) in space. Equal votes go to the
    lowest class.
    """
    models = []
    for step, w in zip(run.steps, run.trace()[1:], strict=True):
        models += [w] * step.examples
    return _majority(run, X, [(w, 1) for w in models])


def voted_improved(run: Run, X: ArrayLike) -> NDArray[np.int64]:
    """L6: the same, from each distinct vector once with its number of votes. O(U·d)."""
    return _majority(run, X, distinct(run))


def _majority(run: Run, X: ArrayLike, models: list[tuple[Array, int]]) -> NDArray[np.int64]:
    table = vectors(X)
    rows = np.arange(len(table))
    votes = np.zeros((len(table), len(run.learner.labels)), dtype=np.int64)
    for w, v in models:
        votes[rows, run.learner.choose(w, table)] += v
    return np.asarray(run.learner.labels[np.argmax(votes, axis=1)], dtype=np.int64)
