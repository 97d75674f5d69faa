"""One way to open all formats."""

import io
from itertools import islice
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.errors import ArgumentError, FileError, FormatError
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.formats.detection import detect

CORPORA = Path(__file__).parents[2] / "corpora"


@pytest.mark.parametrize(
    ("name", "format", "column", "names"),
    [
        ("good.conllu", "conllu", "upos", "lemma upos xpos feats head deprel deps misc"),
        ("good-plus.conllup", "conllu", "upos", "upos parseme:mwe"),
        ("good.columns", "columns", "3", "2 3"),
        ("good.tagged", "tagged", "tag", "tag"),
        ("good.text", "lines", None, ""),
    ],
)
def test_a_corpus_knows_its_format_and_columns_before_it_is_read(name, format, column, names):
    with open_corpus(CORPORA / name) as corpus:
        assert corpus.path == str(CORPORA / name)
        assert corpus.format == format
        assert corpus.default_column == column
        assert corpus.column_names == tuple(names.split())


def test_fields_make_it_a_column_file_and_name_its_columns():
    corpus = open_corpus(CORPORA / "good.columns", fields=["form", "xpos", "chunk"])
    assert corpus.column_names == ("xpos", "chunk")
    assert corpus.default_column == "chunk"
    assert next(iter(corpus)).column("chunk") == ("B-NP", "I-NP", "O")


def test_fields_of_another_format_are_refused():
    with pytest.raises(ArgumentError, match=r"fields: only column files have them; .* as conllu"):
        open_corpus(CORPORA / "good.conllu", format="conllu", fields=["form"])


@pytest.mark.parametrize(
    ("format", "message"),
    [
        (
            "conll",
            "'conll' is not one of auto, conllu, columns, tagged, lines, text; did you mean conllu",
        ),
        ("zzz", "'zzz' is not one of auto, conllu, columns, tagged, lines, text$"),
    ],
)
def test_an_unknown_format_is_refused_with_the_did_you_mean(format, message):
    with pytest.raises(ArgumentError, match=f"format: {message}"):
        open_corpus(CORPORA / "good.conllu", format=format)


def test_a_file_can_be_read_again_and_a_stream_cannot():
    corpus = open_corpus(CORPORA / "good.conllu")
    assert list(corpus) == list(corpus)
    stream = open_corpus(io.BytesIO(b"a b\n"))
    assert len(list(stream)) == 1
    with pytest.raises(FileError, match="<stream>: a stream can be read only once"):
        list(stream)


def test_a_corpus_is_read_as_it_is_asked_for():
    class Endless(io.RawIOBase):
        def readable(self):
            return True

        def readinto(self, buffer):
            piece = (b"a/X b/Y\n" * (len(buffer) // 8 + 1))[: len(buffer) // 8 * 8]
            buffer[: len(piece)] = piece
            return len(piece)

    sentences = iter(open_corpus(Endless()))
    assert [next(sentences).words for _ in range(50_000)] == [("a", "b")] * 50_000


def test_a_column_file_without_words_has_no_columns():
    corpus = open_corpus(io.BytesIO(b"\n\n"), format="columns")
    assert corpus.column_names == ()
    assert corpus.default_column is None
    assert list(corpus) == []


def test_replacing_bad_bytes_is_handed_on():
    content = (CORPORA / "invalid-utf8.conllu").read_bytes()
    with pytest.raises(FormatError, match="<stream>:4: byte 0xff"):
        list(open_corpus(io.BytesIO(content)))
    assert len(list(open_corpus(io.BytesIO(content), errors="replace"))) == 2


def test_a_conllu_plus_file_without_upos_has_no_default_column():
    corpus = open_corpus(io.BytesIO(b"# global.columns = ID FORM X\n1\ta\tb\n"))
    assert corpus.default_column is None
    assert next(iter(corpus)).column("x") == ("b",)


@pytest.mark.parametrize("suffix", ["gz", "bz2", "xz"])
@pytest.mark.parametrize(
    ("write", "name"),
    [(pn.write_conllu, "x.conllu"), (pn.write_columns, "x.columns"), (pn.write_tagged, "x.tagged")],
)
def test_what_is_written_under_the_name_of_a_packed_file_can_be_read(tmp_path, write, name, suffix):
    sentences = [pn.Sentence(["a", "b"], {"upos": ["X", "Y"]})] * 3
    write(sentences, tmp_path / f"{name}.{suffix}")
    write(sentences, tmp_path / name)
    with pn.open_corpus(tmp_path / f"{name}.{suffix}") as corpus:
        found = [list(sentence) for sentence in corpus]
    with pn.open_corpus(tmp_path / name) as corpus:
        assert found == [list(sentence) for sentence in corpus] == [["a", "b"]] * 3


WORD = "1\ta\t_\tX\t_\t_\t0\t_\t_\t_\n"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "text"),
        ("\n\n", "text"),
        (WORD, "conllu"),
        ("\ufeff" + WORD.replace("\n", "\r\n"), "conllu"),
        ("# any comment\n" + WORD, "conllu"),
        ("# sent_id = 1\nbroken from the start\n", "conllu"),
        ("# global.columns = ID FORM\n1\ta\n", "conllu"),
        (WORD.replace("\t", " ") + "2 b _ Y _ _ 1 _ _ _\n", "conllu"),
        ("1-2\tab\t_\t_\t_\t_\t_\t_\t_\t_\n" + WORD, "conllu"),
        ("The DT B-NP\ndog NN I-NP\n\nGo VB B-VP\n", "columns"),
        ("The DT B-NP\ndog NN I-NP\n. . O\n", "columns"),
        ("-DOCSTART- -X- O\n\nthe art O\ndog sub O\n\ngo verb O\nnow adv O\n\n", "columns"),
        ("New York\tNNP\nis\tVBZ\n", "columns"),
        ("# SYM\na DT\n\nb NN\nc NN\nd NN\n", "columns"),
        ("The\nold\nman\n\nGo\n", "columns"),
        ("The/DT dog/NN\nGo/VB\n", "tagged"),
        ("The/DT dog/NN\nThe/DT cat/NN\n", "tagged"),
        ("The/at 1/2/cd ,/, ''/'' a/at b/nn c/nn d/nn e/nn oops\n", "tagged"),
        ("The dog and/or the cat .\n", "lines"),
        ("and/or\n", "text"),
        ("The dog barks .\nThe cat sleeps .\n", "lines"),
        ("The dog barks .\n\nThe cat sleeps .\n", "lines"),
        ("A title\n\nSome words of text follow here .\nAnd more .\n", "lines"),
        ("A title\n\nSome words follow, and more. Don't they?\n", "text"),
        ('Wait . . . what? She said, "No!"\n', "text"),
        ("Hello\n", "text"),
        ("One\n\nTwo\n\nThree\n", "text"),
        ("one\ntwo\nthree\n", "text"),
        ("# 1 in the charts\nthe song remains\n", "text"),
        ("我喜欢你。\n他们来！\n\n你好，谢谢。\n", "text"),
        ("我\n喜欢\n你\n。\n\n他们\n来\n！\n", "columns"),
        ("我 喜欢 你 。\n", "lines"),
        ("Привет мир\nКак дела\n", "text"),
        ("สวัสดีครับ ผมรักน้ำ\nสวัสดี ผม\n", "text"),
        ("собака СУЩ\nспит ГЛ\n", "columns"),
    ],
)
def test_each_format_is_known_by_its_lines(text, answer):
    assert detect(text) == answer


