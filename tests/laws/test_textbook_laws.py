"""The laws of the perceptron family, on random data in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from perceptron_nlp.perceptrons.textbook import (
    Batch,
    Binary,
    Halt,
    MaximalValue,
    Minibatch,
    MinibatchRandom,
    Multiclass,
    Replacement,
    Run,
    Sequential,
    Stochastic,
    all_equal,
    averaged_by_updates,
    averaged_countdown,
    averaged_counter,
    averaged_improved,
    averaged_lazy,
    averaged_naive,
    counter_from_one,
    mean_before_each,
    random_in,
    train,
    unnormalized,
    voted_improved,
    voted_naive,
    zeros,
)
from perceptron_nlp.perceptrons.textbook.schedule import Constant, Geometric, Inverse
from perceptron_nlp.perceptrons.textbook.stream import divided

law = settings(deadline=None, max_examples=80)

AVERAGES = [
    averaged_naive,
    averaged_improved,
    averaged_by_updates,
    averaged_countdown,
    averaged_counter,
    averaged_lazy,
]

seeds = st.integers(0, 1000)
integers = st.integers(-4, 4)
# Mostly zeros, as text features are.
sparse = st.sampled_from([0, 0, 0, 0, 1, -1, 2])
rates = st.sampled_from(
    [
        Constant(1),
        Constant(Fraction(2, 3)),
        Inverse(Fraction(1)),
        Geometric(Fraction(1), Fraction(1, 2)),
        lambda i: i % 3,
    ]
)
starts = st.one_of(
    st.just(zeros),
    st.builds(all_equal, st.fractions(-2, 2, max_denominator=6)),
    st.builds(random_in, st.just(-1.0), st.just(1.0), seed=seeds),
)
learners = st.one_of(
    st.builds(Binary, margin=st.integers(0, 3)),
    st.builds(Multiclass, st.integers(2, 4)),
    st.builds(MaximalValue, st.integers(2, 4), margin=st.integers(0, 3)),
)


def tables(n: int, d: int) -> st.SearchStrategy[np.ndarray]:
    """n rows of d exact numbers, dense or sparse."""

    def rows(cell: st.SearchStrategy[int]) -> st.SearchStrategy[list[list[int]]]:
        return st.lists(st.lists(cell, min_size=d, max_size=d), min_size=n, max_size=n)

    return st.one_of(rows(integers), rows(sparse)).map(lambda r: np.array(r, dtype=object))


@st.composite
def orders(draw: st.DrawFn, n: int) -> Any:
    """One of the six orders over n examples."""
    seed, size = draw(seeds), draw(st.integers(1, n))
    shuffle = draw(st.booleans())
    return draw(
        st.sampled_from(
            [
                Sequential(seed, shuffle),
                Stochastic(seed),
                Replacement(seed),
                Batch(),
                MinibatchRandom(size, seed),
                Minibatch(size, seed, shuffle),
            ]
        )
    )


@st.composite
def runs(draw: st.DrawFn) -> tuple[Run, np.ndarray]:
    """A training of any kind, and vectors to try it on."""
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    learner = draw(learners)
    labels = st.sampled_from(learner.labels.tolist())
    run = train(
        learner,
        draw(tables(n, d)),
        draw(st.lists(labels, min_size=n, max_size=n)),
        order=draw(orders(n)),
        rate=draw(rates),
        start=draw(starts),
        max_epochs=draw(st.integers(1, 4)),
    )
    return run, draw(tables(4, d))


def after_each_example(run: Run) -> list[np.ndarray]:
    """w_1 … w_N: the weights after a batch step once for each of its examples."""
    vectors = run.trace()[1:]
    return [w for step, w in zip(run.steps, vectors, strict=True) for _ in range(step.examples)]


@law
@given(runs())
def test_all_six_averages_are_the_mean_after_each_example_exactly(
    made: tuple[Run, np.ndarray],
) -> None:
    run, _ = made
    vectors = after_each_example(run)
    assert len(vectors) == run.N
    mean = divided(sum(vectors), run.N).tolist()
    for averaged in AVERAGES:
        assert averaged(run).tolist() == mean
    assert run.average().tolist() == mean
    assert run.trace()[-1].tolist() == run.w.tolist()


@law
@given(runs())
def test_every_variant_is_the_mean_that_its_docstring_states(made: tuple[Run, np.ndarray]) -> None:
    run, _ = made
    vectors = after_each_example(run)
    with_start = sum(vectors) + run.start
    assert unnormalized(run).tolist() == sum(vectors).tolist()
    assert counter_from_one(run).tolist() == divided(with_start, run.N + 1).tolist()


@law
@given(st.integers(1, 8), st.integers(1, 4), starts, st.data())
def test_the_note_s_proof_is_the_mean_before_each_example(
    n: int, d: int, start: Any, data: st.DataObject
) -> None:
    labels = data.draw(st.lists(st.sampled_from([-1, 1]), min_size=n, max_size=n))
    run = train(Binary(), data.draw(tables(n, d)), labels, start=start, max_epochs=3)
    before = run.trace()[:-1]
    assert mean_before_each(run).tolist() == divided(sum(before), run.N).tolist()


@law
@given(seeds, st.integers(2, 4), st.booleans())
def test_all_six_averages_agree_to_rounding_in_floating_point(
    seed: int, classes: int, inverse: bool
) -> None:
    rng = np.random.RandomState(seed)
    X, y = rng.randn(20, 3), rng.randint(0, classes, size=20)
    start = random_in(-1.0, 1.0, seed=seed)
    rate = Inverse(0.7) if inverse else Constant(0.3)
    run = train(Multiclass(classes), X, y, rate=rate, start=start, max_epochs=5)
    first, *others = [averaged(run) for averaged in AVERAGES]
    assert first.dtype == np.float64
    for other in others:
        assert other == pytest.approx(first, rel=1e-12, abs=1e-12)


@law
@given(runs())
def test_both_ways_of_voting_predict_what_most_vectors_predict(
    made: tuple[Run, np.ndarray],
) -> None:
    run, X = made
    expected = []
    for x in X:
        votes = [int(run.learner.choose(w, x[None, :])[0]) for w in after_each_example(run)]
        counts = [votes.count(c) for c in range(len(run.learner.labels))]
        expected.append(int(run.learner.labels[counts.index(max(counts))]))
    assert voted_naive(run, X).tolist() == expected
    assert voted_improved(run, X).tolist() == expected


@st.composite
def separable(draw: st.DrawFn) -> tuple[np.ndarray, list[int], int]:
    """Points off the plane u·x = 0, their sides, and the bound (R/γ)², rounded down."""
    d = draw(st.integers(1, 3))
    cell = st.integers(-3, 3)
    u = np.array(draw(st.lists(st.integers(-2, 2), min_size=d, max_size=d).filter(any)))
    rows = st.lists(st.lists(cell, min_size=d, max_size=d), min_size=1, max_size=8)
    X = np.array(draw(rows), dtype=object)
    X = X[(X @ u) != 0]
    assume(len(X) > 0)
    y = [1 if side > 0 else -1 for side in X @ u]
    R2 = max(x @ x for x in X)
    gamma2 = Fraction(min(abs(X @ u)) ** 2, int(u @ u))
    return X, y, int(R2 / gamma2)


@law
@given(separable(), seeds, st.sampled_from([Sequential, Stochastic]))
def test_novikoff_bounds_the_mistakes_on_separable_data_and_then_there_are_none(
    made: tuple[np.ndarray, list[int], int], seed: int, order: Any
) -> None:
    X, y, bound = made
    run = train(Binary(), X, y, order=order(seed), max_epochs=bound + 2)
    assert sum(run.mistakes) <= bound
    assert run.halted_by in (Halt.NO_UPDATE, Halt.NO_CHANGE)
    assert Binary().predict(run.w, X).tolist() == y


@law
@given(separable(), seeds)
def test_novikoff_bounds_the_mistakes_of_draws_with_replacement(
    made: tuple[np.ndarray, list[int], int], seed: int
) -> None:
    X, y, bound = made
    run = train(Binary(), X, y, order=Replacement(seed), max_epochs=30)
    assert sum(run.mistakes) <= bound


@law
@given(separable(), st.sampled_from([Constant(1), Constant(Fraction(1, 7)), Constant(5)]))
def test_a_constant_rate_converges_in_sequence_and_in_batches(
    made: tuple[np.ndarray, list[int], int], rate: Constant
) -> None:
    X, y, bound = made
    for order, reason in ((Sequential(), Halt.NO_UPDATE), (Batch(), Halt.ZERO_SUM)):
        # A batch step is an example no longer than n·R with a margin of γ or more.
        run = train(
            Binary(), X, y, order=order, rate=rate, max_epochs=(bound + 1) * len(X) ** 2 + 2
        )
        assert run.halted_by == reason
        assert run.mistakes[-1] == 0
        assert Binary().predict(run.w, X).tolist() == y


@pytest.mark.parametrize("seed", range(8))
def test_the_inverse_rate_converges_in_sequence_and_in_batches(seed: int) -> None:
    # A wide margin: Σ 1/i grows like ln i, so what a long early step spoilt takes
    # exponentially many iterations to undo, and narrow margins outlast any test.
    rng = np.random.RandomState(seed)
    X, u = rng.randn(60, 3), rng.randn(3)
    X = X[abs(X @ u) > np.linalg.norm(u)]
    y = np.where(X @ u > 0, 1, -1)
    for order, reason in ((Sequential(seed), Halt.NO_UPDATE), (Batch(), Halt.ZERO_SUM)):
        run = train(Binary(), X, y, order=order, rate=Inverse(1), max_epochs=500)
        assert run.halted_by == reason
        assert Binary().predict(run.w, X).tolist() == y.tolist()


@law
@given(st.integers(1, 4), st.lists(integers, min_size=1, max_size=4).filter(any), st.data())
def test_data_that_nothing_separates_ends_by_the_epoch_limit(
    epochs: int, x: list[int], data: st.DataObject
) -> None:
    # The same point with both labels; the sequence sees it twice an epoch.
    X = np.array([x, x], dtype=object)
    order = data.draw(st.sampled_from([Sequential(), Stochastic(), Minibatch(1), Replacement()]))
    run = train(Binary(), X, [1, -1], order=order, max_epochs=epochs)
    assert (run.halted_by, len(run.mistakes)) == (Halt.EPOCH_LIMIT, epochs)


def one_update(learner: Any, w: np.ndarray, x: np.ndarray, y: int) -> np.ndarray:
    run = train(learner, x[None, :], [y], start=w, max_epochs=1)
    assume(run.updates == 1)
    return run.w


@law
@given(tables(2, 3), st.sampled_from([-1, 1]))
def test_after_a_mistake_the_score_moves_the_right_way_by_the_squared_length(
    rows: np.ndarray, y: int
) -> None:
    w, x = rows
    after = one_update(Binary(), w, x, y)
    assert after @ x == w @ x + y * (x @ x)


@law
@given(
    st.sampled_from([Multiclass(3), MaximalValue(3), MaximalValue(3, margin=2)]),
    tables(3, 3),
    tables(1, 3),
    st.integers(0, 2),
)
def test_after_a_multiclass_mistake_gold_gains_twice_the_squared_length(
    learner: Multiclass, w: np.ndarray, row: np.ndarray, y: int
) -> None:
    x = row[0]
    after = one_update(learner, w, x, y)
    changed = [j for j in range(3) if (after[j] != w[j]).any()]
    assume(len(changed) == 2)
    [p] = [j for j in changed if j != y]
    assert w[p] @ x == max(w[j] @ x for j in range(3) if j != y)
    assert (after[y] - after[p]) @ x == (w[y] - w[p]) @ x + 2 * (x @ x)


@st.composite
def two_classes(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    n, d = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    y = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)))
    options = {"order": draw(orders(n)), "rate": draw(rates), "max_epochs": 4}
    return draw(tables(n, d)), y, options


@law
@given(two_classes(), st.integers(0, 4))
def test_on_two_classes_the_strict_maximum_is_the_binary_perceptron(
    made: tuple[np.ndarray, np.ndarray, dict[str, Any]], b: int
) -> None:
    X, y, options = made
    # g_1 - g_0 = 2 w·x, so a binary margin b is a lead of 2b.
    strict = train(MaximalValue(2, margin=2 * b), X, y, **options)
    binary = train(Binary(margin=b), X, 2 * y - 1, **options)
    assert strict.mistakes == binary.mistakes
    assert [step.mistakes for step in strict.steps] == [step.mistakes for step in binary.steps]
    assert strict.w.tolist() == [(-binary.w).tolist(), binary.w.tolist()]
    assert strict.halted_by == binary.halted_by


def test_kuhlmanns_learner_may_differ_from_the_binary_one_where_scores_tie() -> None:
    X = np.array([[1]])
    assert train(Binary(), X, [-1]).w.tolist() == [-1]
    assert train(Multiclass(2), X, [0]).w.tolist() == [[0], [0]]
    assert train(MaximalValue(2), X, [0]).w.tolist() == [[1], [-1]]


@law
@given(st.integers(1, 4), st.data(), st.booleans())
def test_last_average_and_votes_agree_when_only_the_first_example_was_a_mistake(
    d: int, data: st.DataObject, multiclass: bool
) -> None:
    X = data.draw(tables(8, d))
    assume(X[0].any())
    X = np.vstack([X[:1], X[1:][X[1:] @ X[0] != 0]])
    y = np.where(X @ X[0] > 0, 1, -1)
    learner = MaximalValue(2) if multiclass else Binary()
    gold = (y + 1) // 2 if multiclass else y
    run = train(learner, X, gold, max_epochs=2)
    assert sum(run.mistakes) == 1
    tried = data.draw(tables(5, d))
    assert run.average().tolist() == run.w.tolist()
    last = learner.predict(run.w, tried).tolist()
    assert learner.predict(run.average(), tried).tolist() == last
    assert voted_naive(run, tried).tolist() == voted_improved(run, tried).tolist() == last


@law
@given(st.integers(1, 8), st.integers(1, 3), learners, st.integers(0, 99), st.data())
def test_special_batch_sizes_learn_what_the_other_orders_learn(
    n: int, d: int, learner: Any, seed: int, data: st.DataObject
) -> None:
    X = data.draw(tables(n, d))
    labels = st.sampled_from(learner.labels.tolist())
    y = data.draw(st.lists(labels, min_size=n, max_size=n))

    def traced(order: Any) -> list[Any]:
        run = train(learner, X, y, order=order, max_epochs=3)
        return [w.tolist() for w in run.trace()]

    assert traced(MinibatchRandom(1, seed)) == traced(Replacement(seed))
    for special, other in (
        (Minibatch(1, seed), Stochastic(seed)),
        (Minibatch(n, seed), Batch()),
        (MinibatchRandom(n, seed), Batch()),
    ):
        # The other order may halt sooner; up to there the two are one.
        found = traced(other)
        assert traced(special)[: len(found)] == found


@pytest.mark.parametrize("data", range(3))
def test_over_random_orders_the_average_is_steadier_than_the_last_vector(data: int) -> None:
    rng = np.random.RandomState(data)
    X, u = rng.randn(500, 10), rng.randn(10)
    y = np.where(X @ u + 1.5 * rng.randn(500) > 0, 1, -1)
    held_out, gold = X[200:], y[200:]
    last, average = [], []
    for seed in range(12):
        run = train(Binary(), X[:200], y[:200], order=Stochastic(seed), max_epochs=2)
        last.append(np.mean(Binary().predict(run.w, held_out) == gold))
        average.append(np.mean(Binary().predict(run.average(), held_out) == gold))
    assert np.std(average) < np.std(last)
    assert np.mean(average) > np.mean(last)
