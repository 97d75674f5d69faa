"""Calls that hardly anybody makes, and what others do to their arguments meanwhile."""

from __future__ import annotations

import copy
import itertools
import pickle
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perceptron_nlp as pn

WORDS = ["The", "old", "man"]


@pytest.fixture(scope="module")
def sure(small: list[tuple[list[str], list[str]]]) -> pn.Tagger:
    """A calibrated tagger that can be resumed, with a beam of 1."""
    noisy = [
        (words, [*labels[1:], labels[0]] if number % 3 else labels)
        for number, (words, labels) in enumerate(small * 6)
    ]
    return pn.train(small, epochs=3, resumable=True).calibrate(noisy)


def test_words_may_come_from_an_iterator_wherever_a_sentence_is_taken(sure: pn.Tagger) -> None:
    assert sure.tag(iter(WORDS)) == sure.tag(WORDS)  # type: ignore[arg-type]
    assert sure.confidences(iter(WORDS)) == sure.confidences(WORDS)  # type: ignore[arg-type]
    assert (
        sure.scores(iter(WORDS), probabilities=True)  # type: ignore[arg-type]
        == sure.scores(WORDS, probabilities=True)
    ).all()
    assert (sure.scores(iter(WORDS)) == sure.scores(WORDS)).all()  # type: ignore[arg-type]


@pytest.mark.parametrize("against", [3, "DET", [3, None, None], [["DET"], None, None]], ids=str)
def test_only_labels_can_be_compared_with(sure: pn.Tagger, against: object) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="against"):
        sure.explain(WORDS, against=against)  # type: ignore[arg-type]


def _breaking_off() -> Iterator[list[str]]:
    yield WORDS
    raise LookupError("the source is gone")


@pytest.mark.parametrize(
    "call",
    [
        lambda tagger, broken: tagger.tag_sents(broken),
        lambda tagger, broken: tagger.tag_sents(broken, threads=2),
        lambda tagger, broken: tagger.tag_sents([WORDS, broken]),
        lambda tagger, broken: tagger.tag_sents([WORDS, broken], threads=2),
        lambda tagger, broken: tagger.resume(broken),
        lambda tagger, broken: pn.train(broken),
    ],
)
def test_what_a_source_raises_comes_out_and_the_tagger_stays_whole(
    sure: pn.Tagger, call: Callable[[pn.Tagger, Iterator[list[str]]], object]
) -> None:
    before = sure.tag_sents([WORDS] * 3)
    with pytest.raises(LookupError, match="the source is gone"):
        call(sure, _breaking_off())
    assert sure.tag_sents([WORDS] * 3) == before


def test_lists_that_others_change_meanwhile_are_tagged_as_they_stood_at_some_moment(
    sure: pn.Tagger,
) -> None:
    sentences = [list(WORDS) for _ in range(300)]
    done = threading.Event()

    def change() -> None:
        for number in itertools.count():
            if done.is_set():
                return
            one = sentences[number % len(sentences)]
            one.append("x" * (number % 40)) if number % 2 else one.clear()
            if number % 7 == 0 and len(sentences) > 200:
                sentences.pop()
            elif number % 7 == 1:
                sentences.append(list(WORDS))

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for threads in [1, 3] * 20:
            labels = sure.tag_sents(sentences, threads=threads)
            assert len(labels) > 100
            assert {label for tags in labels for label in tags} <= set(sure.labels)
    finally:
        done.set()
        thread.join()


def test_a_tagger_is_copied_resumed_and_calibrated_while_threads_tag_with_it(
    sure: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    sentences = [words for words, _ in small] * 5
    expected, model = sure.tag_sents(sentences), sure.to_bytes()
    wrong: list[object] = []
    done = threading.Event()

    def tag() -> None:
        while not done.is_set():
            if sure.tag_sents(sentences) != expected:
                wrong.append("other labels")
                return

    threads = [threading.Thread(target=tag) for _ in range(8)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(3):
            for other in (copy.deepcopy(sure), copy.copy(sure), pickle.loads(pickle.dumps(sure))):
                assert other.tag_sents(sentences) == expected
            sure.resume(small, epochs=1)
            sure.compress(20_000, force=True)
            assert sure.to_bytes() == model
    finally:
        done.set()
        for thread in threads:
            thread.join()
    assert wrong == []


def test_ways_to_label_words_unlike_any_come_in_order_though_hundreds_score_more(
    small: list[tuple[list[str], list[str]]],
) -> None:
    narrow = pn.train(small, epochs=1, seed=0, beam=2, templates=["word[0]", "tag[-1]"])
    words = ["\0"] * 12
    found = pn.k_best(narrow, words, 4)
    assert found[0][0] == narrow.tag(words) and len(found) <= 4
    assert sorted((score for _, score in found), reverse=True) == [score for _, score in found]
    assert len({tuple(labels) for labels, _ in found}) == len(found)


ARRAY = np.array([1, 2])


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        ("format", ["conllu"]),
        ("format", 3),
        ("format", ARRAY),
        ("fields", 1.5),
        ("fields", [["form"]]),
        ("fields", ARRAY),
        ("fields", "form"),
        ("fields", iter(["form"])),
        ("column", ARRAY),
        ("column", 3),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_how_a_text_is_read_is_checked_wherever_it_is_told(
    sure: pn.Tagger, tmp_path: Path, argument: str, value: object
) -> None:
    path = tmp_path / "a.tagged"
    path.write_text("The/DET old/ADJ man/NOUN\n")
    told: dict[str, Any] = {argument: value}
    memory = [(WORDS, ["DET", "ADJ", "NOUN"])] * 2
    takes: list[Callable[[Any], object]] = [
        lambda data: pn.train(data, epochs=1, **told),
        lambda data: sure.evaluate(data, **told),
        lambda data: pn.compare(sure, sure, data, **told),
        lambda data: pn.doctor(data, **told),
        lambda data: pn.tune(data, dev=data, trials=1, **told),
    ]
    for take, data in itertools.product(takes, (path, memory)):
        with pytest.raises(pn.ArgumentTypeError, match=argument):
            take(data)


def test_odd_names_of_columns_labels_and_modes_are_refused(sure: pn.Tagger) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="column"):
        sure.with_lexicon({"man": "NOUN"}, column=ARRAY)  # type: ignore[arg-type]
    with pytest.raises(pn.ArgumentError, match="column"):
        sure.with_lexicon({"man": "NOUN"}, column="")
    with pytest.raises(pn.ArgumentTypeError, match="label"):
        pn.inspect(sure, text=[WORDS], label=ARRAY)  # type: ignore[arg-type]
    with pytest.raises(pn.ArgumentTypeError, match="errors"):
        pn.open_corpus("nowhere", errors=ARRAY)  # type: ignore[arg-type]


def test_a_column_of_thousands_of_digits_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a.columns"
    path.write_text("The DET\nold ADJ\n\n")
    with pytest.raises(pn.PerceptronNLPError, match="no column '999"):
        pn.train(path, column="9" * 5000)
    assert pn.train(path, column="2", epochs=1).column == "2"