@pytest.mark.parametrize("name", ["a.conllu", "a.CONLLU.gz", "b.conllup"])
def test_a_name_of_conllu_decides(name):
    assert detect("whatever it holds", name=name) == "conllu"


@pytest.mark.parametrize(
    ("pattern", "format"),
    [
        ("treebanks/*/*.conllu", "conllu"),
        ("corpora/conll2000/t*.txt", "columns"),
        ("corpora/conll2002/esp.*", "columns"),
        ("corpora/brown/brown.tagged.txt", "tagged"),
    ],
)
def test_real_corpora_are_detected_whole_and_by_the_sentence(corpora, pattern, format):
    paths = sorted(corpora.glob(pattern))
    assert paths
    for path in paths:
        corpus = open_corpus(io.BytesIO(path.read_bytes()))
        assert corpus.format == format
        parts = [corpus.rewrite(sentence, {}) for sentence in islice(corpus, 200)]
        for start in range(0, 200, 5):
            assert detect("".join(parts[start : start + 5])) == format


@pytest.mark.parametrize("pattern", ["corpora/conll200*/*t*[ntab]", "corpora/brown/*.txt"])
def test_real_corpora_are_written_back_byte_for_byte(corpora, pattern):
    paths = sorted(corpora.glob(pattern))
    assert paths
    for path in paths:
        corpus = open_corpus(path)
        column = corpus.default_column
        texts = [corpus.rewrite(s, {column: s.column(column)}) for s in corpus]
        assert ("".join(texts) + corpus.tail).encode() == path.read_bytes(), path.name


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("and/or yes/no 3/4\n", "text"),
        ("1/2 3/4 5/8\n7/8 9/10\n", "text"),
        ("he/she his/her\nand/or\n", "text"),
        ("The/at dog/nn barks/vbz ./.\n", "tagged"),
        ("the/at dog/nn saw/vbd the/at cat/nn in/in the/at house/nn\n", "tagged"),
        ("dog/NOUN 1/2/NUM\n", "tagged"),
        ("Roses red\nviolets blue\n\nSugar sweet\nand you\n", "text"),
        ("dog nn\ncat nn\n\nthe at\nbird nn\n", "columns"),
        ("dogs nns\nbark vb\n. .\n\nhe ppss\nran vbd\n", "columns"),
    ],
)
def test_labels_are_told_from_words(text: str, format: str) -> None:
    assert detect(text) == format


@pytest.mark.parametrize(
    ("name", "text", "is_told"),
    [
        ("a.csv", "word,tag\ndog,NOUN\nbarks,VERB\n", True),
        ("a.csv", "The dog barks.\n", True),
        ("a.txt", "The;DET\ndog;NOUN\nbarks;VERB\n", True),
        ("a.txt", "dog,NOUN\nbarks,VERB\n\ncats,NOUN\nsleep,VERB\n", True),
        ("a.txt", "Well, yes.\nNo, thanks.\nGo, then.\n", False),
        ("a.txt", "Well,\nyes.\nno\n", False),
    ],
)
def test_comma_separated_values_are_told(
    tmp_path: Path, name: str, text: str, is_told: bool
) -> None:
    (tmp_path / name).write_text(text)
    with open_corpus(tmp_path / name) as corpus:
        told = [warning for warning in corpus.warnings if "comma-separated values" in warning]
    assert len(told) == is_told
    with open_corpus(tmp_path / name, format="text") as corpus:
        assert corpus.warnings == ()
