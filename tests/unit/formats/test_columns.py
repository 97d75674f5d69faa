"""Column files read and written."""

import io
from pathlib import Path

import pytest

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FormatError
from perceptron_nlp.formats import open_corpus, read_columns, write_columns
from perceptron_nlp.formats.columns import rewrite
from perceptron_nlp.text.sentence import Sentence

CORPORA = Path(__file__).parents[2] / "corpora"


def read(text, fields=None):
    return list(read_columns(io.BytesIO(text.encode()), fields))


def test_words_and_numbered_columns_are_read_with_their_lines():
    first, second = read_columns(CORPORA / "good.columns")
    assert first.words == ("The", "old", "#")
    assert first.column("2") == ("DT", "JJ", "SYM")
    assert first.column("3") == ("B-NP", "I-NP", "O")
    assert first.column("1") == first.column("form") == first.words
    assert [first.line_of(i) for i in range(3)] == [3, 4, 5]
    assert second.line_of(0) == 8
    with pytest.raises(FormatError, match="no column '4'; there are: form, 2, 3"):
        first.column("4")


def test_columns_are_named_and_keep_their_numbers():
    sentence = next(read_columns(CORPORA / "good.columns", ["form", "xpos", "chunk"]))
    assert list(sentence.columns) == ["xpos", "chunk"]
    assert sentence.column("chunk") == sentence.column("3")


def test_the_words_may_be_in_any_column_and_others_without_a_name():
    (sentence,) = read("1 a X\n2 b Y\n", ["_", "form", "pos"])
    assert sentence.words == ("a", "b")
    assert sentence.column("1") == ("1", "2")
    assert sentence.column("pos") == ("X", "Y")


def test_tabs_separate_fields_that_may_hold_spaces():
    first, _ = read_columns(CORPORA / "good-tabs-crlf.columns")
    assert first.words == ("New York", "is")
    assert first.column("3") == ("B", "O")


def test_runs_of_spaces_and_tabs_separate_fields_otherwise():
    (sentence,) = read_columns(CORPORA / "good-ragged-spaces.columns")
    assert sentence.words == ("The", "dog")
    assert sentence.column("3") == ("x", "y")


def test_a_no_break_space_is_part_of_a_word():
    (sentence,) = read("10\u00a0% X\n")
    assert sentence.words == ("10\u00a0%",)


def test_a_document_mark_is_kept_and_is_no_word():
    text = "-DOCSTART-\n-DOCSTART- -X- O\r\na X\n\n-DOCSTART-"
    corpus = open_corpus(io.BytesIO(text.encode()), format="columns")
    (sentence,) = corpus
    assert sentence.words == ("a",)
    assert sentence.line_of(0) == 3
    assert corpus.rewrite(sentence, {"2": ["Y"]}) + corpus.tail == text.replace("a X", "a Y")


@pytest.mark.parametrize("name", sorted(p.name for p in CORPORA.glob("good*.columns")))
def test_a_good_file_is_written_back_byte_for_byte(name):
    corpus = open_corpus(CORPORA / name, format="columns")
    texts = [corpus.rewrite(s, {"3": s.column("3")}) for s in corpus]
    assert corpus.default_column == "3"
    assert ("".join(texts) + corpus.tail).encode() == (CORPORA / name).read_bytes()


def test_a_new_column_is_added_with_the_separator_of_the_file():
    assert rewrite(read("a  X \nb Y\n")[0], {"new": ["1", "2"]}) == "a  X 1 \nb Y 2\n"
    assert rewrite(read("a\tX\r\nb\tY")[0], {"new": ["1", "2"]}) == "a\tX\t1\r\nb\tY\t2"
    assert rewrite(read("a\nb\n\n")[0], {"new": ["1", "2"]}) == "a 1\nb 2\n\n"


def test_the_words_of_another_format_become_columns(tmp_path):
    sentence = Sentence(["New York", "is"], {"upos": ["PROPN", "AUX"]})
    write_columns([sentence, sentence], tmp_path / "x")
    assert (tmp_path / "x").read_text() == "New York\tPROPN\nis\tAUX\n\n" * 2
    assert next(read_columns(tmp_path / "x", ["form", "upos"])) == sentence


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("field-left-out.columns", 4, "2 fields where the first line has 3 (separated by spaces)"),
        ("field-too-many.columns", 8, "4 fields where the first line has 3"),
        ("line-of-spaces.columns", 6, "a line of spaces"),
        ("empty-field.columns", 2, "column 2 is empty"),
    ],
)
def test_a_bad_line_is_refused_by_its_number(name, line, message):
    with pytest.raises(FormatError) as caught:
        list(read_columns(CORPORA / name))
    assert str(caught.value).startswith(f"{CORPORA / name}:{line}: {message}")


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        (["form", "pos"], ArgumentError, r"fields: 2 names \(form, pos\) for the 3 columns of "),
        (["form", "a", "b", "c"], ArgumentError, "fields: 4 names .* for the 3 columns"),
        (["word", "pos", "chunk"], ArgumentError, "is 'form'; the words' column"),
        ([], ArgumentError, "no names is 'form'"),
        (["form", "a", "a"], ArgumentError, "fields: 'a' is there twice"),
        (["form", "a b", "c"], ArgumentError, "fields: 'a b' cannot be the name"),
        (["form", "3", "2"], ArgumentError, "fields: '3' is the number of another column"),
        ("form", ArgumentTypeError, "fields: a list of column names"),
        (["form", 2, "c"], ArgumentTypeError, "fields: a list of column names"),
    ],
)
def test_fields_that_do_not_fit_are_refused(fields, error, message):
    with pytest.raises(error, match=message):
        list(read_columns(CORPORA / "good.columns", fields))


@pytest.mark.parametrize("value", ["", "a b", "a\tb", "a\nb"])
def test_a_label_that_would_not_be_read_back_is_refused(value):
    with pytest.raises(ArgumentError, match=r"columns\['2'\]: "):
        rewrite(read("a X\n")[0], {"2": [value]})


def test_labels_must_be_as_many_as_words():
    with pytest.raises(ArgumentError, match=r"columns\['2'\]: 2 values for 1 words"):
        rewrite(read("a X\n")[0], {"2": ["X", "Y"]})
