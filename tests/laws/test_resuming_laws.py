"""A training that goes on is the one that never ended."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_training import TEMPLATES, Data, corpora_of, training_set

import perceptron_nlp as pn
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.train.greedy import learn
from perceptron_nlp.features.templates import Template
from perceptron_nlp.formats.tensorfile import DTYPES, Tensor
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.model.weights import Reader, Writer

RULES = [
    ("perceptron", 1.0, 0.0),
    ("margin", 2.0, 3.0),
    ("passive-aggressive", 0.01, 2.0),
    ("adagrad", 0.1, 1.0),
]


def refused(name: str, what: str) -> pn.ModelError:
    return pn.ModelError(f"{name}: {what}")


def equal(one: RunState, other: RunState) -> bool:
    """Are they the same, bit for bit?"""
    ours, theirs = one.arrays(), other.arrays()
    return (
        ours.keys() == theirs.keys()
        and (one.done, one.epochs) == (other.done, other.epochs)
        and all(ours[name].tobytes() == theirs[name].tobytes() for name in ours)
    )


def part_of(data: Data, start: int, end: int) -> Data:
    return replace(data, sentences=data.sentences[start:end], gold=data.gold[start:end])


@pytest.mark.parametrize(("rule", "rate", "margin"), RULES)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=corpora_of(),
    templates=TEMPLATES,
    bits=st.sampled_from([None, None, 7]),
    right_to_left=st.booleans(),
    cut=st.integers(0, 7),
    seed=st.integers(0, 1000),
)
def test_one_half_and_then_the_other_is_the_whole_bit_for_bit(
    rule: str,
    rate: float,
    margin: float,
    data: Data,
    templates: list[Template],
    bits: int | None,
    right_to_left: bool,
    cut: int,
    seed: int,
) -> None:
    n = len(data.sentences)
    cut = min(cut, n)

    def begin(some: Data, state: RunState | None, order: np.ndarray) -> WeightTable:
        table = WeightTable(len(data.labels), table_bits=bits, gradients=rule == "adagrad")
        learnt_from = training_set(some, templates, table)
        if state is not None:
            state.put_into(table)
        learn(learnt_from, order, rule=rule, rate=rate, margin=margin, right_to_left=right_to_left)
        return table

    first, second = permutation(cut, seed, 1), permutation(n - cut, seed, 2)
    whole = begin(data, None, np.concatenate([first, cut + second]))
    state = None
    if cut:
        state = RunState.of(begin(part_of(data, 0, cut), None, first), 1)
    halves = begin(part_of(data, cut, n), state, second) if cut < n else None
    found = RunState.of(halves, 2) if halves is not None else replace(state, epochs=2)
    assert equal(found, RunState.of(whole, 2))


UPDATES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3), st.integers(-2, 2)), max_size=30)


@given(
    updates=UPDATES,
    bits=st.sampled_from([None, 3]),
    gradients=st.booleans(),
    n_labels=st.sampled_from([4, 300]),
)
def test_a_state_put_into_a_table_is_the_state_of_that_table(
    updates: list[tuple[int, int, int]], bits: int | None, gradients: bool, n_labels: int
) -> None:
    table = WeightTable(n_labels, table_bits=bits, gradients=gradients)
    for key, label, step in updates:
        keys = np.array([key << 60, 5], np.uint64)
        if gradients:
            table.update(keys, label * (n_labels // 4), float(np.sign(step)), rate=0.1)
        else:
            table.update(keys, label * (n_labels // 4), float(step))
        table.advance()
    state = RunState.of(table, 3)
    other = WeightTable(n_labels, table_bits=bits, gradients=gradients)
    state.put_into(other)
    assert equal(RunState.of(other, 3), state)
    rows = other.n_rows
    other.clear()
    assert (other.done, other.n_rows) == (0, rows) and not RunState.of(other, 0).counts.any()
    state.put_into(other)
    assert equal(RunState.of(other, 3), state)
    arrays: dict[str, Any] = {}
    described = state.write(Writer("x.", arrays))
    codes = {np.dtype(dtype): code for code, dtype in DTYPES.items()}
    tensors = {
        name: Tensor(codes[array.dtype], array.shape, memoryview(array.tobytes()))
        for name, array in arrays.items()
    }
    assert equal(RunState.read(described, Reader("x.", tensors, refused), n_labels), state)
    mine, theirs = state.average(n_labels, bits), table.average()
    for key in range(10):
        keys = np.array([key << 60], np.uint64)
        assert mine.score(keys).tolist() == theirs.score(keys).tolist()
