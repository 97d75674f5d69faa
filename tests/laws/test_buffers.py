"""Sentences in plain buffers get the labels that the same sentences get as lists."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn

Labeled = list[tuple[list[str], list[str]]]
# No lone surrogates: they are no UTF-8.
WORD = st.sampled_from(
    ["the", "old", "man", "Zoë", "1984", "", "a" * 16, "a" * 17, "é" * 9]
) | st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
SENTENCES = st.lists(st.lists(WORD, max_size=8), max_size=8)


def buffers(sentences: list[list[str]]) -> tuple[bytes, list[int], list[int]]:
    words = [word.encode() for sentence in sentences for word in sentence]
    tokens = np.cumsum([0, *map(len, words)]).tolist()
    return b"".join(words), tokens, np.cumsum([0, *map(len, sentences)]).tolist()


def labels_of(coded: tuple[Any, tuple[str, ...]]) -> list[str]:
    numbers, labels = coded
    return [labels[number] for number in numbers]


@settings(max_examples=60)
@given(sentences=SENTENCES)
def test_buffers_get_the_labels_of_lists(tagger: pn.Tagger, sentences: list[list[str]]) -> None:
    data, tokens, starts = buffers(sentences)
    expected = [label for labels in tagger.tag_sents(sentences) for label in labels]
    coded = tagger.tag_arrays(data, tokens, starts).labels[tagger.column]
    assert labels_of(coded) == expected
    assert coded[0].dtype == np.uint8 and coded[1] == tagger.labels


@pytest.mark.parametrize("length", [63, 64, 65, 127, 128, 192, 8000])
def test_what_follows_a_word_has_no_part_in_its_being_utf8(tagger: pn.Tagger, length: int) -> None:
    for word in (b"a" * length, "é".encode() + b"a" * (length - 2)):
        coded = tagger.tag_arrays(b"the" + word + b"\xff" * 70, [0, 3, 3 + length], [0, 2]).labels[
            tagger.column
        ]
        assert labels_of(coded) == tagger.tag(["the", word.decode()])
        with pytest.raises(pn.ArgumentError, match=r"token 1 .* is not UTF-8"):
            tagger.tag_arrays(b"the" + word[:-1] + b"\xff", [0, 3, 3 + length], [0, 2])


@settings(max_examples=30)
@given(sentences=SENTENCES, data=st.data())
def test_a_part_of_the_sentences_gets_the_labels_of_that_part(
    tagger: pn.Tagger, sentences: list[list[str]], data: st.DataObject
) -> None:
    text, tokens, starts = buffers(sentences)
    first = data.draw(st.integers(0, len(sentences)))
    last = data.draw(st.integers(first, len(sentences)))
    expected = [x for labels in tagger.tag_sents(sentences[first:last]) for x in labels]
    assert (
        labels_of(tagger.tag_arrays(text, tokens, starts[first : last + 1]).labels[tagger.column])
        == expected
    )


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_change_no_label_of_buffers(
    threads: int, tagger: pn.Tagger, small: Labeled
) -> None:
    sentences = [
        [*words, f"word{i % 997}", "long" * (i % 9)] for i in range(300) for words, _ in small
    ]
    coded = tagger.tag_arrays(*buffers(sentences), threads=threads).labels[tagger.column]
    assert labels_of(coded) == [x for labels in tagger.tag_sents(sentences) for x in labels]


@pytest.mark.parametrize(
    "form",
    [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)],
    ids=["bytes", "bytearray", "memoryview", "array"],
)
@pytest.mark.parametrize("offsets", [np.int32, np.int64, np.uint32, list])
def test_any_buffer_and_any_whole_numbers_will_do(
    tagger: pn.Tagger, form: Callable[[bytes], Any], offsets: Callable[[list[int]], Any]
) -> None:
    data, tokens, starts = buffers([["the", "old", "Zoë"], [], ["man"]])
    numbers = [np.array(one, offsets) if offsets is not list else one for one in (tokens, starts)]
    expected = tagger.tag(["the", "old", "Zoë"]) + tagger.tag(["man"])
    assert labels_of(tagger.tag_arrays(form(data), *numbers).labels[tagger.column]) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((b"ab", [0, 2, 1], [0, 2]), r"token_offsets\[2\]: 1 is below 2"),
        ((b"ab", [0, 3], [0, 1]), r"token_offsets\[1\]: 3 is not between 0 and 2"),
        ((b"ab", [-1, 2], [0, 1]), r"token_offsets\[0\]: -1 is not between"),
        ((b"ab", [0, 2], [0, 2]), r"sentence_offsets\[1\]: 2 is not between 0 and 1"),
        ((b"ab", [0, 2], [1, 0]), r"sentence_offsets\[1\]: 0 is below 1"),
        ((b"ab", [], [0]), "token_offsets: is empty"),
        ((b"ab", [0, 2], []), "sentence_offsets: is empty"),
        (
            (b"ab", np.array([0, 2**64 - 1], np.uint64), [0, 1]),
            r"token_offsets\[1\]: -1 is below 0",
        ),
        ((b"a\xffb", [0, 1, 3], [0, 2]), r"data: token 1 \(bytes 1 to 3\) is not UTF-8"),
        ((b"\xc3\xa9", [0, 1, 2], [0, 2]), r"data: token 0 \(bytes 0 to 1\) is not UTF-8"),
        ((b"\xed\xa0\x80", [0, 3], [0, 1]), "is not UTF-8"),
        ((b"x" * 20 + b"\xc0\x80", [0, 22], [0, 1]), "is not UTF-8"),
    ],
)
def test_offsets_and_bytes_that_make_no_words_are_refused(
    tagger: pn.Tagger, arguments: Any, message: str
) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        tagger.tag_arrays(*arguments)
    assert labels_of(tagger.tag_arrays(b"man", [0, 3], [0, 1]).labels[tagger.column]) == tagger.tag(
        ["man"]
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("text", [0, 1], [0, 1]), "data: bytes or a buffer of bytes is needed, not str"),
        ((np.zeros(4, np.int32), [0, 1], [0, 1]), "data: a contiguous buffer of single bytes"),
        ((np.zeros(4, np.uint8)[::2], [0, 1], [0, 1]), "data: .* with gaps"),
        ((b"ab", [0.0, 1.0], [0, 1]), "token_offsets: a flat array of whole numbers"),
        ((b"ab", [[0, 1]], [0, 1]), "token_offsets: a flat array of whole numbers"),
        ((b"ab", [0, 1], [[0], [0, 1]]), "sentence_offsets: a flat array of whole numbers"),
        ((b"ab", [0, 1], None), "sentence_offsets: a flat array of whole numbers"),
    ],
)
def test_other_types_than_buffers_and_whole_numbers_are_refused(
    tagger: pn.Tagger, arguments: Any, message: str
) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=message):
        tagger.tag_arrays(*arguments)


def test_models_that_look_beyond_words_take_buffers_too(small: Labeled) -> None:
    spans = pn.train([(["Ada", "sleeps"], ["B-PER", "O"])] * 5, epochs=1)
    nearby = pn.train(small, epochs=1, window=2)
    for tagger in (spans, nearby):
        found = tagger.tag_arrays(b"AdaAdasleeps", [0, 3, 6, 12], [0, 1, 3])
        expected = tagger.tag_sents([["Ada"], ["Ada", "sleeps"]])
        assert labels_of(found.labels[tagger.column]) == [x for labels in expected for x in labels]
        with pytest.raises(pn.ArgumentError, match=r"data: token 1 \(bytes 3 to 4\) is not UTF-8"):
            tagger.tag_arrays(b"Ada\xff", [0, 3, 4], [0, 2])


def test_arrays_of_words_hold_the_words_and_confidences(small: Labeled) -> None:
    tagger = pn.train(small, epochs=2).calibrate([*small] * 9)
    words = ["The", "old", "Zoë"]
    found = tagger.tag_arrays(*buffers([["left"], words, ["out"]])[:2], [1, 4], confidences=True)
    begins, text = found.forms
    assert [text[a:b].decode() for a, b in pairwise(begins.tolist())] == words
    assert found.offsets.tolist() == [0, 3] and found.sentences.tolist() == [0, 0, 0]
    labels, sure = tagger.tag_sents([words], confidences=True)
    assert labels_of(found.labels[tagger.column]) == labels[0]
    assert found.confidences[tagger.column].tolist() == sure[0]


@pytest.mark.parametrize("templates", ["fast", ["word[0]", "tag[-1]"]])
def test_many_labels_take_two_bytes(templates: Any) -> None:
    sentences = [([f"w{k}" for k in range(300)], [f"L{k:03}" for k in range(300)])]
    tagger = pn.train(sentences, epochs=2, templates=templates, beam=1)
    numbers, labels = tagger.tag_arrays(*buffers([sentences[0][0]])).labels[tagger.column]
    assert numbers.dtype == np.uint16
    assert [labels[k] for k in numbers] == tagger.tag(sentences[0][0])
