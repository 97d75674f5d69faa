"""A word in a lexicon gets one of its labels there, whatever the model and the way of tagging."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_decoding_forms import WORDS, decoder, results, trained

import perceptron_nlp as pn
from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.tag.constraints import lower_cased
from perceptron_nlp.text.tagset import word_bytes

MODELS = functools.cache(trained)
FORMS = sorted({*WORDS, *map(lower_cased, WORDS), "Man"} - {""})
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), max_size=30), max_size=6)


def lexicons(n_labels: int) -> st.SearchStrategy[dict[str, list[int]]]:
    """Some forms with some of the labels."""
    return st.dictionaries(
        st.sampled_from(FORMS),
        st.lists(st.integers(0, n_labels - 1), min_size=1, max_size=4, unique=True),
        max_size=8,
    )


def in_bytes(lexicon: dict[str, list[int]]) -> dict[bytes, list[int]]:
    return {word_bytes(form): labels for form, labels in lexicon.items()}


def allowed(lexicon: dict[str, list[int]], word: str) -> list[int] | None:
    return lexicon.get(word) or lexicon.get(lower_cased(word))


@settings(max_examples=25, deadline=None)
@given(
    data=st.data(),
    name=st.sampled_from(["default", "pairs"]),
    n_labels=st.sampled_from([17, 64, 70]),
    seed=st.integers(0, 1),
    sentences=SENTENCES,
)
def test_greedily_the_best_of_the_labels_in_the_lexicon_is_given_in_all_forms(
    data: st.DataObject, name: str, n_labels: int, seed: int, sentences: list[Sequence[str]]
) -> None:
    model = MODELS(name, n_labels, seed, None)
    lexicon = data.draw(lexicons(len(model.tags)))
    given_lexicon = in_bytes(lexicon)
    wide = decoder(model, narrow=False, lexicon=given_lexicon)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERCEPTRON_NLP_PORTABLE", "1")
        plain = decoder(model, lexicon=given_lexicon)
    expected = results(wide, sentences)
    for form in (
        plain,
        decoder(model, lexicon=given_lexicon),
        decoder(model, lexicon=given_lexicon, memory=CacheMemory(1)),
    ):
        assert results(form, sentences) == expected
    for sentence in sentences:
        numbers, scores = wide.tag_scored([sentence])
        for word, number, row in zip(sentence, numbers, scores, strict=True):
            labels = allowed(lexicon, word)
            if labels is not None and len(set(labels)) == 1:
                assert number == labels[0]
            else:
                choice = range(len(row)) if labels is None else sorted(labels)
                assert number == max(choice, key=row.__getitem__)


@settings(max_examples=20, deadline=None)
@given(
    data=st.data(),
    n_labels=st.sampled_from([3, 70]),
    seed=st.integers(0, 1),
    beam=st.sampled_from([2, 4, 8]),
    legal=st.booleans(),
    sentences=SENTENCES,
)
def test_the_search_keeps_to_the_lexicon_even_where_no_label_may_follow(
    data: st.DataObject,
    n_labels: int,
    seed: int,
    beam: int,
    legal: bool,
    sentences: list[Sequence[str]],
) -> None:
    model = MODELS("default", n_labels, seed, None)
    n = len(model.tags)
    lexicon = data.draw(lexicons(n))
    matrix = np.random.default_rng(seed).random((n + 1, n + 1)) < 0.5 if legal else None
    search = decoder(model, lexicon=in_bytes(lexicon), beam=beam, allowed=matrix)
    number = {label: k for k, label in enumerate(model.tags)}
    for sentence, labels in zip(sentences, search.tag(sentences), strict=True):
        for word, label in zip(sentence, labels, strict=True):
            assert number[label] in (allowed(lexicon, word) or range(n))


@settings(max_examples=20, deadline=None)
@given(
    n_labels=st.sampled_from([17, 70]),
    seed=st.integers(0, 1),
    beam=st.sampled_from([1, 4]),
    sentences=SENTENCES,
)
def test_a_lexicon_that_leaves_all_labels_changes_nothing(
    n_labels: int, seed: int, beam: int, sentences: list[Sequence[str]]
) -> None:
    model = MODELS("default", n_labels, seed, None)
    everything = {word_bytes(form): list(range(len(model.tags))) for form in FORMS[::2]}
    held, free = (decoder(model, beam=beam, lexicon=lexicon) for lexicon in (everything, None))
    assert results(held, sentences) == results(free, sentences)


@settings(max_examples=10, deadline=None)
@given(data=st.data(), sentences=SENTENCES)
def test_features_learnt_in_parts_keep_to_the_lexicon(
    data: st.DataObject, sentences: list[list[str]]
) -> None:
    tagger = features_tagger()
    lexicon = data.draw(
        st.dictionaries(
            st.sampled_from(FORMS),
            st.lists(
                st.sampled_from(["_", "K=x", "K=y", "K=y|Z=1"]), min_size=1, max_size=3, unique=True
            ),
            min_size=1,
            max_size=6,
        ).filter(lambda found: "\ud800" not in found)
    )
    held = tagger.with_lexicon(lexicon)
    assert held.model.parts is not None
    for sentence, labels in zip(sentences, held.tag_sents(sentences), strict=True):
        for word, label in zip(sentence, labels, strict=True):
            only = lexicon.get(word) or lexicon.get(lower_cased(word))
            assert only is None or label in only


@functools.cache
def features_tagger() -> pn.Tagger:
    """Learns features with the part of speech, in parts."""
    rows = [
        pn.Sentence(
            ["the", "old", "man"], {"upos": ["X", "Y", "Y"], "feats": ["_", "K=x", "K=y|Z=1"]}
        ),
        pn.Sentence(["a", "man", "1984"], {"upos": ["X", "Y", "X"], "feats": ["_", "K=y", "K=x"]}),
    ] * 4
    return pn.train(rows, column="feats", epochs=2)


def test_numbers_that_are_no_labels_are_refused() -> None:
    model = MODELS("fast", 3, 1, None)
    for labels in ([], [3], [-1]):
        with pytest.raises(ArgumentError, match="lexicon"):
            decoder(model, lexicon={b"a": labels})
    assert isinstance(decoder(model, lexicon={}), SentenceDecoder)
