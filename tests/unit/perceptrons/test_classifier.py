"""The perceptron classifier as its users meet it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.exceptions
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import check_estimator

from perceptron_nlp.errors import NotFittedError, PerceptronNLPError, not_fitted
from perceptron_nlp.perceptrons import estimator as sklearn_classes
from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
from perceptron_nlp.perceptrons.estimator import ORDERS
from perceptron_nlp.perceptrons.inputs import Rows, encoded
from perceptron_nlp.perceptrons.textbook import Halt

rng = np.random.default_rng(0)
X3 = rng.normal(size=(90, 4))
y3 = np.array(["a", "b", "c"])[(X3 @ rng.normal(size=(4, 3))).argmax(axis=1)]
X2, y2 = X3, np.where(y3 == "a", "no", "yes")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"average": False, "order": "sequential"},
        {"voted": True, "max_iter": 5},
        {"order": "minibatch", "batch_size": 1, "strict": True, "margin": 0.1},
    ],
)
def test_every_check_of_scikit_learn_passes(options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        results = check_estimator(PerceptronClassifier(**options), on_skip=None)
    assert len(results) > 50
    absent = {"check_array_api_input", "check_classifier_data_not_an_array"}
    assert {result["check_name"] for result in results if result["status"] != "passed"} <= absent


def test_it_works_where_scikit_learn_and_scipy_are_not_installed() -> None:
    program = """
import sys
for name in ("sklearn", "scipy", "pandas"):
    sys.modules[name] = None
