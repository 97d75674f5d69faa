"""Taggers merged into one: the mean of their scores, whatever their order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.file import model_to_bytes

Small = list[tuple[list[str], list[str]]]
TEMPLATES = ["word[0]", "lower.suffix2[0]", "tag[-1]", "word[-1] word[0]"]
KINDS: list[dict[str, Any]] = [
    {},
    {"update": "perceptron"},
    {"table_bits": 9},
    {"beam": 3},
    {"runs": 2},
    {"right_to_left": False},
    {"dictionary": (2, 0.9)},
]


def trained(sentences: Small, **options: Any) -> pn.Tagger:
    return pn.train(sentences, **{"epochs": 3, "templates": TEMPLATES, **options})


def without_record(tagger: pn.Tagger) -> bytes:
    """The model file but for what is told of the training."""
    model = tagger.model
    return model_to_bytes(
        model.replace(record={}, more=tuple(part.replace(record={}) for part in model.more))
    )


def cells(tagger: pn.Tagger) -> dict[tuple[int, int, str], float]:
    """Every weight by its template, key and label."""
    weights = tagger.model.weights
    rows = np.repeat(np.arange(weights.n_rows), np.diff(weights.starts))
    groups = weights.groups()
    return {
        (int(groups[row]), int(weights.keys[row]), tagger.labels[label]): int(w) / weights.scale
        for row, label, w in zip(rows, weights.labels, weights.weights, strict=True)
    }


@settings(max_examples=12)
@given(
    data=st.data(),
    options=st.sampled_from(KINDS),
    factors=st.lists(st.floats(0.01, 100), min_size=2, max_size=3),
)
def test_a_merged_weight_is_the_weighted_mean_to_half_a_step(
    small: Small, data: st.DataObject, options: dict[str, Any], factors: list[float]
) -> None:
    cut = data.draw(st.integers(3, 9))
    members = [
        trained(small[:cut], **options),
        trained(small[cut:], **options),
        trained(small, **options),
    ][: len(factors)]
    merged = pn.merge(members, weights=factors)
    own = [cells(member) for member in members]
    found, half = cells(merged), 0.5 / merged.model.weights.scale
    for cell in {cell for some in own for cell in some} | found.keys():
        mean = sum(
            factor * some.get(cell, 0) for factor, some in zip(factors, own, strict=True)
        ) / sum(factors)
        assert abs(found.get(cell, 0) - mean) <= half * (1 + 1e-9)
    assert {*merged.labels} == {label for member in members for label in member.labels}
    for words, _ in small:
        assert all(merged.model.knows(word) for word in words)


@pytest.mark.parametrize("options", KINDS, ids=lambda options: " ".join(options))
def test_taggers_that_are_the_same_merge_to_themselves(
    small: Small, options: dict[str, Any]
) -> None:
    one = trained(small, **options)
    for n, weights in ((1, None), (3, None), (2, [0.3, 0.7]), (3, [1 / 3, 7, 0.1])):
        assert without_record(pn.merge([one] * n, weights=weights)) == without_record(one)


@pytest.mark.parametrize("options", KINDS, ids=lambda options: " ".join(options))
def test_the_order_of_the_taggers_changes_no_byte(small: Small, options: dict[str, Any]) -> None:
    one, two = trained(small[:6], **options), trained(small[6:], **options)
    three = trained(small[3:9], **options)
    expected = pn.merge([one, two, three], weights=[3, 1, 2]).to_bytes()
    assert pn.merge([two, three, one], weights=[1, 2, 3]).to_bytes() == expected
    assert pn.merge([two, three, one], weights=[10, 20, 30]).model.weights.scale > 0


def test_a_merged_tagger_saves_loads_and_tells_what_it_was_made_of(
    small: Small, tmp_path: Path
) -> None:
    one, two = trained(small[:6]), trained(small[6:])
    one.save(tmp_path / "one.model")
    merged = pn.merge([tmp_path / "one.model", two], weights=[2, 1])
    assert pn.Tagger.from_bytes(merged.to_bytes()).to_bytes() == merged.to_bytes()
    told = json.loads(json.dumps(merged.model.record["merged"]))
    assert sorted(part["weight"] for part in told) == [1, 2]
    assert {part["record"]["train"]["sha256"] for part in told} == {
        tagger.model.record["train"]["sha256"] for tagger in (one, two)
    }
    assert all(len(part["sha256"]) == 64 for part in told)
    assert len(merged.tag(["The", "ferry", "stop"])) == 3


def test_several_columns_are_merged_column_by_column(small: Small) -> None:
    def rows(part: Small) -> list[pn.Sentence]:
        return [
            pn.Sentence(words, {"upos": labels, "first": [label[0] for label in labels]})
            for words, labels in part
        ]

    halves = [
        pn.train(rows(part), column=("upos", "first"), epochs=2, templates=TEMPLATES)
        for part in (small[:6], small[6:])
    ]
    merged = pn.merge(halves)
    assert merged.columns == ("upos", "first")
    for name in merged.columns:
        alone = pn.merge([half.by_column[name] for half in halves])
        assert cells(alone) == cells(merged.by_column[name])


def features_of(words: Small) -> list[pn.Sentence]:
    return [
        pn.Sentence(
            words,
            {
                "upos": labels,
                "feats": [
                    f"Case={label[:1]}|Number={len(word) % 2}"
                    for word, label in zip(words, labels, strict=True)
                ],
            },
        )
        for words, labels in words
    ]


@pytest.mark.parametrize("two_passes", [False, True])
def test_features_in_parts_and_in_two_passes_are_merged(small: Small, two_passes: bool) -> None:
    options: dict[str, Any] = {
        "column": "feats",
        "epochs": 2,
        "templates": TEMPLATES,
        "two_passes": two_passes,
    }
    halves = [pn.train(features_of(part), **options) for part in (small[:6] * 3, small[6:] * 3)]
    assert (halves[0].model.first is not None) == two_passes
    if halves[0].model.parts != halves[1].model.parts:
        with pytest.raises(pn.ArgumentError, match="parts of labels"):
            pn.merge(halves)
        return
    merged = pn.merge(halves)
    assert len(merged.tag(["The", "ferry"])) == 2
    assert without_record(pn.merge([halves[0]] * 2)) == without_record(halves[0])


def test_a_word_stays_in_the_dictionary_where_all_that_know_it_agree(small: Small) -> None:
    def tagger(words: dict[str, str]) -> pn.Tagger:
        rows = [([word], [label]) for word, label in words.items()] * 3
        return trained(rows, dictionary=(3, 1.0))

    one = tagger({"a": "X", "b": "X", "c": "X"})
    two = tagger({"a": "X", "b": "Y", "d": "Y"})
    assert pn.merge([one, two]).model.dictionary == {"a": "X", "c": "X", "d": "Y"}
    three = trained([(["c"], ["X"]), (["c"], ["Z"])], dictionary=(3, 1.0))
    assert pn.merge([one, three]).model.dictionary == {"a": "X", "b": "X"}


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (
            {"templates": [*TEMPLATES, "bias"]},
            f"numbers of templates .* [{len(TEMPLATES)}{len(TEMPLATES) + 1}] in .* in",
        ),
        ({"templates": TEMPLATES[::-1]}, "templat"),
        ({"right_to_left": False}, "right_to_left"),
        ({"beam": 2}, "beam"),
        ({"table_bits": 8}, "table_bits"),
        ({"column": "xpos"}, "columns"),
        (
            {
                "features": lambda tokens, i: [tokens[i]],
                "templates": [*TEMPLATES[:3], "column:features.word.pieces"],
            },
            "templates",
        ),
        ({"templates": [*TEMPLATES[:3], "column:lexicon[0]"], "lexicon": {"a": "b"}}, "templates"),
    ],
)
def test_taggers_of_other_kinds_are_refused_by_what_differs(
    small: Small, options: dict[str, Any], word: str
) -> None:
    with pytest.raises(pn.ArgumentError, match=word):
        pn.merge([trained(small), trained(small, **options)])


def test_taggers_with_other_word_tables_are_refused(small: Small) -> None:
    templates = [*TEMPLATES, "column:lexicon[0]"]
    one, two = (
        trained(small, templates=templates, lexicon={"man": label}) for label in ("NOUN", "VERB")
    )
    with pytest.raises(pn.ArgumentError, match="word tables"):
        pn.merge([one, two])
    assert pn.merge([one, one]).tag(["man"]) == one.tag(["man"])


def test_a_compressed_tagger_is_not_merged_with_one_that_is_not(small: Small) -> None:
    one = trained(small)
    with pytest.raises(pn.ArgumentError, match="compress after merging"):
        pn.merge([one, one.compress(len(one.to_bytes()) * 3 // 4, force=True)])


@pytest.mark.parametrize(
    ("weights", "error"),
    [
        ([1], pn.ArgumentError),
        ([1, 0], pn.ArgumentError),
        ([1, -1], pn.ArgumentError),
        ([1, float("nan")], pn.ArgumentError),
        ([1, 10**5000], pn.ArgumentError),
        ([1, [10**5000]], pn.ArgumentTypeError),
        ([1, "2"], pn.ArgumentTypeError),
        ([1, True], pn.ArgumentTypeError),
        (3, pn.ArgumentTypeError),
        ("12", pn.ArgumentTypeError),
    ],
)
def test_weights_that_cannot_be_used_are_named(
    tagger: pn.Tagger, weights: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="weights"):
        pn.merge([tagger, tagger], weights=weights)


def test_what_is_no_list_of_taggers_is_refused(tagger: pn.Tagger, tmp_path: Path) -> None:
    for wrong in (tagger, "a.model", 3, [3]):
        with pytest.raises(pn.ArgumentTypeError, match="taggers"):
            pn.merge(wrong)  # type: ignore[arg-type]
    with pytest.raises(pn.ArgumentError, match="none"):
        pn.merge([])
    with pytest.raises(pn.FileError, match="no such file"):
        pn.merge([tmp_path / "no.model"])
