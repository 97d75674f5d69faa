"""The learning curve: its laws, its forecasts, its charts."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.analysis.learningcurve import power_law

DATA = Path(__file__).parents[3] / "data"
TRAIN, TEST = DATA / "english-train.conllu", DATA / "english-test.conllu"
QUICK = {"preset": "fast", "epochs": 2, "column": "upos"}


@pytest.fixture(scope="module")
def curve() -> pn.LearningCurve:
    return pn.learning_curve(TRAIN, test=TEST, sizes=[0.05, 0.1, 0.2, 0.5, 1], **QUICK)


def test_the_whole_text_is_trained_on_as_by_a_plain_training(curve: pn.LearningCurve) -> None:
    plain = pn.train(TRAIN, **QUICK).evaluate(TEST)
    assert curve.full == plain
    assert curve.points[-1].accuracy == plain.accuracy
    assert curve.points[-1].tokens == 5249 and curve.tested == plain.tokens and curve.folds == 0


def test_with_folds_the_largest_size_is_the_cross_validation() -> None:
    dev = DATA / "english-dev.conllu"
    found = pn.learning_curve(dev, folds=3, sizes=[0.5, 1], **QUICK)
    assert found.full == pn.cross_validate(dev, folds=3, **QUICK).pooled
    assert found.folds == 3 and found.points[0].spread > 0


def test_the_result_does_not_depend_on_threads(curve: pn.LearningCurve) -> None:
    again = pn.learning_curve(TRAIN, test=TEST, sizes=[1, 0.5, 0.2, 0.1, 0.05], threads=3, **QUICK)
    assert again == curve


def test_sizes_that_are_the_same_number_of_sentences_are_one_point() -> None:
    text = [(["a", f"b{i}"], ["X", "Y"]) for i in range(4)]
    found = pn.learning_curve(text, test=text, epochs=1)
    assert [point.sentences for point in found.points] == [1, 2, 4]
    assert found.next_doubling is not None and not found.past_forecasts


@given(
    st.floats(0.05, 0.6),
    st.floats(-0.9, -0.05),
    st.lists(st.integers(10, 10**6), min_size=3, max_size=9, unique=True),
)
def test_a_power_law_is_foretold_exactly(factor: float, power: float, sizes: list[int]) -> None:
    sizes.sort()
    errors = [factor * size**power for size in sizes]
    wanted = 2 * sizes[-1]
    assert power_law(sizes, errors, wanted) == pytest.approx(factor * wanted**power, rel=1e-6)


def test_errors_that_grow_are_not_foretold_to_grow() -> None:
    assert power_law([1, 2, 4], [0.1, 0.2, 0.3], 8) == power_law([1, 2, 4], [0.1, 0.2, 0.3], 800)
    assert power_law([1, 2], [0.2, 0.1], 4) is None


def test_past_forecasts_come_from_the_smaller_sizes_alone(curve: pn.LearningCurve) -> None:
    assert len(curve.past_forecasts) == 2
    for forecast, point in zip(curve.past_forecasts, curve.points[3:], strict=True):
        assert (forecast.tokens, forecast.measured) == (point.tokens, point.accuracy)
    known = curve.points[:4]
    errors = [1 - point.accuracy for point in known]
    foretold = power_law([point.tokens for point in known], errors, 5249)
    assert foretold is not None
    assert curve.past_forecasts[-1].accuracy == pytest.approx(1 - foretold)
    assert curve.next_doubling is not None and curve.next_doubling.tokens == 2 * 5249
    assert curve.next_doubling.accuracy == curve.forecast(10498)


def test_a_perfect_tagger_is_not_foretold_to_be_more_than_perfect() -> None:
    text = [(["a", "b"], ["X", "Y"])] * 10
    found = pn.learning_curve(text, test=text, epochs=3)
    assert found.points[-1].accuracy == 1.0
    assert found.next_doubling is not None and 0.9 < found.next_doubling.accuracy < 1


@pytest.mark.parametrize("kind", ["svg", "png", "html"])
def test_charts_are_the_same_on_each_run(
    curve: pn.LearningCurve, tmp_path: Path, kind: str
) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("jinja2")
    path = tmp_path / f"curve.{kind}"
    curve.save_chart(path)
    first = path.read_bytes()
    curve.save_chart(path)
    assert path.read_bytes() == first
    if kind == "html":
        page = first.decode()
        assert f"{100 * curve.points[-1].accuracy:.2f} %" in page and "<svg" in page
        assert "10,498" in page


def test_several_columns_and_segmentation_have_a_curve_each() -> None:
    dev = DATA / "english-dev.conllu"
    how = {**QUICK, "column": "text,upos", "sizes": [0.5, 1], "test": TEST}
    found = pn.learning_curve(dev, **how)
    assert list(found.by_column)[:4] == ["upos", "Tokens", "Sentences", "Words"]
    assert found == pn.learning_curve(dev, **how, threads=2)
    tagger = pn.train(dev, **{**QUICK, "column": "text,upos"})
    scores = tagger.evaluate_text(TEST)
    for metric in ("Tokens", "Sentences", "Words", "UPOS"):
        curve = found.by_column[metric]
        assert curve.points[-1].accuracy == scores[metric].f1
        assert curve.tested == scores[metric].gold
        assert curve.points[-1].known_accuracy is None
    assert found.points[-1].accuracy == tagger.evaluate(TEST, column="upos").accuracy
    report = found.to_dict()
    assert [row["column"] for row in report["forecasts"]] == list(found.by_column)
    assert [(row["column"], row["share"]) for row in report["points"]][:2] == [
        ("upos", 0.5),
        ("upos", 1.0),
    ]


def test_the_forecast_stands_beside_its_error(curve: pn.LearningCurve) -> None:
    off = [abs(one.accuracy - one.measured) for one in curve.past_forecasts]
    assert curve.forecast_error == pytest.approx(sum(off) / len(off))
    assert f"± {100 * curve.forecast_error:.2f}" in curve.to("text")


def test_a_chart_of_another_kind_is_refused(curve: pn.LearningCurve, tmp_path: Path) -> None:
    with pytest.raises(pn.ArgumentError, match=r"path: .*curve\.pdf does not end in \.svg, \.png"):
        curve.save_chart(tmp_path / "curve.pdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"sizes": []}, pn.ArgumentError, "sizes: it is empty"),
        ({"sizes": [0]}, pn.ArgumentError, "sizes: 0 is not above 0"),
        ({"sizes": [2]}, pn.ArgumentError, "sizes: 2 is not above 0 and at most 1"),
        ({"sizes": 0.5}, pn.ArgumentTypeError, "sizes: a list of shares"),
        ({"test": TEST, "folds": 3}, pn.ArgumentError, "folds: there is a test set, too"),
        ({"test": []}, pn.FormatError, "test: there are no sentences"),
        ({"folds": 4000}, pn.ArgumentError, "folds: 4000 is not between"),
    ],
)
def test_what_cannot_be_done_is_refused(
    options: dict[str, object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        pn.learning_curve(TRAIN, **options)
