"""Opinions in one, and labels of the same words elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from perceptron_nlp.analysis.doctor.pooling import (
    DOUBT,
    WIDTHS,
    Contexts,
    Variation,
    fit_pool,
    hedged,
    log_softmax,
    pooled,
)


def drawn(weights: list[float], n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Opinions, and labels drawn with the probabilities of their pool."""
    chance = np.random.default_rng(seed)
    opinions = chance.normal(size=(n, 4, len(weights)))
    shares = np.exp(pooled(opinions, np.array(weights)))
    return opinions, np.array([chance.choice(4, p=row / row.sum()) for row in shares])


@pytest.mark.parametrize("weights", [[1.0, 0.3], [2.0, 0.0, 0.7]])
def test_the_weights_that_labels_were_drawn_with_are_found(weights: list[float]) -> None:
    opinions, gold = drawn(weights, 4000, 1)
    assert fit_pool(opinions, gold) == pytest.approx(weights, abs=0.12)


def test_an_expert_who_is_wrong_more_often_the_surer_it_is_is_not_heard() -> None:
    opinions, gold = drawn([1.5, 0.5], 2000, 2)
    opinions[..., 1] *= -1
    weights = fit_pool(opinions, gold)
    assert weights[1] == 0 and weights[0] == pytest.approx(fit_pool(opinions[..., :1], gold)[0])


def test_weights_stay_finite_where_every_label_is_the_likeliest() -> None:
    opinions = np.tile(np.array([[3.0], [0.0]]), (50, 1, 1))
    assert np.isfinite(fit_pool(opinions, np.zeros(50, int))).all()
    assert (fit_pool(np.zeros((50, 2, 1)), np.zeros(50, int)) == 0).all()


@given(st.lists(st.lists(st.floats(-700, 700), min_size=3, max_size=3), min_size=1, max_size=4))
def test_probabilities_add_up(scores: list[list[float]]) -> None:
    assert np.exp(log_softmax(np.array(scores))).sum(1) == pytest.approx(1)


def test_no_expert_is_surer_than_it_may_be_and_the_order_of_labels_stays() -> None:
    opinions = np.random.default_rng(3).normal(0, 50, size=(200, 5, 2))
    shares = np.exp(hedged(opinions, np.array([1.0, 0.5])))
    assert shares.sum(1) == pytest.approx(1)
    assert shares.min() >= DOUBT / 5
    assert (shares.argmax(1) == opinions.argmax(1)).all()


texts = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.integers(-1, 2)), min_size=1, max_size=6),
    min_size=1,
    max_size=8,
)


@given(texts)
def test_counts_are_those_of_all_other_words_between_the_same_neighbours(
    text: list[list[tuple[str, int]]],
) -> None:
    assume(any(label >= 0 for sentence in text for _, label in sentence))
    words = [[word for word, _ in sentence] for sentence in text]
    gold = np.array([label for sentence in text for _, label in sentence], np.int64)
    places = [(s, i) for s, sentence in enumerate(words) for i in range(len(sentence))]

    def around(s: int, i: int, width: int) -> list[str | None]:
        return [
            words[s][k] if 0 <= k < len(words[s]) else None for k in range(i - width, i + width + 1)
        ]

    variation = Variation(Contexts.of(words), gold, 3)
    numbers = np.arange(len(places))
    labels = np.tile(np.arange(3), (len(places), 1))
    for at, width in enumerate(WIDTHS):
        found, totals = variation.counts(at, numbers, labels)
        for n, (s, i) in enumerate(places):
            same = [
                gold[m]
                for m, (t, j) in enumerate(places)
                if m != n and gold[m] >= 0 and around(t, j, width) == around(s, i, width)
            ]
            assert found[n].tolist() == [same.count(label) for label in range(3)]
            assert totals[n] == len(same)
            if same:
                first = variation.first(at, n, int(same[0]))
                assert gold[first] == same[0]
                assert around(*places[first], width) == around(s, i, width)
    shares = np.exp(variation.log_shares(numbers, labels))
    assert (shares > 0).all() and (shares.sum(1) <= 1 + 1e-9).all()
