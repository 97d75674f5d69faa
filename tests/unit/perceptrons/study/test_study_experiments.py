"""The experiments: what they report is what the learners do."""

from __future__ import annotations

import numpy as np
import pytest

from perceptron_nlp.perceptrons import textbook as tb
from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.study.corpus import StudyCorpus
from perceptron_nlp.perceptrons.study.curves import leads_of, learning_curves, order_spread
from perceptron_nlp.perceptrons.study.experiments import POINTS, SIGNS, Study, seven_steps


def test_curves_are_those_of_the_textbook(corpus: StudyCorpus) -> None:
    both = np.zeros((len(corpus.train) + len(corpus.dev), corpus.train.X.shape[1]), dtype=int)
    for first, X in ((0, corpus.train.X), (len(corpus.train), corpus.dev.X)):
        for row in range(X.shape[0]):
            both[first + row, X.indices[X.indptr[row] : X.indptr[row + 1]]] = 1
    table = tb.augment(both)
    X, points = table[: len(corpus.train)], table[len(corpus.train) :]
    y = np.searchsorted(corpus.labels, corpus.train.y)
    gold = np.searchsorted(corpus.labels, corpus.dev.y)
    curves = learning_curves(corpus, epochs=2, seed=3)
    learner = tb.Multiclass(len(corpus.labels))
    for epochs in (1, 2):
        run = tb.train(learner, X, y, order=tb.Stochastic(seed=3), max_epochs=epochs)
        predicted = {
            "last": learner.predict(run.w, points),
            "averaged": learner.predict(run.average(), points),
            "voted": tb.voted_improved(run, points),
        }
        for output, labels in predicted.items():
            assert curves.dev[output][epochs - 1] == pytest.approx(np.mean(labels == gold))
        assert curves.mistakes[:epochs] == run.mistakes


def test_orders_are_the_seeds(corpus: StudyCorpus) -> None:
    spread = order_spread(corpus, orders=3, epochs=2)
    again = PerceptronClassifier(average=False, max_iter=2, random_state=1)
    again.fit(corpus.train.X, corpus.train.y)
    assert spread.dev["last"][1] == again.score(corpus.dev.X, corpus.dev.y)
    assert spread.deviation("last") == pytest.approx(np.std(spread.dev["last"], ddof=1))
    assert spread.orders == 3


def test_the_study_itself_tries_twenty_orders_or_more() -> None:
    assert order_spread.__kwdefaults__["orders"] >= 20


def test_a_lead_above_zero_is_a_right_answer(corpus: StudyCorpus) -> None:
    learner = PerceptronClassifier(max_iter=2).fit(corpus.train.X, corpus.train.y)
    leads = leads_of(learner, corpus.dev)
    assert np.mean(leads > 0) == pytest.approx(learner.score(corpus.dev.X, corpus.dev.y))


def test_standard_and_averaged_are_as_accurate_as_they_are(
    found: Study, corpus: StudyCorpus
) -> None:
    for average, trained in ((False, found.comparison.standard), (True, found.comparison.averaged)):
        learner = PerceptronClassifier(average=average, max_iter=2)
        learner.fit(corpus.train.X, corpus.train.y)
        assert trained.accuracy == learner.score(corpus.dev.X, corpus.dev.y)
        assert trained.seconds > 0


def test_the_seven_steps_are_those_of_the_lecture() -> None:
    assert [(stage.first, stage.last, stage.w) for stage in seven_steps()] == [
        (0, 1, (-1, 0, 0)), (2, 3, (0, 2, 1)), (4, 6, (-1, -2, 2)), (7, 12, (0, 0, 3)),
    ]  # fmt: skip
    assert [stage.corrected for stage in seven_steps()] == [1, 3, 1, None]


def test_each_stage_is_wrong_about_the_point_that_ends_it() -> None:
    for stage in seven_steps():
        lead = SIGNS * (np.array(POINTS) @ stage.w)
        assert stage.corrected is None or lead[stage.corrected] <= 0
    assert (lead > 0).all()


def test_separable_points_halt_within_the_bound_and_others_at_the_limit(found: Study) -> None:
    separable, inseparable = found.clouds
    assert separable.bound is not None and sum(separable.mistakes) <= separable.bound
    assert separable.halted_by == "no update in the last N iterations"
    assert separable.accuracy(separable.last) == 1
    assert inseparable.halted_by == "epoch limit"
    assert len(inseparable.mistakes) == 4 and min(inseparable.mistakes) > 0