import pickle
import numpy as np
from types import SimpleNamespace
from perceptron_nlp.errors import MissingExtraError
from perceptron_nlp.perceptrons.classifier import PerceptronClassifier
X = np.array([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
for voted in (False, True):
    model = PerceptronClassifier(voted=voted).fit(X, ["n", "y", "n"])
    assert model.predict(X).tolist() == ["n", "y", "n"], model.predict(X)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
csr = SimpleNamespace(data=np.array([1.0, 2.0, 1.0, 1.0]), indices=np.array([0, 1, 0, 1]),
                      indptr=np.array([0, 1, 2, 4]), shape=(3, 2))
assert (PerceptronClassifier().fit(csr, ["n", "y", "n"]).coef_ == PerceptronClassifier().fit(
    X, ["n", "y", "n"]).coef_).all()
words = PerceptronClassifier().fit([{"w": "a"}, {"w": "b"}], [0, 1])
assert words.predict([{"w": "b"}]) == [1]
for ask, error in ((lambda: PerceptronClassifier().predict(X), ValueError),
                   (lambda: words.__sklearn_tags__(), MissingExtraError)):
    try:
        ask()
    except error as problem:
        print(problem)
    else:
        raise SystemExit("no error")
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[3],
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "not fitted yet" in done.stdout
    assert "pip install 'perceptron-nlp[sklearn]'" in done.stdout


def test_the_binary_case_has_one_row_of_weights_and_more_classes_one_each() -> None:
    two, three = PerceptronClassifier().fit(X2, y2), PerceptronClassifier().fit(X3, y3)
    assert two.coef_.shape == (1, 4)
    assert two.intercept_.shape == (1,)
    assert three.coef_.shape == (3, 4)
    assert three.intercept_.shape == (3,)
    assert two.decision_function(X2).shape == (90,)
    assert three.decision_function(X3).shape == (90, 3)
    assert three.score(X3, y3) > 0.9
    assert isinstance(three.halted_by_, Halt)


@pytest.mark.parametrize("voted", [False, True])
def test_a_score_of_zero_is_the_lower_class(voted: bool) -> None:
    model = PerceptronClassifier(voted=voted, fit_intercept=False).fit([[1.0], [2.0]], [3, 5])
    assert model.predict([[0.0]]) == [3]
    assert model.decision_function([[0.0]]) == [-1.0 if voted else 0.0]


@pytest.mark.parametrize("voted", [False, True])
@pytest.mark.parametrize("matrix", [np.asarray, csr_matrix])
def test_a_pickled_model_predicts_and_trains_on_as_the_model(voted: bool, matrix: Any) -> None:
    model = PerceptronClassifier(voted=voted).partial_fit(matrix(X3), y3, classes=["a", "b", "c"])
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.decision_function(X3), model.decision_function(X3))
    again.partial_fit(matrix(X3), y3)
    model.partial_fit(matrix(X3), y3)
    assert np.array_equal(again.coef_, model.coef_)
    assert np.array_equal(again.decision_function(X3), model.decision_function(X3))


def test_same_data_and_seed_give_the_same_bytes_and_another_seed_others() -> None:
    first, second, other = (
        PerceptronClassifier(random_state=seed, init="random").fit(X3, y3) for seed in (1, 1, 2)
    )
    assert first.coef_.tobytes() == second.coef_.tobytes()
    assert first.coef_.tobytes() != other.coef_.tobytes()


def test_a_generator_as_random_state_gives_the_seed() -> None:
    for make in (np.random.default_rng, np.random.RandomState):
        first, second = (PerceptronClassifier(random_state=make(3)).fit(X3, y3) for _ in range(2))
        assert np.array_equal(first.coef_, second.coef_)
    assert PerceptronClassifier(random_state=None).fit(X3, y3).t_ > 0


def test_parameters_are_stored_and_cloned_and_shown() -> None:
    model = PerceptronClassifier(margin=0.5, order="batch")
    assert model.get_params()["margin"] == 0.5
    assert repr(model) == "PerceptronClassifier(margin=0.5, order='batch')"
    copy = clone(model).set_params(margin=1.0)
    assert copy.margin == 1.0
    assert model.margin == 0.5
    assert is_classifier(model)
    assert cross_val_score(PerceptronClassifier(), X3, y3, cv=3).mean() > 0.8


def test_balanced_class_weights_are_the_inverse_frequencies() -> None:
    counts = {label: int((y3 == label).sum()) for label in "abc"}
    weights = {label: 90 / (3 * count) for label, count in counts.items()}
    balanced = PerceptronClassifier(class_weight="balanced").fit(X3, y3)
    assert np.array_equal(
        balanced.coef_, PerceptronClassifier(class_weight=weights).fit(X3, y3).coef_
    )


def test_an_unfitted_model_says_so_in_both_families() -> None:
    with pytest.raises(sklearn.exceptions.NotFittedError, match="not fitted yet") as caught:
        PerceptronClassifier().predict(X3)
    assert isinstance(caught.value, NotFittedError)
    assert isinstance(caught.value, PerceptronNLPError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert isinstance(again, sklearn.exceptions.NotFittedError)
    assert str(again) == str(caught.value)


def test_without_scikit_learn_the_exceptions_are_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sklearn.exceptions")
    assert type(not_fitted("so")) is NotFittedError
    assert sklearn_classes.conversion_warning() is sklearn_classes.DataConversionWarning


@pytest.mark.parametrize("order", ORDERS)
def test_without_a_tolerance_all_epochs_are_run(order: str) -> None:
    X, y = [[1.0], [-1.0], [2.0]], [1, 0, 1]
    halted, through = (
        PerceptronClassifier(order=order, batch_size=2, max_iter=40, tol=tol).fit(X, y)
        for tol in (1e9, None)
    )
    assert halted.n_iter_ < through.n_iter_ == 40
    assert through.halted_by_ == Halt.EPOCH_LIMIT


def test_votes_asked_of_a_model_that_kept_none_are_refused() -> None:
    model = PerceptronClassifier().fit(X3, y3).set_params(voted=True)
    with pytest.raises(NotFittedError, match="voted was set to True after fit"):
        model.predict(X3)


def test_an_interrupted_fit_leaves_the_model_as_it_was() -> None:
    def interrupt(i: int) -> float:
        if i > 200:
            raise KeyboardInterrupt
        return 1.0

    model = PerceptronClassifier().fit(X3, y3)
    coef, scores = model.coef_.copy(), model.decision_function(X3)
    with pytest.raises(KeyboardInterrupt):
        model.set_params(schedule=interrupt, margin=100.0).fit(X2, y2)
    assert np.array_equal(model.coef_, coef)
    assert np.array_equal(model.decision_function(X3), scores)


def test_partial_fit_leaves_weights_handed_out_before_alone() -> None:
    model = PerceptronClassifier(average=False).partial_fit(X3, y3, classes=["a", "b", "c"])
    handed_out = model.coef_
    before = handed_out.copy()
    model.partial_fit(X3[::-1], y3)
    assert np.array_equal(handed_out, before)
    assert not np.array_equal(model.coef_, before)


def test_the_names_of_a_data_frames_columns_are_kept_and_compared() -> None:
    class Frame:
        def __init__(self, *names: str) -> None:
            self.columns, self.shape = list(names), X3.shape

        def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
            return X3

    model = PerceptronClassifier().fit(Frame("p", "q", "r", "s"), y3)
    assert model.feature_names_in_.tolist() == ["p", "q", "r", "s"]
    assert len(model.predict(Frame("p", "q", "r", "s"))) == 90
    with pytest.raises(ValueError, match="unseen at fit time:\n- z\nFeature names seen at fit"):
        model.predict(Frame("p", "q", "r", "z"))
    with pytest.raises(ValueError, match="in the same order"):
        model.predict(Frame("q", "p", "r", "s"))
    with pytest.warns(UserWarning, match="X does not have valid feature names"):
        model.predict(X3)
    assert not hasattr(model.fit(X3, y3), "feature_names_in_")
    with pytest.warns(UserWarning, match="X has feature names, but"):
        model.predict(Frame("p", "q", "r", "s"))


def test_feature_dictionaries_are_the_matrix_of_their_features() -> None:
    samples = [{"w": "a", "n": 2}, {"w": "b", "up": True}, {"n": -1, "up": False}, ["w=a", "w=a"]]
    matrix = [[1, 2, 0, 0], [0, 0, 1, 1], [0, -1, 0, 0], [2, 0, 0, 0]]
    y = [0, 1, 1, 0]
    named, plain = PerceptronClassifier().fit(samples, y), PerceptronClassifier().fit(matrix, y)
    assert np.array_equal(named.coef_, plain.coef_)
    assert named.n_features_in_ == 4
    assert np.array_equal(named.decision_function(samples), plain.decision_function(matrix))


def test_features_that_training_has_not_seen_change_nothing() -> None:
    samples = [{"w": "a"}, {"w": "b"}]
    for voted in (False, True):
        model = PerceptronClassifier(voted=voted).fit(samples, [0, 1])
        more = [{"w": "a", "x": "new", "y": 3.5}, ["w=b", "other"]]
        assert np.array_equal(model.decision_function(more), model.decision_function(samples))


@given(
    samples=st.lists(
        st.dictionaries(st.sampled_from("abcdef"), st.integers(-2, 2), max_size=4),
        min_size=4,
        max_size=10,
    ),
    cut=st.integers(1, 3),
    init=st.integers(-1, 1),
    voted=st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_features_that_come_later_were_there_from_the_start(
    samples: list[dict[str, int]], cut: int, init: int, voted: bool
) -> None:
    samples = [{"a": 1}, *samples]
    y = np.arange(len(samples)) % 3
    known = {name: i for i, name in enumerate("abcdef")}
    matrix = np.array([[sample.get(name, 0) for name in known] for sample in samples])
    growing, fixed = (PerceptronClassifier(init=init, voted=voted) for _ in range(2))
    for part in (slice(0, cut), slice(cut, None)):
        growing.partial_fit(samples[part], y[part], classes=[0, 1, 2])
        fixed.partial_fit(matrix[part], y[part], classes=[0, 1, 2])
    seen = sorted({name for sample in samples for name in sample if sample[name]})
    test = [{name: value} for name in seen for value in (1, -2)]
    points = np.array([[sample.get(name, 0) for name in known] for sample in test])
    assert np.array_equal(growing.decision_function(test), fixed.decision_function(points))


@given(names=st.lists(st.text(max_size=5), max_size=120))
@settings(max_examples=60, deadline=None)
def test_names_have_columns_in_order_of_first_appearance(names: list[str]) -> None:
    index: dict[str, int] = {}
    columns: dict[str, int] = {}
    expected = [columns.setdefault(name, len(columns)) for name in names]
    values, found, starts = encoded([names[:50], names[50:]], index, grow=True)
    assert found.tolist() == expected
    assert values.tolist() == [1.0] * len(names)
    assert starts.tolist() == [0, min(50, len(names)), len(names)]
    assert index == columns
    assert encoded([["not " + "".join(names)]], index, grow=False)[1].tolist() == []


def test_a_set_of_features_is_taken_in_their_order_not_in_that_of_its_hashes() -> None:
    names = {f"feature {k}" for k in range(40)}
    index: dict[str, int] = {}
    encoded([names, frozenset(names)], index, grow=True)
    assert encoded([sorted(names)], index, grow=False)[1].tolist() == list(range(40))


@pytest.mark.parametrize("classes", [1, 2, 3, 4, 5, 7, 8, 9, 15, 20])
def test_scores_are_the_products_for_any_number_of_classes(classes: int) -> None:
    whole = np.random.default_rng(classes)
    X, W = whole.integers(-4, 5, (13, 21)), whole.integers(-9, 10, (classes, 21))
    b = whole.integers(-5, 6, classes).astype(float)
    csr = csr_matrix(X.astype(float))
    sparse = Rows(csr.data, csr.indices.astype(np.int32), csr.indptr.astype(np.int64), 13, 21)
    dense = Rows(X.astype(float).ravel(), None, None, 13, 21)
    assert np.array_equal(dense.scores(W.astype(float).T, b), X @ W.T + b)
    assert np.array_equal(sparse.scores(W.T.astype(float), b), X @ W.T + b)


def test_rows_without_a_single_number_are_scored_by_the_bias() -> None:
    model = PerceptronClassifier().fit(X3, y3)
    scores = model.decision_function(csr_matrix((2, 4)))
    assert np.array_equal(scores, np.tile(model.intercept_, (2, 1)))


@pytest.mark.parametrize("voted", [False, True])
@pytest.mark.parametrize("y", [y2, y3], ids=["two", "three"])
def test_probabilities_are_calibrated_on_other_samples(y: np.ndarray, voted: bool) -> None:
    noisy = np.where(np.arange(90) % 5 == 0, np.roll(y, 1), y)
    model = PerceptronClassifier(voted=voted, max_iter=5).fit(X3[:45], noisy[:45])
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotFittedError, match="call calibrate"):
        _ = model.predict_proba
    chances = model.calibrate(X3[45:], noisy[45:]).predict_proba(X3)
    assert chances.shape == (90, len(model.classes_))
    assert np.allclose(chances.sum(axis=1), 1)
    assert (model.classes_[chances.argmax(axis=1)] == model.predict(X3)).all()

    def loss(temperature: float) -> float:
        model.temperature_ = temperature
        ids = np.searchsorted(model.classes_, noisy[45:])
        return float(-np.log(model.predict_proba(X3[45:])[np.arange(45), ids]).sum())

    found = model.temperature_
    assert loss(found) <= min(loss(found / 1.2), loss(found * 1.2))
    model.temperature_ = found
    assert (pickle.loads(pickle.dumps(model)).predict_proba(X3) == chances).all()
    assert not hasattr(model.fit(X3, y), "predict_proba")


def test_probabilities_of_unknown_classes_cannot_be_calibrated() -> None:
    model = PerceptronClassifier().fit(X2, y2)
    with pytest.raises(PerceptronNLPError, match="which is not among classes"):
        model.calibrate(X2, np.where(y2 == "no", "perhaps", y2))
    with pytest.raises(NotFittedError):
        PerceptronClassifier().calibrate(X2, y2)
