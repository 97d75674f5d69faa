"""What a person says of running text: abbreviations, and what line breaks mean."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.formats.conllu import surfaces
from perceptron_nlp.tagger.train.labeled_atoms import (
    LabeledAtoms,
    abbreviations_at,
    abbreviations_in,
)

MODELS = Path(__file__).parents[3] / "data" / "models"


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


def test_abbreviations_of_small_letters_may_begin_with_a_capital(english: pn.Tagger) -> None:
    listed = english.with_cutting(abbreviations=["z.b", "bzz."])
    assert cut(listed, "Bzz. Z.B. in BZZ. so") == [["Bzz.", "Z.B.", "in", "BZZ", "."], ["so"]]


def test_a_comma_behind_a_full_stop_tells_an_abbreviation(english: pn.Tagger) -> None:
    found = cut(english, "Zarb., grumbl., and so on.")
    assert found == [["Zarb.", ",", "grumbl.", ",", "and", "so", "on", "."]]


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
        ("Plans of the farm:\n12. Sell eggs.\n1848. Buy hens.", 3),
    ],
)
def test_line_breaks_that_leave_room_end_sentences(
    english: pn.Tagger, text: str, sentences: int
) -> None:
    assert len(cut(english, text)) == sentences
    assert len(cut(english.with_cutting(wrapped=True), text)) <= sentences


def test_a_year_ends_a_sentence_that_goes_on_in_its_line(english: pn.Tagger) -> None:
    for year in ("1848.", "1848-1851.", "(1848-1851)."):
        text = f"They came to the house by the river in the autumn of\n{year} Anna left later."
        first, second = cut(english, text)
        assert (first[-1], second[0]) == (".", "Anna")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "ar-pud",
            "وصل المسافرون إلى المدينة القديمة بعد رحلة طويلة عبر الصحراء وكانوا جميعا متعبين جدا.",
        ),
        ("ko-gsd", "여행자들은 긴 여행을 마치고 오래된 도시에 도착했으며 모두 지쳤다."),
    ],
)
def test_text_without_capitals_is_known_to_be_wrapped(name: str, text: str) -> None:
    tagger = pn.load(MODELS / f"{name}.model")
    texts = [text, text]
    whole = cut(tagger, " ".join(texts))
    for width in (30, 36, 45, 60):
        assert cut(tagger, textwrap.fill(" ".join(texts), width)) == whole
    assert [*map(len, cut(tagger, "\n".join(texts)))] == [len(cut(tagger, text)[0])] * 2


def test_a_stream_that_is_left_says_nothing_of_the_next_text() -> None:
    tagger = pn.load(MODELS / "lt-alksnis.model")
    text = "tai yra gera diena. mes dabar einame namo. " * 2000

    def pieces(of: str) -> Iterator[str]:
        return (of[at : at + 5000] for at in range(0, len(of), 5000))

    alone = [sentence.text for sentence in tagger.iter_text(text)]
    left = tagger.iter_text(pieces(f"Tai gerai. {text}"))
    next(left)
    begun = tagger.iter_text(pieces(text))
    found = [next(begun).text]
    next(left)
    assert found + [sentence.text for sentence in begun] == alone
    assert [sentence.text for sentence in tagger.iter_text(text)] == alone


def test_abbreviations_of_raw_text_stand_before_full_stops_within_sentences() -> None:
    raw = [["See", "fig.", "3", "."], ["In", "fig", ".", "4", "it", "ends", "."]] * 3
    assert abbreviations_in(raw) == ["fig"]
    assert abbreviations_in([]) == abbreviations_in([["."], []]) == []


def treebank(tokens: str, path: Path, times: int = 4, glued: str = ".,") -> list[pn.Sentence]:
    """Sentences of tokens; / ends each, and no space stands before what is `glued`."""
    lines: list[str] = []
    for sentence in tokens.split(" / ") * times:
        words = sentence.split()
        for at, word in enumerate(words):
            misc = "SpaceAfter=No" if at + 1 < len(words) and words[at + 1] in glued else "_"
            lines.append("\t".join([str(at + 1), word, *"_" * 7, misc]))
        lines.append("")
    path.write_text("\n".join([*lines, ""]), "utf-8")
    return list(pn.read_conllu(path))


def test_a_treebank_tells_if_full_stops_belong_to_abbreviations(tmp_path: Path) -> None:
    def written(tokens: str) -> tuple[list[str], bool]:
        sentences = treebank(tokens, tmp_path / "some.conllu")
        return abbreviations_at(LabeledAtoms(surfaces(sentences)))

    kept = written("Dr. Roe met J. Lee etc. / they came by bus etc. / I am here , I say .")
    assert kept == (["D", "J", "L", "R"], False)
    off = written("Dr . Roe met J . Lee . / Lee came to Roe .")
    assert off == (["D", "J", "L", "R"], True)
    assert written("they met me . we ran . / she met me here .") == ([], False)


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It was J. R. Roe and W. Lee.", ["It was J. R. Roe and W. Lee ."]),
        ("The U.S. Senate met.", ["The U.S. Senate met ."]),
        ("A.B. Roe met R.E.M. fans.", ["A.B. Roe met R.E.M. fans ."]),
        ("Call Mrs. O'Neill, see fig. 3.", ["Call Mrs. O'Neill , see fig. 3 ."]),
        ("Why me and not I. He knew.", ["Why me and not I .", "He knew ."]),
    ],
)
def test_initials_do_not_end_sentences(english: pn.Tagger, text: str, right: list[str]) -> None:
    assert [" ".join(one) for one in cut(english, text)] == right


@pytest.mark.parametrize("more", ["", " / re body ran home re . / out body is home out ."])
def test_full_stops_are_cut_off_abbreviations_where_a_treebank_does_so(
    tmp_path: Path, more: str
) -> None:
    """With `more` tokens end within runs of letters, so that every letter is an atom."""
    tokens = f"Roe met J . Lee . / they saw Dr . Roe . / we ran home .{more}"
    sentences = treebank(tokens, tmp_path / "train.conllu", 40, glued=".,body")
    tagger = pn.train(sentences, column="text")
    tagger.with_cutting(abbreviations=["abbr."]).save(tmp_path / "parted.model")
    found = cut(pn.load(tmp_path / "parted.model"), "We ran home. W. J. Roe saw abbr. Lee.")
    assert [" ".join(one) for one in found] == ["We ran home .", "W . J . Roe saw abbr . Lee ."]
