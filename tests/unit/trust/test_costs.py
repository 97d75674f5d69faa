"""The cost table, measured: every row grows as it states."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.costs import (
    BY_UPDATES,
    KEEPERS,
    ONE_VECTOR,
    PLAN,
    Curve,
    Keeper,
    Size,
    elements,
    fitted_power,
    growth_curves,
    made_stream,
)
from perceptron_nlp.perceptrons import textbook as tb


@given(st.floats(-2, 3), st.floats(0.01, 100))
def test_the_fitted_power_of_a_power_law_is_its_power(power: float, factor: float) -> None:
    sizes = [64, 128, 256, 512]
    costs = tuple(factor * size**power for size in sizes)
    assert fitted_power(sizes, costs) == pytest.approx(power, abs=1e-6)


@pytest.fixture(scope="module")
def measured() -> list[Curve]:
    return growth_curves(plan={quantity: PLAN[quantity] for quantity in ("elements", "bytes")})


def test_every_row_grows_in_time_and_space_as_the_table_states(measured: list[Curve]) -> None:
    wrong = [
        (curve.keeper.ids, curve.quantity, curve.series.variable, curve.power, curve.stated)
        for curve in measured
        if abs(curve.power - curve.stated) > 0.15
    ]
    assert wrong == []


def test_every_row_is_measured_in_every_variable(measured: list[Curve]) -> None:
    assert len(measured) == 3 * (2 * len(KEEPERS) - sum(keeper.in_core for keeper in KEEPERS))


def test_a_row_that_does_more_than_it_states_is_seen() -> None:
    size = [Size(64, D, 8, 2) for D in (256, 512, 1024)]
    impostor = Keeper("L7", "naive", tb.averaged_naive, ONE_VECTOR, BY_UPDATES)
    costs = tuple(elements(impostor, size, False))
    assert fitted_power([256, 512, 1024], costs) > 0.9


def test_a_made_stream_has_the_size_that_was_asked_for() -> None:
    for every_example, steps in ((True, 100), (False, None)):
        stream = made_stream(Size(d=32, D=100, U=20, nonzeros=5), every_example=every_example)
        assert stream.N == 100
        assert len(stream.deltas) == 20
        assert all(len(set(delta.index.tolist())) == 5 for _, delta in stream.deltas)
        assert steps is None or len(stream.steps) == steps


def test_without_updates_a_stream_is_examples_only() -> None:
    assert made_stream(Size(d=4, D=9, U=0, nonzeros=2)).deltas == []
