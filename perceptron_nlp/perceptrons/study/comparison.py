"""Standard against averaged: what the average costs in time and gives in accuracy.

The experiment of R. Johansson's lecture (3.4 s to 3.6 s, .809 to .829), on this corpus.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.study.corpus import StudyCorpus


@dataclass(frozen=True)
class Trained:
    """One of the two: processor seconds of the training, and the share of dev that is right."""

    seconds: float
    accuracy: float


@dataclass(frozen=True)
class Comparison:
    """The same training without and with the average.

    Attributes
    ----------
    epochs : epochs of each
    repeats : trainings of each; the fastest counts
    """

    standard: Trained
    averaged: Trained
    epochs: int
    repeats: int

    @property
    def more_time(self) -> float:
        """What the average adds to the time, as a share of it."""
        return self.averaged.seconds / self.standard.seconds - 1


def compare(corpus: StudyCorpus, *, epochs: int = 10, repeats: int = 7) -> Comparison:
    """Train both in turn, so that a busy machine slows both."""
    times: dict[bool, list[float]] = {False: [], True: []}
    accuracy = {}
    for _ in range(repeats):
        for average, seconds in times.items():
            learner = PerceptronClassifier(average=average, max_iter=epochs)
            before = time.thread_time()
            learner.fit(corpus.train.X, corpus.train.y)
            seconds.append(time.thread_time() - before)
            accuracy[average] = learner.score(corpus.dev.X, corpus.dev.y)
    standard, averaged = (Trained(min(times[kind]), accuracy[kind]) for kind in (False, True))
    return Comparison(standard, averaged, epochs, repeats)
