"""CoNLL-U read: what is valid is read and kept, what is not is refused with its line."""

import copy
import gzip
import io
import pickle
from pathlib import Path

import pytest

from perceptron_nlp.errors import ArgumentError, FormatError
from perceptron_nlp.formats import open_corpus, read_conllu, with_misc, without_misc, write_conllu
from perceptron_nlp.formats.conllu import rewrite_conllu
from perceptron_nlp.text.sentence import Sentence

CORPORA = Path(__file__).parents[2] / "corpora"


def read(text):
    return list(read_conllu(io.BytesIO(text.encode("utf-8"))))


def word(number, form="a", upos="X", head="_", deps="_", misc="_"):
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t_\t{deps}\t{misc}\n"


def test_words_and_columns_are_read_with_their_lines():
    first, second = read_conllu(CORPORA / "good.conllu")
    assert first.words == ("Cats", "purr", ".")
    assert first.column("upos") == ("NOUN", "VERB", "PUNCT")
    assert first.column("lemma") == ("cat", "purr", ".")
    assert first.column("feats") == ("Number=Plur", "_", "_")
    assert first.column("misc") == ("_", "SpaceAfter=No", "_")
    assert [first.line_of(i) for i in range(3)] == [3, 4, 5]
    assert second.line_of(0) == 8
    assert first.path == str(CORPORA / "good.conllu")


def test_ranges_and_empty_nodes_are_no_words():
    first, second = read_conllu(CORPORA / "good-hard.conllu")
    assert first.words == ("ca", "n't", "20 000", "10\u00a0%", "_", "#", "a\rb")
    assert first.column("upos") == ("AUX", "PART", "NUM", "SYM", "PUNCT", "SYM", "X")
    assert first.column("xpos")[0] == "MD"
    assert first.column("deps")[1] == "0:root|1.1:advmod"
    assert [first.line_of(i) for i in range(7)] == [9, 11, 12, 13, 14, 15, 27]
    assert second.words == ("\u2028",)


def test_a_column_has_its_name_in_any_case_and_its_number():
    sentence = next(read_conllu(CORPORA / "good.conllu"))
    assert sentence.column("UPOS") == sentence.column("4") == sentence.column("upos")
    assert sentence.column("2") == sentence.column("FORM") == sentence.words
    assert list(sentence.columns) == [
        "lemma",
        "upos",
        "xpos",
        "feats",
        "head",
        "deprel",
        "deps",
        "misc",
    ]
    for name in ("1", "id", "11", "0", "pos", "²", ""):
        with pytest.raises(FormatError, match=r"no column .*there are: form, lemma, upos"):
            sentence.column(name)


def test_global_columns_name_the_columns():
    sentence = next(read_conllu(CORPORA / "good-plus.conllup"))
    assert sentence.words == ("Give", "it", "up")
    assert sentence.column("parseme:mwe") == sentence.column("4") == ("1:VID", "*", "1")
    assert list(sentence.columns) == ["upos", "parseme:mwe"]


def test_global_columns_must_have_words():
    path = CORPORA / "plus-without-form.conllup"
    with pytest.raises(FormatError, match=r":1: global.columns must name at least ID and FORM"):
        list(read_conllu(path))
    with pytest.raises(FormatError, match=r":1: global.columns names a column twice"):
        read("# global.columns = ID FORM FORM\n")


@pytest.mark.parametrize("name", sorted(p.name for p in CORPORA.glob("good*.conllu*")))
def test_a_good_file_is_written_back_byte_for_byte(name):
    corpus = open_corpus(CORPORA / name)
    column = corpus.default_column
    texts = [corpus.rewrite(s, {column: s.column(column)}) for s in corpus]
    assert corpus.format == "conllu"
    assert ("".join(texts) + corpus.tail).encode() == (CORPORA / name).read_bytes()


@pytest.mark.parametrize(
    "text", ["", "\n", "\r\n\n", "# only a comment", "# a\n\n\n# b\n\n", "\ufeff"]
)
def test_a_text_without_words_has_no_sentences_and_is_all_tail(text):
    corpus = open_corpus(io.BytesIO(text.encode()), format="conllu")
    assert list(corpus) == []
    assert corpus.tail == text


