"""Labels made of more parts than a machine word has bits: what is given is compared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.label_components import PIECES, PIECES_AND_WHOLE, part_names

WORDS = [f"{stem}{end}" for stem in ("ba", "de", "Gi", "ko") for end in ("m", "n", "st")]
TEMPLATES = [
    "lower[0]",
    "lower.suffix1[0]",
    "first shape[0]",
    "last lower[-1]",
    "lower[1]",
    "tag[-1]",
    "tag[-1] lower[0]",
    "tag[-1] tag[-2]",
    "lower[-1] lower[0]",
    "lower[0] lower[2]",
]


def trained(n_values: int, right_to_left: bool) -> pn.Tagger:
    """Return a tagger of features of more parts than fit a machine word."""
    rows = [
        (
            [WORDS[(7 * row + 5 * i + i * i) % len(WORDS)] for i in range(6)],
            [f"A=a{(row * 6 + i) % n_values}|B=b{(row + i) % 5}" for i in range(6)],
        )
        for row in range(n_values)
    ]
    return pn.train(rows, templates=TEMPLATES, right_to_left=right_to_left, epochs=2)


@pytest.fixture(scope="module", params=[(80, True), (90, False), (300, False)])
def tagger(request: pytest.FixtureRequest) -> pn.Tagger:
    return trained(*request.param)


SENTENCES = st.lists(
    st.lists(st.one_of(st.sampled_from(WORDS), st.text("abGm", min_size=1)), max_size=9), max_size=9
)


@given(sentences=SENTENCES)
def test_labels_are_the_best_by_the_scores_that_are_traced(
    tagger: pn.Tagger, sentences: list[list[str]]
) -> None:
    labeler = tagger._labeler
    found = tagger.tag_sents(sentences)
    for words, labels in zip(sentences, found, strict=True):
        trace = labeler.trace(words)
        scores = labeler.scores(words)
        assert np.array_equal(scores, trace.scores)
        assert labels == [tagger.labels[int(row.argmax())] for row in trace.scores]


def test_models_have_more_parts_than_fit_a_machine_word(tagger: pn.Tagger) -> None:
    assert tagger.model.parts in (PIECES, PIECES_AND_WHOLE)
    assert len(part_names(tagger.labels, tagger.model.parts)) > 64


@given(sentences=SENTENCES, kept=st.integers(0, 50))
def test_kept_labels_stay_and_lexicons_hold(
    tagger: pn.Tagger, sentences: list[list[str]], kept: int
) -> None:
    label = tagger.labels[kept]
    keep = [[label if i == 1 else None for i in range(len(words))] for words in sentences]
    for labels in tagger.tag_sents(sentences, keep=keep):
        assert len(labels) < 2 or labels[1] == label
    allowed = tagger.labels[kept : kept + 3]
    held = tagger.with_lexicon({WORDS[0]: list(allowed)})
    for words, labels in zip(sentences, held.tag_sents(sentences), strict=True):
        assert all(
            own in allowed for word, own in zip(words, labels, strict=True) if word == WORDS[0]
        )


@given(sentences=SENTENCES)
def test_a_small_memory_and_plain_code_change_no_label(
    tagger: pn.Tagger, sentences: list[list[str]], monkeypatch_module: pytest.MonkeyPatch
) -> None:
    small = pn.Tagger(tagger.model, cache_size=1)
    monkeypatch_module.setenv("PERCEPTRON_NLP_PORTABLE", "1")
    plain = pn.Tagger(tagger.model)
    monkeypatch_module.delenv("PERCEPTRON_NLP_PORTABLE")
    expected = tagger.tag_sents(sentences)
    assert small.tag_sents(sentences) == plain.tag_sents(sentences) == expected


@pytest.fixture(scope="module")
def monkeypatch_module() -> object:
    with pytest.MonkeyPatch.context() as patch:
        yield patch
