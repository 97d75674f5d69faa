"""The k best sequences are those that trying all of them finds."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.feature_keys import template_keys
from test_explaining import KINDS, rows, tagger

import perceptron_nlp as pn
from perceptron_nlp.text.spans import broken_positions

WORDS = st.lists(st.sampled_from(["la", "bel", "lupo", "katu", ".", "new"]), max_size=3)


class Slow:
    """What labels score, looked up feature by feature."""

    def __init__(self, one: pn.Tagger) -> None:
        self.one = one
        self.known: dict[tuple[int, tuple[int, ...]], list[float]] = {}
        weights = one.model.weights
        self.rows = {
            int(weights.keys[row]): {
                int(weights.labels[cell]): int(weights.weights[cell])
                for cell in range(weights.starts[row], weights.starts[row + 1])
            }
            for row in range(weights.n_rows)
        }

    def local(self, words: Sequence[str], i: int, given: tuple[int, ...]) -> list[float]:
        """Of one sentence; nothing looks farther back than three labels."""
        if (i, given[-3:]) not in self.known:
            self.known[i, given[-3:]] = self.summed(words, i, given)
        return self.known[i, given[-3:]]

    def summed(self, words: Sequence[str], i: int, given: tuple[int, ...]) -> list[float]:
        model = self.one.model
        labels = [model.tags.label_of(number) for number in given]
        if words[i] in model.dictionary:
            return [
                0 if label == model.dictionary[words[i]] else float("-inf") for label in model.tags
            ]
        columns: dict[str, Sequence[str]] = {"form": words}
        if model.function is not None:
            columns["features"] = model.function.column(words)
        keys = [
            key
            for template in model.templates
            for key in template_keys(template, columns, i, labels[::-1])
        ]
        sums = [0.0] * len(model.tags)
        for key in keys:
            for label, weight in self.rows.get(key, {}).items():
                sums[label] += weight / model.weights.scale
        return sums

    def all(self, words: list[str]) -> list[tuple[tuple[int, ...], float, float]]:
        """Every sequence as it is read, with its sum and what it falls short."""
        n, backwards = len(words), self.one.model.right_to_left
        places = range(n)[::-1] if backwards else range(n)
        found = []
        for path in itertools.product(range(len(self.one.labels)), repeat=n):
            total = short = 0.0
            for step, i in enumerate(places):
                local = self.local(words, i, path[:step])
                total += local[path[step]]
                short += max(local) - local[path[step]]
            if total > float("-inf"):
                found.append((path, total, short))
        return found

    def written(self, path: tuple[int, ...]) -> list[str]:
        labels = [self.one.labels[number] for number in path]
        return labels[::-1] if self.one.model.right_to_left else labels


def check_order(
    one: pn.Tagger, words: list[str], k: int, found: list[tuple[list[str], float]]
) -> None:
    scores = [score for _, score in found]
    assert found[0][0] == one.tag(words)
    assert scores == sorted(scores, reverse=True)
    assert len({tuple(labels) for labels, _ in found}) == len(found) <= k
    assert all(len(labels) == len(words) for labels, _ in found)


@pytest.mark.parametrize("kind", ["greedy", "from the end", "dictionary", "a mapping"])
@settings(max_examples=6)
@given(words=WORDS, k=st.sampled_from([1, 2, 7, 40, 200]))
def test_of_a_greedy_model_they_fall_short_least(kind: str, words: list[str], k: int) -> None:
    one = tagger(kind)
    slow = Slow(one)
    found = pn.k_best(one, words, k)
    check_order(one, words, k, found)
    every = slow.all(words)
    short = {tuple(slow.written(path)): short for path, _, short in every}
    best = next(total for path, total, _ in every if slow.written(path) == found[0][0])
    assert [best - score for _, score in found] == pytest.approx(sorted(short.values())[:k])
    assert [best - score for _, score in found] == pytest.approx(
        [short[tuple(labels)] for labels, _ in found]
    )


@pytest.mark.parametrize("kind", ["beam", "spans", "dictionary and beam"])
@settings(max_examples=6)
@given(words=WORDS, k=st.sampled_from([1, 2, 7, 40, 200]))
def test_of_a_model_with_a_beam_their_scores_sum_highest_and_spans_are_legal(
    kind: str, words: list[str], k: int
) -> None:
    one = tagger(kind)
    assert one.model.beam > 1
    slow = Slow(one)
    found = pn.k_best(one, words, k)
    check_order(one, words, k, found)
    spans = kind == "spans"
    sums = [
        total
        for path, total, _ in slow.all(words)
        if not (spans and broken_positions(slow.written(path), scheme="iobes"))
    ]
    at_most = found[0][1]
    assert [score for _, score in found] == pytest.approx(
        sorted((total for total in sums if total <= at_most + 1e-9), reverse=True)[:k]
    )
    if spans:
        assert all(broken_positions(labels, scheme="bio") == [] for labels, _ in found)


@settings(max_examples=10)
@given(words=WORDS)
def test_where_no_template_looks_at_labels_all_sequences_come_by_their_sums(
    words: list[str],
) -> None:
    one = pn.train(rows(), column="upos", templates=["lower[0]", "lower[-1]"], epochs=2)
    scores = one.scores(words)
    found = pn.k_best(one, words, 10_000)
    assert len(found) == len(one.labels) ** len(words)
    assert [score for _, score in found] == [
        sum(scores[i, one.labels.index(label)] for i, label in enumerate(labels))
        for labels, _ in found
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_has_them(kind: str) -> None:
    one = tagger(kind)
    for words in ([], ["la"], ["la", "bel", "lupo", ".", "Kato", "new"]):
        found = pn.k_best(one, words, 6)
        check_order(one, words, 6, found)
        assert len(found) == 6 or len(words) < 2 or len(one.model.written_labels) < 2


def test_what_a_lexicon_forbids_is_in_none_of_them() -> None:
    held = tagger("held to a lexicon")
    found = pn.k_best(held, ["la", "lupo"], 50)
    assert {labels[0] for labels, _ in found} == {"NOUN"}
    assert {labels[1] for labels, _ in found} == {"ADJ", "DET"} and len(found) == 2


@pytest.mark.parametrize("k", [0, -1, 1_000_001])
def test_a_k_out_of_its_range_is_refused(k: int) -> None:
    with pytest.raises(pn.ArgumentError, match="k: "):
        pn.k_best(tagger("greedy"), ["la"], k)
    with pytest.raises(pn.ArgumentTypeError, match="k: "):
        pn.k_best(tagger("greedy"), ["la"], 2.0)  # type: ignore[arg-type]
