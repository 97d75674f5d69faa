"""Files of columns and of ``word/TAG`` lines, written; tests/cases has what is read."""

import io
from pathlib import Path

import pytest

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.formats import read_columns, read_tagged, tagged, write_columns, write_tagged
from perceptron_nlp.text.sentence import Sentence

CORPORA = Path(__file__).parents[2] / "corpora"


def test_another_separator_may_be_used(tmp_path):
    (sentence,) = read_tagged(io.BytesIO(b"a/b_NN c_VB\n"), separator="_")
    assert sentence.words == ("a/b", "c")
    assert tagged.rewrite(sentence, {"tag": ["X", "Y"]}) == "a/b_X c_Y\n"
    write_tagged([sentence], tmp_path / "x", separator="|")
    assert (tmp_path / "x").read_text() == "a/b|NN c|VB\n"
    for separator in ("", " ", "a b"):
        with pytest.raises(ArgumentError, match="separator: "):
            list(read_tagged(CORPORA / "good.tagged", separator=separator))


def test_sentences_of_other_formats_are_written_as_tagged_text(tmp_path):
    one = Sentence(["a", "b"], {"upos": ["X", "Y"], "xpos": ["P", "Q"]})
    two = next(read_tagged(io.BytesIO(b"c/Z")))
    write_tagged([one, two, one], tmp_path / "x", column="upos")
    assert (tmp_path / "x").read_text() == "a/X b/Y\nc/Z\na/X b/Y\n"
    with pytest.raises(ArgumentError, match="tagged text holds one column, not 2"):
        write_tagged([one], tmp_path / "x")
    with pytest.raises(ArgumentError, match="column: which of the 2"):
        write_tagged([one], tmp_path / "x", separator="_")


def test_the_words_of_another_format_become_columns(tmp_path):
    sentence = Sentence(["New York", "is"], {"upos": ["PROPN", "AUX"]})
    write_columns([sentence, sentence], tmp_path / "x")
    assert (tmp_path / "x").read_text() == "New York\tPROPN\nis\tAUX\n\n" * 2
    assert next(read_columns(tmp_path / "x", ["form", "upos"])) == sentence
