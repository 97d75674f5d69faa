"""What a person says of running text: abbreviations, and what line breaks mean."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.train.stages import abbreviations_in


@pytest.fixture(scope="module")
def english() -> pn.Tagger:
    return pn.load("en")


def cut(tagger: pn.Tagger, text: str) -> list[list[str]]:
    return [[token.form for token in sentence.tokens] for sentence in pn.tokenize(text, tagger)]


def test_listed_abbreviations_hold_through_every_door(english: pn.Tagger, tmp_path: Path) -> None:
    text = "Hptm. Lee et cie. agree."
    listed = english.with_cutting(abbreviations=["Hptm.", "et cie."])
    right = [["Hptm.", "Lee", "et", "cie.", "agree", "."]]
    assert cut(english, text) != right == cut(listed, text)
    for found in (listed.tag_text(text), [*listed.iter_text([*text])]):
        assert [[token.form for token in one.tokens] for one in found] == right
    listed.save(tmp_path / "listed.model")
    assert cut(pn.load(tmp_path / "listed.model"), text) == right


def test_abbreviations_of_small_letters_have_capitals_too(english: pn.Tagger) -> None:
    listed = english.with_cutting(abbreviations=["z.b", "bzz."])
    assert cut(listed, "Bzz. Z.B. BZZ. so") == [["Bzz.", "Z.B.", "BZZ.", "so"]]


@pytest.mark.parametrize(
    ("lines", "place"),
    [("Dr.\n§ 5\n", ":2"), ("a..b.\n", ":1"), ("\n\n", "none"), ("1.\n", ":1"), ("et al\n", ":1")],
)
def test_a_list_that_is_none_is_refused_with_its_line(
    english: pn.Tagger, tmp_path: Path, lines: str, place: str
) -> None:
    path = tmp_path / "list.txt"
    path.write_text(lines, "utf-8")
    with pytest.raises((pn.FormatError, pn.ArgumentError), match=place):
        english.with_cutting(abbreviations=path)


def test_a_list_of_other_things_is_refused(english: pn.Tagger) -> None:
    for wrong in (3, [3], b"Dr."):
        with pytest.raises(pn.ArgumentTypeError):
            english.with_cutting(abbreviations=wrong)  # type: ignore[arg-type]
    with pytest.raises(pn.FileError):
        english.with_cutting(abbreviations="no-such-file")


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Milk\nBread and butter\nEggs of free hens from the farm", 3),
        ("hi how are you\nim good thanks what about you\nfine\nwhere are we going\nno idea", 5),
        ("It was late when they came\nto the house by the river\nwhere Anna and dogs lived.", 1),
        ("Apples,\npears,\nplums", 1),
        ("3 apples and pears of the farm\n2 large eggs of the free hens", 2),
    ],
)
def test_line_breaks_that_leave_room_end_sentences(
    english: pn.Tagger, text: str, sentences: int
) -> None:
    assert len(cut(english, text)) == sentences
    assert len(cut(english.with_cutting(wrapped=True), text)) <= sentences


def test_abbreviations_of_raw_text_stand_before_full_stops_within_sentences() -> None:
    raw = [["See", "fig.", "3", "."], ["In", "fig", ".", "4", "it", "ends", "."]] * 3
    assert abbreviations_in(raw) == ["fig"]
    assert abbreviations_in([]) == abbreviations_in([["."], []]) == []
