"""The fast classifier and the textbook learners are the same, exactly, on integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from perceptron_nlp.perceptrons import epochs
from perceptron_nlp.perceptrons import textbook as book
from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.estimator import ORDERS
from perceptron_nlp.perceptrons.textbook.schedule import Constant


@dataclass(frozen=True)
class Case:
    """A training for both: data, and the options in the classifier's words."""

    X: np.ndarray
    y: np.ndarray
    classes: int
    options: dict[str, Any]

    def classifier(self, **more: Any) -> PerceptronClassifier:
        return PerceptronClassifier(**{**self.options, **more})

    def run(self) -> book.Run:
        """What the textbook does."""
        o = self.options
        shape = (self.classes, self.X.shape[1]) if self.classes > 2 else (1, self.X.shape[1])
        X = book.augment(self.X) if o["fit_intercept"] else self.X
        start = np.zeros((shape[0], X.shape[1]), dtype=np.int64)
        start += np.asarray(o["init"])
        learner: book.Learner
        if self.classes == 2:
            learner, y, start = book.Binary(o["margin"]), 2 * self.y - 1, start[0]
        elif o["strict"] or o["margin"]:
            learner, y = book.MaximalValue(self.classes, o["margin"]), self.y
        else:
            learner, y = book.Multiclass(self.classes), self.y
        rate = o["schedule"] if callable(o["schedule"]) else Constant(o["eta0"])
        return book.train(
            learner, X, y, order=self.order(), rate=rate, start=start, max_epochs=o["max_iter"]
        )

    def order(self) -> book.Order:
        o = self.options
        seed, size, tol = o["random_state"], o["batch_size"], o["tol"]
        if o["order"] == "stochastic" and not o["shuffle"]:
            return InDataOrder()
        return {
            "sequential": book.Sequential(seed, o["shuffle"]),
            "stochastic": book.Stochastic(seed),
            "replacement": book.Replacement(seed, tol),
            "batch": book.Batch(),
            "minibatch-random": book.MinibatchRandom(size, seed, tol),
            "minibatch": book.Minibatch(size, seed, o["shuffle"], tol),
        }[o["order"]]


class InDataOrder(book.Stochastic):
    """O2 without its shuffle: the halting rule of O2, the order of the data."""

    def epochs(self, n: int) -> Any:
        while True:
            yield [np.array([i]) for i in range(n)]


def rate_that_varies(i: int) -> int:
    return i % 3


@st.composite
def cases(draw: Any, orders: tuple[str, ...] = ORDERS, least: int = 2) -> Case:
    classes = draw(st.integers(least, 5))
    n, d = draw(st.integers(classes, 9)), draw(st.integers(1, 11))
    number = st.integers(-3, 3)
    X = np.array(draw(st.lists(number, min_size=n * d, max_size=n * d))).reshape(n, d)
    rest = draw(st.lists(st.integers(0, classes - 1), min_size=n - classes, max_size=n - classes))
    y = np.array(draw(st.permutations([*range(classes), *rest])))
    intercept = draw(st.booleans())
    width = d + intercept
    vectors = classes if classes > 2 else 1
    start = st.lists(number, min_size=vectors * width, max_size=vectors * width)
    init = draw(st.one_of(st.just(0), number, start.map(lambda w: np.reshape(w, (vectors, width)))))
    return Case(
        X,
        y,
        classes,
        {
            "order": draw(st.sampled_from(orders)),
            "shuffle": draw(st.booleans()),
            "batch_size": draw(st.integers(1, n)),
            "margin": draw(st.integers(0, 3)),
            "strict": draw(st.booleans()),
            "schedule": draw(st.sampled_from(["constant", rate_that_varies])),
            "eta0": draw(st.integers(1, 3)),
            "init": init,
            "tol": draw(st.sampled_from([0, 1, 4.5])),
            "max_iter": draw(st.integers(1, 6)),
            "fit_intercept": intercept,
            "random_state": draw(st.integers(0, 5)),
        },
    )


def weights_of(classifier: PerceptronClassifier, shape: tuple[int, ...]) -> np.ndarray:
    """The weights as the textbook has them: with the bias as last column, if there is one."""
    parts = [classifier.coef_]
    if classifier.fit_intercept:
        parts.append(classifier.intercept_[:, None])
    else:
        assert not classifier.intercept_.any()
    return np.hstack(parts).reshape(shape)


