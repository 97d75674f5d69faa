"""Seeded shuffles and draws: their fixed values, their fairness and their errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptron_nlp import sampling
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.sampling import batches, draws, permutation, uniform, without_replacement

law = settings(deadline=None)
seeds = st.integers(0, 2**64 - 1)


def splitmix64(state: int, count: int) -> list[int]:
    """The published generator, one word after another, in Python's own integers."""
    word, out = 2**64 - 1, []
    for _ in range(count):
        state = (state + 0x9E3779B97F4A7C15) & word
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & word
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & word
        out.append(z ^ (z >> 31))
    return out


def test_the_words_are_the_published_ones() -> None:
    assert sampling._words(0, 0, 4).tolist() == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
        0xF88BB8A8724C81EC,
    ]
    assert sampling._words(1234567, 0, 5).tolist() == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@law
@given(seeds, st.integers(0, 50), st.integers(0, 50))
def test_word_j_is_what_the_generator_gives_after_j_steps(
    state: int, start: int, size: int
) -> None:
    assert sampling._words(state, start, size).tolist() == splitmix64(state, start + size)[start:]


def test_what_a_seed_gives_is_fixed_forever() -> None:
    assert permutation(12, 2026).tolist() == [10, 6, 4, 8, 9, 0, 3, 7, 2, 1, 5, 11]
    assert permutation(12, 2026, 1).tolist() == [0, 10, 3, 8, 5, 7, 2, 6, 1, 11, 9, 4]
    assert draws(10, 12, 2026).tolist() == [6, 2, 3, 5, 9, 0, 2, 0, 9, 3, 0, 0]
    assert without_replacement(1000, 5, 2026, 3).tolist() == [587, 970, 484, 687, 842]
    assert without_replacement(10, 7, 2026, 3).tolist() == [5, 9, 8, 7, 4, 1, 6]
    assert [value.hex() for value in uniform(3, -1.0, 1.0, 2026)] == [
        "0x1.c69e709650b44p-1",
        "0x1.f7fcb1b4dcc64p-2",
        "-0x1.b320726cd7420p-5",
    ]


@law
@given(st.integers(0, 300), seeds, st.integers(0, 1000))
def test_a_permutation_holds_every_number_once(n: int, seed: int, epoch: int) -> None:
    order = permutation(n, seed, epoch)
    assert order.dtype == np.int64
    assert sorted(order.tolist()) == list(range(n))


def test_epochs_and_seeds_shuffle_differently() -> None:
    orders = {tuple(permutation(20, seed, epoch)) for seed in range(5) for epoch in range(5)}
    assert len(orders) == 25


def test_every_order_of_four_comes_up_about_equally_often() -> None:
    counts: dict[tuple[int, ...], int] = {}
    for epoch in range(4800):
        order = tuple(permutation(4, 7, epoch).tolist())
        counts[order] = counts.get(order, 0) + 1
    assert len(counts) == 24
    # 200 expected of each, standard deviation 14.
    assert min(counts.values()) > 140 and max(counts.values()) < 260


@law
@given(st.integers(1, 50), st.integers(0, 40), seeds, st.integers(0, 9))
def test_epochs_are_consecutive_parts_of_one_sequence_of_draws(
    n: int, size: int, seed: int, epoch: int
) -> None:
    part = draws(n, size, seed, epoch)
    assert part.dtype == np.int64
    whole = draws(n, size * (epoch + 1), seed)
    assert part.tolist() == whole[size * epoch :].tolist()
    assert ((part >= 0) & (part < n)).all()


def test_draws_are_about_equally_often_each_number() -> None:
    counts = np.bincount(draws(6, 60_000, 3), minlength=6)
    # 10 000 expected of each, standard deviation 91.
    assert abs(counts - 10_000).max() < 450


@law
@given(st.integers(1, 2**63 - 1), seeds)
def test_a_draw_is_the_high_word_of_the_exact_product(n: int, seed: int) -> None:
    state = sampling._state(seed, sampling._DRAWS)
    for place, drawn in enumerate(draws(n, 20, seed).tolist()):
        start = state
        word = splitmix64(start, place + 1)[-1]
        while (word * n) % 2**64 < 2**64 % n:
            start = sampling._mix((start + sampling._GAMMA) % 2**64)
            word = splitmix64(start, place + 1)[-1]
        assert drawn == (word * n) >> 64


