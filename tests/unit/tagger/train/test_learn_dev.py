"""Learning the dev set, too, when all is decided by it."""

from pathlib import Path

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train import auto

ENDINGS = {"o": "NOUN", "a": "VERB", "e": "ADV", ".": "PUNCT"}


def conllu(first, n_sentences):
    """Sentences of words whose endings tell their tags, and whose stems are their lemmas."""
    lines = []
    for number in range(first, first + n_sentences):
        words = [f"{stem}{number}{stem}" for stem in "kmprt"]
        words = [w + "oae"[(number + k) % 3] for k, w in enumerate(words)] + ["."]
        for k, word in enumerate(words, 1):
            upos, lemma = ENDINGS[word[-1]], word[:-1] or word
            lines.append(f"{k}\t{word}\t{lemma}\t{upos}\t_\t_\t{k - 1}\tdep\t_\t_\n")
        lines.append("\n")
    return "".join(lines)


@pytest.fixture
def files(tmp_path: Path):
    train, dev = tmp_path / "train.conllu", tmp_path / "dev.conllu"
    train.write_text(conllu(0, 30))
    dev.write_text(conllu(100, 60))
    return str(train), str(dev)


def same_weights(ours, theirs):
    return all(
        np.array_equal(a.weights.weights, b.weights.weights) and a.templates == b.templates
        for a, b in zip(ours.model.parts_by_column, theirs.model.parts_by_column, strict=True)
    )


def test_the_model_is_that_of_both_texts_with_the_calibration_of_the_first(files):
    train, dev = files
    tagger = pn.train(train, dev=dev, learn_dev=True, runs=1, epochs=3)
    assert same_weights(tagger, pn.train([train, dev], runs=1, epochs=3))
    first = pn.train(train, dev=dev, runs=1, epochs=3).model
    assert tagger.model.calibration == first.calibration
    assert tagger.model.record["calibration"] == first.record["calibration"]
    assert tagger.model.record["train"]["sentences"] == 90


def test_what_held_out_tokens_told_is_so_when_dev_is_learned_too(files, monkeypatch):
    train, dev = files
    helped = [True]

    def accuracy(probe, examples, options, fold, _=None):
        return 0.9 if (auto.NGRAMS in options.templates) == helped[0] else 0.5

    monkeypatch.setattr(auto, "MUCH_TEXT", 50)
    monkeypatch.setattr(auto._Probe, "_accuracy", accuracy)
    tagger = pn.train(
        train, dev=dev, learn_dev=True, epochs=1, before_dev=lambda _: helped.insert(0, False)
    )
    assert auto.NGRAMS in tagger.model.templates
    assert auto.NGRAMS not in pn.train([train, dev], epochs=1).model.templates


def test_rules_for_little_text_hold_when_dev_makes_it_much(files, monkeypatch):
    train, dev = files
    monkeypatch.setattr(auto, "MUCH_TEXT", 200)
    one = pn.train(train, dev=dev, learn_dev=True, epochs=1)
    assert auto.SHORT_NGRAMS in one.model.templates
    assert auto.SHORT_NGRAMS not in pn.train([train, dev], epochs=1).model.templates


def test_the_record_tells_what_was_right_before_the_dev_set_was_learned(files):
    train, dev = files
    reports = []
    tagger = pn.train(train, dev=dev, learn_dev=True, epochs=2, callback=reports.append)
    best = max(r.dev_accuracy for r in reports if r.dev_accuracy is not None)
    assert len(reports) == 4
    assert f"one run labeled {100 * best:.2f} % of it" in tagger.model.record["choices"][-1]


def test_evaluating_on_the_dev_set_warns(files):
    train, dev = files
    tagger = pn.train(train, dev=dev, learn_dev=True, epochs=1)
    assert "are in the training text" in " ".join(tagger.evaluate(dev).warnings)
    assert not pn.train(train, dev=dev, epochs=1).evaluate(dev).warnings


def test_segmentation_and_lemmas_learn_the_dev_set_too(files):
    train, dev = files
    tagger = pn.train(train, dev=dev, column="all", learn_dev=True, epochs=2)
    both = pn.train([train, dev], column="all", epochs=2)
    assert tagger.columns == both.columns == ("upos", "lemma")
    assert same_weights(tagger, both)
    ours, theirs = tagger.model.segmentation, both.model.segmentation
    assert np.array_equal(ours.cut.weights.weights, theirs.cut.weights.weights)


def test_pairs_and_streams_are_gone_over_twice():
    train = [(["a", "b"], ["X", "Y"]), (["c"], ["Z"])] * 3
    dev = [(["a", "d"], ["X", "W"])] * 3
    ours = pn.train(iter(train), dev=iter(dev), learn_dev=True, epochs=2)
    assert same_weights(ours, pn.train(train + dev, epochs=2)) and "W" in ours.labels


def test_a_training_that_stops_in_between_goes_on_to_the_same_bytes(files, tmp_path):
    train, dev = files
    options = {"dev": dev, "learn_dev": True, "epochs": 2, "column": "upos"}
    whole = pn.train(train, **options).to_bytes()
    path = tmp_path / "state"
    for stop in (1, 2, 3):
        seen = []

        def interrupt(report, seen=seen, stop=stop):
            seen.append(report)
            if len(seen) == stop:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            pn.train(train, checkpoint=path, callback=interrupt, **options)
        again = pn.train(train, checkpoint=path, resume=True, **options)
        assert again.to_bytes() == whole
        for left in tmp_path.glob("state*"):
            left.unlink()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"train": [(["a"], ["X"])]}, "one sentence has none"),
        ({"max_memory": "100GB"}, "max_memory rules out"),
        ({"max_memory": "100GB", "dev": True}, "max_memory rules out"),
    ],
    ids=str,
)
def test_what_cannot_learn_the_dev_set_says_so(files, options, message):
    train, dev = files
    given = {"train": train, **options} | ({"dev": dev} if "dev" in options else {})
    with pytest.raises(pn.ArgumentError, match=message):
        pn.train(learn_dev=True, **given)


@pytest.mark.parametrize("column", ["upos", "all"])
def test_without_a_dev_set_a_tenth_decides_and_then_all_is_learned(tmp_path, column):
    train, reports = tmp_path / "train.conllu", []
    train.write_text(conllu(0, 50))
    options = {"column": column, "epochs": 2, "seed": 3}
    tagger = pn.train(train, learn_dev=True, callback=reports.append, **options)
    assert same_weights(tagger, pn.train(train, **options))
    assert tagger.model.record["train"]["sentences"] == 50
    assert {report.dev_accuracy is None for report in reports} == {True, False}
    assert "a tenth of train, held out before, is learned" in tagger.model.record["choices"][-1]
    assert "are in the training text" in " ".join(tagger.evaluate(train).warnings)


def test_the_tenth_that_decides_is_of_the_seed_and_not_learned_at_first(files):
    sentences = list(pn.read_conllu(files[0]))
    train, held_out = Source(sentences, "train").parted([1, 4])
    assert list(held_out) == [sentences[1], sentences[4]]
    assert [*train] == [one for k, one in enumerate(sentences) if k not in (1, 4)]
    options = {"learn_dev": True, "epochs": 2}
    models = [pn.train(sentences, seed=seed, **options).to_bytes() for seed in (1, 1, 2)]
    assert models[0] == models[1] != models[2]
