"""Each input that cannot be used is refused with a typed error that names it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    MemoryLimitError,
    PerceptronNLPError,
)
from perceptron_nlp.perceptrons.classifier import PerceptronClassifier

X = np.array([[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]])
y = np.array([0, 1, 0])


def refuses(
    error: type[PerceptronNLPError], text: str, X: Any = X, y: Any = y, **options: Any
) -> None:
    with pytest.raises(error, match=text):
        PerceptronClassifier(**options).fit(X, y)


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"order": "sequentail"}, ArgumentError, "order: 'sequentail'.*did you mean sequential"),
        ({"order": 3}, ArgumentTypeError, "order: a str is needed, not int"),
        ({"margin": -1}, ArgumentError, "margin must be finite and 0 or more, got -1"),
        ({"margin": "wide"}, ArgumentTypeError, "margin must be a number"),
        ({"eta0": -0.5}, ArgumentError, "eta0 must be finite and 0 or more"),
        ({"eta0": float("nan")}, ArgumentError, "eta0 must be finite"),
        ({"tol": -1e-3}, ArgumentError, "tol must be finite and 0 or more"),
        ({"tol": True}, ArgumentTypeError, "tol must be a number, got 'True'"),
        ({"average": "yes"}, ArgumentTypeError, "average must be True or False, got 'yes'"),
        ({"max_iter": 0}, ArgumentError, "max_iter must be an integer of 1 or more"),
        ({"max_iter": 2.5}, ArgumentTypeError, "max_iter must be an integer"),
        ({"batch_size": 0, "order": "minibatch"}, ArgumentError, "batch_size"),
        ({"batch_size": 4, "order": "minibatch"}, ArgumentError, "batch_size is 4.*only 3"),
        ({"batch_size": 4, "order": "minibatch-random"}, ArgumentError, "batch_size is 4"),
        ({"schedule": "invers"}, ArgumentError, "schedule 'invers'.*did you mean inverse"),
        ({"schedule": 0.1}, ArgumentTypeError, "schedule must be a name or a function"),
        ({"schedule": lambda i: -i}, ArgumentError, "schedule.*at i = 1 must be.*0 or more"),
        ({"schedule": lambda i: "1"}, ArgumentTypeError, "schedule.*at i = 1 must be a number"),
        ({"average": 1}, ArgumentTypeError, "average must be True or False"),
        ({"voted": "yes"}, ArgumentTypeError, "voted must be True or False"),
        ({"strict": None}, ArgumentTypeError, "strict must be True or False"),
        ({"shuffle": 0}, ArgumentTypeError, "shuffle must be True or False"),
        ({"fit_intercept": 1}, ArgumentTypeError, "fit_intercept must be True or False"),
        ({"random_state": -1}, ArgumentError, "random_state must be an integer of 0 or more"),
        ({"random_state": 2**64}, ArgumentError, "random_state must be under"),
        ({"random_state": "seed"}, ArgumentTypeError, "random_state must be an integer"),
        ({"class_weight": "equal"}, ArgumentError, "class_weight 'equal' is not 'balanced'"),
        ({"class_weight": {2: 1.0}}, ArgumentError, "class_weight names '2', which is no class"),
        ({"class_weight": {0: -1.0}}, ArgumentError, "class_weight must be finite and 0 or more"),
        ({"class_weight": 3}, ArgumentTypeError, "class_weight must be None"),
        ({"init": "ones"}, ArgumentError, "init 'ones' is not"),
        ({"init": np.ones((2, 2))}, ArgumentError, r"init has the shape \(2, 2\).*\(1, 2\)"),
        ({"init": np.full(2, np.nan)}, ArgumentError, "init must be finite"),
        ({"init": float("inf")}, ArgumentError, "init must be finite"),
        ({"init": (1.0, -1.0)}, ArgumentError, "init .* the lower number first"),
        ({"init": (1.0, 2.0, 3.0)}, ArgumentError, "init .* must be a range"),
        ({"init": ("a", "b")}, ArgumentTypeError, "init .* must hold two numbers"),
        ({"init": {"a": 1}}, ArgumentTypeError, "init must be"),
        ({"margin": 10**400}, ArgumentError, "margin must be finite.*got an int of 1,329 bits"),
        ({"eta0": 10**400}, ArgumentError, "eta0 must be finite"),
        ({"schedule": lambda i: 10**5000}, ArgumentError, "schedule.*at i = 1 must be finite"),
        ({"class_weight": {0: 10**400}}, ArgumentError, "class_weight must be finite"),
        ({"init": 10**400}, ArgumentError, "init must be finite"),
        ({"init": (0, 10**400)}, ArgumentError, "init .* must be finite"),
        ({"init": [0, 10**400]}, ArgumentError, "init must be finite"),
        ({"max_iter": -(10**5000)}, ArgumentError, "max_iter must be an integer of 1 or more"),
        ({"random_state": 10**5000}, ArgumentError, "random_state must be under"),
        ({"batch_size": 10**5000, "order": "minibatch"}, ArgumentError, "batch_size"),
        ({"memory_limit": -1}, ArgumentError, "memory_limit must be an integer of 0 or more"),
    ],
)
def test_an_option_that_cannot_be_used_is_named(
    options: dict[str, Any], error: type[PerceptronNLPError], text: str
) -> None:
    refuses(error, text, **options)


@pytest.mark.parametrize(
    ("samples", "error", "text"),
    [
        (np.empty((0, 2)), ArgumentError, "X is empty"),
        ([], ArgumentError, "X must have two dimensions"),
        (np.empty((3, 0)), ArgumentError, "X has no features"),
        (np.zeros(3), ArgumentError, "Expected 2D array, got 1D array.*Reshape your data"),
        (np.zeros((3, 2, 1)), ArgumentError, "Expected 2D array, got 3D array"),
        ([[1.0], [1.0, 2.0], [3.0]], ArgumentError, "X must be a rectangle of numbers"),
        ([[1.0], [{}], [3.0]], ArgumentTypeError, "X must hold numbers"),
        (np.array([[1.0], [np.nan], [2.0]]), ArgumentError, "X contains NaN, first at row 1"),
        (np.array([[1.0], [2.0], [-np.inf]]), ArgumentError, "X contains infinity.*row 2"),
        (np.zeros((3, 1), dtype=complex), ArgumentError, "Complex data not supported"),
        ([[1], [10**400], [2]], ArgumentError, "X holds a number that is too large"),
        (csr_matrix([[0.0], [0.0], [np.nan]]), ArgumentError, "NaN, first at row 2, column 0"),
        (csr_matrix((0, 4)), ArgumentError, "X is empty"),
    ],
)
def test_samples_that_cannot_be_used_are_named(
    samples: Any, error: type[PerceptronNLPError], text: str
) -> None:
    refuses(error, text, samples)


def test_weights_that_overflow_are_refused() -> None:
    refuses(ArgumentError, "X holds values so large that weights overflowed", X * 1e300, eta0=1e10)


@pytest.mark.parametrize("average", [True, False])
def test_weights_near_the_end_of_a_float_are_finite(average: bool) -> None:
    far, labels = np.tile([[1e305], [-1e305]], (200, 1)), np.arange(400) % 3
    assert np.isfinite(PerceptronClassifier(average=average).fit(far, labels).coef_).all()


def test_a_start_that_is_not_finite_is_refused_for_new_features_too() -> None:
    begun = PerceptronClassifier(warm_start=True).fit([{"a": 1}, {"b": 1}], [0, 1])
    begun.set_params(init=float("nan"))
    with pytest.raises(ArgumentError, match="init must be finite"):
        begun.fit([{"a": 1}, {"c": 1}], [0, 1])


@pytest.mark.parametrize(
    ("weights", "error", "text"),
    [
        ([1, 2], ArgumentError, r"sample_weight has shape \(2,\), but X has 3 samples"),
        ([0, 0, 0], ArgumentError, "sample_weight must be finite and 0 or more, and not 0"),
        ([1, -1, 1], ArgumentError, "sample_weight must be finite and 0 or more"),
        ([1, float("nan"), 1], ArgumentError, "sample_weight must be finite"),
        ("abc", ArgumentTypeError, "sample_weight must be a number for each sample"),
        ([1, 10**400, 1], ArgumentTypeError, "sample_weight must be a number for each sample"),
    ],
)
def test_weights_of_samples_that_cannot_be_used_are_named(
    weights: Any, error: type[PerceptronNLPError], text: str
) -> None:
    fitted = PerceptronClassifier().fit(X, y)
    with pytest.raises(error, match=text):
        fitted.score(X, y, sample_weight=weights)
    assert fitted.score(X, y, sample_weight=[2, 1, 0]) == 1


@pytest.mark.parametrize(
    ("labels", "error", "text"),
    [
        (None, ArgumentError, "requires y to be passed, but the target y is None"),
        ([0, 1], ArgumentError, "y has 2 labels, but X has 3 samples"),
        ([1, 1, 1], ArgumentError, "y holds only one class .'1'.; a classifier needs two"),
        ([0, "a", 1], ArgumentTypeError, r"y mixes types: y\[0\] is a number, y\[1\] a str"),
        (np.array([0, "a", 1], dtype=object), ArgumentTypeError, "y mixes types"),
        ([0.5, 1.0, 2.0], ArgumentError, "Unknown label type: continuous"),
        ([0.0, np.nan, 1.0], ArgumentError, "y contains NaN"),
        ([0.0, np.inf, 1.0], ArgumentError, "y contains infinity"),
        ([None, None, None], ArgumentTypeError, "y holds labels that cannot be ordered"),
        ([(0, 1), (1, 0), (1, 1)], ArgumentError, r"y should be a 1d array.*\(3, 2\)"),
        (np.array([0, 1, 0], dtype="M8[s]"), ArgumentTypeError, "Unknown label type"),
        (csr_matrix([[0], [1], [0]]), ArgumentTypeError, "y is sparse"),
        (np.array([[], {}, []], dtype=object), ArgumentTypeError, "y mixes types"),
    ],
)
def test_labels_that_cannot_be_used_are_named(
    labels: Any, error: type[PerceptronNLPError], text: str
) -> None:
    refuses(error, text, y=labels)


def test_a_sparse_matrix_with_indices_out_of_range_is_refused() -> None:
    broken = csr_matrix(X)
    broken.indices[1] = 7
    refuses(ArgumentError, r"X.indices must lie in 0 … 1", broken)
    broken = csr_matrix(X)
    broken.indptr[1] = 5
    refuses(ArgumentError, "X.indptr must rise", broken)


def test_votes_beyond_the_memory_limit_are_refused_before_training() -> None:
    def never(i: int) -> float:
        raise AssertionError("training began")

    refuses(
        MemoryLimitError,
        r"voted=True could keep up to [\d,]+ bytes.*memory_limit is 1,000",
        voted=True,
        memory_limit=1000,
        schedule=never,
    )


@pytest.mark.parametrize(
    ("samples", "error", "text"),
    [
        (["the", "run", "a"], ArgumentTypeError, r"X\[0\] is a single string"),
        ([{"a": 1}, {"a": None}, {}], ArgumentTypeError, r"X\[1\] has 'None' for 'a'"),
        ([{"a": 1}, {2: 1}, {}], ArgumentTypeError, r"X\[1\] has the feature '2'"),
        ([{"a": 1}, {"a": float("nan")}, {}], ArgumentError, r"contains 'nan' for 'a' in X\[1\]"),
        ([{"a": 1}, {"a": 10**400}, {}], ArgumentError, r"for 'a' in X\[1\]"),
        ([{"a": 1}, {"a": 10**5000}, {}], ArgumentError, r"for 'a' in X\[1\]"),
        ([{"a": 1}, 5, {}], ArgumentTypeError, r"X\[1\] is '5'"),
        ([["a"], ["b", 3], []], ArgumentTypeError, r"X\[1\] has the feature '3'"),
        ([{}, {}, {}], ArgumentError, "X has no features: every dictionary"),
    ],
)
def test_feature_dictionaries_that_cannot_be_used_are_named(
    samples: Any, error: type[PerceptronNLPError], text: str
) -> None:
    refuses(error, text, samples)


def test_an_array_as_start_does_not_fit_feature_dictionaries() -> None:
    refuses(ArgumentError, "init must be a number", [{"a": 1}] * 3, init="random")


def test_matrices_and_dictionaries_do_not_follow_each_other() -> None:
    dictionaries = [{"a": 1}, {"b": 1}, {"a": 2}]
    with pytest.raises(ArgumentTypeError, match="X holds feature dictionaries"):
        PerceptronClassifier().fit(X, y).predict(dictionaries)
    with pytest.raises(ArgumentTypeError, match=r"X\[0\] has the feature"):
        PerceptronClassifier().fit(dictionaries, y).predict(X)
    with pytest.raises(ArgumentTypeError, match="X must be a list of feature dictionaries"):
        PerceptronClassifier().fit(dictionaries, y).predict(csr_matrix(X))


def test_classes_of_partial_fit_are_checked() -> None:
    with pytest.raises(ArgumentError, match="classes must be given in the first call"):
        PerceptronClassifier().partial_fit(X, y)
    with pytest.raises(ArgumentError, match="classes holds only one class"):
        PerceptronClassifier().partial_fit(X, y, classes=[1])
    with pytest.raises(ArgumentError, match="Input classes contains NaN"):
        PerceptronClassifier().partial_fit(X, y, classes=[0, 1, np.nan])
    with pytest.raises(ArgumentTypeError, match="classes mixes types"):
        PerceptronClassifier().partial_fit(X, y, classes=[0, 1, None])
    with pytest.raises(ArgumentError, match=r"y\[1\] is '1', which is not among classes"):
        PerceptronClassifier().partial_fit(X, y, classes=[0, 2])
    begun = PerceptronClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ArgumentError, match="classes are not the ones of the first call"):
        begun.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(ArgumentError, match=r"X has 1 features, but .* is expecting 2"):
        begun.partial_fit(X[:, :1], y)
    with pytest.raises(ArgumentError, match="class_weight 'balanced' needs all samples"):
        begun.set_params(class_weight="balanced").partial_fit(X, y)


def test_average_and_voted_cannot_change_in_mid_training() -> None:
    begun = PerceptronClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(ArgumentError, match="average and voted cannot change"):
        begun.set_params(average=False).partial_fit(X, y)


def test_parameters_that_are_not_there_are_named_with_the_did_you_mean() -> None:
    with pytest.raises(ArgumentError, match="no parameter 'max_itr'; did you mean max_iter"):
        PerceptronClassifier().set_params(max_itr=3)


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = PerceptronClassifier(schedule=lambda i: 1.0 if i < 20 else -1.0).partial_fit(
        X, y, classes=[0, 1]
    )
    coef, seen = model.coef_.copy(), model.t_
    with pytest.raises(ArgumentError, match="at i = 20"):
        for _ in range(20):
            model.partial_fit(X, y)
            coef, seen = model.coef_.copy(), model.t_
    assert np.array_equal(model.coef_, coef)
    assert model.t_ == seen
    assert len(model.predict(X)) == 3
