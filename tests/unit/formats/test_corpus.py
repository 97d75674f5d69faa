"""One way to open all formats."""

import io
from itertools import islice
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.errors import FileError, FormatError
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.formats.detection import detect

CORPORA = Path(__file__).parents[2] / "corpora"


def test_fields_make_it_a_column_file_and_name_its_columns():
    corpus = open_corpus(CORPORA / "good.columns", fields=["form", "xpos", "chunk"])
    assert corpus.column_names == ("xpos", "chunk")
    assert corpus.default_column == "chunk"
    assert next(iter(corpus)).column("chunk") == ("B-NP", "I-NP", "O")


def test_a_file_can_be_read_again_and_a_stream_cannot():
    corpus = open_corpus(CORPORA / "good.conllu")
    assert list(corpus) == list(corpus)
    stream = open_corpus(io.BytesIO(b"a b .\n"))
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
