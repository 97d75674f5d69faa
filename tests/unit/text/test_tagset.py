"""Labels and their numbers."""

import html
import html.entities
from unicodedata import normalize

import pytest

from perceptron_nlp._core.features.extract import views_of
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.text.tagset import MAX_LABELS, TagSet, seen, visible


def test_labels_are_numbered_by_code_point_whatever_their_order():
    assert TagSet(["b", "Z", "ä", "a", "b"]).labels == ("Z", "a", "b", "ä")
    assert TagSet(["b", "Z", "ä", "a"]) == TagSet(iter(["a", "ä", "Z", "b"]))


def test_numbers_and_labels_lead_to_each_other():
    tags = TagSet(["NOUN", "VERB", "ADJ"])
    assert [tags.label_of(tags.id_of(label)) for label in tags] == list(tags)
    assert tags.ids_of(["VERB", "none", "ADJ"]) == [2, -1, 0]
    assert "VERB" in tags and "none" not in tags and len(tags) == 3


def test_an_unknown_label_has_the_number_minus_one():
    assert TagSet(["A"]).id_of("B") == -1


def test_the_list_of_a_tag_set_makes_it_again():
    tags = TagSet(["x", "y"])
    assert TagSet(tags.to_list()) == tags
    assert hash(TagSet(tags.to_list())) == hash(tags)
    assert repr(tags) == "TagSet(['x', 'y'])"


def test_what_has_no_width_is_not_seen_and_apostrophes_look_alike():
    assert seen("co\u00adope\u200brate\u2019s") == "cooperate's"
    assert visible("co\u00adoperate\u2019s") == "cooperate\u2019s"
    assert seen("\ufeff\u200b") == visible("\ufeff\u200b") == "\ufeff\u200b"


def test_html_entities_are_seen_as_what_they_stand_for():
    for name, mark in html.entities.entitydefs.items():
        expected = f"a&{name};" if mark.isspace() else seen(f"a{mark}")
        assert seen(f"a&{name};") == expected, name
        assert views_of(f"a&{name};".encode())[0] == expected.encode(), name
    for number in [*range(1, 10_000), 0x1F600, 0x10FFFF, 0x110000, 9_999_999]:
        found = html.unescape(f"&#{number};")
        is_text = found and found != "\ufffd" and (found > "\xa0" or " " < found < "\x7f")
        if number >= 0x10FFF0 or not is_text:
            continue
        expected = f"a&#{number};" if found.isspace() else seen(f"a{found}")
        assert seen(f"a&#{number};") == expected
        hexadecimal = views_of(f"a&#x{number:X};".encode())[0].decode()
        assert hexadecimal == (f"a&#x{number:X};" if found.isspace() else expected)
    assert visible("&apos;&lt;b&gt; &x; &; &#xD800; &#0; &#1234567; &amp;lt; &quot") == (
        "'<b> &x; &; &#xD800; &#0; &#1234567; &lt; &quot"
    )


def test_65536_labels_are_possible_and_one_more_is_not():
    labels = [str(number) for number in range(MAX_LABELS)]
    assert len(TagSet(labels)) == 65_536
    with pytest.raises(ArgumentError, match="65,537 different labels; at most 65,536"):
        TagSet([*labels, "more"])


@pytest.mark.parametrize("word", ["jakiś", "Việt", "ᾴ", "Ů", "한국어", "ガ", "آ", "ữ", "Й", "ǘ"])
def test_letters_and_their_marks_are_seen_as_one(word):
    assert seen(normalize("NFD", word)) == visible(normalize("NFD", word)) == word
    assert views_of(normalize("NFD", word).encode())[0].decode() == word


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("ê\u0323", "ệ"),
        ("ú\u0308", "ú\u0308"),
        ("x\u0301", "x\u0301"),
        ("=\u0338", "=\u0338"),
        ("\u0301a", "\u0301a"),
        ("a\u0340", "a\u0340"),
        ("\u212b\u0301", "\u212b\u0301"),
        ("a\u00ad\u0301", "á"),
        ("a&#769;", "á"),
    ],
)
def test_what_makes_no_letter_stays_as_it_is(word, expected):
    assert views_of(word.encode())[0].decode() == seen(word) == expected
