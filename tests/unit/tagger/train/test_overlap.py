"""Text that a tagger has learned from is known again, in whatever form it was read."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.overlap import trained_on, with_sample

Labeled = list[tuple[list[str], list[str]]]
MANY = [
    pn.Sentence([random.Random(k).choice("abcdefgh") + str(k) for _ in range(5 + k % 7)])
    for k in range(2000)
]


def record_of(sentences: list[pn.Sentence]) -> dict[str, Any]:
    return with_sample({"train": {}}, sentences)


def test_text_that_was_trained_on_is_known_and_other_text_is_not() -> None:
    record = record_of(MANY[:1000])
    assert trained_on(record, MANY[:1000], "data") == (
        "data: 128 of 128 sampled sentences are in the training text: on what it has learned from,"
        " a tagger is better than elsewhere"
    )
    assert trained_on(record, MANY[500:1000], "data")
    assert trained_on(record, MANY[500:1500], "data")
    assert trained_on(record, MANY[1000:], "data") is None
    assert trained_on(record, MANY[950:], "data") is None


def test_the_order_of_words_counts_and_short_sentences_do_not() -> None:
    record = record_of(MANY[:100])
    turned = [pn.Sentence([*sentence.words[1:], "x"]) for sentence in MANY[:100]]
    assert trained_on(record, turned, "data") is None
    short = [pn.Sentence([f"w{k}", "."]) for k in range(50)]
    assert trained_on(record_of(short), short, "data") is None


@settings(max_examples=20)
@given(st.integers(0, 400), st.permutations(range(6)))
def test_the_sample_depends_neither_on_the_order_of_sentences_nor_on_the_number_of_trainings(
    cut: int, order: list[int]
) -> None:
    sentences = [MANY[k] for start in order for k in range(start, 400, 6)]
    whole = record_of(MANY[:400])
    assert record_of(sentences) == whole
    before = record_of(sentences[:cut])
    assert with_sample({"train": {}}, sentences[cut:], before) == whole


@pytest.mark.parametrize("sample", [3, "?", "AAAA", "AAAAAAAAAA==", "é" * 8, [1]])
def test_a_sample_that_is_none_says_nothing(sample: object) -> None:
    assert trained_on({"train": {"sample": sample}}, MANY[:20], "data") is None
    assert with_sample({"train": {}}, MANY, {"train": {"sample": sample}}) == {"train": {}}


def test_every_way_of_reading_gives_the_same_sample(small: Labeled, tmp_path: Path) -> None:
    path = tmp_path / "a.conllu"
    pn.write_conllu([pn.Sentence(words, {"upos": tags}) for words, tags in small], path)
    samples = {
        pn.train(data, epochs=1, **options).model.record["train"]["sample"]
        for data, options in [
            (small, {}),
            (path, {}),
            (list(pn.read_conllu(path)), {}),
            (path, {"max_memory": "16GB"}),
        ]
    }
    assert len(samples) == 1 and samples != {""}


def test_a_dev_set_that_was_trained_on_is_told(small: Labeled, caplog: Any) -> None:
    tagger = pn.train(small, dev=small[:6], epochs=1)
    (warning,) = tagger.model.record["warnings"]
    assert warning.startswith("dev: 5 of 5 sampled sentences are in the training text")
    assert warning in [record.getMessage() for record in caplog.records]


def test_evaluating_on_text_that_was_trained_on_is_told(small: Labeled, caplog: Any) -> None:
    tagger = pn.train(small[:6], epochs=1)
    for result in (tagger.evaluate(small[:6]), *tagger.evaluate_columns(small[:6]).values()):
        assert len(result.warnings) == 1 and result.to_dict()["warnings"] == result.warnings
    assert caplog.records
    other = tagger.evaluate(small[6:])
    assert other.warnings == [] and "warnings" not in other.to_dict()


def test_a_resumed_tagger_knows_both_texts(small: Labeled) -> None:
    first = pn.train(small[:6], epochs=1, resumable=True)
    second = first.resume(small[6:], epochs=1)
    for text in (small[:6], small[6:]):
        assert second.evaluate(text).warnings
    assert not first.evaluate(small[6:]).warnings
    assert first.resume(small[6:], dev=small[:6], epochs=1).model.record["warnings"]


def test_calibrating_on_text_that_was_trained_on_is_told(caplog: Any) -> None:
    rng = random.Random(1)
    text = [
        ([*sentence.words], [rng.choice("XY") for _ in sentence.words]) for sentence in MANY[:100]
    ]
    pn.train(text, epochs=1).calibrate(text)
    assert "sampled sentences are in the training text" in caplog.text
