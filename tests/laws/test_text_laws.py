"""Running text cut by a segmentation that was learned: nothing is lost, and pieces do not show."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import perceptron_nlp as pn

BREAKS = [" ", "\n", "\n\n", "\r\n\r\n", "\r", "\t", "\x1c", "\x85", "\u2029", "\f", " " * 300]
WORDS = ["du", "Le chat", "l'arbre ~.", "3.14", "...", "ไทย", "中文", "\u0301", "\u200d", "\ud83d"]
ANY = st.one_of(
    st.text(st.characters(codec=None, exclude_categories=()), max_size=60),
    st.lists(st.sampled_from(BREAKS + WORDS), max_size=25).map("".join),
)
# The limits of windows and atoms are passed.
LONG = [
    " " * 39_999 + "le chat",
    "chat" + " " * 50_000 + "dort",
    "e" + "\u0301" * 90_000,
    "1" * 90_000,
]


@cache
def english() -> pn.Tagger:
    return pn.load("en")


@given(ANY)
@example(" ")
@example("\n\n\t\n\n")
def test_tokens_and_the_space_between_them_are_the_text(pipeline: pn.Tagger, text: str) -> None:
    rebuilt(pipeline, text)


@pytest.mark.parametrize("text", LONG, ids=lambda text: ascii(text.strip()[:4]))
def test_nothing_is_lost_where_white_space_and_marks_are_long(
    pipeline: pn.Tagger, text: str
) -> None:
    rebuilt(pipeline, text)


@given(ANY)
def test_nothing_is_lost_where_text_is_cut_as_english(text: str) -> None:
    rebuilt(None, text)


@given(ANY, st.lists(st.integers(1, 9), max_size=30))
def test_sentences_know_their_lines_and_if_one_stands_right_behind(
    pipeline: pn.Tagger, text: str, lengths: list[int]
) -> None:
    ends = [*itertools.accumulate(lengths, initial=0), len(text)]
    check_lines(pipeline, text, [text[a:b] for a, b in itertools.pairwise(ends)])


@given(
    st.lists(
        st.sampled_from(["One.\n", "two words", "\n", " " * 1200, "\n" * 700, " \n" * 900]),
        max_size=6,
    ),
    st.integers(100, 3000),
)
def test_sentences_know_their_lines_behind_long_stretches_of_white_space(
    pipeline: pn.Tagger, parts: list[str], length: int
) -> None:
    text = "".join(parts)
    check_lines(pipeline, text, [text[at : at + length] for at in range(0, len(text), length)])


def check_lines(tagger: pn.Tagger, text: str, pieces: list[str]) -> None:
    for segmenter in (tagger.segmenter, english().segmenter):
        places = [(tokens[0][0], tokens[-1][1]) for tokens in segmenter.sentences_of(text)]
        known = [
            (text.count("\n", 0, first) + 1, text[last : last + 1].strip() != "")
            for first, last in places
        ]
        assert [(line, glued) for line, *_, glued in segmenter.sentences_in(pieces)] == known


def rebuilt(tagger: pn.Tagger | None, text: str) -> None:
    at = 0
    for sentence in pn.tokenize(text) if tagger is None else tagger.tag_text(text):
        assert sentence.text == text[sentence.start : sentence.end]
        for token in sentence.tokens:
            assert not text[at : token.start].strip()
            assert token.form == text[token.start : token.end] == token.form.strip() != ""
            assert all(word.form and (word.lemma or tagger is None) for word in token.words)
            at = token.end
    assert not text[at:].strip()


@given(ANY, st.integers(1, 7))
def test_sentences_do_not_depend_on_the_pieces_that_a_text_comes_in(
    pipeline: pn.Tagger, text: str, size: int
) -> None:
    segmenter = pipeline.segmenter
    whole = [
        (text[tokens[0][0] : tokens[-1][1]], [words for *_, words in tokens])
        for tokens in segmenter.sentences_of(text)
    ]
    pieces = (text[at : at + size] for at in range(0, len(text), size))
    sentences = segmenter.sentences_in(pieces)
    found = [(own, [words for *_, words in tokens]) for _, own, tokens, _ in sentences]
    assert found == whole


def test_a_paragraph_is_answered_when_the_empty_line_behind_it_is_there(
    pipeline: pn.Tagger,
) -> None:
    read: list[str] = []

    def pieces() -> Iterator[str]:
        for piece in ("Le chat dort.\n\n", "Elle dort.\r\n\r\n", "Zoé"):
            read.append(piece)
            yield piece

    found = [(text, len(read)) for _, text, *_ in pipeline.segmenter.sentences_in(pieces())]
    assert found == [("Le chat dort.", 1), ("Elle dort.", 2), ("Zoé", 3)]
