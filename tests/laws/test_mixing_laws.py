"""Mixing the states of shards by what moved a weight: what a mix is, and what its average is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_resuming_laws import equal

from perceptron_nlp import preset, train
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.combine.mix import (
    Added,
    Replaced,
    changes,
    difference,
    no_state,
    plus,
    shares_of,
    tree,
    weighted,
    with_changes,
)
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import TemplateLearner
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.sources import Source

N_KEYS, N_LABELS = 6, 3
# One update a word: which weight moves, by how much.
Shard = list[tuple[int, int, int]]
SHARD = st.lists(
    st.tuples(st.integers(0, N_KEYS - 1), st.integers(0, N_LABELS - 1), st.integers(-3, 3)),
    min_size=1,
    max_size=12,
)
SHARDS = st.lists(SHARD, min_size=1, max_size=5)
WEIGHTS = st.lists(st.integers(0, 4), min_size=5, max_size=5)


def dense(state: RunState, name: str) -> np.ndarray:
    """A state's numbers as float64[N_KEYS, N_LABELS]."""
    found = np.zeros((N_KEYS, N_LABELS))
    rows = np.repeat((state.keys >> np.uint64(60)).astype(int), state.counts)
    found[rows, state.labels] = getattr(state, name)
    return found


def learnt(
    shard: Shard, begun: RunState | None, epochs: int, *, gradients: bool = False
) -> tuple[RunState, np.ndarray]:
    """The state after a shard, and the sum of the weights after each of its words."""
    table = WeightTable(N_LABELS, gradients=gradients)
    w = np.zeros((N_KEYS, N_LABELS))
    if begun is not None:
        begun.put_into(table)
        w = dense(begun, "weight")
    total = np.zeros_like(w)
    for key, label, step in shard:
        keys = np.array([key << 60], np.uint64)
        if gradients:
            table.update_adagrad(keys, label, float(np.sign(step)), 0.5, group=key)
        else:
            table.update(keys, label, float(step), group=key)
        w[key, label] += step
        table.advance()
        total += w
    return RunState.of(table, epochs), total


def mixed(states: list[RunState], shares: list[float], begun: RunState) -> RunState:
    """A mix by its formula, of one shard, too."""
    words = sum(state.done - begun.done for state in states)
    change = tree(
        [
            weighted(difference(state, begun), share, words, begun.done)
            for state, share in zip(states, shares, strict=True)
        ],
        plus,
    )
    return Added(change, words, 2).applied(begun)


@given(before=SHARD, shards=SHARDS, weights=WEIGHTS, gradients=st.booleans())
def test_the_average_is_the_mean_over_all_words_of_the_shards_that_moved_a_weight(
    before: Shard, shards: list[Shard], weights: list[int], gradients: bool
) -> None:
    begun, so_far = learnt(before, None, 1, gradients=gradients)
    if gradients:
        so_far = dense(begun, "sums")
    found = [learnt(shard, begun, 2, gradients=gradients) for shard in shards]
    states = [state for state, _ in found]
    shares = shares_of([len(shard) for shard in shards], weights[: len(shards)], "errors")
    mix = mixed(states, shares, begun)
    words = sum(map(len, shards))
    share_of_movers = np.zeros_like(so_far)
    means, moved = np.zeros_like(so_far), np.zeros_like(so_far)
    for state, share, shard in zip(states, shares, shards, strict=True):
        moves = np.zeros(so_far.shape, bool)
        for key, label, step in shard:
            moves[key, label] |= step != 0
        total = dense(state, "sums") - so_far
        share_of_movers += share * moves
        means += share * moves * total / len(shard)
        moved += share * moves * dense(state, "weight")
    unmoved = share_of_movers == 0
    divisor = np.where(unmoved, 1, share_of_movers)
    w = np.where(unmoved, dense(begun, "weight"), moved / divisor)
    expected = so_far + words * np.where(unmoved, dense(begun, "weight"), means / divisor)
    assert mix.done == begun.done + words
    assert np.allclose(dense(mix, "weight"), w, atol=1e-9)
    assert np.allclose(dense(mix, "sums"), expected, atol=1e-6)


@given(shard=SHARD, others=SHARDS, gradients=st.booleans())
def test_a_weight_that_one_shard_alone_moves_is_what_that_shard_makes_of_it(
    shard: Shard, others: list[Shard], gradients: bool
) -> None:
    apart = [[(5, label, step) for _, label, step in other] for other in others]
    own = [(key % 5, label, step) for key, label, step in shard]
    states = [learnt(part, None, 1, gradients=gradients)[0] for part in (own, *apart)]
    shares = shares_of([len(own), *map(len, others)], [], "examples")
    mix = mixed(states, shares, no_state(gradients))
    assert np.allclose(dense(mix, "weight")[:5], dense(states[0], "weight")[:5], rtol=1e-12)