def test_a_block_of_empty_nodes_alone_is_kept_and_is_no_sentence():
    text = word("0.1") + "\n" + word(1) + "\n"
    (sentence,) = read(text)
    assert sentence.words == ("a",)
    assert sentence.line_of(0) == 3
    assert rewrite_conllu(sentence, {}) == text


def test_long_sentences_and_long_lines_are_read():
    long = "".join(word(number, head=number - 1) for number in range(1, 100_001))
    assert len(read(long + "\n")[0]) == 100_000
    giant = word(1, "x" * 10_000_000)
    assert len(read(giant)[0].words[0]) == 10_000_000


def test_a_million_empty_lines_are_read_at_once():
    (sentence,) = read("\n" * 1_000_000 + word(1))
    assert sentence.line_of(0) == 1_000_001


BAD = {
    "nine-fields.conllu": (4, "9 fields where CoNLL-U has 10 (tabs, not spaces, separate them)"),
    "eleven-fields.conllu": (4, "11 fields where CoNLL-U has 10"),
    "spaces-for-tabs.conllu": (4, "1 field where CoNLL-U has 10 (are the tabs written as spaces?)"),
    "empty-field.conllu": (4, "column 4 (UPOS) is empty; write _"),
    "comment-inside-sentence.conllu": (5, "a comment after the first word of a sentence"),
    "line-of-spaces.conllu": (6, "a line of spaces; sentences are separated by an empty line"),
    "id-not-a-number.conllu": (4, "ID 'two' is not a number, a range (1-2)"),
    "id-with-leading-zero.conllu": (4, "ID '02' where 2 should follow"),
    "id-twice.conllu": (5, "ID '2' where 3 should follow"),
    "id-left-out.conllu": (4, "ID '3' where 2 should follow"),
    "id-starts-at-two.conllu": (8, "ID '2' begins a sentence where 1 should"),
    "empty-line-inside-sentence.conllu": (6, "ID '3' begins a sentence where 1 should"),
    "empty-line-missing.conllu": (6, "ID '1' where 4 should follow; is an empty line missing"),
    "range-beyond-sentence.conllu": (5, "range '3-4' goes beyond the 3 words"),
    "range-after-its-word.conllu": (5, "range '2-3' does not stand before its first word"),
    "range-turned-round.conllu": (4, "range '2-1' does not stand before"),
    "ranges-overlap.conllu": (6, "range '3-3' does not stand before"),
    "range-with-upos.conllu": (4, "column 4 (UPOS) of a range must be _, not 'VERB'"),
    "empty-node-out-of-order.conllu": (5, "empty node '2.2' where 2.1 could stand"),
    "empty-node-with-head.conllu": (5, "column 7 (HEAD) of an empty node must be _, not '2'"),
    "head-not-a-number.conllu": (4, "HEAD 'root' is not a number, nor _"),
    "head-beyond-sentence.conllu": (4, "HEAD '4' is beyond the 3 words of its sentence"),
    "head-is-itself.conllu": (4, "HEAD '2' is the word itself"),
    "upos-with-space.conllu": (4, "column 4 (UPOS) 'VERB X' holds a space"),
    "feats-without-value.conllu": (4, "column 6 (FEATS) 'Plur' is not Name=Value pairs"),
    "feature-twice.conllu": (4, "column 6 (FEATS) 'A=1|A=2' names a feature twice"),
    "deps-malformed.conllu": (4, "column 9 (DEPS) 'root' is not head:relation pairs"),
    "deps-beyond-sentence.conllu": (4, "DEPS '9:dep' names '9', which is not in its sentence"),
    "invalid-utf8.conllu": (4, "byte 0xff is not valid UTF-8"),
}


def test_every_bad_file_is_in_the_table():
    here = {path.name for path in CORPORA.glob("*.conllu") if not path.name.startswith("good")}
    assert here == set(BAD)


