"""Step sizes: their formulas, their limits, and what is said of bad ones."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.perceptrons.textbook.schedule import (
    Constant,
    Geometric,
    Inverse,
    InverseSquare,
    Schedule,
    conditions,
    resolve,
    step_size,
)

law = settings(deadline=None)
eta0s = st.fractions(0, 10)


@law
@given(eta0s, st.fractions(0, 2), st.integers(1, 20))
def test_every_built_in_schedule_is_its_formula(eta0: Fraction, r: Fraction, i: int) -> None:
    assert step_size(Constant(eta0), i) == eta0
    assert step_size(Inverse(eta0), i) == Fraction(eta0, i)
    assert step_size(InverseSquare(eta0), i) == Fraction(eta0, i**2)
    assert step_size(Geometric(eta0, r), i) == eta0 * r ** (i - 1)


@pytest.mark.parametrize(
    ("name", "schedule"),
    [
        ("constant", Constant(3)),
        ("inverse", Inverse(3)),
        ("inverse-square", InverseSquare(3)),
        ("geometric", Geometric(3)),
    ],
)
def test_a_name_means_its_schedule_with_that_eta0(name: str, schedule: Schedule) -> None:
    assert resolve(name, 3) == schedule


def test_a_function_of_i_is_taken_as_it_is() -> None:
    def halving(i: int) -> float:
        return 8 / i

    assert resolve(halving, 5) is halving
    assert step_size(halving, 4) == 2.0


@pytest.mark.parametrize(
    ("schedule", "holding"),
    [
        (Constant(0.5), (True, True, True)),
        (Inverse(2), (True, True, True)),
        (InverseSquare(), (True, False, False)),
        (Geometric(1, 0.5), (True, False, False)),
        (Geometric(1, 1), (True, True, True)),
        (Geometric(1, 1.5), (True, True, False)),
        (Geometric(1, 0), (True, False, False)),
        (Constant(0), (True, False, False)),
    ],
)
def test_the_three_conditions_are_told_for_every_built_in_schedule(
    schedule: Schedule, holding: tuple[bool, bool, bool]
) -> None:
    found = conditions(schedule)
    assert (found.not_negative, found.sum_diverges, found.squares_vanish) == holding
    assert found.hold == all(holding)


@pytest.mark.parametrize("schedule", [Constant(), Inverse(), InverseSquare(), Geometric(1, 1.5)])
def test_the_conditions_agree_with_partial_sums(schedule: Schedule) -> None:
    # Long enough to tell a growing sum from a settled one, short of an overflow.
    rates = [float(step_size(schedule, i)) for i in range(1, 601)]
    half, whole = sum(rates[:300]), sum(rates)
    squares_half = sum(rate**2 for rate in rates[:300]) / half**2
    squares_whole = sum(rate**2 for rate in rates) / whole**2
    found = conditions(schedule)
    assert found.sum_diverges == (whole - half > 0.1)
    assert found.squares_vanish == (squares_whole < 0.95 * squares_half)


@pytest.mark.parametrize("value", [-1, -0.5, float("nan"), float("inf")])
def test_a_rate_that_is_negative_or_not_finite_names_the_schedule(value: float) -> None:
    def broken(i: int) -> float:
        return value

    with pytest.raises(ArgumentError, match="schedule 'broken' at i = 7 must be finite and 0 or"):
        step_size(broken, 7)


def test_a_rate_that_outgrows_floats_names_the_schedule() -> None:
    with pytest.raises(ArgumentError, match=r"schedule 'Geometric.*' at i = 5000 is too large"):
        step_size(Geometric(1, 2.0), 5000)


@pytest.mark.parametrize("value", [None, "1", True, 1j])
def test_a_rate_that_is_no_number_names_the_schedule(value: object) -> None:
    def broken(i: int) -> float:
        return value  # type: ignore[return-value]

    with pytest.raises(ArgumentTypeError, match="schedule 'broken' at i = 1 must be a number"):
        step_size(broken, 1)


def test_iterations_are_numbered_from_one() -> None:
    with pytest.raises(ArgumentError, match="i must be 1 or more, got 0"):
        step_size(Inverse(), 0)


def test_a_misspelt_schedule_gets_the_nearest_name() -> None:
    with pytest.raises(ArgumentError, match=r"schedule 'inverze' is not one .* mean inverse"):
        resolve("inverze")


def test_a_schedule_that_is_neither_name_nor_function_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="schedule must be a name or a function of i"):
        resolve(3)  # type: ignore[arg-type]


def test_a_negative_eta0_is_named() -> None:
    with pytest.raises(ArgumentError, match="eta0 must be finite and 0 or more, got -1"):
        resolve("constant", -1)


def test_limits_of_a_function_cannot_be_told() -> None:
    with pytest.raises(ArgumentTypeError, match="is not a built-in one"):
        conditions(lambda i: 1)
