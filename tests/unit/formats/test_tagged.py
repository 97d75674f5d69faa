"""``word/TAG`` lines and plain tokenized lines, read and written."""

import io
from pathlib import Path

import pytest

from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.formats import open_corpus, read_tagged, read_text, tagged, write_tagged
from perceptron_nlp.text.sentence import Sentence

CORPORA = Path(__file__).parents[2] / "corpora"


def test_tokens_are_cut_at_their_last_slash():
    first, second, third = read_tagged(CORPORA / "good.tagged")
    assert first.words == ("The", "dog")
    assert second.words == ("a/b", "1/2")
    assert second.column("tag") == ("NN", "CD")
    assert third.words == ("x\u00a0y",)
    assert [s.line_of(0) for s in (first, second, third)] == [1, 3, 4]


def test_the_one_column_answers_to_any_name():
    sentence = next(read_tagged(CORPORA / "good.tagged"))
    assert sentence.column("upos") == sentence.column("tag") == ("DT", "NN")
    assert list(sentence.columns) == ["tag"]
    assert sentence.column("form") == sentence.column("1") == sentence.words


def test_another_separator_may_be_used(tmp_path):
    (sentence,) = read_tagged(io.BytesIO(b"a/b_NN c_VB\n"), separator="_")
    assert sentence.words == ("a/b", "c")
    assert tagged.rewrite(sentence, {"tag": ["X", "Y"]}) == "a/b_X c_Y\n"
    write_tagged([sentence], tmp_path / "x", separator="|")
    assert (tmp_path / "x").read_text() == "a/b|NN c|VB\n"
    for separator in ("", " ", "a b"):
        with pytest.raises(ArgumentError, match="separator: "):
            list(read_tagged(CORPORA / "good.tagged", separator=separator))


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("token-without-slash.tagged", "token 'b' has no '/' between word and tag"),
        ("empty-tag.tagged", "token 'b/' has no tag"),
        ("empty-word.tagged", "token '/NN' has no word"),
    ],
)
def test_a_bad_token_is_refused_by_its_line(name, message):
    with pytest.raises(FormatError) as caught:
        list(read_tagged(CORPORA / name))
    assert str(caught.value) == f"{CORPORA / name}:2: {message}"


def test_rewriting_keeps_spaces_and_line_breaks():
    text = "\ufeff\r\n  a/X\t b/Y \r\n\nc/Z"
    corpus = open_corpus(io.BytesIO(text.encode()), format="tagged")
    first, second = corpus
    assert corpus.rewrite(first, {"upos": ["P", "Q"]}) == "\ufeff\r\n  a/P\t b/Q \r\n"
    assert corpus.rewrite(second, {}) + corpus.tail == "\nc/Z"


def test_a_byte_order_mark_is_no_part_of_the_first_word():
    assert next(read_text(io.BytesIO("\ufeffa b".encode()))).words == ("a", "b")
    assert next(read_tagged(io.BytesIO("\ufeffa/X".encode()))).words == ("a",)


def test_plain_text_is_cut_at_spaces_and_tabs_alone():
    first, second = read_text(CORPORA / "good.text")
    assert first.words[4:7] == ("and", "/", "or")
    assert second.words == ("Go\u00a0on", "!")
    assert second.line_of(1) == 3
    (sentence,) = read_text(io.BytesIO("a\tb\x0bc \u3000 d\re \r\n".encode()))
    assert sentence.words == ("a", "b\x0bc", "\u3000", "d\re")


def test_plain_text_has_no_column():
    with pytest.raises(FormatError, match="no column 'upos'; there are words without labels"):
        next(read_text(CORPORA / "good.text")).column("upos")


def test_plain_text_is_written_as_tagged_text():
    (sentence,) = read_text(io.BytesIO(b"  a\tb/c\r\n"))
    assert tagged.rewrite_words(sentence, {"upos": ["X", "Y"]}) == "  a/X\tb/c/Y\r\n"
    assert tagged.rewrite_words(sentence, {}) == "  a\tb/c\r\n"
    assert tagged.rewrite_words(Sentence(["a", "b"]), {}) == "a b\n"


def test_sentences_of_other_formats_are_written_as_tagged_text(tmp_path):
    one = Sentence(["a", "b"], {"upos": ["X", "Y"], "xpos": ["P", "Q"]})
    two = next(read_tagged(io.BytesIO(b"c/Z")))
    write_tagged([one, two, one], tmp_path / "x", column="upos")
    assert (tmp_path / "x").read_text() == "a/X b/Y\nc/Z\na/X b/Y\n"
    with pytest.raises(ArgumentError, match="tagged text holds one column, not 2"):
        write_tagged([one], tmp_path / "x")
    with pytest.raises(ArgumentError, match="column: which of the 2"):
        write_tagged([one], tmp_path / "x", separator="_")


@pytest.mark.parametrize("label", ["", "a/b", "a b", "a\tb", "a\n"])
def test_a_label_that_would_not_be_read_back_is_refused(label):
    sentence = next(read_text(io.BytesIO(b"a")))
    with pytest.raises(ArgumentError, match=r"columns: the label .* cannot stand in 'word/TAG'"):
        tagged.rewrite_words(sentence, {"tag": [label]})


@pytest.mark.parametrize("word", ["", "New York", "a\tb", "a\nb"])
def test_a_word_that_would_not_be_read_back_is_refused(word):
    with pytest.raises(ArgumentError, match="sentence: the word "):
        tagged.rewrite(Sentence([word]), {"tag": ["X"]})
    with pytest.raises(ArgumentError, match="sentence: the word "):
        tagged.rewrite_words(Sentence([word]), {})


def test_labels_must_be_as_many_as_words():
    with pytest.raises(ArgumentError, match="columns: 2 labels for 1 words"):
        tagged.rewrite(Sentence(["a"]), {"tag": ["X", "Y"]})
