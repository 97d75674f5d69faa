"""A shard of the text: which sentences it has, and what a worker learns from it."""

from __future__ import annotations

import pytest
from test_resuming_laws import equal

from perceptron_nlp.combine.mix import Added, difference, no_state, weighted
from perceptron_nlp.errors import EngineError
from perceptron_nlp.integrations.shard_training import Piece, ShardWorker
from perceptron_nlp.integrations.shard_training import Shard as Sentences
from perceptron_nlp.integrations.shards import make_shards
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import resolve_templates
from perceptron_nlp.tagger.train.options import make_options
from perceptron_nlp.tagger.train.sources import Source


@pytest.fixture
def shards(small: list[tuple[list[str], list[str]]]) -> list[Sentences]:
    examples = Examples.read(Source(small, "train"), "tag", ())
    options = make_options({"templates": "fast"})
    templates = resolve_templates(options, ())
    return [
        Sentences(part, templates, None, options, {})
        for part in make_shards(examples, 2, templates, None)
    ]


def test_sentences_are_distributed_over_shards_in_turns(
    shards: list[Sentences], small: list[tuple[list[str], list[str]]]
) -> None:
    for first, shard in enumerate(shards):
        assert list(map(list, shard.examples.sentences.values("form"))) == [
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
