"""What the core sees of a word, against plain Python strings."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from oracles.word_views import feature_key, seen, text_hash, view

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp.features.templates import VIEWS, Template, Value, compile_templates

AFFIXES = [
    "",
    *(f".{kind}{k}" for kind in ("prefix", "suffix") for k in (1, 3, 16)),
    ".ngrams1-2",
    ".ngrams3-5",
    ".ngrams16-16",
    ".ngrams1-16",
    ".pieces",
]
TEMPLATES = [Template.parse(f"{name}{affix}[0]") for name in VIEWS for affix in AFFIXES]
VALUES = [value for template in TEMPLATES for value in (template.atoms[0].value,) if value]


def program_of(templates: list[Template]) -> FeatureProgram:
    return FeatureProgram(compile_templates(templates))


PROGRAM = program_of(TEMPLATES)
SEEDS = compile_templates(TEMPLATES).seeds

ODD = [
    "",
    "a",
    "A",
    "-",
    "--",
    "-a",
    "a-",
    "1",
    "1984",
    "198",
    "19845",
    "१९८४",
    "²",
    "¼",
    "Ⅷ",
    "straße",
    "STRASSE",
    "ẞ",
    "İstanbul",
    "ISTANBUL",
    "ΌΔΟΣ",
    "Σ",
    "ΣΣ",
    "ς",
    "ǅ",
    "ǆ",
    "Ⓐ",
    "ñ",
    "n\u0303",
    "e\u0301\u0302",
    "👍",
    "👩‍👩‍👧‍👦",
    "🇫🇷",
    "\ud800",
    "a\udfffb",
    "𐐀𐐨",
    "中文",
    "ـ",
    "don't",
    "U.S.A.",
    "a\u2010b",
    "a\u2011b",
    "a\u2013b",
    "well-known",
    "-5",
    "3rd",
    "$5",
    "\x00",
    "\t",
    "\xa0",
    "aaaaaBBBBB11111",
    "a|b",
    "|",
    "||a||É|",
    "x" * 47,
    "x" * 48,
    "ab" * 24 + "c",
    "é" * 200,
    "\U0010ffff",
]
TEXT = st.text(st.characters() | st.sampled_from("aA1-ßİΣσς\u0301é中👍|\ud800"), max_size=60)
TEXT |= st.lists(st.sampled_from([*"aA1-&;#x", "&eacute;", "&#39;", "&shy;", "&nbsp;"])).map(
    "".join
)


def keys_of(program: FeatureProgram, *columns: bytes) -> dict[int, list[int]]:
    """The keys of the features of a word, whose slots are one a column, by template."""
    found: dict[int, list[int]] = {}
    for slot, text in enumerate(columns):
        for number, key in program.slot_features(slot, text):
            found.setdefault(number, []).append(key)
    return found


def found(text: str) -> dict[int, list[int]]:
    return keys_of(PROGRAM, text.encode("utf-8", "surrogatepass"))


def expected(text: str) -> dict[int, list[int]]:
    keys = {
        number: [feature_key([text_hash(piece)], SEEDS[number]) for piece in seen(text, value)]
        for number, value in enumerate(VALUES)
    }
    return {number: own for number, own in keys.items() if own}


@pytest.mark.parametrize("word", ODD, ids=ascii)
def test_every_view_and_affix_of_odd_words_is_what_python_says(word: str) -> None:
    assert found(word) == expected(word)


@given(TEXT)
@example("x" * 49)
def test_every_view_and_affix_of_any_word_is_what_python_says(word: str) -> None:
    assert found(word) == expected(word)


def test_the_views_of_a_word_are_these() -> None:
    assert {name: view("McGill-2024x", name) for name in VIEWS} == {
        "word": "McGill-2024x",
        "lower": "mcgill-2024x",
        "norm": "!HYPHEN",
        "shape": "XxXx-dx",
        "shape4": "XxXxxx-ddddx",
        "folded": "mckill-2024x",
        "flags": chr(1 + 4 + 8 + 32),
        "capital": "1",
        "allcaps": "0",
        "hasdigit": "1",
        "hashyphen": "1",
    }


@pytest.mark.parametrize(
    ("word", "name", "text"),
    [
        ("İ", "lower", "i"),
        ("ΌΔΟΣ", "lower", "όδοσ"),
        ("ẞ", "lower", "ß"),
        ("ǅ", "shape", "X"),
        ("n\u0303", "shape", "x"),
        ("n\u0308", "shape", "x\u0308"),
        ("👍👍", "shape", "👍"),
        ("1984", "norm", "!YEAR"),
        ("19845", "norm", "!DIGITS"),
        ("-5", "norm", "-5"),
        ("a-b", "norm", "!HYPHEN"),
        ("Word", "norm", "word"),
        ("Kitabı", "folded", "kitapi"),
        ("güçlüğe", "folded", "kiclika"),
        ("e\u0301t", "folded", "at"),
        ("βγδ", "folded", "βγδ"),
        ("AAAAAA", "shape4", "XXXX"),
        ("", "norm", ""),
    ],
)
def test_what_a_view_gives_is_the_hash_of_its_text(word: str, name: str, text: str) -> None:
    number = VALUES.index(Value("form", name))
    assert found(word)[number] == [feature_key([text_hash(text)], SEEDS[number])]


def test_a_word_shorter_than_an_affix_gives_itself_whole() -> None:
    number = VALUES.index(Value("form", "word", "suffix", 16, 16))
    assert found("été")[number] == [feature_key([text_hash("été")], SEEDS[number])]


def test_ngrams_mark_the_edges_of_the_word() -> None:
    number = VALUES.index(Value("form", "word", "ngrams", 1, 2))
    assert found("ab")[number] == [
        feature_key([text_hash(gram)], SEEDS[number])
        for gram in ("\x02", "a", "b", "\x03", "\x02a", "ab", "b\x03")
    ]


@pytest.mark.parametrize("length", [0, 1, 47, 48, 49, 50, 100, 5000])
def test_a_word_of_any_length_has_a_bounded_number_of_ngrams(length: int) -> None:
    number = VALUES.index(Value("form", "word", "ngrams", 1, 16))
    grams = found("x" * length)[number]
    assert len(grams) <= 16 * 50
    assert len(grams) == len(seen("x" * length, VALUES[number]))


def test_long_and_short_words_in_turn_do_not_disturb_each_other() -> None:
    assert [found(word) for word in ("a" * 300, "b", "ß" * 700, "")] == [
        expected(word) for word in ("a" * 300, "b", "ß" * 700, "")
    ]


@pytest.mark.parametrize("n", range(1, 9))
def test_the_key_of_a_feature_of_several_values_is_the_hash_of_their_hashes(n: int) -> None:
    template = Template.parse(" ".join(f"word.prefix{size}[0]" for size in range(n, 0, -1)))
    seeds = compile_templates([template]).seeds
    hashes = [text_hash("abcdefgh"[:size]) for size in range(n, 0, -1)]
    assert keys_of(program_of([template]), b"abcdefgh") == {0: [feature_key(hashes, seeds[0])]}


def test_columns_are_told_apart() -> None:
    templates = [Template.parse("word[0]"), Template.parse("column:xpos[0]")]
    seeds = compile_templates(templates).seeds
    assert keys_of(program_of(templates), b"a", b"b") == {
        number: [feature_key([text_hash(text)], seeds[number])] for number, text in enumerate("ab")
    }
