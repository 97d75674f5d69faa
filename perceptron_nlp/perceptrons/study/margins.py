"""Margins: how far the right label leads on dev, and what training with a margin changes.

Source: B. K. Jenkins' lecture, "Variants of perceptron learning algorithm" (L4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.study.corpus import Part, StudyCorpus
from perceptron_nlp.perceptrons.study.curves import OUTPUTS

COMPARED = ("last", "averaged")
WANTED = (0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)


@dataclass(frozen=True)
class Margins:
    """Leads of the right label, and accuracy by the margin wanted in training.

    Attributes
    ----------
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
