"""CoNLL-U written: only what was asked for changes."""

from pathlib import Path

import pytest

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.formats import read_conllu, with_misc, without_misc, write_conllu
from perceptron_nlp.formats.conllu import rewrite
from perceptron_nlp.text.sentence import Sentence

CORPORA = Path(__file__).parents[2] / "corpora"


def test_rewriting_a_column_changes_its_words_and_nothing_else():
    sentence = next(read_conllu(CORPORA / "good-hard.conllu"))
    before = rewrite(sentence, {}).split("\n")
    after = rewrite(sentence, {"upos": [f"T{i}" for i in range(7)]}).split("\n")
    words = {sentence.line_of(index) - 1: index for index in range(7)}
    assert len(before) == len(after)
    for number, (old, new) in enumerate(zip(before, after, strict=True)):
        fields = old.split("\t")
        if number in words:
            fields[3] = f"T{words[number]}"
        assert new == "\t".join(fields)


def test_mixed_line_breaks_stay_as_they_are(tmp_path):
    path = tmp_path / "mixed.conllu"
    lines = [f"{i}\ta\t_\tX\t_\t_\t_\t_\t_\t_" for i in (1, 2, 3)]
    path.write_bytes(f"# c\r\n{lines[0]}\r\n{lines[1]}\n{lines[2]}".encode())
    (sentence,) = read_conllu(path)
    new = rewrite(sentence, {"4": ["A", "B", "C"]})
    first, second, third = (lines[i].replace("X", "ABC"[i]) for i in range(3))
    assert new == f"# c\r\n{first}\r\n{second}\n{third}"


def test_several_columns_are_replaced_at_once():
    sentence = Sentence(["a", "b"])
    assert rewrite(sentence, {"upos": ["X", "Y"], "feats": ["_", "A=1"]}) == (
        "1\ta\t_\tX\t_\t_\t_\t_\t_\t_\n2\tb\t_\tY\t_\tA=1\t_\t_\t_\t_\n\n"
    )


def test_bare_words_become_conllu_with_the_columns_that_it_has(tmp_path):
    sentence = Sentence(["New York", "_"], {"upos": ["PROPN", "PUNCT"], "colour": ["r", "g"]})
    write_conllu([sentence, sentence], tmp_path / "x.conllu")
    first, second = read_conllu(tmp_path / "x.conllu")
    assert first == second
    assert first.words == ("New York", "_")
    assert first.column("upos") == ("PROPN", "PUNCT")


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"upos": ["X"]}, r"columns\['upos'\]: 1 values for 2 words"),
        ({"upos": "XY"}, r"columns\['upos'\]"),
        ({"upos": ["X", ""]}, "'' is empty or holds a tab or a line break"),
        ({"upos": ["X", "a\tb"]}, "is empty or holds a tab or a line break"),
        ({"upos": ["X", "a\nb"]}, "is empty or holds a tab or a line break"),
        ({"upos": ["X", "a b"]}, "'a b' holds a space"),
        ({"feats": ["_", "Plur"]}, "'Plur' is not Name=Value pairs"),
        ({"pos": ["X", "Y"]}, "no column 'pos'; there are: form, lemma, upos"),
        ({"id": ["1", "2"]}, "no column 'id'"),
    ],
)
def test_what_conllu_cannot_hold_is_refused(columns, message):
    with pytest.raises(ArgumentError, match=message):
        rewrite(Sentence(["a", "b"]), columns)


def test_words_that_conllu_cannot_hold_are_refused():
    with pytest.raises(ArgumentError, match="is empty or holds a tab"):
        rewrite(Sentence(["a\tb"]), {})
    with pytest.raises(ArgumentError, match="no sentences without words"):
        rewrite(Sentence([]), {})


def test_sentences_of_several_files_follow_each_other_in_one(tmp_path):
    names = ["good-no-final-newline.conllu", "good-crlf-bom.conllu", "good.conllu"]
    every = [s for name in names for s in read_conllu(CORPORA / name)]
    write_conllu(every, tmp_path / "all.conllu")
    assert list(read_conllu(tmp_path / "all.conllu")) == every


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("_", "K=v"),
        ("A=1", "A=1|K=v"),
        ("A=1|K=old|B=2", "A=1|K=v|B=2"),
        ("K=old", "K=v"),
        ("KK=1|plain text", "KK=1|plain text|K=v"),
    ],
)
def test_an_attribute_of_misc_is_set_or_added(value, result):
    assert with_misc(value, "K", "v") == result


@pytest.mark.parametrize(
    ("key", "new"), [("", "v"), ("K", ""), ("K=", "v"), ("K", "a|b"), ("K", "\t")]
)
def test_an_attribute_that_misc_cannot_hold_is_refused(key, new):
    with pytest.raises(ArgumentError, match="cannot be an attribute of MISC"):
        with_misc("_", key, new)


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("_", "_"),
        ("K=v", "_"),
        ("A=b|K=v|C", "A=b|C"),
        ("K=1|K=2", "_"),
        ("KK=v|k=v", "KK=v|k=v"),
        ("K", "_"),
    ],
)
def test_an_attribute_of_misc_goes_and_the_others_stay(value: str, result: str) -> None:
    assert without_misc(value, "K") == result
