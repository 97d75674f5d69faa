"""What the tests of integrations share: a tagger of three columns, and sentences for it."""

from __future__ import annotations

import pytest

import perceptron_nlp as pn

PENN = {"NOUN": "NN", "PROPN": "NNP", "VERB": "VB", "DET": "DT", "ADJ": "JJ", "PUNCT": "."}


@pytest.fixture(scope="session")
def annotated(small: list[tuple[list[str], list[str]]]) -> list[pn.Sentence]:
    """The small sentences with UPOS, XPOS and features."""
    return [pn.Sentence(words, {
        "upos": labels, "xpos": [PENN.get(label, label[:2]) for label in labels],
        "feats": [feats(word, label) for word, label in zip(words, labels, strict=True)]})
        for words, labels in small]


def feats(word: str, label: str) -> str:
    """Features of a word, if it has any."""
    if label in ("NOUN", "PROPN"):
        return "Case=Nom|Number=" + ("Plur" if word.endswith("s") else "Sing")
    return "Tense=Past" if word.endswith("ed") else "_"


@pytest.fixture(scope="session")
def three(annotated: list[pn.Sentence]) -> pn.Tagger:
    """A tagger of three columns."""
    return pn.train(annotated, column=("upos", "xpos", "feats"), epochs=3)
