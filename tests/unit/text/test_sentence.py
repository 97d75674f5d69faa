"""Sentences made by hand: what they hold, and what they refuse."""

import copy
import pickle
from enum import Enum

import numpy as np
import pytest

from perceptron_nlp.errors import FormatError
from perceptron_nlp.text.sentence import Sentence, Token


def test_a_sentence_is_the_sequence_of_its_words():
    sentence = Sentence(["The", "dog"], {"upos": ["DET", "NOUN"]})
    assert list(sentence) == ["The", "dog"]
    assert len(sentence) == 2
    assert sentence[1] == "dog"
    assert sentence.words == ("The", "dog")


def test_a_column_is_asked_for_by_name_and_form_is_the_words():
    sentence = Sentence(["The", "dog"], {"upos": ["DET", "NOUN"]})
    assert sentence.column("upos") == ("DET", "NOUN")
    assert sentence.column("form") == ("The", "dog")


def test_a_missing_column_is_named_with_the_file_and_those_there_are():
    sentence = Sentence(["a"], {"upos": ["X"]}, path="f.txt")
    with pytest.raises(FormatError, match=r"^f\.txt: no column 'xpos'; there are: form, upos$"):
        sentence.column("xpos")


def test_a_token_knows_its_place_word_and_columns():
    sentence = Sentence(["a", "b"], {"upos": ["X", "Y"]})
    assert sentence.token(1) == Token(1, "b", {"upos": "Y"})
    assert [token.word for token in sentence.tokens()] == ["a", "b"]


def test_sentences_are_equal_by_words_and_columns_and_not_by_path():
    one = Sentence(["a"], {"upos": ["X"]}, path="1")
    assert one == Sentence(["a"], {"upos": ["X"]}, path="2")
    assert hash(one) == hash(Sentence(["a"]))
    assert one != Sentence(["a"], {"upos": ["Y"]})
    assert one != Sentence(["a"])
    assert one != ["a"]


def test_a_sentence_does_not_change():
    sentence = Sentence(["a"], {"upos": ["X"]})
    with pytest.raises(AttributeError, match="does not change"):
        sentence.words = ("b",)
    with pytest.raises(AttributeError, match="does not change"):
        del sentence.path
    with pytest.raises(TypeError):
        sentence.columns["upos"] = ("Y",)


def test_a_sentence_of_no_file_has_line_zero():
    assert Sentence(["a", "b"]).line_of(1) == 0
    with pytest.raises(IndexError):
        Sentence(["a"]).line_of(1)


def test_a_sentence_pickles_and_copies():
    sentence = Sentence(["a"], {"upos": ["X"]}, path="p")
    for twin in (pickle.loads(pickle.dumps(sentence)), copy.deepcopy(sentence)):
        assert twin == sentence
        assert twin.path == "p"


def test_the_representation_shows_words_and_columns():
    shown = repr(Sentence(["a"] * 10, {"upos": ["X"] * 10}))
    assert shown == "<Sentence of 10 words: 'a a a a a a a a …', columns: upos>"


class Tag(str, Enum):  # noqa: UP042 - formatted otherwise than a StrEnum
    """Labels as programs have them."""

    DET = "DET"


def test_words_and_labels_of_subclasses_of_str_are_what_they_hold() -> None:
    sentence = Sentence(np.array(["The"]), {"upos": [Tag.DET]})
    assert [type(value) for value in (*sentence.words, *sentence.column("upos"))] == [str, str]
    assert sentence.words == ("The",) and sentence.column("upos") == ("DET",)
