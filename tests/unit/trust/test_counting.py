"""Counted arrays compute what plain ones do, and count it."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.costs import KEEPERS, CountedArray, Counter, Size, made_stream
from perceptron_nlp.perceptrons import textbook as tb

WORK = {
    "a sum counts its elements": (lambda a: a + a, 5),
    "a multiple counts its elements": (lambda a: 3 * a, 5),
    "a copy counts": (lambda a: a.copy(), 5),
    "a change of type counts": (lambda a: a.astype(int), 5),
    "a pick counts what is picked": (lambda a: a[np.array([0, 2])], 2),
    "a view is free": (lambda a: a.reshape(-1), 0),
    "work on a result counts too": (lambda a: (a + 1) * 2, 10),
}


@pytest.mark.parametrize("name", WORK)
def test_work_is_counted_by_elements(name: str) -> None:
    work, expected = WORK[name]
    counter = Counter()
    result = work(CountedArray.of(np.arange(5.0), counter))
    assert counter.elements == expected
    assert np.array_equal(result, work(np.arange(5.0)))


def test_a_change_in_place_counts_reading_adding_and_writing() -> None:
    counter = Counter()
    a = CountedArray.of(np.zeros(5), counter)
    a[np.array([1, 3])] += 2.0
    assert counter.elements == 6
    a += 1.0
    assert counter.elements == 11
    assert a.tolist() == [1, 3, 1, 3, 1]


@pytest.mark.parametrize("keeper", [k for k in KEEPERS if "averaged" in k.name],
                         ids=lambda keeper: keeper.ids)  # fmt: skip
def test_counting_and_joined_steps_change_no_average(keeper: object) -> None:
    size = Size(d=8, D=40, U=12, nonzeros=3)
    expected = tb.averaged_naive(made_stream(size, exact=True))
    for every_example in (True, False):
        counter = Counter()
        average = keeper.keep(made_stream(size, every_example=every_example, counter=counter))
        assert average.astype(float) == pytest.approx(expected.astype(float))
        assert counter.elements > 0
