"""How sure a tagger says that it is, for every kind of model and of label."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.file import model_from_bytes, model_to_bytes

WORDS = [
    f"{stem}{end}"
    for stem in ("man", "Boat", "ferr", "run", "old", "Zo")
    for end in ("s", "ed", "ly", "ë")
]
UPOS = ["NOUN", "VERB", "ADJ"]
FEATS = ["_", "Case=Nom|Number=Sing", "Case=Acc|Number=Sing", "Case=Nom|Number=Plur"]


def corpus(n: int, seed: int) -> list[pn.Sentence]:
    """Sentences whose labels can be learned mostly: one in six is drawn at random."""
    draw = random.Random(seed)
    found = []
    for _ in range(n):
        words = [draw.choice(WORDS) for _ in range(draw.randint(3, 9))]
        places = [
            WORDS.index(word) if draw.random() > 1 / 6 else draw.randrange(24) for word in words
        ]
        chunks, inside = [], False
        for place in places:
            begins = place % 3 == 0
            inside = begins or (inside and place % 3 == 1)
            chunks.append("B-X" if begins else "I-X" if inside else "O")
        found.append(
            pn.Sentence(
                words,
                {
                    "upos": [UPOS[place % 3] for place in places],
                    "feats": [FEATS[place % 4] for place in places],
                    "chunk": chunks,
                },
            )
        )
    return found


def by_letters(tokens: pn.Sentence, i: int) -> list[str]:
    return [f"w {tokens[i]}", f"e {tokens[i][-1]}"]


TRAIN, DEV, TEST = corpus(150, 1), corpus(120, 2), corpus(60, 3)
KINDS: dict[str, dict[str, Any]] = {
    "greedy": {"column": "upos"},
    "beam": {"column": "upos", "beam": 4},
    "runs": {"column": "upos", "runs": 2},
    "fixed table": {"column": "upos", "table_bits": 12, "update": "perceptron"},
    "spans": {"column": "chunk"},
    "names": {"column": "chunk", "templates": "names"},
    "features": {"column": "feats", "two_passes": True},
    "dictionary": {"column": "upos", "dictionary": (40, 0.7)},
    "function": {"column": "upos", "features": by_letters},
    "several": {"column": ["upos", "feats", "chunk"]},
}


@pytest.fixture(scope="module")
def trained() -> Callable[[str], pn.Tagger]:
    """A tagger of each kind, trained once."""
    known: dict[str, pn.Tagger] = {}

    def of(kind: str) -> pn.Tagger:
        if kind not in known:
            known[kind] = pn.train(TRAIN, dev=DEV, epochs=2, **KINDS[kind])
        return known[kind]

    return of


@pytest.mark.parametrize("kind", KINDS)
def test_training_with_a_dev_set_calibrates_every_kind_of_model(
    kind: str, trained: Callable[[str], pn.Tagger]
) -> None:
    for name, part in trained(kind).by_column.items():
        told = part.model.record["calibration"]
        assert told["method"] == "isotonic" and told["words"] > 300, name
        inputs = part.model.inputs(TEST)
        labels, sure = part.tag_sents(inputs, confidences=True)
        assert labels == part.tag_sents(inputs)
        assert [len(own) for own in sure] == [len(sentence) for sentence in TEST]
        assert all(0 <= x <= 1 for own in sure for x in own)
        found = part.evaluate(TEST, column=name, calibration=True).calibration
        assert found is not None and found.ece < 0.15


@pytest.mark.parametrize("kind", KINDS)
def test_calibrating_by_the_dev_set_of_the_training_gives_the_same_bytes(
    kind: str, trained: Callable[[str], pn.Tagger]
) -> None:
    tagger = trained(kind)
    assert tagger.calibrate(DEV).to_bytes() == tagger.to_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_probabilities_sum_to_one_and_agree_with_the_confidences(
    kind: str, trained: Callable[[str], pn.Tagger]
) -> None:
    for part in trained(kind).by_column.values():
        for sentence in part.model.inputs(TEST[:10]):
            chances = part.scores(sentence, probabilities=True)
            assert chances.shape == (len(sentence), len(part.labels)) and (chances >= 0).all()
            assert np.allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-12)
            labels, sure = part.tag(sentence), part.confidences(sentence)
            for row, label, x in zip(chances, labels, sure, strict=True):
                # Spans and features are learned in other forms than they are written in.
                written = [
                    name.replace("S-", "B-").replace("E-", "I-").partition("|")[2]
                    if part.model.scheme == "upos|feats"
                    else name.replace("S-", "B-").replace("E-", "I-")
                    for name in part.labels
                ]
                same = [name == label for name in written]
                assert row[same].sum() == pytest.approx(x, abs=1e-12)


def test_confidences_follow_from_the_scores_and_what_the_model_file_says(
    trained: Callable[[str], pn.Tagger],
) -> None:
    tagger = trained("greedy")
    said = tagger.model.calibration
    assert said is not None
    for sentence in TEST[:20]:
        scores = np.sort(tagger.scores(sentence), axis=1)
        expected = np.interp(scores[:, -1] - scores[:, -2], said.margins, said.rates)
        assert tagger.confidences(sentence) == pytest.approx(expected.tolist(), abs=1e-12)


@pytest.mark.parametrize("kind", ["greedy", "features", "several", "dictionary"])
def test_a_saved_model_is_as_sure_bit_for_bit(
    kind: str, trained: Callable[[str], pn.Tagger], tmp_path: Path
) -> None:
    tagger = trained(kind)
    tagger.save(tmp_path / "a.model")
    again = pn.load(tmp_path / "a.model")
    inputs = tagger.model.inputs(TEST)
    assert again.tag_sents(inputs, confidences=True) == tagger.tag_sents(inputs, confidences=True)
    assert again.to_bytes() == tagger.to_bytes()


@pytest.mark.parametrize("kind", ["greedy", "beam", "spans", "features", "function"])
def test_neither_threads_nor_the_order_of_sentences_change_a_confidence(
    kind: str, trained: Callable[[str], pn.Tagger]
) -> None:
    tagger = trained(kind)
    inputs = tagger.model.inputs(TEST * (12 if kind == "greedy" else 3))
    labels, sure = tagger.tag_sents(inputs, confidences=True)
    assert tagger.tag_sents(inputs, threads=3, confidences=True) == (labels, sure)
    order = list(range(len(inputs)))
    random.Random(4).shuffle(order)
    mixed = tagger.tag_sents([inputs[k] for k in order], confidences=True)[1]
    assert mixed == [sure[k] for k in order]
    assert [tagger.confidences(sentence) for sentence in inputs[:20]] == sure[:20]


@pytest.mark.parametrize("kind", ["greedy", "beam", "spans", "features", "function", "dictionary"])
def test_kept_labels_are_sure_and_context_for_the_others(
    kind: str, trained: Callable[[str], pn.Tagger]
) -> None:
    tagger = trained(kind)
    draw = random.Random(5)
    inputs = tagger.model.inputs(TEST)
    some = [*tagger.model.written_labels, "never trained"]
    keep = [
        [draw.choice(some) if draw.random() < 0.3 else None for _ in sentence]
        for sentence in inputs
    ]
    labels, sure = tagger.tag_sents(inputs, keep=keep, confidences=True)
    assert labels == tagger.tag_sents(inputs, keep=keep)
    for kept, own in zip(keep, sure, strict=True):
        assert all(x == 1 for label, x in zip(kept, own, strict=True) if label is not None)
        assert all(0 <= x <= 1 for x in own)
    assert tagger.confidences(inputs[0], keep=keep[0]) == sure[0]


def test_labels_from_the_dictionary_are_as_sure_as_it_was_on_dev(
    trained: Callable[[str], pn.Tagger],
) -> None:
    tagger = trained("dictionary")
    dictionary, said = tagger.model.dictionary, tagger.model.calibration
    assert dictionary and said is not None
    words = [
        (word, label)
        for sentence in DEV
        for word, label in zip(sentence, sentence.column("upos"), strict=True)
        if word in dictionary
    ]
    right = sum(dictionary[word] == label for word, label in words)
    assert said.dictionary == pytest.approx(right / len(words), abs=1 / len(words))
    for sentence in TEST[:10]:
        for word, x in zip(sentence, tagger.confidences(sentence), strict=True):
            assert (x == said.dictionary) == (word in dictionary)


def test_a_lexicon_leaves_certainty_to_the_labels_that_it_allows(
    trained: Callable[[str], pn.Tagger],
) -> None:
    tagger = trained("greedy")
    held = tagger.with_lexicon({"mans": "VERB", "runs": ["NOUN", "ADJ"]})
    words = ["mans", "runs", "olded"]
    assert held.confidences(words)[0] == 1.0
    chances = held.scores(words, probabilities=True)
    verb = held.labels.index("VERB")
    assert chances[0, verb] == 1 and chances[1, verb] == 0 and chances[2, verb] > 0
    assert np.allclose(chances.sum(axis=1), 1)
    assert held.tag_sents([words], confidences=True)[0] == [held.tag(words)]


def test_a_model_that_is_not_calibrated_says_what_to_do(tagger: pn.Tagger) -> None:
    for ask in (
        lambda: tagger.confidences(["a"]),
        lambda: tagger.scores(["a"], probabilities=True),
        lambda: tagger.tag_sents([["a"]], confidences=True),
        lambda: tagger.evaluate([(["a"], ["DET"])], calibration=True),
    ):
        with pytest.raises(pn.ModelError, match=r"tagger\.calibrate\(dev\)"):
            ask()


def test_a_dev_set_that_is_too_small_is_named_and_leaves_the_model_as_it_is() -> None:
    tagger = pn.train(TRAIN, dev=DEV[:20], column="upos", epochs=1)
    told = tagger.model.record["calibration"]
    assert told["method"] is None and tagger.model.calibration is None
    with pytest.raises(pn.ArgumentError, match=r"dev: column upos: .*too few to tell"):
        tagger.calibrate(DEV[:20])


@pytest.mark.parametrize("are_right", [False, True])
def test_of_labels_that_are_all_right_or_all_wrong_one_more_may_be_otherwise(
    are_right: bool,
) -> None:
    tagger = pn.train(TRAIN, column="upos", epochs=2)
    dev = [
        pn.Sentence(s.words, {"upos": tagger.tag(s) if are_right else ["NOVEL"] * len(s)})
        for s in DEV
    ]
    n = sum(map(len, dev))
    _, (sure,) = tagger.calibrate(dev).tag_sents([["the", "dog"]], confidences=True)
    assert sure == pytest.approx([(n + 0.5 if are_right else 0.5) / (n + 1)] * 2, abs=1e-5)


def test_a_column_of_one_label_is_as_sure_as_the_label_is_right() -> None:
    def of(n: int, others: int) -> list[pn.Sentence]:
        return [
            pn.Sentence(
                ["the", "dog"],
                {"upos": ["DET", "NOUN"], "feats": ["_", "Foreign=Yes" if k < others else "_"]},
            )
            for k in range(n)
        ]

    tagger = pn.train(of(150, 0), dev=of(200, 16), column=["upos", "feats"], epochs=1)
    found = tagger.tag_sents([["a", "dog"]], confidences=True, columns=["feats"])
    _, sure = found["feats"]
    assert sure == [pytest.approx([(400 - 16 + 0.5) / 401] * 2, abs=1e-5)]
    reliability = tagger.evaluate_columns(of(200, 16), calibration=True)["feats"].calibration
    assert reliability is not None and reliability.ece < 0.01


def test_words_without_a_gold_label_do_not_count() -> None:
    tagger = pn.train(TRAIN, column="upos", epochs=2)
    partly = [
        pn.Sentence(
            s.words, {"upos": ["_" if i % 2 else label for i, label in enumerate(s.column("upos"))]}
        )
        for s in DEV * 2
    ]
    labeled = sum(label != "_" for s in partly for label in s.column("upos"))
    assert tagger.calibrate(partly).model.record["calibration"]["words"] == labeled


@pytest.mark.parametrize("kind", ["greedy", "several"])
def test_a_compressed_model_is_calibrated_anew_and_keeps_to_its_size(
    kind: str, trained: Callable[[str], pn.Tagger]
) -> None:
    tagger = trained(kind)
    size = 3 * len(tagger.to_bytes()) // 4
    smaller = tagger.compress(size, dev=DEV)
    assert len(smaller.to_bytes()) <= size
    assert smaller.calibrate(DEV).to_bytes() == smaller.to_bytes()
    without = tagger.compress(size, force=True)
    for name, part in without.by_column.items():
        assert part.model.calibration == tagger.by_column[name].model.calibration


@pytest.mark.parametrize(
    "change",
    [
        {"temperature": 0},
        {"temperature": "1"},
        {"dictionary": 2},
        {"margins": [2, 1]},
        {"margins": [1]},
        {"margins": [], "rates": []},
        {"rates": [0.9, 0.1]},
        {"rates": [0, 1.5]},
        {"rates": None},
        {"temperature": True},
    ],
)
def test_a_file_with_another_calibration_than_there_can_be_is_refused(
    change: dict[str, Any], trained: Callable[[str], pn.Tagger]
) -> None:

    class Odd:
        """What a file could hold."""

        def to_dict(self) -> dict[str, Any]:
            return {
                "temperature": 1,
                "margins": [1, 2],
                "rates": [0.5, 0.9],
                "dictionary": 1,
                **change,
            }

    odd = trained("greedy").model.replace(calibration=Odd())  # type: ignore[arg-type]
    with pytest.raises(pn.ModelError, match="calibration"):
        model_from_bytes(model_to_bytes(odd), "odd.model")


def test_going_on_with_a_dev_set_calibrates_anew_and_merging_leaves_it_to_be_done(
    trained: Callable[[str], pn.Tagger],
) -> None:
    tagger = pn.train(TRAIN, dev=DEV, column="upos", epochs=1, resumable=True)
    longer = tagger.resume(TEST, dev=DEV, epochs=1)
    assert longer.calibrate(DEV).to_bytes() == longer.to_bytes()
    assert tagger.resume(TEST, epochs=1).model.calibration is None
    merged = pn.merge([tagger, longer])
    assert merged.model.calibration is None
    assert merged.calibrate(DEV).confidences(["mans"])[0] <= 1
