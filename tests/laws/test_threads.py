"""Threads that do one job together: the labels of one thread, and errors."""

from __future__ import annotations

import itertools
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.tag.threads import in_threads

Labeled = list[tuple[list[str], list[str]]]


def many(small: Labeled) -> list[list[str]]:
    return [[*words, f"word{i % 997}"] for i in range(300) for words, _ in small]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"beam": 4, "update": "perceptron"},
        {"two_passes": True},
        {"dictionary": (3, 0.9)},
        {"templates": ["word[0] word[1]", "tag[-1]", "lower.ngrams2-4[0]"]},
    ],
    ids=["defaults", "beam", "two passes", "dictionary", "n-grams"],
)
def test_every_way_of_labeling_gives_with_threads_what_it_gives_without(
    options: dict[str, Any], small: Labeled
) -> None:
    tagger = pn.train(small, epochs=2, **options)
    sentences = many(small)
    expected = tagger.tag_sents(sentences)
    for threads in (2, 4):
        assert tagger.tag_sents(sentences, threads=threads) == expected


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="some strings are immortal there")
def test_labels_have_as_many_references_as_lists_hold_them(
    tagger: pn.Tagger, small: Labeled
) -> None:
    sentences = many(small)
    before = [sys.getrefcount(label) for label in tagger.labels]
    for threads in (1, 3):
        found = tagger.tag_sents(sentences, threads=threads)
        held = Counter(itertools.chain.from_iterable(found))
        counts = [sys.getrefcount(label) for label in tagger.labels]
        for label, b, c in zip(tagger.labels, before, counts, strict=True):
            assert c - b == held[label] + (label in held)  # which holds it too
        del found, held, label
    assert [sys.getrefcount(label) for label in tagger.labels] == before


def test_a_word_that_is_none_is_told_by_its_place_and_spoils_nothing(
    tagger: pn.Tagger, small: Labeled
) -> None:
    sentences: list[Any] = many(small)
    expected = tagger.tag_sents(sentences)
    at = len(sentences) - 7
    spoiled = [*sentences[:at], ["the", 5], *sentences[at + 1 :]]
    for _ in range(3):
        with pytest.raises(pn.ArgumentTypeError, match=rf"sentences\[{at}\]\[1\]"):
            tagger.tag_sents(spoiled, threads=3)
        assert tagger.tag_sents(sentences, threads=3) == expected


def test_sentences_that_change_while_they_are_labeled_harm_nothing(
    tagger: pn.Tagger, small: Labeled
) -> None:
    sentences = many(small)
    known = set(tagger.labels)
    done = threading.Event()

    def disturb() -> None:
        k = 0
        while not done.is_set():
            k += 1
            words = sentences[k * 37 % len(sentences)]
            if len(words) < 50:
                words.append(f"new{k}")
            else:
                words.clear()

    other = threading.Thread(target=disturb)
    other.start()
    try:
        for threads in (1, 2, 4):
            found = tagger.tag_sents(sentences, threads=threads)
            assert len(found) == len(sentences)
            assert all(label in known for labels in found for label in labels)
    finally:
        done.set()
        other.join()


def test_parts_are_given_back_in_order_whatever_the_number_of_threads() -> None:
    parts = [range(k, k + 2) for k in range(40)]
    for threads in (1, 2, 7, 100):
        assert in_threads(sum, parts, threads) == [2 * k + 1 for k in range(40)]
        assert in_threads(sum, [], threads) == []


def test_an_interrupt_goes_before_other_errors_and_nothing_is_begun_after_it() -> None:
    begun = []

    def run(part: range) -> None:
        begun.append(part.start)
        raise KeyboardInterrupt if part.start == 1 else ValueError(part.start)

    with pytest.raises((KeyboardInterrupt, ValueError)):
        in_threads(run, [range(k, k) for k in range(1000)], 3)
    assert len(begun) <= 3
    with pytest.raises(KeyboardInterrupt):
        in_threads(run, [range(1, 1), range(5, 5)], 2)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_what_is_wrong_first_is_told_whatever_the_threads_do(
    threads: int, tagger: pn.Tagger, small: Labeled
) -> None:
    sentences: list[Any] = many(small)
    starts = [0, *itertools.accumulate(map(len, sentences))]
    words = [word.encode() for sentence in sentences for word in sentence]
    first = len(sentences) // 3
    for at in range(first, len(sentences), 5):
        sentences[at] = ["the", None]
        words[starts[at]] = b"\xff"
    ends = [0, *itertools.accumulate(map(len, words))]
    for _ in range(5):
        with pytest.raises(pn.ArgumentTypeError, match=rf"sentences\[{first}\]\[1\]"):
            tagger.tag_sents(sentences, threads=threads)
        with pytest.raises(pn.ArgumentError, match=f"token {starts[first]} .* is not UTF-8"):
            tagger.tag_arrays(b"".join(words), ends, starts, threads=threads).labels[tagger.column]


@pytest.mark.parametrize("threads", [1, 3])
def test_what_reading_a_sentence_raises_reaches_the_caller(
    threads: int, tagger: pn.Tagger, small: Labeled
) -> None:
    class Unreadable(tuple[str, ...]):
        def __iter__(self) -> Iterator[str]:
            raise OSError("gone")

    sentences: list[Any] = many(small)
    expected = tagger.tag_sents(sentences)
    with pytest.raises(OSError, match="gone"):
        tagger.tag_sents([*sentences, Unreadable(), *sentences], threads=threads)
    assert tagger.tag_sents(list(map(tuple, sentences)), threads=threads) == expected


def test_sentences_with_code_of_their_own_are_read_by_the_thread_that_gave_them(
    tagger: pn.Tagger, small: Labeled
) -> None:
    seen, lock = set(), threading.RLock()

    class Guarded(list[str]):
        def __iter__(self) -> Iterator[str]:
            with lock:
                seen.add(threading.get_ident())
                return super().__iter__()

    sentences = many(small)
    expected = tagger.tag_sents(sentences)
    with lock:
        assert tagger.tag_sents(list(map(Guarded, sentences)), threads=3) == expected
    assert seen == {threading.get_ident()}


@pytest.mark.skipif(sys.platform == "win32", reason="a stack of any size is granted there")
def test_where_the_system_gives_no_threads_the_caller_does_it_all(
    tagger: pn.Tagger, small: Labeled
) -> None:
    sentences = many(small)
    expected = tagger.tag_sents(sentences)
    before = threading.stack_size(1 << 46)
    try:
        with pytest.raises(RuntimeError):
            threading.Thread(target=len).start()
        assert tagger.tag_sents(sentences, threads=4) == expected
    finally:
        threading.stack_size(before)
