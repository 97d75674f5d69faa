"""The tests of significance against their definitions, every outcome enumerated."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.analysis.significance import Counts, interval, mcnemar, randomisation, resampled
from perceptron_nlp.sampling import draws

Row = tuple[int, int, int]
# (gold, given by a, right of a, given by b, right of b) of a sentence of up to four spans.
SENTENCES = st.lists(st.tuples(*[st.integers(0, 4)] * 5), min_size=1, max_size=7)


def two(rows: list[tuple[int, ...]]) -> tuple[Counts, Counts]:
    """The counts of both, right ones cut to what was there and what was given."""
    a = [(gold, given, min(gold, given, right)) for gold, given, right, _, _ in rows]
    b = [(gold, given, min(gold, given, right)) for gold, _, _, given, right in rows]
    return Counts.of(a), Counts.of(b)


def f1(rows: list[Row]) -> Fraction:
    whole = sum(gold + given for gold, given, _ in rows)
    return Fraction(2 * sum(right for _, _, right in rows), whole) if whole else Fraction(0)


def exact_randomisation(a: Counts, b: Counts) -> float:
    """The share of all ways to swap sentences whose scores lie at least as far apart."""
    rows_a = list(zip(a.gold.tolist(), a.given.tolist(), a.right.tolist(), strict=True))
    rows_b = list(zip(b.gold.tolist(), b.given.tolist(), b.right.tolist(), strict=True))
    apart, hits = abs(f1(rows_a) - f1(rows_b)), 0
    for swaps in product((False, True), repeat=len(rows_a)):
        first = [y if s else x for s, x, y in zip(swaps, rows_a, rows_b, strict=True)]
        second = [x if s else y for s, x, y in zip(swaps, rows_a, rows_b, strict=True)]
        hits += abs(f1(first) - f1(second)) >= apart
    return hits / 2 ** len(rows_a)


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemar_is_the_two_sided_binomial_test(gained: int, lost: int) -> None:
    n = gained + lost
    tail = sum(Fraction(comb(n, i), 2**n) for i in range(min(gained, lost) + 1))
    assert mcnemar(gained, lost) == pytest.approx(float(min(Fraction(1), 2 * tail)), rel=1e-9)


def test_mcnemar_holds_for_counts_whose_coefficients_no_float_can_hold() -> None:
    n, fewer = 30_000, 14_800
    coefficient = total = 1
    for i in range(fewer):
        coefficient = coefficient * (n - i) // (i + 1)
        total += coefficient
    assert mcnemar(n - fewer, fewer) == pytest.approx(2 * total / 2**n, rel=1e-9)


def test_mcnemar_refuses_what_is_no_count() -> None:
    with pytest.raises(pn.ArgumentError, match="-1"):
        mcnemar(3, -1)


@given(SENTENCES)
def test_randomisation_comes_near_to_all_ways_of_swapping(rows: list[tuple[int, ...]]) -> None:
    a, b = two(rows)
    # Four standard errors of a share of 10,000 rounds; the seed is fixed, so this holds or not.
    assert randomisation(a, b) == pytest.approx(exact_randomisation(a, b), abs=0.021)


@given(SENTENCES, st.integers(0, 2**64 - 1))
def test_randomisation_does_not_mind_which_comes_first(
    rows: list[tuple[int, ...]], seed: int
) -> None:
    a, b = two(rows)
    assert randomisation(a, b, rounds=99, seed=seed) == randomisation(b, a, rounds=99, seed=seed)


@given(SENTENCES)
def test_a_labeling_compared_with_itself_differs_by_nothing(rows: list[tuple[int, ...]]) -> None:
    a, _ = two(rows)
    first, second = resampled([a, a], rounds=20)
    assert randomisation(a, a) == 1.0
    assert np.array_equal(first, second)


@given(SENTENCES, st.integers(1, 40))
def test_resampled_scores_are_those_of_sentences_drawn_one_by_one(
    rows: list[tuple[int, ...]], rounds: int
) -> None:
    a, b = two(rows)
    found = resampled([a, b], rounds=rounds, seed=5)
    drawn = draws(len(rows), len(rows) * rounds, 5).reshape(rounds, len(rows))
    for counts, scores in zip((a, b), found, strict=True):
        for numbers, score in zip(drawn, scores, strict=True):
            whole = int((counts.gold + counts.given)[numbers].sum())
            right = 2 * int(counts.right[numbers].sum())
            assert score == (right / whole if whole else 0.0)


def test_the_size_of_the_pieces_changes_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = [tuple(row) for row in rng.integers(0, 5, (60, 5)).tolist()]
    a, b = two(rows)
    whole = randomisation(a, b, rounds=500)
    monkeypatch.setattr("perceptron_nlp.analysis.significance._CELLS", 60 * 7)
    assert randomisation(a, b, rounds=500) == whole


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    inside = 0
    for _ in range(60):
        right = rng.binomial(10, 0.9, 100)
        low, high = interval(
            resampled([Counts.of((10, 10, n) for n in right.tolist())], rounds=200)[0]
        )
        inside += low <= 0.9 <= high
    assert 50 <= inside < 60


def test_counts_of_other_sentences_are_refused() -> None:
    with pytest.raises(pn.ArgumentError, match="other sentences"):
        randomisation(Counts.of([(3, 3, 1)]), Counts.of([(4, 4, 1)]))
