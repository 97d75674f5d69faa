"""Where the texts part: by one example, by a length, or by a sign of comparison."""

from __future__ import annotations

import operator
from fractions import Fraction

import numpy as np
import pytest
from oracles import sources

from perceptron_nlp.perceptrons.textbook import (
    Binary,
    Delta,
    MaximalValue,
    Minibatch,
    Multiclass,
    Step,
    Stream,
    augment,
    averaged_by_updates,
    averaged_countdown,
    averaged_counter,
    averaged_improved,
    averaged_lazy,
    averaged_naive,
    counter_from_one,
    distinct,
    mean_before_each,
    train,
    unnormalized,
    voted_improved,
    voted_naive,
)
from perceptron_nlp.perceptrons.textbook.stream import divided

EXACT_AVERAGES = [
    averaged_naive,
    averaged_improved,
    averaged_by_updates,
    averaged_countdown,
    averaged_counter,
    averaged_lazy,
]

# Two examples, two updates: w_0 = 0, w_1 = 3, w_2 = 2.
SMALL_X = np.array([[3], [1]], dtype=object)
SMALL_Y = [1, -1]
SMALL_DATA = list(zip(SMALL_X, SMALL_Y, strict=True))


def test_integers_beyond_every_float_are_learned_exactly() -> None:
    far = 10**400
    run = train(Binary(), np.array([[far], [-far]], dtype=object), [1, -1])
    assert run.w.tolist() == [far]
    assert [average(run).tolist() for average in EXACT_AVERAGES] == [[far]] * len(EXACT_AVERAGES)


def test_the_off_by_one_of_nguyens_proof_on_two_examples() -> None:
    run = train(Binary(), SMALL_X, SMALL_Y, max_epochs=1)
    assert [w.tolist() for w in run.trace()] == [[0], [3], [2]]
    # After each example: (3 + 2)/2.
    assert averaged_counter(run).tolist() == [Fraction(5, 2)]
    # What Algorithm 1 returns: (0 + 3 + 2)/3, for c ends at 3.
    assert counter_from_one(run).tolist() == [Fraction(5, 3)]
    # What the proof calls S: (0 + 3)/2; the last update is nowhere in it.
    assert mean_before_each(run).tolist() == [Fraction(3, 2)]
    # Huang's sum: 3 + 2.
    assert unnormalized(run).tolist() == [5]


def test_nguyens_algorithm_and_nguyens_proof_differ_on_the_same_data() -> None:
    # With the bias beside it: w = 3, 2 and b = 1, 0; u = 1·3 - 2·1, β = 1 - 2, c = 3.
    w, b = sources.nguyen_algorithm_1(SMALL_DATA, 1)
    assert w.tolist() == [2 - Fraction(1, 3)]
    assert b == 0 - Fraction(-1, 3)
    assert sources.nguyen_proof(SMALL_DATA, 1).tolist() == [Fraction(3, 2)]


@pytest.fixture
def noisy() -> tuple[np.ndarray, np.ndarray]:
    """40 examples that no vector separates, in exact numbers."""
    rng = np.random.RandomState(3)
    return rng.randint(-3, 4, size=(40, 4)).astype(object), rng.randint(0, 2, size=40)


