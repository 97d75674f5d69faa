"""How much the result depends on the order of the examples.

Source: L. Huang's figure of the averaged perceptron's steadiness; the law that over random
orders the average varies less than the last weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.study.corpus import StudyCorpus
from perceptron_nlp.perceptrons.study.curves import OUTPUTS


@dataclass(frozen=True)
class OrderSpread:
    """Accuracy on dev of trainings that differ in nothing but the order.

    Attributes
    ----------
    epochs : epochs of each training
    dev : output -> share of dev words that are right, for each order
    """

    epochs: int
    dev: Mapping[str, tuple[float, ...]]

    @property
    def orders(self) -> int:
        """How many orders were tried."""
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
