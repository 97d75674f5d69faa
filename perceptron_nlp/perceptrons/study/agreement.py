"""The fast classifier beside the textbook, weight for weight, on a part of the corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons import textbook as tb
from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.study.corpus import StudyCorpus
from perceptron_nlp.perceptrons.study.curves import LEARNERS, OUTPUTS

Numbers = NDArray[np.float64]

BATCH = 16


def orders(size: int) -> dict[str, tb.Order]:
    """The classifier's names of O1 … O6, and the textbook's, for batches of that size."""
    return {
        "sequential": tb.Sequential(),
        "stochastic": tb.Stochastic(),
        "replacement": tb.Replacement(),
        "batch": tb.Batch(),
        "minibatch-random": tb.MinibatchRandom(size),
        "minibatch": tb.Minibatch(size),
    }


@dataclass(frozen=True)
class Agreement:
    """How far the two are apart.

    Attributes
    ----------
    learner : L2, L3 or L4; for two labels L1 or L4
    order : the classifier's name of it
    words : examples
    last, averaged : the greatest difference of a weight
    voted : predictions, of `words`, that differ
    """

    learner: str
    order: str
    words: int
    last: float
    averaged: float
    voted: int


def agreements(corpus: StudyCorpus, *, words: int = 200, epochs: int = 3) -> list[Agreement]:
    """Each learner in each order, on the first words of train.

    Parameters
    ----------
    words : examples at most; more, where they all have one label
    """
    words = _with_two_labels(corpus.train.y, words)
    X = corpus.train.X.dense(words)
    classes, ids = np.unique(corpus.train.y[:words], return_inverse=True)
    return list(_each(X, ids.astype(np.int64), len(classes), epochs))


def _with_two_labels(y: NDArray[np.str_], words: int) -> int:
    other = np.flatnonzero(y != y[0])
    return min(len(y), max(words, int(other[0]) + 1))


def _learners(count: int) -> dict[str, tb.Learner]:
    """The textbook's learners for so many classes, by the names of `LEARNERS`."""
    margin = int(LEARNERS["L4"]["margin"])
    if count == 2:
        return {"L1": tb.Binary(), "L4": tb.Binary(margin=margin)}
    return {
        "L2": tb.Multiclass(count),
        "L3": tb.MaximalValue(count),
        "L4": tb.MaximalValue(count, margin=margin),
    }


def _each(
    X: NDArray[np.int64], ids: NDArray[np.int64], count: int, epochs: int
) -> Iterator[Agreement]:
    for name, learner in _learners(count).items():
        y, size = learner.labels[ids], min(BATCH, len(ids))
        for order_name, order in orders(size).items():
            run = tb.train(learner, tb.augment(X), y, order=order, max_epochs=epochs)
            options = {**LEARNERS.get(name, {}), "order": order_name, "max_iter": epochs}
            last, voted, averaged = (
                PerceptronClassifier(batch_size=size, tol=0.0, **options, **output).fit(X, y)
                for output in OUTPUTS.values()
            )
            votes = tb.voted_improved(run, tb.augment(X))
            yield Agreement(
                name,
                order_name,
                len(y),
                _apart(last, run.w),
                _apart(averaged, run.average()),
                int((voted.predict(X) != votes).sum()),
            )


def _apart(fast: PerceptronClassifier, w: Numbers) -> float:
    return float(np.abs(np.column_stack([fast.coef_, fast.intercept_]) - w).max())
