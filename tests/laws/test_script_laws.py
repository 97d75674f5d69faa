"""Laws of edit scripts and atoms: lemmas come back, and no character of any text is lost."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.atoms import Atoms, atoms_of, core_atoms
from oracles.segmentation import put_together

from perceptron_nlp.errors import FormatError
from perceptron_nlp.tagger.train.labeled_atoms import atom_labels
from perceptron_nlp.text.atoms import EMPTY_LINE
from perceptron_nlp.text.script_making import alphabet_of, make_script, make_split
from perceptron_nlp.text.scripts import CASES, WHOLE, Script, lowered, parse_script, read_in, split
from perceptron_nlp.text.tagset import CASED, CASELESS, GAPS, GOES_ON, SENTENCE, TOKEN

LETTERS = st.text(alphabet="aábcAÁΒσςΣάΑΆiıIİ '-,%=1ȘșŞşيی", max_size=12)
WORDS = LETTERS | st.text(max_size=12)
# What a line can hold.
LEMMAS = WORDS.filter(
    lambda text: not re.search(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]", text)
)
ALPHABETS = st.sampled_from(["", "Iİ", "ي", "Iİی", "Şş", "IİȘș"])
TEXTS = st.text(
    alphabet="ab É.,!?\n\r\t\f\u2029 的ก่9१\u200d\u0301\ud800İ\xad\u2060’", max_size=60
) | st.text(max_size=60)


@given(WORDS, LEMMAS, ALPHABETS)
def test_a_script_made_for_a_form_gives_its_lemma(form: str, lemma: str, alphabet: str) -> None:
    script = make_script(form, lemma, alphabet)
    assert script.apply(form, alphabet) == lemma


@given(WORDS, LEMMAS.filter(bool), ALPHABETS)
def test_a_script_is_its_label(form: str, lemma: str, alphabet: str) -> None:
    script = make_script(form, lemma, alphabet)
    assert parse_script(str(script)) == script
    assert not re.search(r"[\s\x00-\x1f]", str(script))


@given(WORDS, LEMMAS.filter(bool), WORDS)
def test_a_script_applies_to_every_form_that_is_long_enough(
    form: str, lemma: str, other: str
) -> None:
    script = make_script(form, lemma)
    found = script.apply(other)
    long_enough = script.literal is not None or len(other) > script.drop_front + script.drop_back
    if " " in other and script.literal is None:
        assert found is None or found == found.strip(" ")
    else:
        assert (found is not None) == long_enough


SCRIPTS = st.builds(
    Script,
    st.sampled_from(CASES),
    st.integers(0, 3),
    LEMMAS,
    st.integers(0, 3),
    LEMMAS,
    st.none() | st.integers(0, 3),
    st.none(),
)


@given(SCRIPTS, WORDS, ALPHABETS)
def test_lemmas_are_longer_than_words_by_what_a_script_adds_and_drops(
    script: Script, form: str, alphabet: str
) -> None:
    lemma = script.apply(form, alphabet)
    kept = len(read_in(form, alphabet)) - script.drop_front - script.drop_back
    assert lemma is None or len(lemma) == kept + len(script.front + script.back)


@given(st.text(max_size=20), ALPHABETS)
def test_lower_case_keeps_the_length(text: str, alphabet: str) -> None:
    assert len(lowered(text, alphabet)) == len(text)


@given(st.text(max_size=15))
def test_no_text_but_a_script_is_read_as_one(text: str) -> None:
    try:
        script = parse_script(text)
    except FormatError:
        return
    assert parse_script(str(script)) == script


@pytest.mark.parametrize(
    "label",
    ["", "l", "l,0,,2", "x,0,,2,e", "l,-1,,2,e", "l,256,,0,", "l,0,,0,,300", "=", "l,0,,١,"],
)
def test_what_is_no_script_is_refused(label: str) -> None:
    with pytest.raises(FormatError, match="is no edit script"):
        parse_script(label)


@pytest.mark.parametrize(
    ("form", "lemma", "label"),
    [
        ("dogs", "dog", "l,0,,1,"),
        ("making", "make", "l,0,,3,e"),
        ("Dogs", "dog", "l,0,,1,"),
        ("Ellas", "Ella", "k,0,,1,"),
        ("USA", "USA", "k,0,,0,"),
        ("usa", "USA", "u,0,,0,"),
        ("london", "London", "t,0,,0,"),
        ("gekauft", "kaufen", "l,2,,1,en"),
        ("is", "be", "=be"),
        ("θαλασσών", "θάλασσα", "l,0,,2,α,3"),
        ("a b", "a c", "l,0,,1,c"),
        ("x", "y, z", "=y%2c;%20;z"),
    ],
)
def test_scripts_count_characters(form: str, lemma: str, label: str) -> None:
    assert str(make_script(form, lemma)) == label


@pytest.mark.parametrize("lemma", ["a\tb", "b\n", "\x00", "\ud800", "b\u2028"])
def test_what_no_line_can_hold_has_no_script(lemma: str) -> None:
    assert make_script("ab", lemma) is None
    assert make_split("ab", ["a", lemma]) == WHOLE


@given(st.lists(st.text("abc", min_size=1, max_size=4), min_size=2, max_size=5), st.booleans())
def test_pieces_of_a_token_are_cut_about_a_stem_of_any_length(words: list[str], end: bool) -> None:
    label = make_split("".join(words), words, longest=end)
    assert split(label, "".join(words)) == tuple(words)
    stem = words.index(max(words, key=len)) if end else 0
    words[stem] += "d" * 9
    assert split(label, "".join(words)) == tuple(words)
    assert make_split("".join(words), words, longest=end) == label


def test_turkic_letters_are_lowered_as_the_training_text_does() -> None:
    assert alphabet_of([("Irmak", "ırmak"), ("İki", "iki"), ("I", "I")]) == "Iİ"
    assert alphabet_of([("In", "in"), ("I", "I")]) == ""
    assert make_script("IRMAKTA", "ırmak", "Iİ") == Script(drop_back=2)


def test_forms_are_read_in_the_letters_that_training_writes() -> None:
    persian = alphabet_of(
        [("\u06cc\u06a9\u06cc", "\u06cc\u06a9"), ("\u0639\u0644\u064a", "\u0639")]
    )
    assert persian == "\u064a\u0643"
    assert parse_script("k,0,,0,").apply("\u064a\u0643", persian) == "\u06cc\u06a9"
    romanian = alphabet_of([("\u0219i", "\u0219i"), ("\u021bar\u0103", "\u021bar\u0103")])
    script = make_script("\u0218tiin\u021be", "\u0218tiin\u021b\u0103", romanian)
    assert script.apply("\u015etiin\u0163e", romanian) == "\u0218tiin\u021b\u0103"
    assert alphabet_of([("a", "b"), ("\u0627", "\u0628")]) == ""


@given(TEXTS)
def test_atoms_and_gaps_are_the_text_again(text: str) -> None:
    atoms = atoms_of(text)
    place = 0
    for (start, end), gap in zip(*atoms, strict=True):
        assert text[place:start].isspace() or place == start
        assert start < end and not any(letter.isspace() for letter in text[start:end])
        behind = text[end:]
        between = behind[: len(behind) - len(behind.lstrip())]
        rest = behind[len(between) :]
        if rest:
            assert gap == ("p" if re.search(EMPTY_LINE, between) else "1" if between else "0")
        place = end
    assert not text[place:].strip()
    assert not atoms.gaps or atoms.gaps[-1] == "p"


@given(TEXTS | st.text("ab\u0301&;\n").map(lambda text: 9_990 * "a" + text), st.booleans())
def test_the_core_finds_the_atoms_that_an_expression_finds(text: str, is_single: bool) -> None:
    single = CASED + CASELESS if is_single else ""
    spans, gaps = core_atoms(text, single).spans()
    assert Atoms(spans, [GAPS[gap] for gap in gaps]) == atoms_of(text, single)


@given(TEXTS, st.data())
def test_any_labels_put_all_atoms_together(text: str, data: st.DataObject) -> None:
    atoms = atoms_of(text)
    labels = data.draw(
        st.lists(
            st.sampled_from([GOES_ON, TOKEN, SENTENCE]),
            min_size=len(atoms.spans),
            max_size=len(atoms.spans),
        )
    )
    tokens = [span for sentence in put_together(atoms, labels, 40_000) for span in sentence]
    assert all(before[1] <= after[0] for before, after in pairwise(tokens))
    covered = "".join(text[start:end] for start, end in tokens)
    assert "".join(covered.split()) == "".join(text.split())


@given(TEXTS, st.data())
def test_labels_of_tokens_at_atoms_give_the_tokens_again(text: str, data: st.DataObject) -> None:
    atoms = atoms_of(text)
    labels = [
        SENTENCE if gap == "p" else data.draw(st.sampled_from([GOES_ON, TOKEN, SENTENCE]))
        for gap in atoms.gaps
    ]
    sentences = list(put_together(atoms, labels, 40_000))
    tokens = [span for sentence in sentences for span in sentence]
    ends = [span == sentence[-1] for sentence in sentences for span in sentence]
    assert atom_labels(atoms.spans, tokens, ends) == labels


def test_scripts_without_spaces_are_cut_at_every_character() -> None:
    assert atoms_of("我爱ABC北京1984。") == Atoms(
        [(0, 1), (1, 2), (2, 5), (5, 6), (6, 7), (7, 11), (11, 12)], ["0"] * 6 + ["p"]
    )
    thai = "ที่นี่"
    assert "|".join(thai[a:b] for a, b in atoms_of(thai).spans) == "ที่|นี่"
