"""A: averages are exact, and counters do not overflow."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np

import perceptron_nlp as pn
from benchmarks.trust.reached import Reached, count_of
from perceptron_nlp._core.table.weights import WeightTable


def exact_mean(updates: list[tuple[int, float]], done: int) -> Fraction:
    """The mean of one weight over `done` examples, from (examples finished before, step)."""
    return sum(((done - before) * Fraction(step) for before, step in updates), Fraction()) / done


def averages(full: bool) -> Reached:
    """A1: lazy averages are the naive ones, and stay so after 10^8 examples."""
    wrong = _lazy_is_naive(2_000 if full else 100)
    drift = _drift_of_jumps()
    figure = f"{len(wrong)} of {'2,000' if full else '100'} integer runs differ"
    figure += f"; drift {drift:.1e} over jumps"
    examples = 5_000_000 if full else 100_000
    counted = _drift_one_by_one(examples)
    return Reached(
        f"{figure}, {counted:.1e} after {examples:,} examples in one by one",
        not wrong and max(drift, counted) <= 1e-9,
    )


def _lazy_is_naive(runs: int) -> list[str]:
    """Random runs with whole steps, against sums made anew after every example."""
    wrong = []
    for seed in range(runs):
        chance = random.Random(seed)
        n_labels = chance.choice([1, 2, 5, 40, 200])
        table = WeightTable(n_labels, table_bits=chance.choice([None, 4]))
        rows = [np.uint64(row << 60) for row in range(8)]
        weights = np.zeros((8, n_labels), np.int64)
        sums = np.zeros_like(weights)
        examples = chance.randrange(1, 120)
        for _ in range(examples):
            for _ in range(chance.randrange(4)):
                row, label, step = (
                    chance.randrange(8),
                    chance.randrange(n_labels),
                    chance.randrange(-3, 4),
                )
                table.update(np.array([rows[row]]), label, step)
                weights[row, label] += step
            table.advance()
            sums += weights
        frozen = table.average()
        for row in range(8):
            if (frozen.score(np.array([rows[row]])) != sums[row] / examples).any():
                wrong.append(f"run {seed}, row {row}")
                break
    return wrong


def _drift_of_jumps() -> float:
    """Updates with steps of all sizes, 10^8 examples apart in all, against exact fractions."""
    chance = random.Random(7)
    table = WeightTable(2)
    key = np.array([1], np.uint64)
    updates = []
    while table.done < 10**8:
        step = chance.uniform(-1, 1.2)
        table.update(key, 1, step)
        updates.append((table.done, step))
        table.advance(chance.randrange(1, 10**5))
    exact = exact_mean(updates, table.done)
    reached = Fraction(float(table.average().score(key)[1]))
    return float(abs(reached - exact) / abs(exact))


def _drift_one_by_one(examples: int) -> float:
    """An update at every example, against a sum of higher precision."""
    chance = np.random.default_rng(7)
    table = WeightTable(2)
    key = np.array([1], np.uint64)
    steps = chance.uniform(-1, 1.002, examples)
    for step in steps.tolist():
        table.update(key, 1, step)
        table.advance()
    exact = np.cumsum(steps.astype(np.longdouble)).sum() / examples
    return abs(float(table.average().score(key)[1] / exact - 1))


def overflow(full: bool) -> Reached:
    """A2: counts of examples beyond 2^32 and weights beyond int32 are right, or refused clearly."""
    del full
    wrong = []
    key = np.array([5], np.uint64)
    for bits in (None, 4):
        for jump in (2**31, 2**32 + 1, 2**40, 2**52):
            table = WeightTable(3, table_bits=bits)
            updates = []
            for step in (2.0**31, -3.0, 2.0**33 + 1):
                table.update(key, 1, step)
                updates.append((table.done, step))
                table.advance(jump)
            exact = exact_mean(updates, table.done)
            reached = Fraction(float(table.average().score(key)[1]))
            if abs(reached - exact) > abs(exact) / 10**12:
                wrong.append(f"jump {jump}: {float(reached)} for {float(exact)}")
    wrong += _refused_jumps()
    return count_of(wrong, 8 + 2, "sums right or refused")


def _refused_jumps() -> list[str]:
    table = WeightTable(2)
    table.advance(2**61)
    wrong = []
    for jump in (2**62, -1):
        try:
            table.advance(jump)
            wrong.append(f"advance({jump}) was taken")
        except pn.ArgumentError as error:
            if "examples" not in str(error):
                wrong.append(str(error))
    return wrong
