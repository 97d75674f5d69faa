"""Rows of label templates are remembered: that this changes nothing of what is learned."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.train.greedy import learn
from perceptron_nlp._core.train.search import learn_sequences
from perceptron_nlp._core.train.trainingset import TrainingSet
from perceptron_nlp.features.templates import check_templates, compile_templates
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.data import Examples, label_hashes

TEMPLATES = (
    "word[0]",
    "lower[-1] lower[1]",
    "tag[-1]",
    "tag[-1] tag[-2]",
    "tag[-1] lower[0]",
    "tag[-2] lower.suffix2[1]",
)


def training(seed: int, n_tags: int, **table: Any) -> tuple[TrainingSet, WeightTable]:
    """A random corpus with many words of which some differ by case alone."""
    chance = np.random.default_rng(seed)
    sentences = []
    for _ in range(30):
        words = [
            f"{'aA'[chance.integers(2)]}{chance.integers(9)}x{chance.integers(3)}"
            for _ in range(chance.integers(1, 9))
        ]
        tags = [f"T{chance.integers(n_tags)}" for _ in words]
        sentences.append(pn.Sentence(words, {"tag": tags}))
    examples = Examples.read(Source(sentences, "train"), "tag", ())
    compiled = compile_templates(check_templates(TEMPLATES))
    strings, tokens = examples.encoded(compiled.columns)
    weights = WeightTable(len(examples.tags), **table)
    data = TrainingSet(
        FeatureProgram(compiled),
        weights,
        strings=strings,
        tokens=tokens,
        lengths=examples.sentences.lengths,
        gold=examples.gold_ids(),
        label_hashes=label_hashes(examples.tags),
        forced=np.full(len(strings[0]), -1, np.int32),
    )
    return data, weights


def same(one: FrozenWeights, other: FrozenWeights) -> bool:
    return all(
        (getattr(one, name) == getattr(other, name)).all()
        for name in ("keys", "starts", "labels", "weights")
    )


@pytest.mark.parametrize("table", [{}, {"table_bits": 9}])
@pytest.mark.parametrize("n_tags", [2, 17, 40])
def test_rows_made_by_others_are_found_afterwards(n_tags: int, table: dict[str, Any]) -> None:
    """Between two greedy epochs a search makes rows that the first epoch found to be absent."""
    order = np.arange(30)
    remembering, weights = training(1, n_tags, **table)
    learn(remembering, order)
    learn_sequences(remembering, order, beam=2)
    # A set of its own remembers nothing of the first two epochs.
    fresh, taken_up = training(1, n_tags, **table)
    taken_up.from_arrays(weights.to_arrays(), weights.done)
    assert learn(remembering, order) == learn(fresh, order)
    mine, theirs = weights.last(), taken_up.last()
    keys = np.unique(mine.keys)
    assert (np.unique(theirs.keys) == keys).all()
    shift = np.uint64(64 - table["table_bits"]) if table else np.uint64(0)
    for key in keys << shift:
        at = np.array([key], np.uint64)
        assert (mine.score(at) == theirs.score(at)).all()


def test_plain_c_adds_rows_to_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    for n_tags in (2, 3, 4, 5, 9, 13, 17, 21, 25, 29, 32):
        monkeypatch.delenv("PERCEPTRON_NLP_PORTABLE", raising=False)
        wide, weights = training(n_tags, n_tags, gradients=True)
        monkeypatch.setenv("PERCEPTRON_NLP_PORTABLE", "1")
        plain, same_weights = training(n_tags, n_tags, gradients=True)
        for _ in range(3):
            learned = [
                learn(data, np.arange(30), rule="adagrad", rate=0.1) for data in (wide, plain)
            ]
            assert learned[0] == learned[1]
        assert same(weights.average(), same_weights.average())
