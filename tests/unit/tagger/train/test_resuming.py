"""Taggers that go on learning."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import perceptron_nlp as pn
from perceptron_nlp.features.templates import most_features
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.file import model_from_bytes, model_to_bytes
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.model.state import RunState
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import TemplateLearner, quantized
from perceptron_nlp.tagger.train.options import make_options

Small = list[tuple[list[str], list[str]]]


def function(tokens: pn.Sentence, i: int) -> dict[str, str | bool]:
    return {tokens[i]: True, "end": tokens[i][-1]}


KINDS: list[dict[str, Any]] = [
    {},
    {"update": "perceptron"},
    {"update": "margin"},
    {"update": "passive-aggressive"},
    {"table_bits": 9},
    {"beam": 3},
    {"runs": 3},
    {"min_count": 2},
    {"dictionary": (2, 0.6)},
    {"right_to_left": False},
    {"features": function},
    {"preset": "accurate"},
    {
        "raw": [["the", "ferry", "stop", "here"]] * 10,
        "templates": ["word[0]", "column:clusters100[0]"],
    },
]


def told(tagger: pn.Tagger) -> bytes:
    """All that the file holds but how it came to be."""

    def bare(model: TaggerModel) -> TaggerModel:
        assert model.state is not None
        state = replace(model.state, options={**model.state.options, "epochs": 1})
        return model.replace(record={}, state=state, more=tuple(map(bare, model.more)))

    return model_to_bytes(bare(tagger.model))


def rows(small: Small) -> list[pn.Sentence]:
    """With features, too, and with spans."""
    return [
        pn.Sentence(
            words,
            {
                "upos": labels,
                "feats": [
                    f"Case={label[:1]}|Number={len(word) % 2}"
                    for word, label in zip(words, labels, strict=True)
                ],
                "ner": ["B-X" if label == "PROPN" else "O" for label in labels],
            },
        )
        for words, labels in small
    ]


@pytest.mark.parametrize("options", KINDS, ids=lambda options: " ".join(options))
def test_two_trainings_in_a_row_are_one_of_all_their_epochs(
    small: Small, tmp_path: Path, options: dict[str, Any]
) -> None:
    features = options.get("features")
    whole = pn.train(small, epochs=4, resumable=True, **options)
    pn.train(small, epochs=2, resumable=True, **options).save(tmp_path / "half.model")
    half = pn.load(tmp_path / "half.model", features=features)
    one_more = half.resume(small, epochs=1)
    assert told(one_more.resume(small, epochs=1)) == told(whole)
    assert pickle.loads(pickle.dumps(one_more)).to_bytes() == one_more.to_bytes()
    plain = pn.train(small, epochs=4, **options)
    assert whole.without_state().to_bytes() == plain.to_bytes()


@pytest.mark.parametrize("column", ["feats", "ner", "upos,feats,ner"])
def test_features_spans_and_several_columns_go_on_as_well(small: Small, column: str) -> None:
    text = rows(small * 2)
    whole = pn.train(text, column=column, epochs=3, resumable=True)
    half = pn.train(text, column=column, epochs=1, resumable=True)
    assert told(half.resume(text, epochs=2)) == told(whole)


def test_names_look_at_their_other_places_in_the_new_text_too(small: Small) -> None:
    text = [
        pn.Sentence([f"Name{k % 3}", "left", "town"], {"ner": ["B-PER", "O", "O"]})
        for k in range(12)
    ]
    whole = pn.train(text, column="ner", epochs=2, resumable=True)
    assert whole.window
    half = pn.train(text, column="ner", epochs=1, resumable=True)
    assert (
        told(half.resume(text, epochs=1, dev=text))
        == told(half.resume(text, epochs=1))
        == told(whole)
    )


@pytest.mark.parametrize("update", ["perceptron", "passive-aggressive", "adagrad"])
def test_other_sentences_are_learnt_as_if_they_had_followed_the_first(
    small: Small, update: str
) -> None:
    options: dict[str, Any] = {"update": update, "templates": "fast", "seed": 5}
    n = 7
    first, second = small[:n], small[n:]
    start = pn.train(first, epochs=1, resumable=True, **options)
    found = start.resume(second, epochs=1).model.state
    read = Examples.read(Source(small, "train"), "tag", ())
    assert start.labels == read.tags.labels
    learner = TemplateLearner(
        read, pn.preset("fast"), replace(make_options(options), right_to_left=True, beam=1), {}
    )
    learner.learn(np.concatenate([permutation(n, 5, 1), n + permutation(len(second), 5, 2)]))
    expected = RunState.of(learner.table, 2)
    assert found is not None and found.runs[0].done == expected.done
    assert all(
        a.tobytes() == b.tobytes()
        for a, b in zip(found.runs[0].arrays().values(), expected.arrays().values(), strict=True)
    )


def test_new_labels_and_words_are_learnt_the_same_each_time(small: Small) -> None:
    tagger = pn.train(small, epochs=3, resumable=True)
    new = [(["Ahoi", "ferry"], ["AAA", "NOUN"]), (["zzz", "man"], ["ZZZ", "NOUN"])] * 5
    resumed = tagger.resume(new, average="new")
    assert {*resumed.labels} == {*tagger.labels, "AAA", "ZZZ"}
    assert resumed.tag(["Ahoi", "ferry"]) == ["AAA", "NOUN"]
    assert resumed.model.knows("zzz") and resumed.model.knows("coffee")
    assert not tagger.model.knows("zzz") and "AAA" not in tagger.labels
    assert tagger.resume(new, average="new").to_bytes() == resumed.to_bytes()
    again = resumed.resume(small, epochs=1)
    assert {*again.labels} == {*resumed.labels}
    assert again.model.record["before"]["before"]["train"] == tagger.model.record["train"]


def test_new_values_of_features_are_learnt(small: Small) -> None:
    text = rows(small * 2)
    tagger = pn.train(text, column="feats", epochs=2, resumable=True)
    assert tagger.model.parts is not None
    new = [
        pn.Sentence(
            ["Ahoi", "!"], {"upos": ["INTJ", "PUNCT"], "feats": ["Polite=Yes|Style=Arch", "_"]}
        )
    ] * 6
    resumed = tagger.resume(new, average="new")
    assert resumed.tag(["Ahoi", "!"]) == ["Polite=Yes|Style=Arch", "_"]


def test_the_state_is_what_the_model_is_the_average_of(small: Small) -> None:
    for tagger in (
        pn.train(small, dev=small[3:7], epochs=6, resumable=True),
        pn.train(small[:6], epochs=2, resumable=True).resume(small[6:], dev=small[:4]),
    ):
        model = tagger.model
        assert model.state is not None
        run = model.state.runs[0]
        mean = run.average(len(model.tags), None)
        own = quantized(mean, most_features(model.templates))
        assert np.array_equal(own.weights, model.weights.weights)
        assert np.array_equal(own.keys, model.weights.keys)


def test_an_average_begun_anew_is_over_the_new_words_alone(small: Small) -> None:
    tagger = pn.train(small, epochs=3, resumable=True)
    n_words = sum(len(words) for words, _ in small[:4])
    runs = []
    for average in ("all", "new"):
        state = tagger.resume(small[:4], epochs=2, average=average).model.state
        assert state is not None
        runs.append(state.runs[0])
    before = tagger.model.state
    assert before is not None
    assert runs[0].done == before.runs[0].done + 2 * n_words and runs[1].done == 2 * n_words
    assert np.array_equal(runs[0].weight, runs[1].weight)
    assert np.array_equal(runs[0].squares, runs[1].squares)


def test_the_dictionary_gives_up_what_the_new_sentences_speak_against() -> None:
    old = [(["a", "b", "c"], ["X", "X", "X"])] * 4 + [(["d"], ["Y"]), (["d"], ["X"])] * 2
    tagger = pn.train(old, dictionary=(3, 1.0), templates=["word[0]"], resumable=True)
    assert tagger.model.dictionary == {"a": "X", "b": "X", "c": "X"}
    new = [(["a", "b", "d", "e"], ["Y", "X", "Y", "Y"]), (["e", "d"], ["Y", "Y"])] * 4
    resumed = tagger.resume(new)
    assert resumed.model.dictionary == {"b": "X", "c": "X", "e": "Y"}
    assert resumed.tag(["a"]) == ["Y"]


def test_a_checkpoint_keeps_the_states_of_runs_that_are_over(small: Small, tmp_path: Path) -> None:
    class Stop(Exception):
        pass

    def stop(report: pn.EpochReport) -> None:
        if (report.run, report.epoch) == (2, 3):
            raise Stop

    options: dict[str, Any] = {"runs": 3, "epochs": 4, "dev": small[:4], "resumable": True}
    whole = pn.train(small, **options)
    place = tmp_path / "state"
    with pytest.raises(Stop):
        pn.train(small, checkpoint=place, callback=stop, **options)
    with pytest.raises(pn.ArgumentError, match="resumable"):
        pn.train(small, checkpoint=place, resume=True, **{**options, "resumable": False})
    again = pn.train(small, checkpoint=place, resume=True, **options)
    assert again.to_bytes() == whole.to_bytes()


def test_a_tagger_without_state_says_how_to_get_one(tagger: pn.Tagger, small: Small) -> None:
    with pytest.raises(pn.ArgumentError, match="resumable=True"):
        tagger.resume(small)
    resumable = pn.train(small, epochs=1, resumable=True)
    n_bytes = len(resumable.to_bytes())
    assert resumable.compress(n_bytes, force=True) is resumable
    smaller = resumable.compress(n_bytes - 1, force=True)
    assert smaller.to_bytes() == resumable.without_state().to_bytes()
    assert smaller.without_state() is smaller
    with pytest.raises(pn.ArgumentError, match="resumable=True"):
        smaller.resume(small)


@pytest.mark.parametrize(
    ("options", "error", "word"),
    [
        ({"epochs": 0}, pn.ArgumentError, "epochs"),
        ({"epochs": "2"}, pn.ArgumentTypeError, "epochs"),
        ({"average": "old"}, pn.ArgumentError, "average"),
        ({"callback": 3}, pn.ArgumentTypeError, "callback"),
        ({"data": []}, pn.FormatError, "no word"),
        ({"data": 3}, pn.ArgumentTypeError, "data"),
        ({"data": "no-such.conllu"}, pn.FileError, "no-such"),
        ({"dev": []}, pn.FormatError, "no word"),
    ],
)
def test_what_cannot_be_gone_on_with_is_named(
    small: Small, options: dict[str, Any], error: type[Exception], word: str
) -> None:
    tagger = pn.train(small, epochs=1, resumable=True)
    with pytest.raises(error, match=word):
        tagger.resume(**{"data": small, **options})


def test_labels_of_another_kind_are_refused(small: Small) -> None:
    text = rows(small)
    tagger = pn.train(text, column="ner", epochs=1, resumable=True)
    for labels in (["NOUN"], ["X-1"]):
        with pytest.raises(pn.FormatError, match="spans"):
            tagger.resume([pn.Sentence(["a"], {"ner": labels})])
    assert tagger.resume([pn.Sentence(["a"], {"ner": ["O"]})], epochs=1).tag(["a"]) == ["O"]
    tagger = pn.train(text, column="feats", epochs=1, resumable=True)
    with pytest.raises(pn.FormatError, match="features"):
        tagger.resume([pn.Sentence(["a"], {"upos": ["NOUN"], "feats": ["NOUN"]})])
    with pytest.raises(pn.FormatError, match="upos"):
        tagger.resume([pn.Sentence(["a"], {"upos": ["_"], "feats": ["Case=X"]})])


@pytest.mark.parametrize(
    ("options", "error", "word"),
    [
        ({"resumable": 1}, pn.ArgumentTypeError, "resumable"),
        ({"resumable": True, "size": "4kB"}, pn.ArgumentError, "resumable"),
        (
            {"resumable": True, "two_passes": True, "column": "feats"},
            pn.ArgumentError,
            "two_passes",
        ),
    ],
)
def test_trainings_that_cannot_be_kept_are_named(
    small: Small, options: dict[str, Any], error: type[Exception], word: str
) -> None:
    with pytest.raises(error, match=word):
        pn.train(rows(small), **options)


@pytest.mark.parametrize(
    "change",
    [
        lambda run: {"labels": run.labels + 1000},
        lambda run: {"weight": run.weight[:-1]},
        lambda run: {"keys": run.keys[::-1].copy()},
        lambda run: {"squares": -1 - run.squares},
        lambda run: {"total": run.total + np.inf},
        lambda run: {"counts": run.counts + 1},
        lambda run: {"squares": None},
        lambda run: {"done": -1},
        lambda run: {"epochs": True},
        lambda run: {"weight": run.weight.astype(np.float32)},
        lambda run: {"last_update": run.last_update + run.done + 1},
    ],
)
def test_a_state_that_cannot_be_is_refused(small: Small, change: Any) -> None:
    model = pn.train(small, epochs=1, resumable=True).model
    assert model.state is not None
    run = model.state.runs[0]
    bad = replace(model.state, runs=(replace(run, **change(run)),))
    data = model_to_bytes(model.replace(state=bad))
    with pytest.raises(pn.ModelError, match="damaged"):
        model_from_bytes(data, "damaged")
