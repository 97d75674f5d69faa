"""Shards that are mixed by what moved a weight: what a mix is, and what its average is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_mixing_laws import SHARD, Shard, dense, learnt
from test_resuming_laws import equal

from perceptron_nlp.errors import ArgumentError, EngineError
from perceptron_nlp.integrations.shardchanges import (
    Added,
    difference,
    no_state,
    plus,
    shares_of,
    tree,
    weighted,
)
from perceptron_nlp.integrations.shards import Piece, ShardWorker, deal
from perceptron_nlp.integrations.shards import Shard as Sentences
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import resolve_templates
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.sources import Source

SHARDS = st.lists(SHARD, min_size=1, max_size=5)
WEIGHTS = st.lists(st.integers(0, 4), min_size=5, max_size=5)


def mixed(states: list[RunState], shares: list[float], begun: RunState) -> RunState:
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
        so_far = begun.done * dense(begun, "w") - dense(begun, "owed")
    found = [learnt(shard, begun, 2, gradients=gradients) for shard in shards]
    states = [state for state, _ in found]
    shares = shares_of([len(shard) for shard in shards], weights[: len(shards)], "errors")
    mix = mixed(states, shares, begun)
    words = sum(map(len, shards))
    share_of_movers = np.zeros_like(so_far)
    means, moved = np.zeros_like(so_far), np.zeros_like(so_far)
    for state, share, shard in zip(states, shares, shards, strict=True):
        moves = np.zeros(so_far.shape, bool)
        for name in ("w", "owed", *(["g"] if gradients else [])):
            moves |= dense(state, name) != dense(begun, name)
        total = state.done * dense(state, "w") - dense(state, "owed") - so_far
        share_of_movers += share * moves
        means += share * moves * total / len(shard)
        moved += share * moves * dense(state, "w")
    unmoved = share_of_movers == 0
    divisor = np.where(unmoved, 1, share_of_movers)
    w = np.where(unmoved, dense(begun, "w"), moved / divisor)
    expected = so_far + words * np.where(unmoved, dense(begun, "w"), means / divisor)
    assert mix.done == begun.done + words
    assert np.allclose(dense(mix, "w"), w, atol=1e-9)
    assert np.allclose(mix.done * dense(mix, "w") - dense(mix, "owed"), expected, atol=1e-6)


@given(shard=SHARD, others=SHARDS, gradients=st.booleans())
def test_a_weight_that_one_shard_alone_moves_is_what_that_shard_makes_of_it(
    shard: Shard, others: list[Shard], gradients: bool
) -> None:
    apart = [[(5, label, step) for _, label, step in other] for other in others]
    own = [(key % 5, label, step) for key, label, step in shard]
    states = [learnt(part, None, 1, gradients=gradients)[0] for part in (own, *apart)]
    shares = shares_of([len(own), *map(len, others)], [], "examples")
    mix = mixed(states, shares, no_state(gradients))
    assert np.allclose(dense(mix, "w")[:5], dense(states[0], "w")[:5], rtol=1e-12)


@given(shards=SHARDS)
def test_changes_added_in_one_order_are_the_same_bits_each_time(shards: list[Shard]) -> None:
    begun = no_state(False)
    states = [learnt(shard, None, 1)[0] for shard in shards]
    shares = shares_of(list(map(len, shards)), [], "examples")
    assert equal(mixed(states, shares, begun), mixed(states, shares, begun))


def test_a_tree_adds_neighbours_first() -> None:
    assert tree(list("abcdefg"), lambda a, b: f"({a}{b})") == "(((ab)(cd))((ef)g))"
    assert tree(["a"], lambda a, b: f"({a}{b})") == "a"


def test_shares_are_of_mistakes_or_of_words() -> None:
    assert shares_of([10, 30], [3, 1], "errors") == [0.75, 0.25]
    assert shares_of([10, 30], [3, 1], "examples") == [0.25, 0.75]
    assert shares_of([10, 30], [0, 0], "errors") == [0.25, 0.75]
    assert shares_of([10, 0], [1, 0], "errors") == [1.0, 0.0]
    with pytest.raises(ArgumentError, match="no shard has a labelled word"):
        shares_of([0, 0], [0, 0], "errors")


@pytest.fixture
def shards(small: list[tuple[list[str], list[str]]]) -> list[Sentences]:
    examples = Examples.read(Source(small, "train"), "tag", ())
    options = make_options({"templates": "fast"})
    templates = resolve_templates(options, ())
    return [
        Sentences(part, templates, None, options, {}) for part in deal(examples, 2, templates, None)
    ]


def test_shards_are_dealt_as_cards_are(
    shards: list[Sentences], small: list[tuple[list[str], list[str]]]
) -> None:
    for first, shard in enumerate(shards):
        assert list(map(list, shard.examples.strings("form"))) == [
            list(words) for words, _ in small[first::2]
        ]
        assert list(map(list, shard.examples.gold)) == [
            list(labels) for _, labels in small[first::2]
        ]


def test_a_worker_learns_the_same_again_and_from_a_state_or_a_step_to_it(
    shards: list[Sentences],
) -> None:
    one, other = ShardWorker(shards[0]), ShardWorker(shards[0])
    first = Piece(0, 1, 1, 0, 1, True)
    begun = no_state(True)
    counts, changed = one.learn(first, None, None)
    again, changed_again = one.learn(first, None, None)
    assert (counts.mistakes, counts.updates) == (again.mistakes, again.updates)
    assert equal(changed, changed_again)
    words = counts.examples
    step = Added(weighted(difference(changed, begun), 1.0, words, 0), words, 1)
    second = Piece(1, 1, 2, 0, 1, True)
    assert equal(
        one.learn(second, None, step)[1], other.learn(second, step.applied(begun), None)[1]
    )
    with pytest.raises(EngineError, match="a worker is at mix 1, and was asked to go on from mix"):
        one.learn(Piece(7, 1, 2, 0, 1, True), None, step)
