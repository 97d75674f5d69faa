"""Curves of the study: last, voted and averaged weights by epoch; margins; the spread by order.

Sources: B. K. Jenkins' lecture, "Variants of perceptron learning algorithm" (L4), for margins; L.
Huang's figure of the averaged perceptron's steadiness, for the law that over random orders the
average varies less than the last weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.study.corpus import Part, StudyCorpus

OUTPUTS: Mapping[str, Mapping[str, Any]] = {
    "last": {"average": False},
    "voted": {"voted": True},
    "averaged": {"average": True},
}
"""What a training gives out, and the classifier's options for it."""

LEARNERS: Mapping[str, Mapping[str, Any]] = {
    "L2": {},
    "L3": {"strict": True},
    "L4": {"strict": True, "margin": 2.0},
}
"""The learners of the study, and the classifier's options for them."""


@dataclass(frozen=True)
class LearningCurves:
    """Accuracy on dev after each epoch, by output, and training words mistaken in each epoch."""

    dev: Mapping[str, tuple[float, ...]]
    mistakes: tuple[int, ...]

    @property
    def epochs(self) -> int:
        """The number of epochs."""
        return len(self.mistakes)


def learning_curves(corpus: StudyCorpus, *, epochs: int = 10, seed: int = 0) -> LearningCurves:
    """The curves of one training in the order O2; all three outputs are of that training."""
    dev: dict[str, tuple[float, ...]] = {}
    mistakes: list[int] = []
    for output, options in OUTPUTS.items():
        learner = PerceptronClassifier(random_state=seed, **options)
        mistakes, right = [], []
        for _ in range(epochs):
            learner.partial_fit(corpus.train.X, corpus.train.y, classes=corpus.labels)
            mistakes.append(int(learner.mistakes_[0]))
            right.append(learner.score(corpus.dev.X, corpus.dev.y))
        dev[output] = tuple(right)
    return LearningCurves(dev, tuple(mistakes))


def learner_table(
    corpus: StudyCorpus, *, epochs: int = 5, seed: int = 0
) -> dict[str, dict[str, float]]:
    """Accuracy on dev of every learner with every output: learner -> output -> share right."""
    return {
        name: {
            output: PerceptronClassifier(max_iter=epochs, random_state=seed, **kind, **options)
            .fit(corpus.train.X, corpus.train.y)
            .score(corpus.dev.X, corpus.dev.y)
            for output, options in OUTPUTS.items()
        }
        for name, kind in LEARNERS.items()
    }


COMPARED = ("last", "averaged")
WANTED = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True)
class Margins:
    """Leads of the right label, and accuracy by the margin wanted in training.

    leads : output -> float64[dev words], the score of the right label less the best other
        one, over the norm of the weights and intercepts; above 0 is right. Words whose label
        train does not have are left out
    wanted : the margins b of the trainings
    dev : output -> share of dev words that are right, for each b
    epochs : epochs of each training
    """

    leads: Mapping[str, NDArray[np.float64]]
    wanted: tuple[float, ...]
    dev: Mapping[str, tuple[float, ...]]
    epochs: int


def margins(corpus: StudyCorpus, *, wanted: tuple[float, ...] = WANTED, epochs: int = 5) -> Margins:
    """Train with each margin, and look at the leads of the one without."""
    leads, dev = {}, {}
    for output in COMPARED:
        right = []
        for margin in wanted:
            learner = PerceptronClassifier(
                margin=margin, strict=True, max_iter=epochs, **OUTPUTS[output]
            ).fit(corpus.train.X, corpus.train.y)
            right.append(learner.score(corpus.dev.X, corpus.dev.y))
            if output not in leads:
                leads[output] = leads_of(learner, corpus.dev)
        dev[output] = tuple(right)
    return Margins(leads, wanted, dev, epochs)


def leads_of(learner: PerceptronClassifier, part: Part) -> NDArray[np.float64]:
    """The lead of the right label on each word whose label the learner knows."""
    scores = learner.decision_function(part.X)
    if scores.ndim == 1:
        scores = np.column_stack([-scores, scores]) / 2
    known = np.flatnonzero(np.isin(part.y, learner.classes_))
    gold = np.searchsorted(learner.classes_, part.y[known])
    scores = scores[known]
    rows = np.arange(len(known))
    right = scores[rows, gold].copy()
    scores[rows, gold] = -np.inf
    norm = np.sqrt((learner.coef_**2).sum() + (learner.intercept_**2).sum())
    return np.asarray((right - scores.max(axis=1)) / (norm or 1.0))


@dataclass(frozen=True)
class OrderSpread:
    """Accuracy on dev of trainings that differ in nothing but the order, by output."""

    epochs: int
    dev: Mapping[str, tuple[float, ...]]

    @property
    def orders(self) -> int:
        """Number of orders tried."""
        return len(self.dev["last"])

    def mean(self, output: str) -> float:
        """The mean accuracy."""
        return float(np.mean(self.dev[output]))

    def deviation(self, output: str) -> float:
        """The standard deviation of the accuracy, with orders - 1 degrees of freedom."""
        return float(np.std(self.dev[output], ddof=1))


def order_spread(corpus: StudyCorpus, *, orders: int = 24, epochs: int = 5) -> OrderSpread:
    """Train with the seeds 0, 1, … as the order O2, and test each time."""
    dev = {
        output: tuple(
            PerceptronClassifier(max_iter=epochs, random_state=seed, **OUTPUTS[output])
            .fit(corpus.train.X, corpus.train.y)
            .score(corpus.dev.X, corpus.dev.y)
            for seed in range(orders)
        )
        for output in OUTPUTS
    }
    return OrderSpread(epochs, dev)
