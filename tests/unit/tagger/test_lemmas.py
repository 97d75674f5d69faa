"""Lemmas of words that nobody writes: long ones cost no more time and memory than their length."""

from __future__ import annotations

import tracemalloc

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.lemmas import KnownLemmas
from perceptron_nlp.text.scripts import make_script


def test_what_long_words_share_within_is_not_searched_for() -> None:
    form, lemma = "q" + "a" * 100, "a" * 100
    assert make_script(form[:50], lemma[:49]).drop_front == 1
    assert make_script(form, lemma).literal == lemma
    assert make_script(lemma + "s", lemma).drop_back == 1


def test_long_lemmas_take_no_memory_beyond_their_length() -> None:
    known = KnownLemmas(False, ["l,0,,1,", "l,0,,0,"], {"a" * 5_000 + "\tX": 0, "word\tX": 0})
    tracemalloc.start()
    try:
        found = known.column(["words", "a" * 5_000 + "s"], ["X", "X"])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found == ("u0", "u0")
    assert peak < 1 << 20


def test_long_words_are_not_remembered(pipeline: pn.Tagger) -> None:
    pipeline.tag_sents_columns([["Le", "chat"]])
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        for i in range(40):
            pipeline.tag_sents_columns([[str(i) + "a" * 100_000]])
        held = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert held < 1 << 20
