"""Last, voted and averaged weights on held-out words, epoch after epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.study.corpus import StudyCorpus

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
    """Accuracy on dev after each epoch.

    Attributes
    ----------
    dev : output -> share of dev words that are right, after epoch 1, 2, …
    mistakes : training words that were mistaken in each epoch
    """

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
