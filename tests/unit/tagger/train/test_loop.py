"""Epochs: what is reported, which is kept, when training ends, and what the record says."""

from __future__ import annotations

import hashlib
import logging
import math

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp import __version__
from perceptron_nlp.features.templates import most_features

Labeled = list[tuple[list[str], list[str]]]


def accuracy(tagger: pn.Tagger, data: Labeled) -> float:
    return tagger.evaluate(data).accuracy


def test_each_epoch_is_reported_once(small: Labeled) -> None:
    reports: list[pn.EpochReport] = []
    pn.train(small, epochs=4, update="perceptron", callback=reports.append)
    words = sum(len(words) for words, _ in small)
    assert [report.epoch for report in reports] == [1, 2, 3, 4]
    for report in reports:
        assert report.epochs == 4 and report.examples == words
        assert report.mistakes == report.updates <= words
        assert report.train_accuracy == 1 - report.mistakes / words
        assert report.dev_accuracy is None and report.best_epoch == report.epoch


@pytest.mark.parametrize("update", ["margin", "adagrad"])
def test_a_margin_of_0_still_learns_from_mistakes(small: Labeled, update: str) -> None:
    assert accuracy(pn.train(small, epochs=8, update=update, margin=0), small) > 0.9
    own = pn.train(small, epochs=8, update=update, margin=0, features=lambda tokens, i: [tokens[i]])
    assert accuracy(own, small) > 0.9


def test_a_margin_with_which_passive_aggressive_never_learns_is_refused(small: Labeled) -> None:
    with pytest.raises(pn.ArgumentError, match="margin: with 0, passive-aggressive"):
        pn.train(small, update="passive-aggressive", margin=0)


def test_the_epoch_that_does_best_on_the_dev_set_is_kept(small: Labeled) -> None:
    train, dev = small[:8], small[8:]
    reports: list[pn.EpochReport] = []
    tagger = pn.train(train, dev=dev, epochs=12, patience=None, seed=4, callback=reports.append)
    scores = [report.dev_accuracy for report in reports]
    assert len(scores) == 12 and None not in scores
    best = scores.index(max(s for s in scores if s is not None)) + 1
    assert tagger.model.record["best_epoch"] == reports[-1].best_epoch == best
    assert accuracy(tagger, dev) == scores[best - 1]
    alone = pn.train(train, epochs=best, seed=4)
    assert alone.model.weights.weights.tobytes() == tagger.model.weights.weights.tobytes()


def test_training_ends_when_the_dev_set_gains_no_more(small: Labeled) -> None:
    reports: list[pn.EpochReport] = []
    pn.train(small, dev=small, epochs=100, patience=3, callback=reports.append)
    assert reports[-1].epoch == reports[-1].best_epoch + 3 < 100


def test_scoring_a_dev_set_does_not_change_what_is_learnt(small: Labeled) -> None:
    with_dev = pn.train(small, dev=small[:2], epochs=1)
    without = pn.train(small, epochs=1)
    assert with_dev.model.weights.weights.tobytes() == without.model.weights.weights.tobytes()


def test_dev_labels_that_were_never_trained_are_wrong_not_fatal(small: Labeled) -> None:
    tagger = pn.train(small, dev=[(["The", "x"], ["DET", "NEW"])], epochs=2)
    assert "NEW" not in tagger.labels


def test_an_error_in_the_callback_ends_training_and_comes_out(small: Labeled) -> None:
    seen = []

    def callback(report: pn.EpochReport) -> None:
        seen.append(report.epoch)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pn.train(small, epochs=5, callback=callback)
    assert seen == [1]


def test_epochs_are_logged(small: Labeled, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="perceptron_nlp"):
        pn.train(small, epochs=2, templates="fast")
    lines = [record.getMessage() for record in caplog.records if record.name == "perceptron_nlp"]
    assert len(lines) == 2 and "epoch 1: " in lines[0]


def test_the_record_says_how_the_model_was_trained(small: Labeled) -> None:
    tagger = pn.train(
        small[:8],
        dev=small[8:],
        epochs=3,
        seed=9,
        table_bits=10,
        min_count=2,
        dictionary=(3, 0.9),
        update="margin",
        patience=None,
        right_to_left=True,
    )
    record = pn.Tagger.from_bytes(tagger.to_bytes()).model.record
    assert record["version"] == __version__
    options = record["options"]
    assert {
        "epochs": 3,
        "seed": 9,
        "table_bits": 10,
        "min_count": 2,
        "dictionary": [3, 0.9],
        "update": "margin",
        "patience": None,
        "right_to_left": True,
    }.items() <= options.items()
    assert record["train"]["sentences"] == 8 and record["dev"]["sentences"] == 4
    assert record["train"]["tokens"] == sum(len(words) for words, _ in small[:8])
    assert [epoch["epoch"] for epoch in record["epochs"]] == [1, 2, 3]
    assert all(0 <= epoch["dev_accuracy"] <= 1 for epoch in record["epochs"])


