"""Laws of the weight tables, over both tables and label counts of every size class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.naive_weights import NaiveWeights, cells_of

from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.perceptrons.textbook import Multiclass, Stochastic, averaged_naive, train

LABEL_COUNTS = (2, 17, 32, 33, 100, 1000, 65_536)
TABLES = [(n, bits) for n in LABEL_COUNTS for bits in (None, 1 if n > 1000 else 3)]
BOTH_TABLES = pytest.mark.parametrize(("n_labels", "bits"), TABLES)

KEYS = st.sampled_from(
    [0, 1, 2**63, 2**64 - 1, 2**32, 3 * 2**32, 0x9E3779B97F4A7C15]
) | st.integers(0, 2**64 - 1)
STEPS = st.integers(-5, 5)


def array(keys: Sequence[int]) -> npt.NDArray[np.uint64]:
    return np.array(keys, np.uint64)


@dataclass
class Update:
    """step · value is added to weights of several labels, as several updates would do."""

    keys: list[int]
    labels: list[int]
    step: int
    values: list[int] | None = None

    def on(self, table: WeightTable) -> None:
        for label in self.labels:
            table.update(array(self.keys), label, self.step, self.values)

    def on_naive(self, naive: NaiveWeights) -> None:
        for label in self.labels:
            naive.add(self.keys, label, self.step, self.values)


@dataclass
class Advance:
    """So many examples are finished."""

    examples: int

    def on(self, table: WeightTable) -> None:
        table.advance(self.examples)

    def on_naive(self, naive: NaiveWeights) -> None:
        naive.advance(self.examples)


Event = Update | Advance


@st.composite
def updates(draw: st.DrawFn, n_labels: int) -> Update:
    keys = draw(st.lists(KEYS, max_size=4))
    first = draw(st.integers(0, n_labels - 1))
    # A row that has met many labels keeps them in another way than one that has met few.
    count = draw(st.sampled_from([1, 1, 1, 2, 5, 33, 70]))
    stride = draw(st.sampled_from([1, 3, 64, 1024]))
    labels = list(dict.fromkeys((first + stride * i) % n_labels for i in range(count)))
    values = draw(st.none() | st.lists(STEPS, min_size=len(keys), max_size=len(keys)))
    return Update(keys, labels, draw(STEPS), values)


def histories(n_labels: int) -> st.SearchStrategy[list[Event]]:
    return st.lists(updates(n_labels) | st.builds(Advance, st.integers(0, 3)), max_size=12)


@BOTH_TABLES
@settings(max_examples=40)
@given(data=st.data())
def test_the_lazy_average_is_the_naive_one_exactly_on_integers(
    n_labels: int, bits: int | None, data: st.DataObject
) -> None:
    table, naive = WeightTable(n_labels, table_bits=bits), NaiveWeights(bits)
    for event in data.draw(histories(n_labels)):
        event.on(table)
        event.on_naive(naive)
    assert table.done == naive.done
    assert cells_of(table.last()) == naive.last()
    assert cells_of(table.average()) == (naive.average() if naive.done else {})


class Textbook:
    """L12 weight by weight: (row, label) -> weight, total and the time at which it was settled."""

    def __init__(self, bits: int | None) -> None:
        self.shift = 0 if bits is None else 64 - bits
        self.cells: dict[tuple[int, int], tuple[int, int, int]] = {}
        self.row_touched: dict[int, int] = {}
        self.done = 0

    def update(self, event: Update) -> None:
        values = event.values or [1] * len(event.keys)
        for label in event.labels:
            for key, value in zip(event.keys, values, strict=True):
                cell = key >> self.shift, label
                w, total, stamp = self.cells.get(cell, (0, 0, 0))
                settled = total + (self.done - stamp) * w
                self.cells[cell] = w + event.step * value, settled, self.done
                self.row_touched[cell[0]] = self.done

    def expected(self) -> dict[tuple[int, int], tuple[int, int, int]]:
        """Weight, total and stamp, where totals are up to the stamp of the whole row."""
        found = {}
        for (row, label), (w, total, stamp) in self.cells.items():
            now = self.row_touched[row]
            if w or total + (now - stamp) * w:
                found[row, label] = w, total + (now - stamp) * w, now
        return found


def kept_in(table: WeightTable) -> dict[tuple[int, int], tuple[float, float, int]]:
    """(row, label) -> weight, total and time stamp, as a table keeps them."""
    arrays = table.to_arrays()
    rows = np.repeat(arrays["keys"], arrays["counts"]).tolist()
    stamps = np.repeat(arrays["last_update"], arrays["counts"]).tolist()
    cells = zip(rows, arrays["labels"].tolist(), strict=True)
    kept = zip(arrays["weight"].tolist(), arrays["total"].tolist(), stamps, strict=True)
    return dict(zip(cells, kept, strict=True))


@BOTH_TABLES
@settings(max_examples=30)
@given(data=st.data())
def test_weights_totals_and_stamps_are_the_textbooks_after_every_single_update(
    n_labels: int, bits: int | None, data: st.DataObject
) -> None:
    table = WeightTable(n_labels, table_bits=bits)
    textbook, naive = Textbook(bits), NaiveWeights(bits)
    for event in data.draw(histories(n_labels)):
        event.on(table)
        event.on_naive(naive)
        if isinstance(event, Update):
            textbook.update(event)
        textbook.done = table.done
        assert kept_in(table) == textbook.expected()
        if table.done:
            assert cells_of(table.average()) == naive.average()


@pytest.mark.parametrize("n_labels", [3, 100])
def test_after_100_million_examples_an_average_is_off_by_less_than_1e_9(n_labels: int) -> None:
    """Both where a row is settled at every example, and after long silences."""
    rng = np.random.default_rng(1)
    table, key, exact = WeightTable(n_labels), array([7]), Fraction(0)
    gaps = np.concatenate(
        [np.ones(50_000, int), rng.multinomial(10**8 - 50_000, [1 / 5_000] * 5_000)]
    )
    weight, largest = 0.0, 0.0
    for gap, step in zip(gaps.tolist(), rng.normal(size=len(gaps)).tolist(), strict=True):
        table.update(key, 1, step)
        weight += step
        largest = max(largest, abs(weight))
        table.advance(gap)
        exact += Fraction(weight) * gap
    assert table.done == 10**8
    assert abs(table.average().weights[0] - float(exact / 10**8)) <= 1e-9 * largest


@BOTH_TABLES
@settings(max_examples=20)
@given(data=st.data())
def test_averaging_twice_gives_the_same_and_training_goes_on_as_if_it_never_was(
    n_labels: int, bits: int | None, data: st.DataObject
) -> None:
    watched, left_alone = (WeightTable(n_labels, table_bits=bits) for _ in range(2))
    for event in data.draw(histories(n_labels)):
        event.on(watched)
        event.on(left_alone)
        assert cells_of(watched.average()) == cells_of(watched.average())
    assert cells_of(watched.average()) == cells_of(left_alone.average())
    assert cells_of(watched.last()) == cells_of(left_alone.last())


@BOTH_TABLES
def test_a_frozen_average_does_not_change_when_training_goes_on(
    n_labels: int, bits: int | None
) -> None:
    table = WeightTable(n_labels, table_bits=bits)
    table.update(array([1, 2]), 1, 3.0)
    table.advance()
    frozen = table.average()
    before = cells_of(frozen)
    table.update(array([1, 5]), 0, -7.0)
    table.advance(4)
    assert cells_of(frozen) == before


@BOTH_TABLES
def test_a_weight_that_is_back_at_zero_keeps_its_average(n_labels: int, bits: int | None) -> None:
    table = WeightTable(n_labels, table_bits=bits)
    table.update(array([7]), 1, 2.0)
    table.advance(3)
    table.update(array([7]), 1, -2.0)
    table.advance(3)
    row = 7 if bits is None else 0
    assert cells_of(table.last()) == {}
    assert cells_of(table.average()) == {(row, 1): 1.0}
    table.advance(6)
    assert cells_of(table.average()) == {(row, 1): 0.5}


@BOTH_TABLES
def test_an_update_counts_from_the_example_at_which_it_is_made(
    n_labels: int, bits: int | None
) -> None:
    table = WeightTable(n_labels, table_bits=bits)
    table.advance(9999)
    table.update(array([7]), 1, 1.0)
    table.advance()
    assert list(cells_of(table.average()).values()) == [1 / 10_000]


@pytest.mark.parametrize("bits", [None, 3])
@pytest.mark.parametrize("n_labels", [2, 17, 100, 1000])
@settings(max_examples=30)
@given(data=st.data())
def test_after_a_mistake_the_gold_label_has_gained_on_the_guess(
    n_labels: int, bits: int | None, data: st.DataObject
) -> None:
    table = WeightTable(n_labels, table_bits=bits)
    for event in data.draw(histories(n_labels)):
        event.on(table)
    keys = array(data.draw(st.lists(KEYS, min_size=1, max_size=6)))
    gold = data.draw(st.integers(0, n_labels - 1))
    before = table.score(keys)
    guess = int(np.argmax(before))
    if guess == gold:
        return
    table.update(keys, gold, 1.0)
    table.update(keys, guess, -1.0)
    after = table.score(keys)
    # 2 ‖x‖², where features that share a row count as one feature of their summed value.
    rows = keys if bits is None else keys >> np.uint64(64 - bits)
    squares = int((np.unique(rows, return_counts=True)[1] ** 2).sum())
    assert (after[gold] - after[guess]) - (before[gold] - before[guess]) == 2 * squares
    others = np.delete(np.arange(n_labels), [gold, guess])
    assert (after[others] == before[others]).all()


@BOTH_TABLES
def test_on_a_fresh_table_gold_outscores_the_guess_after_one_mistake(
    n_labels: int, bits: int | None
) -> None:
    table = WeightTable(n_labels, table_bits=bits)
    keys, gold = array([3, 2**60, 2**64 - 5]), n_labels - 1
    assert int(np.argmax(table.score(keys))) == 0
    table.update(keys, gold, 1.0)
    table.update(keys, 0, -1.0)
    scores = table.score(keys)
    assert int(np.argmax(scores)) == gold and scores[gold] > scores[0]


@settings(max_examples=60)
@given(st.lists(st.tuples(KEYS, st.integers(0, 99), STEPS), max_size=300))
def test_the_exact_table_behaves_as_a_dictionary_under_any_insertions(
    insertions: list[tuple[int, int, int]],
) -> None:
    table = WeightTable(100)
    expected: dict[tuple[int, int], int] = {}
    rows: set[int] = set()
    for key, label, step in insertions:
        table.update(array([key]), label, step)
        expected[key, label] = expected.get((key, label), 0) + step
        rows.add(key)
    assert table.n_rows == len(rows)
    assert cells_of(table.last()) == {cell: w for cell, w in expected.items() if w}


def test_growth_moves_no_score() -> None:
    table = WeightTable(50)
    keys = np.arange(1, 200_001, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    watched = keys[:64]
    for i, key in enumerate(watched):
        table.update(array([int(key)]), i % 50, i + 1)
    before = [table.score(array([int(key)])) for key in watched]
    bytes_before = table.bytes_used
    for part in np.array_split(keys[64:], 20):
        table.update(part, 3, 1.0)
        after = [table.score(array([int(key)])) for key in watched]
        assert all((a == b).all() for a, b in zip(before, after, strict=True))
    assert table.n_rows == len(keys)
    assert table.bytes_used > 10 * bytes_before
    assert (table.score(keys)[3] - sum(b[3] for b in before)) == len(keys) - 64


def test_keys_that_agree_in_their_lower_half_stay_apart() -> None:
    table = WeightTable(2)
    keys = [i << 32 | 5 for i in range(2000)]
    for i, key in enumerate(keys):
        table.update(array([key]), 1, i + 1)
    assert [table.score(array([key]))[1] for key in keys] == [i + 1 for i in range(2000)]


@BOTH_TABLES
@settings(max_examples=20)
@given(data=st.data())
def test_permuting_the_labels_permutes_the_scores(
    n_labels: int, bits: int | None, data: st.DataObject
) -> None:
    seed = data.draw(st.integers(0, 2**32))
    order = np.random.default_rng(seed).permutation(n_labels)
    plain, permuted = (WeightTable(n_labels, table_bits=bits) for _ in range(2))
    events = data.draw(histories(n_labels))
    for event in events:
        event.on(plain)
        if isinstance(event, Update):
            event.labels = [int(order[label]) for label in event.labels]
        event.on(permuted)
    keys = array([key for event in events if isinstance(event, Update) for key in event.keys])
    assert (permuted.score(keys)[order] == plain.score(keys)).all()


@pytest.mark.parametrize("bits", [None, 2])
@settings(max_examples=60)
@given(data=st.data())
def test_scores_and_frozen_scores_are_sums_over_keys_and_values(
    bits: int | None, data: st.DataObject
) -> None:
    table, naive = WeightTable(40, table_bits=bits), NaiveWeights(bits)
    for event in data.draw(histories(40)):
        event.on(table)
        event.on_naive(naive)
    keys = data.draw(st.lists(KEYS, max_size=6))
    values = data.draw(st.none() | st.lists(STEPS, min_size=len(keys), max_size=len(keys)))
    expected = naive.scores(keys, 40, values)
    assert table.score(array(keys), values).tolist() == expected
    assert table.last().score(array(keys), values).tolist() == expected


@pytest.mark.parametrize("bits", [1, 4, 16])
@settings(max_examples=30)
@given(keys=st.lists(KEYS, min_size=1, max_size=8))
def test_the_row_of_a_fixed_table_is_the_top_bits_of_the_key_and_collisions_add_up(
    bits: int, keys: list[int]
) -> None:
    table = WeightTable(3, table_bits=bits)
    for key in keys:
        table.update(array([key]), 2, 1.0)
    counts: dict[int, int] = {}
    for key in keys:
        row = int(f"{key:064b}"[:bits], 2)
        counts[row] = counts.get(row, 0) + 1
    assert cells_of(table.last()) == {(row, 2): n for row, n in counts.items()}
    assert table.n_rows == 2**bits


@pytest.mark.parametrize("bits", [None, 2])
@settings(max_examples=60)
@given(data=st.data())
def test_adagrad_takes_the_steps_of_a_plain_reference(
    bits: int | None, data: st.DataObject
) -> None:
    table, naive = WeightTable(40, table_bits=bits, gradients=True), NaiveWeights(bits)
    for _ in range(data.draw(st.integers(0, 8))):
        keys = data.draw(st.lists(KEYS, max_size=4))
        values = data.draw(
            st.none() | st.lists(st.floats(-4, 4, width=16), min_size=len(keys), max_size=len(keys))
        )
        sign, rate = data.draw(st.sampled_from([1.0, -1.0])), data.draw(st.sampled_from([0.1, 2]))
        for label in {data.draw(st.integers(0, 39)) for _ in range(2)}:
            table.update(array(keys), label, sign, values, rate=rate)
            naive.add_adagrad(keys, label, sign, rate, values)
        examples = data.draw(st.integers(0, 2))
        table.advance(examples)
        naive.advance(examples)
    assert cells_of(table.last()) == pytest.approx(naive.last(), rel=1e-12)
    if naive.done:
        found, expected = cells_of(table.average()), naive.average()
        cells = found.keys() | expected.keys()
        assert all(abs(found.get(c, 0) - expected.get(c, 0)) <= 1e-9 for c in cells)


def learn_as_the_textbook(
    table: WeightTable, X: npt.NDArray[Any], y: Sequence[int], visits: Sequence[int]
) -> int:
    mistakes = 0
    for i in visits:
        keys = array([2**32 * int(f) + 1 for f in np.flatnonzero(X[i])])
        values = X[i][X[i] != 0].astype(float)
        guess = int(np.argmax(table.score(keys, values)))
        if guess != y[i]:
            mistakes += 1
            table.update(keys, guess, -1.0, values)
            table.update(keys, y[i], 1.0, values)
        table.advance()
    return mistakes


@settings(max_examples=60)
@given(
    classes=st.integers(2, 6), seed=st.integers(0, 2**32), n=st.integers(1, 12), d=st.integers(1, 8)
)
@example(classes=3, seed=1, n=12, d=3)
def test_the_table_learns_and_averages_as_the_textbook_weight_for_weight(
    classes: int, seed: int, n: int, d: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, (n, d)) * (rng.random((n, d)) < 0.6)
    y = rng.integers(0, classes, n)
    order = Stochastic(seed=seed)
    run = train(Multiclass(classes), X.astype(object), y, order=order, max_epochs=4)
    visits = [int(i) for epoch in islice(order.epochs(n), 5) for batch in epoch for i in batch]
    table = WeightTable(classes)
    mistakes = learn_as_the_textbook(table, X, y.tolist(), visits[: run.N])
    assert mistakes == run.updates
    expected = averaged_naive(run)
    dense = np.zeros((classes, d))
    for (key, label), weight in cells_of(table.average()).items():
        dense[label, key >> 32] = weight
    assert dense.tolist() == [[float(w) for w in row] for row in expected]
