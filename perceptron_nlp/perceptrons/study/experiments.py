"""All experiments of the study on one corpus, with word of how far they are."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from perceptron_nlp.perceptrons.study.agreement import Agreement, agreements
from perceptron_nlp.perceptrons.study.comparison import Comparison, compare
from perceptron_nlp.perceptrons.study.corpus import StudyCorpus
from perceptron_nlp.perceptrons.study.costs import Curve, growth_curves
from perceptron_nlp.perceptrons.study.curves import LearningCurves, learner_table, learning_curves
from perceptron_nlp.perceptrons.study.margins import Margins, margins
from perceptron_nlp.perceptrons.study.orders import OrderSpread, order_spread
from perceptron_nlp.perceptrons.study.plane import Cloud, Stage, clouds, seven_steps

Say = Callable[[str], None]


@dataclass(frozen=True)
class Study:
    """What the experiments found; each part is described where it is made."""

    corpus: StudyCorpus
    curves: LearningCurves
    learners: dict[str, dict[str, float]]
    comparison: Comparison
    orders: OrderSpread
    margins: Margins
    agreements: list[Agreement]
    stages: list[Stage]
    clouds: tuple[Cloud, Cloud]
    growth: list[Curve]
    seconds: float


def study_corpus(corpus: StudyCorpus, *, say: Say = lambda text: None) -> Study:
    """Run the perceptron family on a corpus, and its examples in the plane.

    Parameters
    ----------
    corpus : from `read_study_corpus`
    say : told what happens now, a line at a time
    """
    began = time.perf_counter()
    say(
        f"{corpus.name}: {len(corpus.train):,} words to learn {corpus.column} from, "
        f"{len(corpus.dev):,} to test on"
    )
    say("learning curves: last, voted and averaged weights")
    curves, learners = learning_curves(corpus), learner_table(corpus)
    say("standard against averaged")
    comparison = compare(corpus)
    say("random orders")
    orders = order_spread(corpus)
    say("margins")
    wide = margins(corpus)
    say("the fast classifier beside the textbook")
    agreed = agreements(corpus)
    say("points in the plane")
    stages, both = seven_steps(), clouds()
    growth = growth_curves(say=lambda text: say(f"cost: {text}"))
    seconds = time.perf_counter() - began
    return Study(
        corpus, curves, learners, comparison, orders, wide, agreed, stages, both, growth, seconds
    )
