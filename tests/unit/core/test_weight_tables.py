"""Weight tables: their figures, and what they say of arguments that they cannot use."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from perceptron_nlp._core.table.weights import MAX_TABLE_BITS, WeightTable
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, MemoryLimitError

KEY = np.array([1], np.uint64)


def test_a_fixed_table_asks_for_its_memory_at_once_and_never_again() -> None:
    table = WeightTable(17, table_bits=10)
    # 20 weights, of which three stay 0, 17 totals and a time stamp: eight bytes each.
    assert table.bytes_used == 2**10 * 38 * 8
    table.update(np.arange(100_000, dtype=np.uint64) << np.uint64(47), 3, 1.0)
    assert table.bytes_used == 2**10 * 38 * 8
    assert table.n_rows == 2**10
    assert WeightTable(17, table_bits=10, gradients=True).bytes_used == 2**10 * 55 * 8


def test_a_row_among_many_labels_costs_those_that_it_met_not_the_tag_set() -> None:
    few, many = WeightTable(33), WeightTable(65_536)
    keys = np.arange(10_000, dtype=np.uint64)
    for table in (few, many):
        table.update(keys, 0, 1.0)
        table.update(keys, 1, -1.0)
    assert few.bytes_used == many.bytes_used
    # Two cells of 20 bytes, a head, the key, its slots, and room set aside to grow into.
    assert few.bytes_used < 10_000 * 300


def test_a_row_among_few_labels_has_room_for_all_of_them() -> None:
    table, empty = WeightTable(17), WeightTable(17).bytes_used
    parts = np.array_split(np.arange(10_000, dtype=np.uint64), 100)
    for part in parts:
        table.update(part, 0, 1.0)
    with_one_label = table.bytes_used
    # 20 weights and 17 sums; the room for weights grows by half at a time.
    assert 10_000 * 296 < with_one_label - empty < 10_000 * 500
    for label in range(1, 17):
        for part in parts:
            table.update(part, label, 1.0)
    # Room is made for an update before it is known that its rows are there: one chunk at most.
    assert table.bytes_used <= with_one_label + 1024 * 320 + 64


def test_a_row_may_meet_all_of_65536_labels() -> None:
    table = WeightTable(65_536)
    for label in range(0, 65_536, 7):
        table.update(KEY, label, label + 1)
    scores = table.score(KEY)
    assert scores[::7].tolist() == list(range(1, 65_537, 7))
    assert np.count_nonzero(scores) == len(range(0, 65_536, 7))
    assert table.last().labels.tolist() == list(range(0, 65_536, 7))


def test_a_new_table_is_empty_and_scores_zero() -> None:
    for table in (WeightTable(4), WeightTable(4, table_bits=3)):
        assert table.n_labels == 4 and table.done == 0
        assert table.score(KEY).tolist() == [0, 0, 0, 0]
        assert table.score(KEY[:0]).tolist() == [0, 0, 0, 0]
        assert len(table.average().keys) == len(table.last().keys) == 0
        table.advance(5)
        assert len(table.average().keys) == 0 and table.done == 5


def test_scoring_makes_no_row() -> None:
    table = WeightTable(4)
    table.score(np.arange(100, dtype=np.uint64))
    assert table.n_rows == 0


def test_the_average_before_the_first_example_is_zero() -> None:
    table = WeightTable(4)
    table.update(KEY, 1, 1.0)
    assert len(table.average().weights) == 0 and table.last().weights.tolist() == [1.0]


def test_a_row_remembers_the_group_that_made_it() -> None:
    table = WeightTable(4)
    table.update(KEY, 1, 1.0, group=7)
    table.update(np.array([1, 2], np.uint64), 1, 1.0, group=9)
    last = table.last()
    assert dict(zip(last.keys.tolist(), last.groups.tolist(), strict=True)) == {1: 7, 2: 9}


@pytest.mark.parametrize("bits", [None, 4])
def test_examples_may_be_more_than_32_bits_count(bits: int | None) -> None:
    table = WeightTable(2, table_bits=bits)
    table.advance(2**33)
    table.update(KEY, 1, 4.0)
    table.advance(2**33)
    assert table.done == 2**34
    assert table.average().weights.tolist() == [2.0]
    with pytest.raises(ArgumentError, match="examples: 4611686018427387904 cannot be added"):
        table.advance(2**62)


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: WeightTable(0), ArgumentError, "n_labels: 0 is not between 1 and 65536"),
        (lambda: WeightTable(65_537), ArgumentError, "n_labels: 65537 is not between 1 and 65536"),
        (lambda: WeightTable("3"), ArgumentTypeError, "n_labels: an int is needed, not str"),  # type: ignore[arg-type]
        (lambda: WeightTable(True), ArgumentTypeError, "n_labels: an int is needed, not bool"),
        (
            lambda: WeightTable(3, table_bits=0),
            ArgumentError,
            "table_bits: 0 is not between 1 and 30",
        ),
        (lambda: WeightTable(3, table_bits=31), ArgumentError, "table_bits: 31 is not between"),
        (lambda: WeightTable(3, table_bits=2.5), ArgumentTypeError, "table_bits: an int is needed"),  # type: ignore[arg-type]
        (
            lambda: WeightTable(65_536, table_bits=MAX_TABLE_BITS),
            MemoryLimitError,
            "table_bits: 1073741824 rows of 65536 labels need 1073741824 MiB",
        ),
    ],
)
def test_a_table_that_cannot_be_made_names_the_argument(
    make: Callable[[], WeightTable], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        make()


@pytest.mark.parametrize(
    ("act", "error", "text"),
    [
        (lambda t: t.update(KEY, 3, 1.0), ArgumentError, "label: 3 is not between 0 and 2"),
        (lambda t: t.update(KEY, -1, 1.0), ArgumentError, "label: -1 is not between 0 and 2"),
        (
            lambda t: t.update(KEY, 1.5, 1.0),
            ArgumentTypeError,
            "label: an int is needed, not float",
        ),
        (lambda t: t.update(KEY, None, 1.0), ArgumentTypeError, "label: an int is needed"),
        (
            lambda t: t.update(KEY, 1, float("nan")),
            ArgumentError,
            "step: nan is not a finite number",
        ),
        (lambda t: t.update(KEY, 1, 1.0, [1.0, 2.0]), ArgumentError, "values: 1 are needed, one"),
        (
            lambda t: t.update(KEY, 1, 1.0, [float("inf")]),
            ArgumentError,
            "values: not all are finite",
        ),
        (lambda t: t.update(KEY, 1, 1.0, ["a"]), ArgumentTypeError, "values: numbers are needed"),
        (lambda t: t.update([1, 2], 1, 1.0), ArgumentTypeError, "keys: a one-dimensional array of"),
        (
            lambda t: t.update(KEY.reshape(1, 1), 1, 1.0),
            ArgumentTypeError,
            "keys: .* not 2 dimension",
        ),
        (lambda t: t.score(np.array([1.0])), ArgumentTypeError, "keys: .* of float64"),
        (lambda t: t.last().score(np.array([1])), ArgumentTypeError, "keys: .* of int64"),
        (lambda t: t.advance(-1), ArgumentError, "examples: -1 cannot be added to 0"),
        (
            lambda t: t.update(KEY, 1, 1.0, rate=0.1),
            ArgumentError,
            "gradients: this table was made",
        ),
    ],
)
def test_an_argument_that_cannot_be_used_is_named_and_changes_nothing(
    act: Callable[[WeightTable], object], error: type[Exception], text: str
) -> None:
    table = WeightTable(3)
    with pytest.raises(error, match=text):
        act(table)
    assert table.n_rows == 0 and table.done == 0


@pytest.mark.parametrize(
    ("sign", "rate", "named"), [(float("nan"), 0.1, "step: nan"), (1.0, float("inf"), "rate: inf")]
)
def test_adagrad_takes_finite_numbers_only(sign: float, rate: float, named: str) -> None:
    table = WeightTable(3, gradients=True)
    with pytest.raises(ArgumentError, match=f"{named} is not a finite number"):
        table.update(KEY, 1, sign, rate=rate)
    assert table.n_rows == 0


def test_a_gradient_too_small_to_be_squared_changes_nothing() -> None:
    table = WeightTable(2, gradients=True)
    key = np.array([1], np.uint64)
    for sign in (0.0, 1e-200):
        table.update(key, 0, sign, rate=0.1)
    assert table.score(key).tolist() == [0.0, 0.0]
