"""Running text: nothing is lost or moved, whatever the characters, and however it comes in."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perceptron_nlp import tokenize
from perceptron_nlp.text.splitter import LONGEST_SENTENCE, sentences_in, sentences_of
from perceptron_nlp.text.tokenizer import LONGEST_CHUNK

# Surrogates, controls, NUL and byte order marks too.
ANY = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)
PIECES = st.sampled_from(
    [
        " ",
        "\n",
        "\n\n",
        "\r\n",
        "\t",
        "\u2029",
        "\u00a0",
        ".",
        "..",
        "...",
        "!",
        "?!",
        "'",
        "’",
        '"',
        ")",
        "(",
        "-",
        "--",
        "/",
        "@",
        "#",
        "&",
        "$",
        ",",
        ":",
        ":)",
        "_",
        "Mr.",
        "etc.",
        "U.S.",
        "No.",
        "7",
        "3.14",
        "don't",
        "DON’T",
        "cannot",
        "we'd've",
        "e-mail",
        "www.a.b/c(d)",
        "a@b.c",
        "x.doc",
        "9/11",
        "a.m.",
        "The",
        "word",
        "I",
        "12-34",
        "555-1234",
        "<3",
        "\ufeff",
        "\0",
        "\ud800",
        "👩\u200d🚀",
        "नमस्ते",
        "e\u0301",
        "。",
        "۔",
    ]
)
TEXTS = st.one_of(ANY, st.lists(PIECES, max_size=40).map("".join))


@given(TEXTS)
@example("(a.m.)")
def test_every_character_but_white_space_is_in_one_token_where_it_stood(text: str) -> None:
    at = 0
    for sentence in tokenize(text):
        assert (sentence.start, sentence.end) == (sentence[0].start, sentence[-1].end)
        assert text[sentence.start : sentence.end] == sentence.text
        for token in sentence:
            assert not text[at : token.start].strip()
            assert token.start < token.end
            assert text[token.start : token.end] == token.form
            assert not re.search(r"\s", token.form)
            at = token.end
    assert not text[at:].strip()


@given(TEXTS, st.lists(st.integers(1, 9), max_size=30))
def test_a_text_in_pieces_gives_the_sentences_of_the_whole(text: str, lengths: list[int]) -> None:
    whole = [
        (
            text.count("\n", 0, spans[0][0]) + 1,
            text[spans[0][0] : spans[-1][1]],
            [(start - spans[0][0], end - spans[0][0]) for start, end in spans],
            text[spans[-1][1] : spans[-1][1] + 1].strip() != "",
        )
        for spans in sentences_of(text)
    ]
    pieces, at = [], 0
    for length in lengths:
        pieces.append(text[at : at + length])
        at += length
    assert list(sentences_in([*pieces, text[at:]])) == whole


@given(
    st.lists(
        st.sampled_from(["One.\n", "two words", "\n", " " * 1200, "\n" * 700, " \n" * 900]),
        max_size=6,
    ),
    st.integers(100, 3000),
)
def test_sentences_know_their_lines_behind_long_stretches_of_white_space(
    parts: list[str], length: int
) -> None:
    text = "".join(parts)
    lines = [text.count("\n", 0, spans[0][0]) + 1 for spans in sentences_of(text)]
    pieces = [text[at : at + length] for at in range(0, len(text), length)]
    assert [line for line, *_ in sentences_in(pieces)] == lines


@given(TEXTS)
def test_white_space_around_a_text_changes_nothing(text: str) -> None:
    words = [sentence.forms for sentence in tokenize(text)]
    assert [sentence.forms for sentence in tokenize(f"  {text}\n")] == words


class Counted(str):
    """A str that counts how many characters are cut out of it."""

    seen = 0

    def __getitem__(self, key: object) -> str:
        piece = super().__getitem__(key)  # type: ignore[index]
        Counted.seen += len(piece)
        return piece


@pytest.mark.parametrize(
    "piece",
    [
        "a",
        ".",
        "a.",
        "1",
        "1,",
        "-",
        "a-",
        "'",
        "'s",
        "@",
        "a@",
        "www.",
        "(",
        ")",
        ":",
        "_",
        "a_",
        "#",
        "é",
        " ",
        "\n",
        "a ",
        ". ",
        "\n\n",
        "http://)",
        "no.",
        "non-",
        "\ufeff",
        "\u200d",
        "1-",
        "&",
        "A&",
    ],
)
def test_the_work_grows_with_the_length_of_the_text(piece: str) -> None:
    seen = []
    for length in (20_000, 40_000):
        text = Counted(piece * (length // len(piece)))
        Counted.seen = 0
        for _ in sentences_of(text):
            pass
        seen.append(Counted.seen)
    assert seen[1] <= 2.2 * seen[0] + 100 and seen[1] <= 12 * 40_000


def test_what_is_held_stays_small_without_spaces_or_full_stops() -> None:
    chunk = tokenize("a" * (3 * LONGEST_CHUNK))
    assert [len(token.form) for sentence in chunk for token in sentence] == 3 * [LONGEST_CHUNK]
    long = tokenize("word " * (LONGEST_SENTENCE + 1))
    assert [len(sentence) for sentence in long] == [LONGEST_SENTENCE, 1]
