"""Quotes, dashes and dots that a treebank does not have are seen as those that it has."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn

ROWS = [
    (['"', "Come", '"', ",", "she", "said", "-", "and", "left", "..."], "P V P P O V P C V P"),
    (
        ["He", "heard", '"', "no", '"', "and", "stayed", "-", "so", "what", "?"],
        "O V P I P C V P A O P",
    ),
    (["What", "then", "?", "They", "asked", "(", "twice", ")", "."], "O A P O V P A P P"),
] * 5
NAMES = {"P": "PUNCT", "V": "VERB", "O": "PRON", "C": "CCONJ", "I": "INTJ", "A": "ADV"}


@pytest.fixture(scope="module")
def tagger() -> pn.Tagger:
    rows = [(words, [NAMES[one] for one in tags.split()]) for words, tags in ROWS]
    return pn.train(rows, templates="default", epochs=4)


@pytest.mark.parametrize(
    "mark",
    ["“", "”", "„", "«", "»", "‚", "–", "—", "…", "[", "】", "？", "•", "``", "¿", "،", "、"],
)
def test_a_mark_that_was_never_met_is_labeled_as_one_that_was(tagger: pn.Tagger, mark: str) -> None:
    for words in (["She", mark, "left", "."], [mark, "no"], ["He", "said", mark]):
        assert tagger.tag(words)[words.index(mark)] == "PUNCT"


def test_what_is_known_and_what_is_no_mark_stay_as_they_are(tagger: pn.Tagger) -> None:
    seen_as = tagger._labeler.decoder.seen_as
    for word in (
        '"',
        "...",
        "-",
        "?",
        "Come",
        "no",
        "unmet",
        ":-)",
        "))",
        "",
        "\0",
        "“no",
        "😀",
        "—a",
    ):
        assert seen_as(word) == word
    alike = {"“": '"', "„": '"', "—": "-", "…": "...", "[": "(", "……": "..."}
    assert [*map(seen_as, alike)] == [*alike.values()]


def test_pictures_that_were_never_met_are_labeled_as_signs_that_were() -> None:
    rows = [(["She", "left", ":)"], ["O", "V", "S"]), (["It", "is", "so", "."], [*"OVAP"])] * 5
    tagger = pn.train(rows, templates="default", epochs=4)
    for picture in ("😀", "👍🏽", "❤\ufe0f", "👩\u200d💻", "🇫🇷", "😀😀"):
        assert tagger.tag(["He", "came", picture])[-1] == "S"
    assert tagger._labeler.decoder.seen_as("😀a") == "😀a"


def test_a_model_without_marks_sees_them_as_they_are() -> None:
    tagger = pn.train([(["she", "left"], ["O", "V"])] * 3, epochs=2)
    assert tagger._labeler.decoder.seen_as("“") == "“"


@given(
    words=st.lists(
        st.sampled_from(["“", "„", "no", "She", "—", "…", '"', "x", "【", "?!"]), max_size=8
    )
)
def test_an_explanation_adds_up_to_the_scores_that_labels_have(
    tagger: pn.Tagger, words: list[str]
) -> None:
    labeler = tagger._labeler
    assert np.array_equal(labeler.scores(words), labeler.trace(words).scores)
    seen = [*map(labeler.decoder.seen_as, words)]
    assert np.array_equal(labeler.scores(words), labeler.scores(seen))


def test_text_and_lists_have_the_same_labels_and_lemmas_stay_marks() -> None:
    english = pn.load("en")
    sentences = [*english.tag_text("``No — never¡ „yes‟.\n")]
    found = english.tag_sents([one.forms for one in sentences], columns=english.columns)
    for sentence, labels in zip(sentences, found["upos"], strict=True):
        assert [word.labels["upos"] for word in sentence] == list(labels)
    [quote] = [word for sentence in sentences for word in sentence if word.form == "„"]
    assert quote.lemma == "„"
