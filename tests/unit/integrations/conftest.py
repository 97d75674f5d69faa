"""What the tests of integrations share: a tagger of three columns, and sentences for it."""

from __future__ import annotations

import pytest

import perceptron_nlp as pn


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
