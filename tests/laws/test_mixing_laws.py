"""Mixing the states of shards by what moved a weight: what a mix is, and what its average is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from test_resuming_laws import equal

import perceptron_nlp as pn
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.combine.merge import mixed
from perceptron_nlp.tagger.model.state import RunState

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
            table.update(keys, label, float(np.sign(step)), group=key, rate=0.5)
        else:
            table.update(keys, label, float(step), group=key)
        w[key, label] += step
        table.advance()
        total += w
    return RunState.of(table, epochs), total


def table_of(state: RunState) -> WeightTable:
    table = WeightTable(N_LABELS, gradients=state.squares is not None)
    state.put_into(table)
    return table


def nothing(gradients: bool) -> RunState:
    """The state of a training that has not begun."""
    return RunState.of(WeightTable(N_LABELS, gradients=gradients), 0)


def shares_of(counts: list[int]) -> list[float]:
    return [count / (sum(counts) or 1) for count in counts]


@given(before=SHARD, shards=SHARDS, weights=WEIGHTS, gradients=st.booleans())
def test_the_average_is_the_mean_over_all_words_of_the_shards_that_moved_a_weight(
    before: Shard, shards: list[Shard], weights: list[int], gradients: bool
) -> None:
    begun, so_far = learnt(before, None, 1, gradients=gradients)
    if gradients:
        so_far = dense(begun, "sums")
    found = [learnt(shard, begun, 2, gradients=gradients) for shard in shards]
    states = [state for state, _ in found]
    shares = shares_of([1 + weight for weight in weights[: len(shards)]])
    mix = mixed(begun, states, shares)
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
    assume(own)
    mix = mixed(nothing(gradients), states, shares_of([len(own), *map(len, others)]))
    assert np.allclose(dense(mix, "weight")[:5], dense(states[0], "weight")[:5], rtol=1e-12)


@given(shards=SHARDS)
def test_a_mix_is_nearly_the_same_whatever_the_order_of_its_shards(shards: list[Shard]) -> None:
    states = [learnt(shard, None, 2)[0] for shard in (*shards, shards[0])]
    lengths = [state.done for state in states]
    shares = shares_of(lengths)
    mix_of_all = mixed(nothing(False), states, shares)
    assert mix_of_all.done == sum(lengths)
    again = mixed(nothing(False), states[::-1], shares[::-1])
    for name in ("weight", "sums"):
        assert np.allclose(dense(again, name), dense(mix_of_all, name), atol=1e-9)


@pytest.mark.parametrize(
    "options",
    [
        {"update": "perceptron"},
        {"update": "adagrad"},
        {"update": "passive-aggressive"},
        {"beam": 3},
        {"table_bits": 9},
        {"runs": 2, "column": ("upos", "xpos")},
    ],
    ids=str,
)
def test_a_tagger_that_is_resumed_and_merged_epoch_by_epoch_is_what_training_gives(
    annotated: list[pn.Sentence], options: dict[str, Any]
) -> None:
    options = {"templates": "fast", "right_to_left": True, "seed": 3, "beam": 1, **options}
    whole = pn.train(annotated, epochs=4, resumable=True, **options)
    tagger = pn.train(annotated, epochs=4, learn=False, **options)
    for _ in range(4):
        tagger = pn.merge([tagger.resume(annotated, epochs=1)], base=tagger)
    for mine, own in zip(tagger.model.parts_by_column, whole.model.parts_by_column, strict=True):
        assert mine.state is not None and own.state is not None
        assert all(map(equal, mine.state.runs, own.state.runs))
    for one in (tagger.model, whole.model):
        assert {entry["epoch"] for entry in one.record["epochs"]} == {1, 2, 3, 4}
    assert tagger.tag_sents(annotated) == whole.tag_sents(annotated)


def test_a_tagger_that_has_learned_nothing_is_one_that_training_begins_with(
    annotated: list[pn.Sentence],
) -> None:
    begun = pn.train(annotated, learn=False)
    assert begun.labels == pn.train(annotated).labels and begun.model.weights.n_rows == 0
    again = pn.Tagger.from_bytes(begun.to_bytes()).resume(annotated)
    assert again.tag_sents(annotated) == pn.train(annotated).tag_sents(annotated)


@given(before=SHARD, shard=SHARD, n=st.integers(2, 5), gradients=st.booleans())
def test_shards_that_learnt_the_same_mix_to_what_each_of_them_learnt(
    before: Shard, shard: Shard, n: int, gradients: bool
) -> None:
    begun, _ = learnt(before, None, 1, gradients=gradients)
    state, _ = learnt(shard, begun, 2, gradients=gradients)
    mix = mixed(begun, [state] * n, [1 / n] * n)
    assert np.allclose(dense(mix, "weight"), dense(state, "weight"), atol=1e-9)
    if gradients:
        assert np.allclose(dense(mix, "squares"), dense(state, "squares"), atol=1e-9)
    assert mix.done == begun.done + n * len(shard)


def test_taggers_that_were_not_resumed_from_the_base_are_refused(
    annotated: list[pn.Sentence],
) -> None:
    one = {"templates": "fast", "column": "upos", "resumable": True}
    base = pn.train(annotated, epochs=2, **one)
    more = base.resume(annotated, epochs=1)
    for others, message in (
        ([pn.train(annotated, epochs=1, **one)], "base: not all of the taggers were resumed"),
        ([pn.train(annotated, epochs=3, runs=2, **one)], "base: not all of the taggers"),
        ([more.without_state()], "resume: the tagger of upos keeps no state of its training"),
        ([pn.train(annotated, epochs=3, **one | {"column": "xpos"})], "columns differ"),
    ):
        with pytest.raises(pn.ArgumentError, match=message):
            pn.merge([more, *others], base=base)


def test_a_shard_without_words_changes_nothing() -> None:
    begun, _ = learnt([(1, 1, 2), (2, 0, 1)], None, 1)
    one, _ = learnt([(1, 2, 3)], begun, 2)
    other, _ = learnt([(2, 2, -1)], begun, 2)
    with_idle = mixed(begun, [one, begun.__class__.of(table_of(begun), 2), other], [0.4, 0.2, 0.4])
    without = mixed(begun, [one, other], [0.5, 0.5])
    assert with_idle.done == without.done
    for name in ("weight", "sums"):
        assert np.allclose(dense(with_idle, name), dense(without, name), atol=1e-9)
