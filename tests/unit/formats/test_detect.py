"""The format found by looking."""

import io
from itertools import islice

import pytest

from perceptron_nlp.formats import open_corpus
from perceptron_nlp.formats.corpus import detect

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
