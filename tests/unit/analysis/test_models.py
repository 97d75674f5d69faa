"""Several models on one test: means, deviations, and tests of each pair."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.analysis.models import holm

DATA = Path(__file__).parents[3] / "data"
TRAIN, TEST = DATA / "english-dev.conllu", DATA / "english-test.conllu"


@pytest.fixture(scope="module")
def taggers() -> list[pn.Tagger]:
    how = {"preset": "fast", "epochs": 2, "column": "text,upos,feats"}
    return [pn.train(TRAIN, seed=seed, **how) for seed in (1, 2, 3)]


def test_scores_are_those_of_each_model_alone(taggers: list[pn.Tagger]) -> None:
    found = pn.evaluate_models(taggers, TEST)
    assert list(found.outcomes) == ["upos", "feats"]
    for column in found.outcomes:
        alone = [tagger.evaluate_columns(TEST)[column] for tagger in taggers]
        assert list(found.outcomes[column]) == alone
        assert found.scores(column) == tuple(one.accuracy for one in alone)
    rows = [row for row in found.rows() if row["column"] == "upos"]
    assert [row["model"] for row in rows[3:]] == ["mean", "deviation"]
    assert rows[3]["accuracy"] == pytest.approx(mean(found.scores()))
    assert rows[4]["accuracy"] == pytest.approx(stdev(found.scores()))
    assert str(found).startswith(f"upos: {100 * mean(found.scores()):.2f} % ±")


def test_pairs_are_what_compare_says(taggers: list[pn.Tagger]) -> None:
    found = pn.evaluate_models({"a": taggers[0], "b": taggers[1]}, TEST, column="upos", seed=3)
    (pair,) = found.pairs
    compared = pn.compare(*taggers[:2], TEST, column="upos", seed=3).accuracy
    assert (pair.column, pair.a, pair.b) == ("upos", "a", "b")
    assert pair.difference == pytest.approx(compared.difference)
    assert (pair.low, pair.high) == pytest.approx(compared.interval_difference)
    assert pair.p_value == pair.p_holm == compared.p_value


def test_from_text_the_sentences_sum_to_the_metric(taggers: list[pn.Tagger]) -> None:
    found = pn.evaluate_models(taggers, TEST, from_text=True)
    scores = taggers[1].evaluate_text(TEST)
    assert list(found.outcomes) == list(scores)
    for metric, counts in scores.by_sentence().items():
        assert found.outcomes[metric][1] == scores[metric]
        sums = tuple(map(sum, zip(*counts, strict=True)))
        assert sums == scores[metric][:3] and len(counts) == scores["Sentences"].gold
    for pair in found.pairs:
        one, other = (found.outcomes[pair.column][int(name[-1]) - 1] for name in (pair.a, pair.b))
        assert pair.difference == pytest.approx(other.f1 - one.f1)
        assert pair.low <= pair.high and 0 < pair.p_value <= pair.p_holm <= 1
    assert len(found.pairs) == 3 * len(scores)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_corrected_chances_are_at_least_as_large_in_the_same_order(chances: list[float]) -> None:
    found = holm(chances)
    assert all(chance <= own <= 1 for chance, own in zip(chances, found, strict=True))
    assert all(own <= min(1, len(chances) * c) for c, own in zip(chances, found, strict=True))
    ordered = [own for _, own in sorted(zip(chances, found, strict=True))]
    assert ordered == sorted(ordered)


def test_chances_are_corrected_as_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_spans_are_scored_by_f1() -> None:
    text = [(["Ann", "sees", "Bob"], ["B-PER", "O", "B-PER"])] * 4
    taggers = [pn.train(text, epochs=epochs) for epochs in (1, 2)]
    found = pn.evaluate_models(taggers, text)
    assert found.rows()[0]["f1"] == found.outcomes["tag"][0].spans.f1


@pytest.mark.parametrize(
    ("models", "message"), [([], "at least two"), (["a", "a"], "a is there twice")]
)
def test_what_cannot_be_compared_is_refused(models: list[str], message: str) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        pn.evaluate_models(models, TEST)


def test_models_without_a_common_column_are_refused(taggers: list[pn.Tagger]) -> None:
    other = pn.train(TRAIN, column="xpos", preset="fast", epochs=1)
    with pytest.raises(pn.ArgumentError, match="no common column"):
        pn.evaluate_models([taggers[0], other], TEST)
    with pytest.raises(pn.ArgumentError, match="column: deprel is none of upos, feats"):
        pn.evaluate_models(taggers[:2], TEST).scores("deprel")


def test_errors_of_features_are_counted_by_attribute() -> None:
    found = pn.Evaluation("feats")
    found.add(
        ["Case=Nom|Number=Sing", "Case=Acc", "_"],
        ["Case=Acc|Number=Sing", "Case=Acc", "Case=Nom"],
        [True] * 3,
    )
    assert found.feature_errors == {("Case", "Nom", "Acc"): 1, ("Case", "_", "Nom"): 1}
    rows = next(t for t in found.report().tables if t.key == "feature_errors").to_rows()
    assert rows[0] == {"feature": "Case", "gold": "Nom", "predicted": "Acc", "tokens": 1}
    assert not pn.Evaluation("upos", confusion=found.confusion.__class__({("A", "B"): 1})).features
