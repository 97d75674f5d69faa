"""What settles labels: the core as the page says, files, training, and what opens a token again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.settled import key, settled, settled_by_counts

import perceptron_nlp as pn
from perceptron_nlp._core.tag.decode import SettledTable
from perceptron_nlp.tagger.model.calibration import Calibration
from perceptron_nlp.tagger.model.settled import Rule, Settled, endings_of, key_of
from perceptron_nlp.tagger.train.settled_counts import Counted
from perceptron_nlp.text.tagset import word_bytes

WORD = st.text(st.sampled_from("aAbéÉß1-.\U00010400"), max_size=7) | st.just("a" * 70)
BEFORE = st.lists(st.sampled_from(["NOUN", "_", "VB"]), min_size=2, max_size=2).map(tuple)


def listed(labels: dict[int, int]) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    keys = sorted(labels)
    return np.array(keys, np.uint32), np.array([labels[one] for one in keys], np.uint32)


def made(
    keys: npt.NDArray[np.uint32], numbers: npt.NDArray[np.uint32], looks_first: bool
) -> Settled:
    return Settled(("upos", "xpos"), Rule(), (1.0, 1.0), keys, numbers, looks_first)


@given(WORD, st.booleans(), st.booleans(), BEFORE, st.data())
def test_the_core_finds_what_the_page_says(
    word: str, is_first: bool, looks_first: bool, before: tuple[str, ...], data: st.DataObject
) -> None:
    seen = is_first and looks_first
    texts = [word_bytes(word), *endings_of(word, seen)]
    known = data.draw(st.lists(st.sampled_from(texts), unique=True))
    labels = {key_of(one, before): data.draw(st.integers(0, 3)) for one in known}
    found = made(*listed(labels), looks_first).find(word, is_first, before)
    assert (None if found is None else found[0]) == settled(word, seen, before, labels)
    if found is not None:
        assert found[1] == (key(word, before) not in labels)


ITEMS = st.lists(
    st.tuples(WORD, st.booleans(), BEFORE, st.integers(0, 2), st.integers(1, 30)), max_size=30
)
RULES = st.builds(
    Rule,
    st.sampled_from([0, 1, 5]),
    st.sampled_from([1.0, 0.6]),
    st.sampled_from([0, 2, 9]),
    st.sampled_from([1.0, 0.6]),
)


@given(ITEMS, RULES, st.booleans())
def test_a_table_gives_what_its_rule_says(
    items: list[tuple[str, bool, tuple[str, ...], int, int]], rule: Rule, looks_first: bool
) -> None:
    counts: Counter[tuple[str, bool, tuple[str, ...], int]] = Counter()
    for word, first, before, label, n in items:
        counts[word, first, before, label] += n
    counted = Counted(looks_first, counts)
    find = made(*counted.table(rule), looks_first).find
    asked = [item[:3] for item in items]
    known = counted.found(asked)
    labels, endings = counted.settled(rule, known)
    by_word = counted.in_table(rule)[1][known.words].tolist()
    for item, label, ending, own in zip(
        asked, labels.tolist(), endings.tolist(), by_word, strict=True
    ):
        found = find(*item)
        # Whose rate it has: what the table has of the word, or what its ending says.
        assert found is None or found[1] != own
        assert (-1 if found is None else found[0]) == label
        expected = settled_by_counts(counts, rule, looks_first, *item)
        assert (label, label >= 0 and ending >= 0) == expected


def tree(words: str, upos: str, lemmas: str) -> pn.Sentence:
    return pn.Sentence(words.split(), {"upos": upos.split(), "lemma": lemmas.split()})


@pytest.fixture(scope="module")
def lemmatizer() -> pn.Tagger:
    rows = [
        tree("dogs bark .", "NOUN VERB PUNCT", "dog bark ."),
        tree("Cats saw dogs .", "NOUN VERB NOUN PUNCT", "cat see dog ."),
        tree("the saws bark", "DET NOUN VERB", "the saw bark"),
    ]
    return pn.train(rows * 20, dev=rows * 2, column="upos,lemma", seed=1)


TEXTS = [["dogs", "saw", "cats", "."], ["Dogs", "bark"], ["unheard", "barks"], ["saws"]]


def test_lemmas_that_are_settled_need_no_model(lemmatizer: pn.Tagger) -> None:
    part = lemmatizer.model.more[0]
    assert part.settled is not None
    assert part.settled.columns == ("upos",)
    wrong = part.weights.replace(weights=-part.weights.weights)
    other = pn.Tagger(lemmatizer.model.replace(more=(part.replace(weights=wrong),)))
    open_again = pn.Tagger(other.model.replace(more=(part.replace(weights=wrong, settled=None),)))
    sentences = [["dogs", "bark"], ["Cats", "saw", "dogs", "."]]
    columns = ("upos", "lemma")
    expected = [["dog", "bark"], ["cat", "see", "dog", "."]]
    assert other.tag_sents(sentences, columns=columns)["lemma"] == expected
    assert open_again.tag_sents(sentences, columns=columns)["lemma"] != expected


def test_a_file_and_confidences_keep_what_is_settled(lemmatizer: pn.Tagger) -> None:
    sure = Calibration(1.0, (0.0,), (0.5,))
    lemma = lemmatizer.model.more[0].replace(calibration=sure)
    assert lemma.settled is not None
    rated = lemma.settled._replace(rates=(0.875, 0.75))
    tagger = pn.Tagger(
        lemmatizer.model.replace(calibration=sure, more=(lemma.replace(settled=rated),))
    )
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    columns = ("upos", "lemma")
    expected = lemmatizer.tag_sents(TEXTS, columns=columns)
    assert again.tag_sents(TEXTS, columns=columns) == expected
    found = again.tag_sents(TEXTS, columns=columns, confidences=True)
    assert {name: own[0] for name, own in found.items()} == expected
    assert found["lemma"][1][0] == [0.875, 0.875, 0.5, 0.875]


def test_a_lexicon_of_lemmas_opens_all_words(lemmatizer: pn.Tagger) -> None:
    more = lemmatizer.model.with_known_lemmas([("cats", "NOUN")])
    assert all(part.settled is None for part in more.parts_by_column)


def test_what_settles_labels_is_laid_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[SettledTable] = []

    def counting(*args: Any) -> SettledTable:
        made.append(SettledTable(*args))
        return made[-1]

    monkeypatch.setattr("perceptron_nlp.tagger.model.settled.SettledTable", counting)
    tagger = pn.load("en")
    tagger.tag(["The", "boats"], columns=tagger.columns)
    n = len(made)
    lemmas = tagger.tag(["Two", "ships"], columns=tagger.columns)["lemma"]
    assert lemmas == ["two", "ship"] and n == len(made) > 0
