"""What the tests of integrations share: a tagger of three columns, and sentences for it."""

from __future__ import annotations

import pytest

import perceptron_nlp as pn
from benchmarks.here import Here

PENN = {"NOUN": "NN", "PROPN": "NNP", "VERB": "VB", "DET": "DT", "ADJ": "JJ", "PUNCT": "."}


@pytest.fixture(scope="session")
def annotated(small: list[tuple[list[str], list[str]]]) -> list[pn.Sentence]:
    """The small sentences with UPOS, XPOS and features."""
    return [
        pn.Sentence(
            words,
            {
                "upos": labels,
                "xpos": [PENN.get(label, label[:2]) for label in labels],
                "feats": [feats(word, label) for word, label in zip(words, labels, strict=True)],
            },
        )
        for words, labels in small
    ]


def feats(word: str, label: str) -> str:
    """Features of a word, if it has any."""
    if label in ("NOUN", "PROPN"):
        return "Case=Nom|Number=" + ("Plur" if word.endswith("s") else "Sing")
    return "Tense=Past" if word.endswith("ed") else "_"


@pytest.fixture(scope="session")
def three(annotated: list[pn.Sentence]) -> pn.Tagger:
    """A tagger of three columns."""
    return pn.train(annotated, column=("upos", "xpos", "feats"), epochs=3)


@pytest.fixture(scope="session")
def sure(annotated: list[pn.Sentence]) -> pn.Tagger:
    """A calibrated tagger of two columns, which errs on some of the sentences it is judged by."""
    wrong = [
        pn.Sentence(
            one.words,
            {
                name: [
                    "X" if (i + k) % 7 == 0 else label for i, label in enumerate(one.column(name))
                ]
                for name in ("upos", "xpos")
            },
        )
        for k, one in enumerate(annotated * (1 + 600 // sum(map(len, annotated))))
    ]
    return pn.train(annotated, column=("upos", "xpos"), epochs=2, preset="fast").calibrate(wrong)


@pytest.fixture(scope="session")
def here() -> type[Here]:
    """An engine without processes of its own."""
    return Here
