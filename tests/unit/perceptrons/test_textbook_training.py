"""Learners, orders, rates, starts and halting conditions of the textbook, one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import numpy as np
import pytest

from perceptron_nlp.perceptrons.textbook import (
    Batch,
    Binary,
    Halt,
    MaximalValue,
    Minibatch,
    MinibatchRandom,
    Multiclass,
    Order,
    Replacement,
    Run,
    Sequential,
    Stochastic,
    all_equal,
    augment,
    random_in,
    train,
)
from perceptron_nlp.perceptrons.textbook.schedule import Constant, Geometric, Inverse
from perceptron_nlp.sampling import draws, permutation

ORDERS: list[Order] = [
    Sequential(seed=1),
    Stochastic(seed=1),
    Replacement(seed=1),
    Batch(),
    MinibatchRandom(2, seed=1),
    Minibatch(2, seed=1),
]


def visits(order: Order, n: int, epochs: int) -> list[list[list[int]]]:
    """The numbers of the examples, by epoch and iteration."""
    return [[batch.tolist() for batch in epoch] for epoch in islice(order.epochs(n), epochs)]


def one(learner: object, w: list[object], x: list[int], y: int) -> list[object]:
    """The weights after one example, from w."""
    run = train(learner, np.array([x]), [y], start=np.array(w), max_epochs=1)  # type: ignore[arg-type]
    return run.w.tolist()


def test_the_binary_perceptron_updates_at_a_score_of_zero_but_not_above() -> None:
    assert one(Binary(), [0, 0], [2, 3], -1) == [-2, -3]
    assert one(Binary(), [3, -2], [2, 3], 1) == [5, 1]
    assert one(Binary(), [1, 0], [2, 3], 1) == [1, 0]
    assert one(Binary(), [1, 0], [2, 3], -1) == [-1, -3]


def test_a_margin_updates_up_to_and_at_b() -> None:
    assert one(Binary(margin=2), [1, 0], [2, 3], 1) == [3, 3]
    assert one(Binary(margin=1), [1, 0], [2, 3], 1) == [1, 0]


def test_the_multiclass_perceptron_takes_the_lowest_of_tied_classes() -> None:
    assert one(Multiclass(3), [[0], [0], [0]], [2], 0) == [[0], [0], [0]]
    assert one(Multiclass(3), [[0], [1], [1]], [2], 2) == [[0], [-1], [3]]
    assert one(Multiclass(3), [[0], [1], [1]], [2], 1) == [[0], [1], [1]]


def test_the_strict_maximum_takes_a_tie_for_a_mistake() -> None:
    assert one(MaximalValue(3), [[0], [0], [0]], [2], 0) == [[2], [-2], [0]]
    assert one(MaximalValue(3), [[0], [1], [1]], [2], 1) == [[0], [3], [-1]]
    assert one(MaximalValue(3), [[0], [1], [0]], [2], 1) == [[0], [1], [0]]
    assert one(MaximalValue(3), [[5], [1], [7]], [2], 1) == [[5], [3], [5]]


def test_a_multiclass_margin_is_the_lead_over_the_best_other_class() -> None:
    start: list[object] = [[0], [2], [1]]
    assert one(MaximalValue(3, margin=2), start, [2], 1) == [[0], [4], [-1]]
    assert one(MaximalValue(3, margin=Fraction(19, 10)), start, [2], 1) == start


def test_predictions_give_a_score_of_zero_to_the_lowest_class() -> None:
    X = np.array([[1, 0], [0, 1], [-1, 0]])
    assert Binary().predict(np.array([1, 0]), X).tolist() == [1, -1, -1]
    assert Multiclass(3).predict(np.array([[0, 0], [1, 0], [1, 0]]), X).tolist() == [1, 0, 0]


def test_a_column_of_ones_is_the_bias() -> None:
    assert augment([[2, 3], [4, 5]]).tolist() == [[2, 3, 1], [4, 5, 1]]
    assert augment([[0.5]]).dtype == np.float64
    assert augment(np.array([[Fraction(1, 2)]])).tolist() == [[Fraction(1, 2), 1]]


def test_sequential_order_is_one_shuffle_for_all_epochs() -> None:
    once = [[n] for n in permutation(5, 3).tolist()]
    assert visits(Sequential(seed=3), 5, 3) == [once] * 3
    assert visits(Sequential(shuffle=False), 3, 2) == [[[0], [1], [2]]] * 2


def test_stochastic_order_shuffles_before_every_epoch() -> None:
    seen = visits(Stochastic(seed=3), 5, 3)
    assert seen == [[[n] for n in permutation(5, 3, m).tolist()] for m in range(3)]
    assert seen[0] != seen[1]


def test_order_with_replacement_is_one_draw_an_iteration() -> None:
    seen = visits(Replacement(seed=3), 5, 2)
    assert [n for epoch in seen for [n] in epoch] == draws(5, 10, 3).tolist()


def test_batch_order_is_all_examples_in_one_iteration() -> None:
    assert visits(Batch(), 3, 2) == [[[0, 1, 2]]] * 2


def test_random_minibatches_repeat_nothing_within_a_batch_and_all_differ() -> None:
    seen = visits(MinibatchRandom(3, seed=3), 8, 20)
    assert all(len(epoch) == 3 for epoch in seen)
    chosen = [tuple(batch) for epoch in seen for batch in epoch]
    assert all(len(set(batch)) == 3 for batch in chosen)
    assert len(set(chosen)) > 50
    # They are put back: one epoch may hold an example twice.
    assert any(len({n for batch in epoch for n in batch}) < 8 for epoch in seen)


def test_minibatches_cut_a_shuffle_and_the_last_may_be_shorter() -> None:
    order = permutation(5, 3, 1).tolist()
    assert visits(Minibatch(2, seed=3), 5, 2)[1] == [order[:2], order[2:4], order[4:]]
    assert visits(Minibatch(2, shuffle=False), 5, 1) == [[[0, 1], [2, 3], [4]]]


def test_special_batch_sizes_are_other_orders() -> None:
    assert visits(MinibatchRandom(1, seed=4), 7, 3) == visits(Replacement(seed=4), 7, 3)
    assert visits(Minibatch(1, seed=4), 7, 3) == visits(Stochastic(seed=4), 7, 3)
    [[batch]] = visits(Minibatch(7, seed=4), 7, 1)
    assert sorted(batch) == list(range(7))
    assert visits(Minibatch(7, shuffle=False), 7, 3) == visits(Batch(), 7, 3)


def test_a_batch_is_judged_with_the_weights_before_it() -> None:
    # After the first example alone, the second would be right.
    X, y = np.array([[1, 0], [2, 0], [0, 1]]), [1, 1, -1]
    run = train(Binary(), X, y, order=Batch(), max_epochs=1)
    assert run.w.tolist() == [3, -1]
    assert (run.updates, run.mistakes) == (1, (3,))
    assert train(Binary(), X, y, max_epochs=1).w.tolist() == [1, -1]


def test_a_multiclass_batch_adds_up_its_corrections() -> None:
    X, y = np.array([[1, 0], [2, 0], [0, 1]]), [1, 2, 0]
    run = train(Multiclass(3), X, y, order=Batch(), max_epochs=1)
    assert run.w.tolist() == [[-3, 0], [1, 0], [2, 0]]


def test_the_rate_is_asked_once_an_iteration_from_one_on() -> None:
    asked = []

    def rate(i: int) -> int:
        asked.append(i)
        return i

    X, y = np.array([[1], [1], [1]]), [1, -1, 1]
    run = train(Binary(), X, y, rate=rate, max_epochs=2)
    assert asked == [1, 2, 3, 4, 5, 6]
    # +1, then -2, then +3, then none, then -5, then +6.
    assert [w.tolist() for w in run.trace()] == [[0], [1], [-1], [2], [2], [-3], [3]]
    asked.clear()
    train(Binary(), X, y, rate=rate, order=Minibatch(2, shuffle=False), max_epochs=2)
    assert asked == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("rate", "w"),
    [
        (Constant(Fraction(3, 2)), [Fraction(3, 2), 0, Fraction(3, 2)]),
        (Inverse(Fraction(1)), [1, Fraction(1, 2), Fraction(5, 6)]),
        (Geometric(Fraction(1), Fraction(1, 2)), [1, Fraction(1, 2), Fraction(3, 4)]),
    ],
)
def test_the_rate_multiplies_every_update(rate: object, w: list[Fraction]) -> None:
    X = np.array([[1], [1], [1]], dtype=object)
    run = train(Binary(margin=9), X, [1, -1, 1], rate=rate, max_epochs=1)  # type: ignore[arg-type]
    assert [v.tolist()[0] for v in run.trace()[1:]] == w


def test_training_starts_at_zeros_at_a_or_at_random_numbers() -> None:
    X, y = np.array([[1.0, 2.0]]), [2]

    def start_of(start: object) -> list[list[float]]:
        return train(Multiclass(3), X, y, start=start, max_epochs=1).start.tolist()  # type: ignore[arg-type]

    assert train(Multiclass(3), X, y).start.tolist() == [[0, 0]] * 3
    assert start_of(all_equal(0.25)) == [[0.25, 0.25]] * 3
    drawn = start_of(random_in(-0.5, 0.5, seed=8))
    assert drawn == start_of(random_in(-0.5, 0.5, seed=8))
    assert drawn != start_of(random_in(-0.5, 0.5, seed=9))
    assert len({value for row in drawn for value in row}) == 6
    assert all(-0.5 <= value < 0.5 for row in drawn for value in row)
    assert start_of(np.array([[1, 2], [3, 4], [5, 6]])) == [[1, 2], [3, 4], [5, 6]]


def test_the_given_start_is_not_changed_by_training() -> None:
    start = np.array([0.0])
    run = train(Binary(), np.array([[1.0]]), [1], start=start)
    assert (start.tolist(), run.start.tolist(), run.w.tolist()) == ([0], [0], [1])


@pytest.mark.parametrize(
    ("X", "rate", "dtype"),
    [
        (np.array([[1, 2]]), Constant(2), np.int64),
        (np.array([[1, 2]]), Constant(0.5), np.float64),
        (np.array([[1, 2]]), lambda i: 2, np.float64),
        (np.array([[1, 2]]), Inverse(Fraction(1)), np.float64),
        (np.array([[1, 2]], dtype=np.float32), Constant(2), np.float64),
        (np.array([[1, Fraction(2)]], dtype=object), Constant(2), object),
    ],
)
def test_weights_are_as_exact_as_the_data_and_the_rate(
    X: np.ndarray, rate: object, dtype: object
) -> None:
    run = train(Binary(), X, [1], rate=rate)  # type: ignore[arg-type]
    assert run.w.dtype == dtype
    assert all(w.dtype == dtype for w in run.trace())


def test_a_random_start_of_exact_data_is_a_start_of_fractions() -> None:
    X = np.array([[1, 2]], dtype=object)
    run = train(Binary(), X, [1], start=random_in(0.0, 1.0, seed=1))
    assert all(isinstance(value, Fraction) for value in run.start)


SEPARABLE = np.array([[2, 1], [1, 2], [-1, -2], [-2, -1]])
SEPARABLE_Y = [1, 1, -1, -1]


def halted(order: Order, X: np.ndarray, y: list[int], **options: object) -> Run:
    return train(Binary(), X, y, order=order, **options)  # type: ignore[arg-type]


def test_o1_halts_after_n_iterations_without_an_update_even_within_an_epoch() -> None:
    X = np.array([[1], [2], [-4]])
    # w = 0: the first example updates; three more, into the second epoch, do not.
    run = halted(Sequential(shuffle=False), X, [1, 1, -1])
    assert (run.N, run.mistakes, run.halted_by) == (4, (1, 0), Halt.NO_UPDATE)
    assert [t for t, _ in run.deltas] == [1]


def test_o2_halts_at_the_end_of_an_epoch_without_an_update() -> None:
    run = halted(Stochastic(seed=2), np.array([[1], [2], [-4]]), [1, 1, -1])
    assert (run.N, run.mistakes, run.halted_by) == (6, (1, 0), Halt.NO_CHANGE)


def test_o4_halts_when_the_batch_sum_is_zero() -> None:
    run = halted(Batch(), SEPARABLE, SEPARABLE_Y)
    assert (run.N, run.mistakes, run.halted_by) == (8, (4, 0), Halt.ZERO_SUM)


def test_o4_also_halts_when_mistakes_cancel_out() -> None:
    run = halted(Batch(), np.array([[1, 2], [1, 2]]), [1, -1])
    assert (run.N, run.mistakes, run.halted_by) == (2, (2,), Halt.ZERO_SUM)


@pytest.mark.parametrize(
    "order", [Replacement, lambda **o: MinibatchRandom(2, **o), lambda **o: Minibatch(2, **o)]
)
def test_o3_o5_and_o6_halt_when_an_epoch_moves_w_less_than_tol(order: object) -> None:
    run = halted(order(tol=1e-9), SEPARABLE, SEPARABLE_Y)  # type: ignore[operator]
    assert run.halted_by == Halt.SMALL_NORM
    assert run.mistakes[-1] == 0 and sum(run.mistakes) > 0
    assert 4 * len(run.mistakes) == run.N
    endless = halted(order(), SEPARABLE, SEPARABLE_Y, max_epochs=9)  # type: ignore[operator]
    assert (endless.halted_by, endless.N) == (Halt.EPOCH_LIMIT, 36)


def test_the_norm_must_be_below_tol_and_not_at_it() -> None:
    # One epoch adds the vector (3, 4).
    X = np.array([[3, 4]])
    at = halted(Minibatch(1, tol=5), X, [1], max_epochs=1)
    above = halted(Minibatch(1, tol=6), X, [1], max_epochs=1)
    assert (at.halted_by, above.halted_by) == (Halt.EPOCH_LIMIT, Halt.SMALL_NORM)


@pytest.mark.parametrize("order", ORDERS)
def test_every_order_ends_at_the_epoch_limit_on_data_that_no_vector_separates(order: Order) -> None:
    X, y = np.array([[1, 0], [2, 0], [0, 1], [1, 1]]), [1, -1, 1, -1]
    run = halted(order, X, y, max_epochs=7)
    assert (run.halted_by, len(run.mistakes), run.N) == (Halt.EPOCH_LIMIT, 7, 28)


@pytest.mark.parametrize("order", ORDERS)
def test_the_same_seed_gives_the_same_run(order: Order) -> None:
    rng = np.random.RandomState(0)
    X, y = rng.randint(-5, 6, size=(9, 3)), rng.choice([-1, 1], size=9)
    first, second = halted(order, X, y, max_epochs=5), halted(order, X, y, max_epochs=5)
    assert [w.tolist() for w in first.trace()] == [w.tolist() for w in second.trace()]


def test_the_run_counts_updates_by_steps_and_mistakes_by_examples() -> None:
    run = halted(Minibatch(2, shuffle=False), SEPARABLE, SEPARABLE_Y, max_epochs=2)
    assert [(step.t, step.examples, step.mistakes) for step in run.steps] == [
        (1, 2, 2),
        (3, 2, 0),
        (5, 2, 0),
        (7, 2, 0),
    ]
    assert (run.updates, run.mistakes) == (1, (2, 0))
    assert [step.delta is None for step in run.steps] == [False, True, True, True]
