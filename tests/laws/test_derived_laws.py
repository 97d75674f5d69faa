"""Columns that a model derives are the same in training, tagging and explaining, of every kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.model import TaggerModel

WORDS = ["la", "bel", "lupo", "Katu", "katu", "Ada", "new", "."]
TAGS = {"la": "DET", "bel": "ADJ", "lupo": "NOUN", "katu": "NOUN", "ada": "PROPN", ".": "PUNCT"}


def sentence(k: int) -> pn.Sentence:
    """A sentence with tags, features and lemmas."""
    words = [WORDS[(k * 3 + i * i) % len(WORDS)] for i in range(4 + k % 3)]
    upos = [TAGS.get(word.lower(), "ADJ") for word in words]
    feats = ["Case=Nom|Number=Sing" if i % 2 else "_" for i in range(len(words))]
    columns = {"upos": upos, "feats": feats, "lemma": [word.lower() + "o" for word in words]}
    return pn.Sentence(words, columns)


TRAIN, DEV = [sentence(k) for k in range(40)], [sentence(k) for k in range(40, 60)]
CHUNKS, MORE = (
    [pn.Sentence(s.words, {"chunk": ["B-X" if w[:1].isupper() else "O" for w in s]}) for s in text]
    for text in (TRAIN, DEV)
)


def ends(tokens: pn.Sentence, i: int) -> list[str]:
    return [tokens[i][-2:], f"{i}"]


OPTIONS: dict[str, Any] = {"seed": 1, "epochs": 2, "runs": 1}
KINDS: dict[str, tuple[set[str], Callable[[], pn.Tagger]]] = {
    "a function": (
        {"extractor"},
        lambda: pn.train(TRAIN, dev=DEV, column="upos", features=ends, **OPTIONS),
    ),
    "document context": ({"window"}, lambda: pn.train(CHUNKS, dev=MORE, column="chunk", **OPTIONS)),
    "word tables": (
        {"tables"},
        lambda: pn.train(
            TRAIN, dev=DEV, column="upos", lexicon={"lupo": "NOUN", "new": "ADJ"}, **OPTIONS
        ),
    ),
    "known lemmas": ({"lemmas"}, lambda: pn.train(TRAIN, dev=DEV, column="lemma", seed=1)),
    "two passes": (
        {"first"},
        lambda: pn.train(TRAIN, dev=DEV, column="feats", two_passes=True, **OPTIONS),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_training_tagging_explaining_and_a_file_derive_the_same(kind: str, tmp_path: Path) -> None:
    keys, train = KINDS[kind]
    tagger = train()
    model = tagger.model
    assert {one.key for one in model.derived} == keys
    gold = MORE if kind == "document context" else DEV
    # What training judged its best epoch by.
    judged = max(epoch["dev_accuracy"] for epoch in model.record["epochs"])
    assert tagger.evaluate(gold).accuracy == judged
    labels = tagger.tag_sents(gold)
    assert [
        tagger.explain(one, top=0, before=gold[:k], after=gold[k + 1 :]).labels
        for k, one in enumerate(gold)
    ] == labels
    tagger.save(tmp_path / "a.model")
    again = pn.load(tmp_path / "a.model", features=ends if kind == "a function" else None)
    assert {one.key for one in again.model.derived} == keys
    assert again.tag_sents(gold) == labels and again.to_bytes() == tagger.to_bytes()
    # The input needs no column that is derived.
    derived = set(model.template_columns) - set(model.feature_columns)
    assert derived and not derived & {"upos", "feats", "lemma", "chunk"}


def test_a_model_has_few_fields() -> None:
    assert len(TaggerModel._fields) <= 16
