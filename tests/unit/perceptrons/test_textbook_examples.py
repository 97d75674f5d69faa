"""The worked examples of the lectures, number by number."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from oracles.sources import jenkins_sequential

from perceptron_nlp.perceptrons.textbook import (
    Binary,
    Delta,
    Halt,
    MaximalValue,
    Multiclass,
    Sequential,
    Step,
    Stream,
    averaged_by_updates,
    averaged_countdown,
    averaged_counter,
    averaged_improved,
    averaged_lazy,
    averaged_naive,
    train,
    unnormalized,
)
from perceptron_nlp.perceptrons.textbook.schedule import Constant

AVERAGES = [
    averaged_naive,
    averaged_improved,
    averaged_by_updates,
    averaged_countdown,
    averaged_counter,
    averaged_lazy,
]

SEVEN_STEPS_X = np.array([[1, -1, -3], [1, 2, 1], [1, 0, 3], [1, 4, -1], [1, 0, 2]], dtype=object)
SEVEN_STEPS_Z = [-1, 1, 1, -1, 1]
SEVEN_STEPS_START = np.array([-1, 0, 0])
SEVEN_STEPS_W = [*[[-1, 0, 0]] * 2, *[[0, 2, 1]] * 2, *[[-1, -2, 2]] * 3, *[[0, 0, 3]] * 6]


def test_jenkins_seven_steps_update_at_1_3_and_6_and_halt_after_five_without_one() -> None:
    run = train(Binary(), SEVEN_STEPS_X, SEVEN_STEPS_Z, start=SEVEN_STEPS_START)
    assert [w.tolist() for w in run.trace()] == SEVEN_STEPS_W
    # The lecture's i counts from 0, t from 1.
    assert [t - 1 for t, _ in run.deltas] == [1, 3, 6]
    assert run.w.tolist() == [0, 0, 3]
    assert run.N == 12
    assert run.updates == 3
    assert run.mistakes == (2, 1, 0)
    assert run.halted_by == Halt.NO_UPDATE


@pytest.mark.parametrize("averaged", AVERAGES)
def test_the_mean_of_jenkins_twelve_examples(averaged: object) -> None:
    run = train(Binary(), SEVEN_STEPS_X, SEVEN_STEPS_Z, start=SEVEN_STEPS_START)
    mean = [Fraction(-1, 3), Fraction(-1, 6), Fraction(13, 6)]
    assert averaged(run).tolist() == mean  # type: ignore[operator]


def test_jenkins_pseudocode_line_by_line_walks_the_same_seven_steps() -> None:
    points = list(zip(SEVEN_STEPS_X, SEVEN_STEPS_Z, strict=True))
    w = jenkins_sequential(points, SEVEN_STEPS_START.astype(object), Constant(1))
    assert [w_i.tolist() for w_i in w] == SEVEN_STEPS_W


def unit_stream(updates_at: list[int], N: int) -> Stream:
    """A start at 0 and N examples; update number j, at the j-th time given, adds 1 to w_j."""
    d = len(updates_at)
    steps = []
    for t in range(1, N + 1):
        unit = np.zeros(d, dtype=object)
        if t in updates_at:
            unit[updates_at.index(t)] = 1
        steps.append(Step(t, 1, int(t in updates_at), Delta.of(unit) if any(unit) else None))
    return Stream(np.zeros(d, dtype=object), steps)


def test_huangs_four_updates_count_4_3_2_and_1_times() -> None:
    stream = unit_stream([1, 2, 3, 4], N=4)
    assert unnormalized(stream).tolist() == [4, 3, 2, 1]
    # 4·w_4 less what the auxiliary vector holds: 0Δ₁ + 1Δ₂ + 2Δ₃ + 3Δ₄.
    w_4 = stream.trace()[-1]
    assert (4 * w_4 - np.array([0, 1, 2, 3])).tolist() == [4, 3, 2, 1]
    for averaged in AVERAGES:
        assert (4 * averaged(stream)).tolist() == [4, 3, 2, 1]


def test_johanssons_three_updates_have_shares_of_three_two_and_one_third() -> None:
    stream = unit_stream([1, 2, 3], N=3)
    for averaged in AVERAGES:
        assert averaged(stream).tolist() == [1, Fraction(2, 3), Fraction(1, 3)]


def late_mistake(learner: Multiclass) -> None:
    # Class 1 from the first example on; the last example says class 0.
    X = np.array([[1]] * 10_000, dtype=object)
    y = [1] * 9_999 + [0]
    run = train(learner, X, y, order=Sequential(shuffle=False), max_epochs=1)
    before, after = run.trace()[-2:]
    assert [t for t, _ in run.deltas] == [1, 10_000]
    assert (after - before).tolist() == [[1], [-1]]
    for averaged in AVERAGES:
        change = averaged(run) - before
        assert change.tolist() == [[Fraction(1, 10_000)], [Fraction(-1, 10_000)]]


@pytest.mark.parametrize("learner", [Multiclass(2), MaximalValue(2)])
def test_kuhlmanns_late_mistake_moves_the_average_by_a_ten_thousandth(learner: Multiclass) -> None:
    late_mistake(learner)


def test_kuhlmanns_late_mistake_in_the_binary_case() -> None:
    X = np.array([[1]] * 10_000, dtype=object)
    run = train(Binary(), X, [1] * 9_999 + [-1], max_epochs=1)
    assert run.w.tolist() == [0]
    assert run.trace()[-2].tolist() == [1]
    for averaged in AVERAGES:
        assert averaged(run).tolist() == [1 - Fraction(1, 10_000)]
