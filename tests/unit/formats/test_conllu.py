"""CoNLL-U read: what is valid is read and kept, what is not is refused with its line."""

import copy
import gzip
import io
import pickle
from pathlib import Path

import pytest

from perceptron_nlp.errors import FormatError
from perceptron_nlp.formats import open_corpus, read_conllu, write_conllu
from perceptron_nlp.formats.conllu import rewrite_conllu
from perceptron_nlp.text.sentence import Sentence

CORPORA = Path(__file__).parents[2] / "corpora"


def read(text):
    return list(read_conllu(io.BytesIO(text.encode("utf-8"))))


def word(number, form="a", upos="X", head="_", deps="_", misc="_"):
    return f"{number}\t{form}\t_\t{upos}\t_\t_\t{head}\t_\t{deps}\t{misc}\n"


def test_long_sentences_and_long_lines_are_read():
    long = "".join(word(number, head=number - 1) for number in range(1, 100_001))
    assert len(read(long + "\n")[0]) == 100_000
    giant = word(1, "x" * 10_000_000)
    assert len(read(giant)[0].words[0]) == 10_000_000


def test_a_million_empty_lines_are_read_at_once():
    (sentence,) = read("\n" * 1_000_000 + word(1))
    assert sentence.line_of(0) == 1_000_001


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


def test_bare_words_become_conllu_with_the_columns_that_it_has(tmp_path):
    sentence = Sentence(["New York", "_"], {"upos": ["PROPN", "PUNCT"], "colour": ["r", "g"]})
    write_conllu([sentence, sentence], tmp_path / "x.conllu")
    first, second = read_conllu(tmp_path / "x.conllu")
    assert first == second
    assert first.words == ("New York", "_")
    assert first.column("upos") == ("PROPN", "PUNCT")


def test_sentences_of_several_files_follow_each_other_in_one(tmp_path):
    names = ["good-no-final-newline.conllu", "good-crlf-bom.conllu", "good.conllu"]
    every = [s for name in names for s in read_conllu(CORPORA / name)]
    write_conllu(every, tmp_path / "all.conllu")
    assert list(read_conllu(tmp_path / "all.conllu")) == every