def test_rejection_makes_draws_fair_where_the_plain_product_is_not() -> None:
    # 2⁶⁴ words over 3·2⁶¹ values: two in three values would have three words and the
    # others two. Rejecting a quarter of the words leaves two for each.
    n = 3 << 61
    state = sampling._state(5, sampling._DRAWS)
    plain = [(word * n) >> 64 for word in splitmix64(state, 200)]
    changed = sum(a != b for a, b in zip(plain, draws(n, 200, 5).tolist(), strict=True))
    assert 20 < changed < 90


@law
@given(st.integers(1, 200), seeds, st.integers(0, 1000), st.data())
def test_a_choice_without_replacement_repeats_nothing(
    n: int, seed: int, step: int, data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, n))
    chosen = without_replacement(n, m, seed, step)
    assert chosen.dtype == np.int64 and len(chosen) == m
    assert len(set(chosen.tolist())) == m
    assert ((chosen >= 0) & (chosen < n)).all()


@law
@given(st.integers(1, 10**12), seeds, st.integers(0, 1000))
def test_choosing_one_is_the_draw_with_replacement_of_that_number(
    n: int, seed: int, step: int
) -> None:
    assert without_replacement(n, 1, seed, step) == draws(n, 1, seed, step)


@pytest.mark.parametrize("m", [2, 4])
def test_every_number_is_equally_often_chosen_in_every_place(m: int) -> None:
    counts = np.zeros((m, 5), dtype=np.int64)
    for step in range(3000):
        counts[np.arange(m), without_replacement(5, m, 1, step)] += 1
    # 600 expected of each, standard deviation 22.
    assert abs(counts - 600).max() < 110


@law
@given(st.integers(1, 60), st.data())
def test_batches_cut_an_order_and_only_the_last_is_shorter(n: int, data: st.DataObject) -> None:
    size = data.draw(st.integers(1, n))
    order = permutation(n, 0)
    parts = batches(order, size)
    assert np.concatenate(parts).tolist() == order.tolist()
    assert len(parts) == -(-n // size)
    assert all(len(part) == size for part in parts[:-1])


@law
@given(st.floats(-5, 5), st.floats(0, 5), seeds)
def test_uniform_numbers_stay_in_their_range(low: float, width: float, seed: int) -> None:
    values = uniform(50, low, low + width, seed)
    assert ((values >= low) & (values <= low + width)).all()


def test_uniform_numbers_fill_their_range_evenly() -> None:
    values = uniform(10_000, 2.0, 6.0, 9)
    counts = np.histogram(values, bins=4, range=(2.0, 6.0))[0]
    assert abs(counts - 2500).max() < 200


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: permutation(-1, 0), "n must be between 0 and .*, got -1"),
        (lambda: permutation(3, -1), "seed must be between 0 and 18446744073709551615, got -1"),
        (lambda: permutation(3, 0, 2**64), "epoch must be between 0 and"),
        (lambda: draws(0, 1, 0), "n must be between 1 and"),
        (lambda: draws(3, -1, 0), "size must be between 0 and"),
        (lambda: without_replacement(3, 4, 0), "m is 4, but there are only n = 3 to choose from"),
        (lambda: without_replacement(3, 0, 0), "m must be between 1 and"),
        (lambda: batches(np.arange(3), 4), "size is 4, but there are only 3 examples"),
        (lambda: batches(np.arange(3), 0), "size must be between 1 and"),
        (lambda: uniform(1, 1.0, 0.0, 0), "low and high must be finite, low <= high"),
        (lambda: uniform(1, 0.0, float("inf"), 0), "low and high must be finite"),
    ],
)
def test_a_number_out_of_range_is_named(call: object, message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        call()  # type: ignore[operator]


def test_a_seed_that_is_no_integer_is_named() -> None:
    with pytest.raises(ArgumentTypeError, match=r"seed must be an integer, got '0\.5'"):
        permutation(3, 0.5)  # type: ignore[arg-type]