def test_the_digest_of_the_data_is_that_of_words_and_labels(small: Labeled) -> None:
    digest = hashlib.sha256()
    for words, labels in small:
        digest.update(("\t".join(words) + "\n" + "\t".join(labels) + "\n\n").encode())
    record = pn.train(small, epochs=1).model.record
    assert record["train"]["sha256"] == digest.hexdigest()
    changed = [(words, ["X", *labels[1:]]) for words, labels in small]
    assert pn.train(changed, epochs=1).model.record["train"]["sha256"] != digest.hexdigest()


def test_the_dictionary_holds_frequent_words_of_one_label() -> None:
    data = [(["the"] * 10 + ["run"] * 4 + ["once"], [*"DDDDDDDDDX", *"NNVV", "O"])]
    tagger = pn.train(data, epochs=3, dictionary=(4, 0.9))
    assert tagger.model.dictionary == {"the": "D"}
    assert tagger.tag(["the", "run", "the"])[::2] == ["D", "D"]
    assert pn.train(data, epochs=1, dictionary=(4, 0.95)).model.dictionary == {}
    assert pn.train(data, epochs=1, dictionary=(1, 1.0)).model.dictionary == {"once": "O"}


def test_words_of_the_dictionary_are_not_counted_as_examples(small: Labeled) -> None:
    reports: list[pn.EpochReport] = []
    tagger = pn.train(small, epochs=1, dictionary=(4, 0.95), callback=reports.append)
    words = [word for words, _ in small for word in words]
    free = [word for word in words if word not in tagger.model.dictionary]
    assert tagger.model.dictionary and reports[0].examples == len(free) < len(words)


def test_a_higher_min_count_leaves_fewer_features(small: Labeled) -> None:
    rows = [
        pn.train(
            small, epochs=2, min_count=n, templates=["word[0]", "lower[-1] lower[0]"]
        ).model.weights.n_rows
        for n in (1, 2, 3, 1000)
    ]
    assert rows == sorted(rows, reverse=True) and rows[0] > rows[1] and rows[-1] == 0


def test_a_fixed_table_has_no_more_rows_than_it_was_given(small: Labeled) -> None:
    tagger = pn.train(small, epochs=2, table_bits=4)
    weights = tagger.model.weights
    assert weights.table_bits == 4 and weights.n_rows <= 16 and int(weights.keys.max()) < 16


def test_sums_of_a_weight_of_each_template_fill_sixteen_bits_and_none_is_zero(
    small: Labeled,
) -> None:
    model = pn.train(small, epochs=4).model
    weights = model.weights
    bounds = np.zeros((2, len(model.templates), len(model.tags)), int)
    template_of_cell = np.repeat(weights.groups(), np.diff(weights.starts))
    np.maximum.at(bounds[0], (template_of_cell, weights.labels), weights.weights)
    np.maximum.at(bounds[1], (template_of_cell, weights.labels), -weights.weights.astype(int))
    # Some templates give a word many features: the scale is in eighths then.
    most = np.array(most_features(model.templates))
    assert 28_000 < (most[:, None] * bounds).sum(1).max() <= 32_767
    assert (weights.weights != 0).all()
    assert (8 * weights.scale / 2.0 ** math.floor(math.log2(weights.scale))).is_integer()


def test_with_one_feature_of_each_template_the_scale_is_a_power_of_two(small: Labeled) -> None:
    weights = pn.train(small, templates="default", epochs=4).model.weights
    assert weights.scale == 2.0 ** round(math.log2(weights.scale))


def test_more_epochs_fit_the_training_text_better(small: Labeled) -> None:
    assert accuracy(pn.train(small, epochs=1), small) < accuracy(pn.train(small, epochs=10), small)


def test_a_verbose_training_prints_a_line_an_epoch(capsys: pytest.CaptureFixture[str]) -> None:
    text = [(["a", "b"], ["X", "Y"])] * 3
    heard: list[pn.EpochReport] = []
    pn.train(text, dev=text, epochs=2, runs=2, verbose=True, callback=heard.append)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(heard) == 4
    assert lines[0].startswith("tag: run 1/2, epoch 1/2: train ") and lines[0].endswith(" %")
    assert ", dev 100.00 %" in lines[3]
    with pytest.raises(pn.ArgumentTypeError, match="verbose: a bool is needed"):
        pn.train(text, verbose=2)
