"""Laws of held-out parts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from perceptron_nlp.crossfit import by_size, crossfit, in_turn


@given(st.permutations(range(12)), st.integers(1, 12), st.integers(1, 3))
def test_every_example_is_used_once_by_what_has_not_seen_it(
    order: list[int], n_folds: int, threads: int
) -> None:
    folds = in_turn(order, n_folds)
    assert all(fold == sorted(fold) for fold in folds)
    calls: list[tuple[int, int]] = []
    found = list(
        crossfit(
            folds,
            lambda rest: rest,
            lambda rest, own: (rest, own),
            threads,
            lambda done, total: calls.append((done, total)),
        )
    )
    assert [own for _, own in found] == folds
    assert sorted(number for _, own in found for number in own) == list(range(12))
    for rest, own in found:
        assert rest == sorted(set(range(12)) - set(own))
    assert calls == [(done, n_folds) for done in range(1, n_folds + 1)]


def test_nothing_is_learned_before_it_is_asked_for() -> None:
    learned: list[list[int]] = []
    folds = crossfit([[0], [1], [2]], learned.append, lambda _, own: own)
    assert not learned
    assert next(folds) == [0] and learned == [[1, 2]]


def test_folds_may_be_a_part_of_the_examples_and_arrays() -> None:
    folds = [np.array([7, 3]), np.array([5])]
    assert list(crossfit(folds, lambda rest: rest, lambda rest, own: (rest, own))) == [
        ([5], [7, 3]),
        ([3, 7], [5]),
    ]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_a_training_reaches_the_caller(threads: int) -> None:
    def fail(rest: list[int]) -> None:
        raise ValueError(f"of {rest}")

    with pytest.raises(ValueError, match=r"of \[1\]"):
        list(crossfit([[0], [1]], fail, lambda _, own: own, threads))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=30), st.data())
def test_folds_by_size_differ_by_no_more_than_the_largest_unit(
    sizes: list[int], data: st.DataObject
) -> None:
    n_folds = data.draw(st.integers(2, len(sizes)))
    folds = by_size([[k] for k in range(len(sizes))], sizes, n_folds, seed=1)
    assert sorted(number for fold in folds for number in fold) == list(range(len(sizes)))
    filled = [sum(sizes[number] for number in fold) for fold in folds]
    assert max(filled) - min(filled) <= max(sizes)