@given(shards=SHARDS)
def test_a_mix_is_nearly_the_same_whatever_the_order_of_its_shards(shards: list[Shard]) -> None:
    states = [learnt(shard, None, 2)[0] for shard in (*shards, shards[0])]
    lengths = [state.done for state in states]
    shares = shares_of(lengths, [], "examples")
    mix_of_all = mixed(states, shares, no_state(False))
    assert mix_of_all.done == sum(lengths)
    again = mixed(states[::-1], shares[::-1], no_state(False))
    for name in ("weight", "sums"):
        assert np.allclose(dense(again, name), dense(mix_of_all, name), atol=1e-9)


def test_a_tree_adds_neighbors_first() -> None:
    assert tree(list("abcdefg"), lambda a, b: f"({a}{b})") == "(((ab)(cd))((ef)g))"
    assert tree(["a"], lambda a, b: f"({a}{b})") == "a"


def test_shares_are_of_mistakes_or_of_tokens() -> None:
    assert shares_of([10, 30], [3, 1], "errors") == [0.75, 0.25]
    assert shares_of([10, 30], [3, 1], "examples") == [0.25, 0.75]
    assert shares_of([10, 30], [0, 0], "errors") == [0.25, 0.75]
    assert shares_of([10, 0], [1, 0], "errors") == [1.0, 0.0]
    assert shares_of([0, 0], [0, 0], "errors") == [0.0, 0.0]


@pytest.mark.parametrize(
    "options",
    [
        {"update": "perceptron"},
        {"update": "adagrad"},
        {"update": "passive-aggressive"},
        {"beam": 3},
        {"table_bits": 9},
    ],
    ids=str,
)
def test_one_worker_that_is_mixed_after_each_epoch_is_the_ordinary_trainer(
    small: list[tuple[list[str], list[str]]], options: dict[str, Any]
) -> None:
    options = {"templates": "fast", "right_to_left": True, "seed": 3, "beam": 1, **options}
    whole = train(small, epochs=4, resumable=True, **options).model
    assert whole.state is not None
    learner = TemplateLearner(
        Examples.read(Source(small, "train"), "tag", ()), preset("fast"), make_options(options), {}
    )
    state: RunState | None = None
    for epoch in range(1, 5):
        # From the state alone, with the rows of the sentences made once.
        learner.table.clear()
        if state is not None:
            state.put_into(learner.table)
        learner.learn(permutation(len(small), 3, epoch))
        end = RunState.of(learner.table, epoch)
        begun = no_state(end.squares is not None) if state is None else state
        state = Replaced(changes(end, begun)).applied(begun)
    assert state is not None and equal(state, whole.state.runs[0])


@given(before=SHARD, shard=SHARD, n=st.integers(2, 5), gradients=st.booleans())
def test_shards_that_learnt_the_same_mix_to_what_each_of_them_learnt(
    before: Shard, shard: Shard, n: int, gradients: bool
) -> None:
    begun, _ = learnt(before, None, 1, gradients=gradients)
    state, _ = learnt(shard, begun, 2, gradients=gradients)
    mix = mixed([state] * n, [1 / n] * n, begun)
    assert np.allclose(dense(mix, "weight"), dense(state, "weight"), atol=1e-9)
    if gradients:
        assert np.allclose(dense(mix, "squares"), dense(state, "squares"), atol=1e-9)
    assert mix.done == begun.done + n * len(shard)


@given(before=SHARD, shard=SHARD, gradients=st.booleans(), undone=st.booleans())
def test_the_changes_of_a_state_make_it_again_bit_for_bit(
    before: Shard, shard: Shard, gradients: bool, undone: bool
) -> None:
    begun, _ = learnt(before, None, 1, gradients=gradients)
    state, _ = learnt(shard, begun, 2, gradients=gradients)
    if undone:
        # Some weights go back to what they were, or to nothing.
        state, begun = begun, state
    changed = changes(state, begun)
    assert equal(with_changes(begun, changed), state)
    if not undone:
        assert {*(changed.keys >> np.uint64(60)).tolist()} <= {key for key, _, _ in shard}
    assert changes(state, state).counts.sum() == 0


def test_states_that_cannot_be_mixed_are_refused() -> None:
    state, _ = learnt([(1, 1, 1)], None, 1)
    other = learnt([(1, 1, 1)], None, 1, gradients=True)[0]
    empty = [no_state(adagrad) for adagrad in (False, True)]
    terms = [
        weighted(difference(*pair), 0.5, 2, 0) for pair in zip((state, other), empty, strict=True)
    ]
    for refused in (lambda: plus(*terms), lambda: changes(state, other)):
        with pytest.raises(ArgumentError, match="AdaGrad"):
            refused()


def test_a_shard_without_words_that_weighs_nothing_changes_nothing() -> None:
    begun, _ = learnt([(1, 1, 2), (2, 0, 1)], None, 1)
    one, _ = learnt([(1, 2, 3)], begun, 2)
    other, _ = learnt([(2, 2, -1)], begun, 2)
    with_idle = mixed([one, begun, other], [0.5, 0, 0.5], begun)
    without = mixed([one, other], [0.5, 0.5], begun)
    assert with_idle.done == without.done
    for name in ("weight", "sums"):
        assert np.allclose(dense(with_idle, name), dense(without, name), atol=1e-9)
