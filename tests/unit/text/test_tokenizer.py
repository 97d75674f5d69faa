"""The rules by which running text is cut, each by an example."""

from __future__ import annotations

import pytest

from perceptron_nlp import ArgumentTypeError, tokenize
from perceptron_nlp.text.splitter import MOST_CHARACTERS, sentences_in, sentences_of


def words(text: str) -> list[str]:
    return [token.form for sentence in tokenize(text) for token in sentence]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("I don't, you'll; he's: they're, I'm.", "I do n't , you 'll ; he 's : they 're , I 'm ."),
        ("DON'T! It’s we'd've gonna", "DO N'T ! It ’s we 'd 've gon na"),
        ('(a) [b] “d” "e"', '( a ) [ b ] “ d ” " e "'),
        ("well-known e-mail co-founder 1-2", "well - known e-mail co-founder 1 - 2"),
        ("and/or 9/11 3/15/2001 2001-03-15 1/2", "and / or 9/11 3/15/2001 2001-03-15 1 / 2"),
        (
            "$5.50, 100%, 3,000.25, 12:30, 7:30PM, 5kg, 20th, 1990s",
            "$ 5.50 , 100 % , 3,000.25 , 12:30 , 7:30 PM , 5 kg , 20th , 1990s",
        ),
        ("713-853-3989 555-1234 +44", "713-853-3989 555-1234 +44"),
        ("see http://a.b/c?d=e, me@x.example.com.", "see http://a.b/c?d=e , me@x.example.com ."),
        (
            "Mr. Hall, J. Smith Inc. of the U.S. Senate",
            "Mr. Hall , J. Smith Inc. of the U.S. Senate",
        ),
        ("really... no!!! what?! yes--or", "really ... no !!! what ?! yes -- or"),
        ("fun :) <3 it", "fun :) <3 it"),
        ("#tag @name #5 AT&T", "#tag @name # 5 AT&T"),
        ("file.doc comp.lang.c x_y", "file.doc comp.lang.c x_y"),
        ("'em '90s 60's", "'em '90s 60's"),
        ("नमस्ते, e\u0301te\u0301", "नमस्ते , e\u0301te\u0301"),
    ],
)
def test_words_are_cut_as_the_treebank_cuts_them(text: str, cut: str) -> None:
    assert words(text) == cut.split()


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("can't", ["ca", "n't"]),
        ("cannot", ["can", "not"]),
        ("dont", ["do", "nt"]),
        ("I'd've", ["I", "'d", "'ve"]),
        ("dogs'", ["dogs", "'"]),
        ("O'Brien's", ["O'Brien", "'s"]),
        ("(see p.m.)", ["(", "see", "p.m.", ")"]),
        ("No. 5", ["No.", "5"]),
        ("Oh no. Yes", ["Oh", "no", ".", "Yes"]),
        ("end.Start", ["end", ".", "Start"]),
        ("$3.5bn", ["$", "3.5", "bn"]),
        ("https://x.org/a_(b).", ["https://x.org/a_(b)", "."]),
        ("-------->", ["-------->"]),
        ("a\u200db", ["a\u200db"]),
        ("👩‍🚀👍🏽", ["👩‍🚀", "👍🏽"]),
        ("🇩🇪🇫🇷", ["🇩🇪", "🇫🇷"]),
        ("🏴\U000e0067\U000e0062\U000e007f!", ["🏴\U000e0067\U000e0062\U000e007f", "!"]),
        ("co\u00adoperate", ["co\u00adoperate"]),
        ("@cafe\u0301, #cafe\u0301", ["@cafe\u0301", ",", "#cafe\u0301"]),
        ("me@cafe\u0301.com.", ["me@cafe\u0301.com", "."]),
        ("\ufeffHi", ["\ufeff", "Hi"]),
        ("a\0b", ["a", "\0", "b"]),
        ("\ud800x", ["\ud800", "x"]),
    ],
)
def test_a_chunk_is_cut(text: str, cut: list[str]) -> None:
    assert words(text) == cut


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three? four", ["One.", "Two!", "Three?", "four"]),
        (
            'He said, "Go!" and went. (Really.) Yes',
            ['He said, "Go!" and went.', "(Really.)", "Yes"],
        ),
        ("Mr. Hall met J. Smith. He left.", ["Mr. Hall met J. Smith.", "He left."]),
        (
            "In the U.S. Senate it rose, e.g. Monday. In Dec. 10 fell.",
            ["In the U.S. Senate it rose, e.g. Monday.", "In Dec. 10 fell."],
        ),
        ("He came from the U.S. He left.", ["He came from the U.S.", "He left."]),
        ("Well... maybe. Hmm... Yes.", ["Well... maybe.", "Hmm...", "Yes."]),
        ("1. First\n2. Second", ["1. First", "2. Second"]),
        (
            "A heading\nThis is a longer line of text that was broken off because"
            "\nit is so long. Next",
            [
                "A heading",
                "This is a longer line of text that was broken off because\nit is so long.",
                "Next",
            ],
        ),
        (
            "no full stop at all in this rather long paragraph\n\nNext",
            ["no full stop at all in this rather long paragraph", "Next"],
        ),
        ("Thanks! :) I will.", ["Thanks! :)", "I will."]),
        ("एक। दो。三", ["एक।", "दो。", "三"]),
        ("", []),
        (" \n\t\u00a0", []),
    ],
)
def test_sentences_end_where_the_rules_say(text: str, sentences: list[str]) -> None:
    assert [sentence.text for sentence in tokenize(text)] == sentences


def test_an_abbreviation_that_ends_a_sentence_gives_it_its_full_stop() -> None:
    assert [s.forms for s in tokenize("Bread, milk, etc. We ate.")] == [
        ["Bread", ",", "milk", ",", "etc", "."],
        ["We", "ate", "."],
    ]


def test_text_without_a_space_is_cut_into_sentences_that_hold_all_of_it() -> None:
    text = "ab" * MOST_CHARACTERS
    whole = list(sentences_of(text))
    assert len(whole) == 2
    places = [span for spans in whole for span in spans]
    assert "".join(text[start:end] for start, end in places) == text
    pieces = (text[at : at + 65_537] for at in range(0, len(text), 65_537))
    cut = [one for _, one, *_ in sentences_in(pieces)]
    assert cut == [text[spans[0][0] : spans[-1][1]] for spans in whole]


@pytest.mark.parametrize("text", [b"bytes", None, ["words"], 3])
def test_what_is_no_str_is_refused(text: object) -> None:
    with pytest.raises(ArgumentTypeError, match="text: a str is needed, not "):
        tokenize(text)  # type: ignore[arg-type]