def test_nguyens_algorithm_counts_the_start_once_more(noisy: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = noisy[0], noisy[1] * 2 - 1
    w, b = sources.nguyen_algorithm_1(list(zip(X, y.tolist(), strict=True)), 3)
    run = train(Binary(), augment(X), y, max_epochs=3)
    assert counter_from_one(run).tolist() == [*w, b]
    assert (run.average() * run.N).tolist() == (counter_from_one(run) * (run.N + 1)).tolist()


def test_nguyens_proof_is_the_mean_before_each_example(
    noisy: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = noisy[0], noisy[1] * 2 - 1
    run = train(Binary(), X, y, max_epochs=3)
    S = sources.nguyen_proof(list(zip(X, y.tolist(), strict=True)), 3)
    assert S.tolist() == mean_before_each(run).tolist()
    assert S.tolist() == divided(sum(run.trace()[:-1]), run.N).tolist()
    assert S.tolist() != run.average().tolist()


def test_both_of_johanssons_averages_are_the_mean_after_each_example(
    noisy: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = noisy[0], noisy[1] * 2 - 1
    T = list(zip(X, y.tolist(), strict=True))
    run = train(Binary(), X, y, max_epochs=3)
    assert sources.johansson_perceptron(T, 3).tolist() == run.w.tolist()
    assert sources.johansson_naive(T, 3).tolist() == averaged_naive(run).tolist()
    assert sources.johansson_better(T, 3).tolist() == averaged_countdown(run).tolist()


@pytest.mark.parametrize(
    "learnt", [sources.johansson_perceptron, sources.johansson_naive, sources.johansson_better]
)
def test_the_comparison_that_johanssons_slides_print_never_updates(
    noisy: tuple[np.ndarray, np.ndarray], learnt: object
) -> None:
    X, y = noisy[0], noisy[1] * 2 - 1
    T = list(zip(X, y.tolist(), strict=True))
    assert not learnt(T, 3, operator.lt).any()  # type: ignore[operator]
    assert learnt(T, 3, operator.le).any()  # type: ignore[operator]


def test_kuhlmanns_average_counts_the_start_once_more() -> None:
    rng = np.random.RandomState(4)
    X, y = rng.randint(-3, 4, size=(30, 3)).astype(object), rng.randint(0, 3, size=30)
    w, b = sources.kuhlmann_averaged(list(zip(X, y.tolist(), strict=True)), 2, classes=3)
    run = train(Multiclass(3), augment(X), y, max_epochs=2)
    assert counter_from_one(run).tolist() == np.hstack([w, b[:, None]]).tolist()
    assert (run.average() * run.N).tolist() == (counter_from_one(run) * (run.N + 1)).tolist()


def test_huangs_fastest_average_is_the_sum_of_all_vectors(
    noisy: tuple[np.ndarray, np.ndarray],
) -> None:
    X, y = noisy[0], noisy[1] * 2 - 1
    w_s, c = sources.huang_fastest(list(zip(X, y.tolist(), strict=True)), 3)
    run = train(Binary(), X, y, max_epochs=3)
    assert c == run.N == 120
    assert w_s.tolist() == unnormalized(run).tolist() == sum(run.trace()[1:]).tolist()
    assert divided(w_s, c).tolist() == run.average().tolist()


@pytest.mark.parametrize("b", [0, 3])
def test_jenkins_pseudocode_with_margin_is_the_textbook_learner(b: int) -> None:
    rng = np.random.RandomState(5)
    X = rng.randint(-3, 4, size=(12, 2)).astype(object)
    y = [1 if x[0] + 2 * x[1] > 0 else -1 for x in X]
    points = list(zip(X, y, strict=True))
    w0 = np.array([0, 0], dtype=object)
    w = sources.jenkins_sequential(points, w0, lambda i: Fraction(3, i), b, limit=60)
    run = train(Binary(margin=b), X, y, rate=lambda i: Fraction(3, i), max_epochs=5)
    assert [v.tolist() for v in run.trace()] == [v.tolist() for v in w]


def test_jenkins_multiclass_pseudocode_is_the_textbook_learner() -> None:
    rng = np.random.RandomState(6)
    X, y = rng.randint(-3, 4, size=(30, 3)).astype(object), rng.randint(0, 4, size=30)
    points = list(zip(X, y.tolist(), strict=True))
    w = sources.jenkins_multiclass(points, 4, lambda i: Fraction(1, i), epochs=3)
    run = train(MaximalValue(4), X, y, rate=lambda i: Fraction(1, i), max_epochs=3)
    assert run.w.tolist() == w.tolist()
    assert run.updates > 10


def batch_stream() -> Stream:
    """Steps of 3, 2 and 1 examples; the first and the last update."""
    one = Delta.of(np.array([1, 0], dtype=object))
    two = Delta.of(np.array([1, 6], dtype=object))
    steps = [Step(1, 3, 2, one), Step(4, 2, 0, None), Step(6, 1, 1, two)]
    return Stream(np.array([2, 0], dtype=object), steps)


@pytest.mark.parametrize("averaged", EXACT_AVERAGES)
def test_a_batch_step_counts_as_often_as_it_has_examples(averaged: object) -> None:
    # Five examples at (3, 0) and one at (4, 6).
    mean = averaged(batch_stream()).tolist()  # type: ignore[operator]
    assert mean == [Fraction(19, 6), 1]


def test_the_distinct_vectors_have_the_votes_of_the_examples_they_stood_for() -> None:
    assert [(w.tolist(), v) for w, v in distinct(batch_stream())] == [([3, 0], 5), ([4, 6], 1)]
    run = train(Binary(), np.array([[1], [1], [1]]), [-1, -1, 1], max_epochs=1)
    assert [(w.tolist(), v) for w, v in distinct(run)] == [([-1], 2), ([0], 1)]


def test_a_start_that_is_not_zero_votes_until_the_first_update() -> None:
    run = train(Binary(), np.array([[1], [1], [1]]), [1, 1, -1], start=np.array([1]), max_epochs=1)
    assert [(w.tolist(), v) for w, v in distinct(run)] == [([1], 2), ([0], 1)]
    assert run.average().tolist() == [pytest.approx(2 / 3)]


@pytest.mark.parametrize("voted", [voted_naive, voted_improved])
def test_the_majority_decides_and_equal_votes_go_to_the_lowest_class(voted: object) -> None:
    # w_1 = w_2 = (1), w_3 = (0): two votes for +1 against one for -1.
    run = train(Binary(), np.array([[1], [1], [1]]), [1, 1, -1], max_epochs=1)
    assert voted(run, [[5]]).tolist() == [1]  # type: ignore[operator]
    # w_1 = (1), w_2 = (0): one vote each.
    run = train(Binary(), np.array([[1], [1]]), [1, -1], max_epochs=1)
    assert voted(run, [[5]]).tolist() == [-1]  # type: ignore[operator]


@pytest.mark.parametrize("voted", [voted_naive, voted_improved])
def test_a_vote_is_not_the_average(voted: object) -> None:
    # w_1 = w_2 = (-1), w_3 = (4): two votes for -1, though the mean, (2/3), says +1.
    run = train(Binary(), np.array([[1], [1], [5]]), [-1, -1, 1], max_epochs=1)
    assert [w.tolist() for w in run.trace()[1:]] == [[-1], [-1], [4]]
    assert voted(run, [[1]]).tolist() == [-1]  # type: ignore[operator]
    assert Binary().predict(run.average(), np.array([[1]])).tolist() == [1]


@pytest.mark.parametrize("voted", [voted_naive, voted_improved])
def test_votes_of_three_classes_with_a_tie_go_to_the_lowest(voted: object) -> None:
    x = np.array([[1]])
    run = train(Multiclass(3), np.repeat(x, 4, axis=0), [2, 2, 1, 1], max_epochs=1)
    assert [int(np.argmax(w)) for w in run.trace()[1:]] == [2, 2, 1, 1]
    assert voted(run, x).tolist() == [1]  # type: ignore[operator]
    run = train(Multiclass(3), np.repeat(x, 3, axis=0), [2, 2, 1], max_epochs=1)
    assert [int(np.argmax(w)) for w in run.trace()[1:]] == [2, 2, 1]
    assert voted(run, x).tolist() == [2]  # type: ignore[operator]


def test_a_minibatch_step_votes_with_all_its_examples() -> None:
    # w = (2) after two examples, (-2) after the third.
    run = train(
        Binary(),
        np.array([[1], [1], [4]]),
        [1, 1, -1],
        order=Minibatch(2, shuffle=False),
        max_epochs=1,
    )
    assert [(w.tolist(), v) for w, v in distinct(run)] == [([2], 2), ([-2], 1)]
    assert voted_naive(run, [[1]]).tolist() == voted_improved(run, [[1]]).tolist() == [1]