def same_course(classifier: PerceptronClassifier, run: book.Run) -> None:
    assert classifier.halted_by_ == run.halted_by
    assert classifier.mistakes_.tolist() == list(run.mistakes)
    assert classifier.n_iter_ == len(run.mistakes)
    assert classifier.n_updates_ == run.updates
    assert classifier.t_ == run.N


kinds = pytest.mark.parametrize("kind", [np.asarray, csr_matrix], ids=["dense", "sparse"])


@kinds
@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_the_last_weights_are_those_of_the_textbook(kind: Any, case: Case) -> None:
    run = case.run()
    classifier = case.classifier(average=False).fit(kind(case.X), case.y)
    assert np.array_equal(weights_of(classifier, run.w.shape), run.w)
    same_course(classifier, run)


@kinds
@given(case=cases())
@settings(max_examples=150, deadline=None)
def test_the_averaged_weights_are_the_mean_after_each_example(kind: Any, case: Case) -> None:
    run = case.run()
    classifier = case.classifier(average=True).fit(kind(case.X), case.y)
    assert np.array_equal(weights_of(classifier, run.w.shape), book.averaged_naive(run))
    same_course(classifier, run)


@kinds
@given(case=cases(), seed=st.integers(0, 3), other=st.booleans())
@settings(max_examples=150, deadline=None)
def test_voted_predictions_are_those_of_all_the_vectors(
    kind: Any, case: Case, seed: int, other: bool
) -> None:
    run = case.run()
    classifier = case.classifier(voted=True).fit(kind(case.X), case.y)
    points = np.random.default_rng(seed).integers(-3, 4, size=(6, case.X.shape[1]))
    test = np.vstack([case.X, points])
    expected = book.voted_naive(run, book.augment(test) if case.options["fit_intercept"] else test)
    given_as = {np.asarray: csr_matrix, csr_matrix: np.asarray}[kind] if other else kind
    predicted = classifier.predict(given_as(test))
    assert np.array_equal(predicted, (expected + 1) // 2 if case.classes == 2 else expected)


@given(case=cases(), warm=st.booleans(), average=st.booleans(), switch=st.booleans())
@settings(max_examples=150, deadline=None)
def test_epochs_one_by_one_equal_a_fit_of_as_many(
    case: Case, warm: bool, average: bool, switch: bool
) -> None:
    whole = case.classifier(average=average, voted=True).fit(case.X, case.y)
    assume(whole.halted_by_ == book.Halt.EPOCH_LIMIT)
    # In the sequential order the last N examples may lie across two fits.
    parts = case.classifier(average=average, voted=True, warm_start=True, max_iter=1)
    for epoch in range(whole.n_iter_):
        X = csr_matrix(case.X) if switch and epoch % 2 else case.X
        if warm:
            parts.fit(X, case.y)
        else:
            parts.partial_fit(X, case.y, classes=np.arange(case.classes))
    assert np.array_equal(parts.coef_, whole.coef_)
    assert np.array_equal(parts.intercept_, whole.intercept_)
    assert parts.t_ == whole.t_
    assert np.array_equal(parts.decision_function(case.X), whole.decision_function(case.X))


@given(case=cases(), cut=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_signals_between_blocks_change_nothing(case: Case, cut: int) -> None:
    whole = case.classifier(voted=True).fit(case.X, case.y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(epochs, "BLOCK_WORK", cut)
        blocks = case.classifier(voted=True).fit(case.X, case.y)
    assert np.array_equal(blocks.coef_, whole.coef_)
    assert np.array_equal(blocks.mistakes_, whole.mistakes_)
    assert np.array_equal(blocks.decision_function(case.X), whole.decision_function(case.X))


@given(case=cases(least=2), factor=st.integers(1, 5))
@settings(max_examples=60, deadline=None)
def test_equal_class_weights_are_a_rate(case: Case, factor: int) -> None:
    by_rate = case.classifier(schedule="constant", eta0=factor).fit(case.X, case.y)
    by_weight = case.classifier(
        schedule="constant", eta0=1, class_weight=dict.fromkeys(range(case.classes), factor)
    ).fit(case.X, case.y)
    assert np.array_equal(by_rate.coef_, by_weight.coef_)
