"""Laws of confidences, over scores and counts of all kinds."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.probability import BINS, Reliability, curve_of, rising, softmax
from perceptron_nlp.tagger.confidence import (
    _highest,
    confidences_of,
    margins_of,
    probabilities_of,
    with_share,
)
from perceptron_nlp.tagger.model.calibration import MOST_POINTS, Calibration
from perceptron_nlp.tagger.tag.label import decoder_of
from perceptron_nlp.tagger.train.calibrate import CalibrationData, best_of_many, fit_calibration

SCORE = st.integers(-(2**20), 2**20).map(lambda x: x / 64) | st.just(-np.inf)
TEMPERATURE = st.floats(1e-3, 1e3)
CHANCE = st.floats(0, 1)
WORDS = st.lists(
    st.tuples(st.integers(-40, 200).map(lambda x: x / 8), st.booleans()), min_size=1, max_size=300
)


def share_of(shares: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Return the share of the labels given together, at most 1."""
    return np.minimum(np.where(given, shares, 0.0).sum(axis=1), 1.0)


@st.composite
def scores_and_given(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Scores of a few words, each with a score that is no infinity, and the labels given."""
    n_words, n_labels = draw(st.integers(1, 6)), draw(st.integers(1, 7))
    scores = np.array(
        draw(st.lists(SCORE, min_size=n_words * n_labels, max_size=n_words * n_labels))
    ).reshape(n_words, n_labels)
    own = np.array(draw(st.lists(st.integers(0, n_labels - 1), min_size=n_words, max_size=n_words)))
    scores[np.arange(n_words), own] = np.where(
        np.isinf(scores[np.arange(n_words), own]), 0, scores[np.arange(n_words), own]
    )
    groups = np.array(draw(st.lists(st.integers(0, 3), min_size=n_labels, max_size=n_labels)))
    return scores, groups[None, :] == groups[own][:, None]


@settings(max_examples=40)
@given(scores_and_given(), TEMPERATURE)
def test_a_temperature_keeps_the_order_of_labels_and_shares_one(
    case: tuple[np.ndarray, np.ndarray], temperature: float
) -> None:
    scores, own = case
    shares = softmax(scores, temperature)
    assert np.allclose(shares.sum(axis=1), 1, rtol=0, atol=1e-12)
    best = scores.argmax(axis=1)
    assert (shares[np.arange(len(scores)), best] == shares.max(axis=1)).all()
    order = np.argsort(scores, axis=1)
    assert (np.diff(np.take_along_axis(shares, order, 1), axis=1) >= 0).all()
    assert ((share_of(shares, own) >= 0) & (share_of(shares, own) <= 1)).all()


@settings(max_examples=40)
@given(scores_and_given(), TEMPERATURE, WORDS)
def test_chances_are_from_0_to_1_and_rows_of_them_sum_to_one(
    case: tuple[np.ndarray, np.ndarray], temperature: float, words: list[tuple[float, bool]]
) -> None:
    scores, own = case
    curve = curve_of(
        np.array([m for m, _ in words]), np.array([hit for _, hit in words]), 5, MOST_POINTS
    )
    calibration = Calibration(temperature, *curve)
    found = confidences_of(calibration, scores, own)
    assert ((found >= 0) & (found <= 1)).all()
    rows = probabilities_of(calibration, scores, own)
    assert (rows >= 0).all() and np.allclose(rows.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert np.allclose(np.where(own, rows, 0).sum(axis=1), np.where(own.all(1), 1, found))


@settings(max_examples=40)
@given(WORDS, st.lists(st.floats(-100, 100), min_size=2, max_size=20), st.integers(1, 60))
def test_a_curve_never_falls_as_the_margin_grows(
    words: list[tuple[float, bool]], margins: list[float], least: int
) -> None:
    curve = curve_of(
        np.array([m for m, _ in words]), np.array([hit for _, hit in words]), least, MOST_POINTS
    )
    assert 1 <= len(curve[0]) == len(curve[1]) <= MOST_POINTS
    assert list(curve[0]) == sorted(set(curve[0])) and list(curve[1]) == sorted(curve[1])
    ascending = np.sort(np.array(margins))
    scores = np.stack([ascending, np.zeros(len(ascending))], axis=1)
    own = np.array([[True, False]] * len(ascending))
    assert (np.diff(confidences_of(Calibration(1.0, *curve), scores, own)) >= 0).all()


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 3))
        .map(lambda pair: (pair[0], sum(pair), 0))
        .filter(lambda pool: pool[1]),
        min_size=1,
        max_size=12,
    )
)
def test_pooled_neighbours_are_the_best_rising_fit(counts: list[tuple[int, int, int]]) -> None:
    def mean(a: int, b: int) -> Fraction:
        return Fraction(sum(hit for hit, _, _ in counts[a:b]), sum(n for _, n, _ in counts[a:b]))

    # R. E. Barlow and others, 1972: the fit at i is the max over a <= i of the min over b > i of
    # the mean from a to b.
    expected = [
        max(min(mean(a, b) for b in range(i + 1, len(counts) + 1)) for a in range(i + 1))
        for i in range(len(counts))
    ]
    pools = rising(counts)
    found = []
    for hit, n, _ in pools:
        found += [Fraction(int(hit), int(n))] * int(n)
    assert found == [x for x, (_, n, _) in zip(expected, counts, strict=True) for _ in range(n)]


@settings(max_examples=40)
@given(WORDS)
def test_a_curve_goes_through_the_best_rising_fit(words: list[tuple[float, bool]]) -> None:
    counts = [
        (sum(hit for m, hit in words if m == at), sum(m == at for m, _ in words), 0)
        for at in sorted({m for m, _ in words})
    ]
    pools = rising(counts)
    if len(pools) > MOST_POINTS:
        return
    rates = curve_of(
        np.array([m for m, _ in words]), np.array([hit for _, hit in words]), 1, MOST_POINTS
    )[1]
    expected = np.maximum.accumulate([(hit + 0.5) / (n + 1) for hit, n, _ in pools])
    assert rates == pytest.approx(expected.tolist(), rel=1e-5)


@settings(max_examples=20)
@given(
    st.lists(
        st.lists(st.sampled_from(["the", "old", "man", "Zoë", "new"]), max_size=9), max_size=9
    ),
    st.integers(1, 400),
)
def test_scores_of_many_sentences_are_those_of_each(
    tagger: pn.Tagger, sentences: list[list[str]], times: int
) -> None:
    decoder = decoder_of(tagger.model)
    numbers, scores = decoder.tag_scored(sentences * times)
    alone = [decoder.tag_scored([sentence]) for sentence in sentences] * times
    none = np.empty(0, np.uint16), np.empty((0, len(tagger.labels)), np.int32)
    for found, place in ((numbers, 0), (scores, 1)):
        assert np.array_equal(found, np.concatenate([none[place], *(one[place] for one in alone)]))


@settings(max_examples=40)
@given(scores_and_given(), st.lists(CHANCE, min_size=6, max_size=6))
def test_a_share_that_is_wanted_is_what_the_labels_given_have(
    case: tuple[np.ndarray, np.ndarray], wanted: list[float]
) -> None:
    scores, own = case
    chances = np.array(wanted[: len(scores)])
    shares = softmax(scores, 1.0)
    rows = with_share(shares, own, chances)
    whole = own.all(axis=1)
    assert np.allclose(np.where(own, rows, 0).sum(axis=1)[~whole], chances[~whole])
    assert np.array_equal(rows[whole], shares[whole])


@settings(max_examples=40)
@given(scores_and_given(), st.integers(1, 8))
def test_the_best_of_many_scores_are_the_best(
    case: tuple[np.ndarray, np.ndarray], most: int
) -> None:
    scores, own = case
    kept, mine = best_of_many(scores, own, most)
    assert kept.shape == mine.shape
    assert np.array_equal(np.sort(kept, 1), np.sort(scores, 1)[:, -most:])


@settings(max_examples=40)
@given(scores_and_given())
def test_a_margin_is_the_lead_over_the_best_other_label(
    case: tuple[np.ndarray, np.ndarray],
) -> None:
    scores, own = case
    for row, mask, margin in zip(scores, own, margins_of(scores, own), strict=True):
        others = [x for x, given_it in zip(row, mask, strict=True) if not given_it]
        expected = max(row[mask]) - max(others) if others else np.inf
        assert margin == expected


@settings(max_examples=40)
@given(st.lists(st.tuples(CHANCE, st.booleans()), max_size=80))
def test_the_calibration_error_is_the_mean_gap_of_fifteen_bins(
    words: list[tuple[float, bool]],
) -> None:
    found = Reliability.of([x for x, _ in words], [hit for _, hit in words])
    bins: list[list[tuple[float, bool]]] = [[] for _ in range(15)]
    for x, hit in words:
        bins[min(int(x * 15), 14)].append((x, hit))
    gaps = [abs(sum(x for x, _ in one) - sum(hit for _, hit in one)) for one in bins]
    assert found.ece == pytest.approx(sum(gaps) / len(words) if words else 0)
    assert len(found.bins) == BINS and sum(part.count for part in found.bins) == len(words)
    assert found.bins[0].low == 0


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.floats(0.05, 3), st.floats(-3, 2))
def test_what_is_fitted_comes_back_from_json_bit_for_bit_and_never_leaves_its_range(
    seed: int, n_labels: int, spread: float, octave: float
) -> None:
    rng = np.random.default_rng(seed)
    n = 400
    scores = np.round(rng.normal(0, spread, (n, n_labels)) * 2**octave * 64) / 64
    given_number = scores.argmax(axis=1)
    own = np.arange(n_labels)[None, :] == given_number[:, None]
    right = rng.random(n) < share_of(softmax(scores, 2**octave), own)
    data = CalibrationData(
        margins=margins_of(scores, own),
        right=right,
        folds=np.arange(n) * 5 // n,
        sample=np.arange(n),
        scores=scores,
        given=own,
    )
    fitted, told = fit_calibration(data)
    again = Calibration.from_dict(json.loads(json.dumps(fitted.to_dict())))
    assert again == fitted
    found = confidences_of(fitted, scores, own)
    assert np.array_equal(confidences_of(again, scores, own), found)
    assert told["words"] == n and 0 <= told["ece"] <= 1
    # Scores of which the softmax at one temperature is the truth are fitted well.
    assert Reliability.of(found, right).ece < 0.2


@settings(max_examples=60)
@given(st.integers(0, 5), st.integers(1, 12), st.integers(1, 9), st.data())
def test_the_highest_scores_are_the_first_of_a_stable_sort(
    n_rows: int, n_labels: int, most: int, data: st.DataObject
) -> None:
    n = n_rows * n_labels
    values = data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n))
    scores = np.array(values, float).reshape(n_rows, n_labels)
    expected = np.argsort(-scores, axis=1, kind="stable")[:, :most]
    assert _highest(scores, most).tolist() == expected.tolist()