@pytest.mark.parametrize("name", sorted(BAD))
def test_a_bad_line_is_refused_by_its_number(name):
    line, message = BAD[name]
    with pytest.raises(FormatError) as caught:
        list(read_conllu(CORPORA / name))
    assert caught.value.line == line
    assert str(caught.value).startswith(f"{CORPORA / name}:{line}: {message}")
    assert "\n" not in str(caught.value)


def test_what_comes_before_a_bad_line_is_read_first():
    sentences = read_conllu(io.BytesIO((word(1) + "\n" + word(2)).encode()))
    assert next(sentences).words == ("a",)
    with pytest.raises(FormatError, match="<stream>:3: "):
        next(sentences)


def test_ids_of_endless_digits_are_refused():
    nines = "9" * 5000
    for number in (nines, f"1-{nines}", f"{nines}-{nines}", f"{nines}.1"):
        with pytest.raises(FormatError) as caught:
            read(word(number))
        assert caught.value.line == 1


def test_bytes_that_are_not_utf8_are_replaced_on_request():
    sentence = next(read_conllu(CORPORA / "invalid-utf8.conllu", errors="replace"))
    assert sentence.column("lemma")[1] == "p\ufffdrr"


def test_a_nul_in_a_value_is_read_and_written_back():
    path = CORPORA / "good-nul.conllu"
    sentences = list(read_conllu(path))
    assert sentences[0].column("lemma")[1] == "p\0rr"
    assert "".join(rewrite_conllu(s, {}) for s in sentences) == path.read_text("utf-8")


def test_a_sentence_read_pickles_and_copies_with_its_text():
    sentence = next(read_conllu(CORPORA / "good-hard.conllu"))
    for twin in (pickle.loads(pickle.dumps(sentence)), copy.deepcopy(sentence)):
        assert twin == sentence
        assert rewrite_conllu(twin, {}) == rewrite_conllu(sentence, {})
        assert twin.line_of(6) == 27


def test_equal_sentences_of_different_files_are_equal():
    plain = list(read_conllu(CORPORA / "good.conllu"))
    crlf = list(read_conllu(CORPORA / "good-crlf-bom.conllu"))
    assert plain == crlf


def test_compressed_conllu_is_the_same(tmp_path):
    path = tmp_path / "x.conllu.gz"
    path.write_bytes(gzip.compress((CORPORA / "good.conllu").read_bytes()))
    assert list(read_conllu(path)) == list(read_conllu(CORPORA / "good.conllu"))


def test_real_treebanks_are_detected_read_and_written_back_byte_for_byte(corpora):
    paths = sorted(corpora.glob("treebanks/*/*.conllu"))
    assert paths
    for path in paths:
        content = path.read_bytes()
        corpus = open_corpus(io.BytesIO(content))
        assert corpus.format == "conllu"
        text = "".join(corpus.rewrite(s, {"upos": s.column("upos")}) for s in corpus)
        assert (text + corpus.tail).encode() == content, path.name


def test_rewriting_a_column_changes_its_words_and_nothing_else():
    sentence = next(read_conllu(CORPORA / "good-hard.conllu"))
    before = rewrite_conllu(sentence, {}).split("\n")
    after = rewrite_conllu(sentence, {"upos": [f"T{i}" for i in range(7)]}).split("\n")
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
    new = rewrite_conllu(sentence, {"4": ["A", "B", "C"]})
    first, second, third = (lines[i].replace("X", "ABC"[i]) for i in range(3))
    assert new == f"# c\r\n{first}\r\n{second}\n{third}"


def test_several_columns_are_replaced_at_once():
    sentence = Sentence(["a", "b"])
    assert rewrite_conllu(sentence, {"upos": ["X", "Y"], "feats": ["_", "A=1"]}) == (
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
        rewrite_conllu(Sentence(["a", "b"]), columns)


def test_words_that_conllu_cannot_hold_are_refused():
    with pytest.raises(ArgumentError, match="is empty or holds a tab"):
        rewrite_conllu(Sentence(["a\tb"]), {})
    with pytest.raises(ArgumentError, match="no sentences without words"):
        rewrite_conllu(Sentence([]), {})


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
