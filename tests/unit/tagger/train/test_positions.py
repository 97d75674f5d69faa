"""Tags that are made of positions, learned by these where it pays."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.label_components import POSITIONS, part_names, part_numbers
from perceptron_nlp.tagger.train.columns import MANY_LABELS, mode_of_positions
from perceptron_nlp.text.tagset import MAX_LABELS

VALUES = ("abcde", "fghij", "klmno", "pqrst")
TAGS = ["".join(values) for values in itertools.product(*VALUES)]
KINDS = st.sampled_from([*POSITIONS.items()])


def by_word(tag: str) -> str:
    return tag


def at_random(tag: str) -> str:
    """The tag of another word: positions tell nothing that words share."""
    return TAGS[random.Random(tag).randrange(len(TAGS))]


def sentences(tag_of: Callable[[str], str], seed: int = 1, n: int = 300) -> list[pn.Sentence]:
    """Words of four syllables, each of which tells a position if the tag is that of the word."""
    drawn, rows = random.Random(seed), []
    for _ in range(n):
        chosen = drawn.choices(TAGS, k=6)
        words = ["".join(f"{value}{value}" for value in tag) for tag in chosen]
        rows.append(pn.Sentence(words, {"xpos": [tag_of(tag) for tag in chosen]}))
    return rows


@cache
def tagger(tag_of: Callable[[str], str] = by_word, **options: object) -> pn.Tagger:
    return pn.train(sentences(tag_of), column="xpos", epochs=2, **options)  # type: ignore[arg-type]


@given(KINDS, st.lists(st.lists(st.text("ab=", max_size=2) | st.just("-"), min_size=1, max_size=4)))
def test_a_label_has_a_piece_for_each_place_where_something_stands(
    kind: tuple[str, str], values: list[list[str]]
) -> None:
    mode, separator = kind
    labels = sorted({separator.join(one) for one in values} - {""})
    numbers, names = part_numbers(labels, mode)
    for label, (*own, whole) in zip(labels, numbers, strict=True):
        pieces = dict(names[number].split("=", 1) for number in own)
        filled = label.split(separator) if separator else [*label]
        assert pieces == {str(k): value for k, value in enumerate(filled) if value.strip("-")}
        assert part_names(labels, mode)[whole] == ("label", label)


@given(KINDS)
def test_most_labels_say_what_stands_between_positions(kind: tuple[str, str]) -> None:
    mode, separator = kind
    labels = [separator.join(tag) for tag in TAGS[: MANY_LABELS - 1]]
    assert mode_of_positions(labels) is None
    assert mode_of_positions([*labels, "Z:-"]) == mode


def test_labels_for_whose_parts_a_table_has_no_room_are_wholes() -> None:
    labels = [f"L{number:05d}" for number in range(MAX_LABELS)]
    assert mode_of_positions(labels) is None
    assert mode_of_positions(labels[:-1_000]) == "places+whole"


def test_tags_are_learned_by_their_positions_where_that_is_better() -> None:
    new = sentences(by_word, seed=2, n=100)
    own, whole = tagger(), tagger(preset="fast")
    assert own.model.parts == "places+whole" and own.model.beam == 1
    assert any("by their positions, too" in one for one in own.model.record["choices"])
    assert whole.model.parts is None
    assert own.evaluate(new).accuracy > whole.evaluate(new).accuracy
    assert tagger(preset="accurate", runs=1).model.parts == "places+whole"


@pytest.mark.parametrize(
    "options",
    [{"beam": 2}, {"update": "passive-aggressive"}, {"tag_of": at_random}],
    ids=["a beam", "a rule of whole labels", "words that share no positions"],
)
def test_tags_are_learned_as_wholes_where_that_is_no_worse_or_must_be(options: dict) -> None:
    own = tagger(runs=1, **options)
    assert own.model.parts is None
    said = any("as wholes" in one for one in own.model.record["choices"])
    assert said == ("tag_of" in options)


def test_models_of_positions_are_read_merged_and_resumed() -> None:
    words = [one.words for one in sentences(by_word, seed=3, n=20)]
    own = tagger(resumable=True, runs=1)
    again = pn.Tagger.from_bytes(own.to_bytes())
    assert again.to_bytes() == own.to_bytes() and again.tag_sents(words) == own.tag_sents(words)
    assert pn.merge([own, own]).tag_sents(words) == own.tag_sents(words)
    more = own.resume([pn.Sentence(["zz"], {"xpos": ["zzzz"]})] * 20, average="new")
    assert more.model.parts == own.model.parts and more.tag(["zz"]) == ["zzzz"]
