"""The tagger as a scikit-learn estimator."""

from __future__ import annotations

import pickle
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import perceptron_nlp as pn

# What scikit-learn warns of when its checks cannot use sentences.
pytestmark = pytest.mark.filterwarnings("ignore")
pytest.importorskip("sklearn", reason="the extra sklearn is not installed")
from sklearn import exceptions  # noqa: E402
from sklearn.base import clone, is_classifier  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.utils import estimator_checks  # noqa: E402

from perceptron_nlp.integrations.sklearn import PerceptronTagger  # noqa: E402

Xy = tuple[list[list[str]], list[list[str]]]


@pytest.fixture(scope="module")
def Xy_(small: list[tuple[list[str], list[str]]]) -> Xy:
    return [words for words, _ in small], [labels for _, labels in small]


def test_parameters_are_the_options_of_training() -> None:
    names = {field.name for field in fields(pn.TrainingOptions)} - {"calibrate"}
    assert PerceptronTagger().get_params().keys() == names | {"column"}
    assert PerceptronTagger(seed=7).get_params()["seed"] == 7


def test_what_is_fitted_is_what_train_gives(
    Xy_: Xy, small: list[tuple[list[str], list[str]]]
) -> None:
    estimator = PerceptronTagger(epochs=2, seed=3, column="upos").fit(*Xy_)
    same = pn.train(small, epochs=2, seed=3, column="upos")
    assert estimator.tagger_.to_bytes() == same.to_bytes()
    assert estimator.predict(Xy_[0]) == same.tag_sents(Xy_[0])
    assert estimator.score(*Xy_) == same.evaluate(small, column="upos").accuracy
    assert estimator.labels_ == same.labels


def test_presets_say_what_nobody_chose(Xy_: Xy) -> None:
    def runs(**options: Any) -> object:
        estimator = PerceptronTagger(preset="accurate", epochs=1, beam=1, **options)
        return estimator.fit(*Xy_).tagger_.model.record["options"]["runs"]

    assert (runs(), runs(runs=1)) == (4, 1)


def test_searches_and_cross_validation_take_sentences(Xy_: Xy) -> None:
    search = GridSearchCV(PerceptronTagger(epochs=1), {"update": ["perceptron", "adagrad"]}, cv=3)
    assert search.fit(*Xy_).best_params_["update"] in ("perceptron", "adagrad")
    scores = cross_val_score(PerceptronTagger(epochs=1), *Xy_, cv=3)
    assert len(scores) == 3 and all(0 < score < 1 for score in scores)
    assert not is_classifier(PerceptronTagger())


def test_numbers_of_a_search_may_be_of_numpy(Xy_: Xy) -> None:
    space = {"epochs": np.arange(1, 3), "two_passes": np.array([False]), "rate": np.ones(1)}
    search = GridSearchCV(PerceptronTagger(), space, cv=2, error_score="raise").fit(*Xy_)
    plain = PerceptronTagger(epochs=int(search.best_params_["epochs"]), two_passes=False, rate=1.0)
    found = search.best_estimator_.tagger_
    assert found.to_bytes() == plain.fit(*Xy_).tagger_.to_bytes()


def test_clones_and_pickles_are_equal(Xy_: Xy) -> None:
    fitted = PerceptronTagger(epochs=2, templates=["word[0]", "tag[-1]"], seed=5).fit(*Xy_)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params() and not hasattr(copy, "tagger_")
    assert copy.fit(*Xy_).tagger_.to_bytes() == fitted.tagger_.to_bytes()
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(Xy_[0]) == fitted.predict(Xy_[0])


CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_get_params_invariance",
    "check_set_params",
    "check_valid_tag_types",
    "check_estimator_tags_renamed",
    "check_mixin_order",
]


@pytest.mark.parametrize("name", CHECKS)
def test_the_checks_that_need_no_table_pass(name: str) -> None:
    assert getattr(estimator_checks, name)("PerceptronTagger", PerceptronTagger(epochs=1)) is None


def test_check_estimator_passes() -> None:
    results = estimator_checks.check_estimator(PerceptronTagger(epochs=1), on_skip=None)
    assert {result["status"] for result in results} <= {"passed", "skipped"}


def test_asking_before_fitting_is_an_error_of_both_libraries() -> None:
    for ask in (lambda e: e.predict([["a"]]), lambda e: e.score([["a"]], [["X"]])):
        with pytest.raises(exceptions.NotFittedError) as caught:
            ask(PerceptronTagger())
        assert isinstance(caught.value, pn.PerceptronNLPError)


@pytest.mark.parametrize(
    ("X", "y", "kind", "message"),
    [
        ([["a"]], [], pn.ArgumentError, "y: labels of 0 sentences for the 1 of X"),
        (
            [["a"], ["b"]],
            [["X"], ["X", "Y"]],
            pn.ArgumentError,
            r"train\[1\]: columns\['tag'\]: 2 values for 1 words",
        ),
        (["a b"], [["X"]], pn.ArgumentTypeError, r"train\[0\]: a Sentence, \(words, labels\) or"),
        ("a b", [["X"]], pn.ArgumentTypeError, "X: a list of lists of str is needed, not str"),
        ([["a"]], None, pn.ArgumentTypeError, "y: a list of lists of str is needed, not NoneType"),
        ([["a", 3]], [["X", "Y"]], pn.ArgumentTypeError, "a str is needed, not int"),
    ],
)
def test_sentences_and_labels_that_do_not_go_together_are_refused(
    X: Any, y: Any, kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        PerceptronTagger().fit(X, y)


def test_parameters_are_checked(Xy_: Xy) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="epoch: there is no such parameter"):
        PerceptronTagger(epoch=3)
    with pytest.raises(pn.ArgumentError, match="epochs: 0 is not between"):
        PerceptronTagger(epochs=0).fit(*Xy_)


def test_probabilities_are_those_of_the_calibrated_tagger(Xy_: Xy) -> None:
    X, y = Xy_
    estimator = PerceptronTagger(epochs=1, preset="fast")
    with pytest.raises(exceptions.NotFittedError):
        estimator.predict_proba(X)
    estimator.fit(X, y)
    with pytest.raises(pn.ModelError, match="not calibrated"):
        estimator.predict_proba(X[:1])
    labels = [[None if i % 3 else label[::-1] for i, label in enumerate(row)] for row in y]
    found = estimator.calibrate(X * 40, [*y * 39, *labels]).predict_proba(X[:2])
    assert [one.shape for one in found] == [(len(words), len(estimator.labels_)) for words in X[:2]]
    assert all(abs(one.sum(axis=1) - 1).max() < 1e-9 for one in found)
    assert (found[0] == estimator.tagger_.scores(X[0], probabilities=True)).all()
