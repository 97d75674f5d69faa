"""Text of which only some words have labels, and text that gives pause."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn

Row = tuple[list[str], list[str | None]]
PART: list[Row] = [
    (["x", "y", "new"], ["A", "B", None]),
    (["z", "q", "y"], ["C", None, "D"]),
    (["q", "q"], [None, None]),
    (["x", "q", "z"], [None, "B", None]),
] * 4


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"beam": 3},
        {"beam": 3, "update": "perceptron"},
        {"update": "passive-aggressive"},
        {"update": "perceptron"},
        {"dictionary": (2, 0.9)},
        {"preset": "accurate", "epochs": 2},
        {"features": lambda tokens, i: [f"{tokens[max(0, i - 1) : i]} {tokens[i]}"]},
    ],
    ids=lambda options: "-".join(options) or "default",
)
def test_every_learner_learns_from_the_words_that_have_labels(options: dict[str, Any]) -> None:
    seen: list[pn.EpochReport] = []
    tagger = pn.train(PART, callback=seen.append, **options)
    assert tagger.labels == ("A", "B", "C", "D")
    assert seen[0].examples == 20 or "dictionary" in options
    assert all(0 <= report.train_accuracy <= 1 for report in seen)
    result = tagger.evaluate(PART)
    assert (result.accuracy, result.tokens, result.unlabeled) == (1, 20, 24)


def test_features_are_learnt_in_parts_from_the_words_that_have_them() -> None:
    rows: list[Row] = [
        (["la", "lupo"], ["_", "Case=Nom|Number=Sing"]),
        (["la", "lupu"], [None, "Case=Gen|Number=Sing"]),
        (["katu", "q"], ["Case=Gen|Number=Sing", None]),
    ] * 8
    tagger = pn.train(rows)
    assert tagger.model.parts is not None
    assert tagger.tag(["la", "lupu"]) == ["_", "Case=Gen|Number=Sing"]
    assert tagger.tag(["katu"]) == ["Case=Gen|Number=Sing"]


def test_spans_are_learnt_label_by_label_where_words_have_none() -> None:
    rows: list[Row] = [(["a", "b", "c"], ["B-X", "I-X", None]), (["c"], ["O"])] * 4
    tagger = pn.train(rows)
    assert tagger.model.scheme is None and tagger.tag(["a", "b", "c"]) == ["B-X", "I-X", "O"]


@settings(max_examples=25)
@given(
    st.lists(
        st.lists(
            st.tuples(st.sampled_from("xyzq"), st.sampled_from(["A", "B", None])),
            min_size=1,
            max_size=4,
        ),
        min_size=1,
        max_size=6,
    ),
    st.booleans(),
)
def test_a_sentence_without_any_label_changes_nothing(
    rows: list[list[tuple[str, str | None]]], beam: bool
) -> None:
    options: dict[str, Any] = {
        "epochs": 2,
        "templates": ["word[0]", "tag[-1]"],
        "beam": 2 if beam else 1,
        "right_to_left": False,
        "runs": 1,
    }
    # One sentence that has labels, since two would come in another order with a third among them.
    for row in rows:
        if any(label for _, label in row):
            alone = pn.train([row], **options).model.weights
            both = pn.train([row, [(word, None) for word, _ in row]], **options).model.weights
            assert alone.weights.tobytes() == both.weights.tobytes()
            assert alone.keys.tobytes() == both.keys.tobytes()


def test_a_column_with_one_label_and_dev_labels_never_trained_are_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    dev = [(["x", "y", "z"], ["A", "Q", "Q"]), (["x", "y"], ["Z", None])]
    with caplog.at_level(logging.WARNING, "perceptron_nlp"):
        tagger = pn.train([(["x", "y"], ["A", "A"])], dev=dev, epochs=1)
    assert "every token that has a label in column tag has the same, A" in caplog.text
    assert "dev: 3 of 4 tokens have labels that were never trained: Q, Z" in caplog.text
    assert tagger.model.record["warnings"] == [record.message for record in caplog.records]
    result = tagger.evaluate(dev)
    assert result.untrained == {"Q": 2, "Z": 1}
    assert result.to_dict()["untrained"] == {"Q": 2, "Z": 1}
    assert "untrained" not in tagger.evaluate([(["x"], ["A"])]).to_dict()


def test_labels_put_together_of_pieces_and_spans_are_not_called_untrained() -> None:
    chunks = [(["a", "b"], ["B-X", "I-X"]), (["c"], ["O"])]
    assert not pn.train(chunks, epochs=1, templates="fast").evaluate(chunks).untrained
    feats = [(["a", "b"], ["Case=Nom|Number=Sing", "_"])] * 3
    assert not pn.train(feats, epochs=1).evaluate(feats).untrained
