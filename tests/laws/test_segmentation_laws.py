"""Laws of learned segmentation: no character of any text is lost or moved, however it comes."""

from __future__ import annotations

import itertools
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.tag import segment
from perceptron_nlp.tagger.tag.segment import SegmentedToken, Segmenter

# All that breaks lines, joins letters, has no encoding, or is known to the French model.
ODD = "\n\r\t \u2028\u2029\x0b\x0c\x85\xa0\u3000\ufeff\x00\x1b\u200d\u0301\ud800\udfff"
TEXTS = st.text(st.one_of(st.sampled_from(ODD + "du bois.LeAé,!?'-9中ไ"), st.characters()))


@pytest.fixture(scope="module")
def segmenter(pipeline: pn.Tagger) -> Segmenter:
    assert pipeline.segmenter is not None
    return pipeline.segmenter


@given(text=TEXTS)
def test_every_character_but_space_is_in_one_token_at_its_place(
    segmenter: Segmenter, text: str
) -> None:
    end = 0
    for sentence in segmenter.sentences_of(text):
        assert sentence
        for token in sentence:
            assert text[end : token.start].strip() == "" and token.start < token.end
            assert not text[token.start].isspace() and not text[token.end - 1].isspace()
            assert token.words and all(token.words)
            end = token.end
    assert text[end:].strip() == ""


def whole(segmenter: Segmenter, text: str) -> list[tuple[str, list[SegmentedToken]]]:
    found = []
    for tokens in segmenter.sentences_of(text):
        first = tokens[0].start
        moved = [SegmentedToken(a - first, b - first, words) for a, b, words in tokens]
        found.append((text[first : tokens[-1].end], moved))
    return found


@given(text=TEXTS, cuts=st.lists(st.integers(0, 200), max_size=8))
def test_a_text_in_pieces_has_the_same_sentences(
    segmenter: Segmenter, text: str, cuts: list[int]
) -> None:
    places = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [text[a:b] for a, b in itertools.pairwise(places)]
    found = [(own, tokens) for _, own, tokens in segmenter.sentences_in(pieces)]
    assert found == whole(segmenter, text)


def test_an_endless_line_takes_constant_memory_and_keeps_every_character(
    segmenter: Segmenter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(segment, "_WINDOW_CHARACTERS", 2_000)
    piece = "aé9" * 500

    def peak(n_pieces: int) -> int:
        tracemalloc.start()
        total = sum(len(text) for _, text, _ in segmenter.sentences_in([piece] * n_pieces))
        assert total == n_pieces * len(piece)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    peak(2)
    assert peak(40) < 2 * peak(10)


@given(text=TEXTS)
def test_any_text_is_tagged(pipeline: pn.Tagger, text: str) -> None:
    for sentence in pipeline.tag_text(text):
        for token in sentence:
            assert text[token.start : token.end] == token.form
            assert all(word.lemma for word in token.words)
