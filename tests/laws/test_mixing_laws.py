"""Mixing the states of shards: what a mix is, and that its average is the one that it should be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_resuming_laws import equal

from perceptron_nlp import preset, train
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.combine.mixing import finished, mix, plus, term, tree_sum
from perceptron_nlp.combine.statechanges import changes, with_changes
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
        w = dense(begun, "w")
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


@given(
    first=st.lists(SHARD, min_size=1, max_size=4),
    second=st.lists(SHARD, min_size=2, max_size=5),
    by_words=st.booleans(),
    data=st.data(),
)
def test_the_average_of_a_mix_is_the_mean_of_the_shards_means(
    first: list[Shard], second: list[Shard], by_words: bool, data: st.DataObject
) -> None:
    state, total, words = None, np.zeros((N_KEYS, N_LABELS)), 0
    for epoch, shards in enumerate((first, second), 1):
        weights = [len(shard) for shard in shards]
        if not by_words:
            weights = [data.draw(st.integers(1, 5)) for _ in shards]
        ends = [learnt(shard, state, epoch) for shard in shards]
        mixed = mix([end for end, _ in ends], None if by_words else weights, begun=state)
        n = sum(map(len, shards))
        shares = np.array(weights) / sum(weights)
        w = sum(share * dense(end, "w") for share, (end, _) in zip(shares, ends, strict=True))
        total += n * sum(
            share * own / len(shard)
            for share, (_, own), shard in zip(shares, ends, shards, strict=True)
        )
        words += n
        assert (mixed.done, mixed.epochs) == (words, epoch)
        assert np.allclose(dense(mixed, "w"), w, atol=1e-9)
        mean = dense(mixed, "w") - dense(mixed, "owed") / words
        assert np.allclose(mean, total / words, atol=1e-9)
        state = mixed


@given(before=SHARD, shard=SHARD, gradients=st.booleans(), begins=st.booleans())
def test_one_shard_mixed_alone_is_itself_bit_for_bit(
    before: Shard, shard: Shard, gradients: bool, begins: bool
) -> None:
    begun = None if begins else learnt(before, None, 1, gradients=gradients)[0]
    state, _ = learnt(shard, begun, 2, gradients=gradients)
    assert mix([state], begun=begun) is state
    start = 0 if begun is None else begun.done
    by_formula = finished(term(state, 1.0, len(shard), start), len(shard), 2, begun)
    for name in ("keys", "groups", "counts", "labels", "w", "owed"):
        assert np.array_equal(getattr(by_formula, name), getattr(state, name)), name
    assert (by_formula.g is None) == (not gradients)
    if gradients:
        assert np.array_equal(by_formula.g, state.g)
    assert by_formula.done == state.done


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
        words = end.done - (0 if state is None else state.done)
        begun = 0 if state is None else state.done
        mixed = finished(term(end, 1.0, words, begun), words, epoch, state)
        assert equal(mixed, mix([end], begun=state))
        state = mixed
    assert state is not None and equal(state, whole.state.runs[0])


@given(before=SHARD, shard=SHARD, n=st.integers(2, 5), gradients=st.booleans())
def test_shards_that_learnt_the_same_mix_to_what_each_of_them_learnt(
    before: Shard, shard: Shard, n: int, gradients: bool
) -> None:
    begun, _ = learnt(before, None, 1, gradients=gradients)
    state, _ = learnt(shard, begun, 2, gradients=gradients)
    mixed = mix([state] * n, begun=begun)
    assert np.allclose(dense(mixed, "w"), dense(state, "w"), atol=1e-9)
    if gradients:
        assert np.allclose(dense(mixed, "g"), dense(state, "g"), atol=1e-9)
    assert mixed.done == begun.done + n * len(shard)


@given(shards=st.lists(SHARD, min_size=2, max_size=6))
def test_a_mix_is_the_sum_of_terms_in_a_tree_and_nearly_so_in_any_order(
    shards: list[Shard],
) -> None:
    states = [learnt(shard, None, 1)[0] for shard in shards]
    words = sum(map(len, shards))
    terms = [
        term(state, len(shard) / words, words) for state, shard in zip(states, shards, strict=True)
    ]
    assert equal(finished(tree_sum(terms), words, 1), mix(states))
    chain = terms[-1]
    for other in terms[-2::-1]:
        chain = plus(chain, other)
    for name in ("w", "owed"):
        assert np.allclose(dense(finished(chain, words, 1), name), dense(mix(states), name))


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
    touched = {(key, label) for key, label, _ in shard}
    assert changed.counts.sum() <= len(touched)
    assert changes(state, state).counts.sum() == 0


def test_states_that_cannot_be_mixed_are_refused() -> None:
    state, _ = learnt([(1, 1, 1)], None, 1)
    with pytest.raises(ArgumentError, match="states"):
        mix([])
    for weights in ([1], [1, -1], [1, float("nan")], [0, 0]):
        with pytest.raises(ArgumentError, match="weights"):
            mix([state, state], weights)
    with pytest.raises(ArgumentError, match="learnt from no word"):
        mix([state, state], [1, 1], begun=state)
    other = learnt([(1, 1, 1)], None, 1, gradients=True)[0]
    for refused in (lambda: mix([state, other]), lambda: changes(state, other)):
        with pytest.raises(ArgumentError, match="AdaGrad"):
            refused()


def test_a_shard_without_words_that_weighs_nothing_changes_nothing() -> None:
    begun, _ = learnt([(1, 1, 2), (2, 0, 1)], None, 1)
    one, _ = learnt([(1, 2, 3)], begun, 2)
    other, _ = learnt([(2, 2, -1)], begun, 2)
    with_idle, without = mix([one, begun, other], begun=begun), mix([one, other], begun=begun)
    assert with_idle.done == without.done
    for name in ("w", "owed"):
        assert np.allclose(dense(with_idle, name), dense(without, name), atol=1e-9)
