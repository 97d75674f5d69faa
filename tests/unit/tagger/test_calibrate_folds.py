"""Confidences fitted to parts of the training text."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn

DATA = Path(__file__).parents[3] / "data"


def test_a_training_text_without_a_dev_set_gives_confidences_that_hold() -> None:
    how = {"preset": "fast", "epochs": 4}
    plain = pn.train(DATA / "english-train.conllu", **how)
    tagger = pn.train(DATA / "english-train.conllu", **how, calibrate="folds")
    assert not plain.is_calibrated and tagger.is_calibrated
    assert tagger.model.record["calibration"]["words"] == 5249
    # But for its confidences it is the same model.
    record = {k: v for k, v in tagger.model.record.items() if k != "calibration"}
    bare = tagger.model.replace(calibration=None, record=record)
    assert pn.Tagger(bare).to_bytes() == plain.to_bytes()
    found = tagger.evaluate(DATA / "english-test.conllu", calibration=True).calibration
    assert found is not None and found.ece < 0.05


def test_lemmas_and_columns_beside_segmentation_have_confidences_by_folds() -> None:
    how = {"preset": "fast", "epochs": 1, "column": "all", "calibrate": "folds"}
    tagger = pn.train(DATA / "english-dev.conllu", **how)
    assert tagger.is_calibrated and tagger.columns == ("upos", "xpos", "feats", "lemma")
    assert tagger.to_bytes() == pn.train(DATA / "english-dev.conllu", **how).to_bytes()


def test_a_text_too_small_to_be_cut_is_trained_on_without_confidences(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tagger = pn.train([(["a", "b"], ["X", "Y"])], epochs=1, calibrate="folds")
    assert not tagger.is_calibrated and "not calibrated" in caplog.text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dev": [(["a"], ["X"])]}, "calibrate: there is a dev set"),
        ({"learn_dev": True}, "calibrate: with learn_dev"),
        ({"max_memory": "1GB"}, "calibrate: the text is gone over in parts"),
        ({"learn": False}, "calibrate: nothing is learned"),
        ({"calibrate": "dev"}, "calibrate: 'dev'"),
    ],
)
def test_what_does_not_go_with_folds_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        pn.train([(["a", "b"], ["X", "Y"])] * 8, **{"calibrate": "folds", **options})
