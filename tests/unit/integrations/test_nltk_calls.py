"""NLTK's calls answered here, in a process that has no NLTK."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.compat import nltk

TEXT = 'Mr. Lee said: "The well-known men can\'t go." (They and/or we left the U.S.-based shop.)'


def test_tokens_are_those_of_the_penn_treebank_with_words_whole() -> None:
    words = (
        "Mr. Lee said : `` The well-known men ca n't go . '' ( They and/or we left the U.S.-based"
        " shop . )"
    )
    assert " ".join(nltk.word_tokenize(TEXT)) == words
    assert nltk.word_tokenize(TEXT, preserve_line=True) == nltk.word_tokenize(TEXT)
    assert nltk.word_tokenize("Stop -- now - here.") == ["Stop", "--", "now", "-", "here", "."]


def test_both_names_of_a_language_open_its_model_once() -> None:
    assert nltk._tagger("english") is nltk._tagger("eng") is nltk._tagger("en")


PIECES = st.sampled_from(["a-b", " ", '"', "don't", "--", "/", "x."])


@given(st.text() | st.lists(PIECES).map("".join))
def test_spans_are_the_tokens_as_they_stand(text: str) -> None:
    spans, words = [*nltk.span_tokenize(text)], nltk.word_tokenize(text)
    assert len(spans) == len(words)
    for (start, end), word in zip(spans, words, strict=True):
        assert text[start:end] == ('"' if word in ("``", "''") and text[start] == '"' else word)
    covered = [at for start, end in spans for at in range(start, end)]
    assert covered == sorted(set(covered))
    assert all(text[at].isspace() for at in {*range(len(text))} - {*covered})


def test_sentences_are_cut_by_functions_and_by_the_class() -> None:
    text = "Dr. Lee left. Who stayed?\n"
    assert nltk.sent_tokenize(text) == nltk.PunktTokenizer().tokenize(text)
    assert nltk.sent_tokenize(text, "english") == ["Dr. Lee left.", "Who stayed?"]
    assert [*nltk.PunktTokenizer().span_tokenize(text)] == [(0, 13), (14, 25)]


def test_tags_are_those_of_the_penn_treebank_or_universal() -> None:
    words = nltk.word_tokenize('He said "go" (twice).')
    assert words == ["He", "said", "``", "go", "''", "(", "twice", ")", "."]
    tags = [tag for _, tag in nltk.pos_tag(words)]
    assert [tags[0], *tags[2::2], tags[7]] == ["PRP", "``", "''", "RB", ".", ")"]
    universal = [tag for _, tag in nltk.pos_tag(iter(words), tagset="universal")]
    assert [*universal[:3], *universal[4:]] == ["PRON", "VERB", ".", ".", ".", "ADV", ".", "."]
    assert nltk.pos_tag_sents([words, []]) == [nltk.pos_tag(words), []]
    assert set(nltk._PENN) <= set(pn.load("en").by_column["xpos"].labels)


@pytest.mark.parametrize(
    ("word", "pos", "lemma"),
    [
        ("dogs", "n", "dog"),
        ("running", "v", "run"),
        ("better", "a", "good"),
        ("Paris", "n", "Paris"),
    ],
)
def test_lemmas_go_by_the_part_of_speech(word: str, pos: str, lemma: str) -> None:
    assert nltk.WordNetLemmatizer().lemmatize(word, pos) == lemma


def test_what_cannot_be_answered_is_said(tmp_path: Path) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="not one str"):
        nltk.pos_tag("word")
    with pytest.raises(pn.ArgumentError, match="tagset: 'brown' is not one of universal"):
        nltk.pos_tag(["word"], tagset="brown")
    with pytest.raises(pn.ArgumentError, match="pos: 'x' is not one of n, v, a, s, r"):
        nltk.WordNetLemmatizer().lemmatize("word", "x")
    with pytest.raises(pn.FileError, match="klingon: there is no such file"):
        nltk.word_tokenize("word", language="klingon")
    with pytest.raises(AttributeError, match="no attribute 'weights'"):
        nltk.PerceptronTagger(load=False).weights  # noqa: B018


PROGRAM = """
import sys

class Absent:
    @staticmethod
    def find_spec(name, path, target=None):
        if name.partition(".")[0] == "nltk":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent)
from perceptron_nlp.compat.nltk import install
install()
install()
import nltk
from nltk.stem import WordNetLemmatizer
from nltk.tokenize import word_tokenize
from nltk.tokenize.punkt import PunktTokenizer
assert nltk.download("punkt_tab", quiet=True) and nltk.download(["wordnet"])
assert nltk.data.find("taggers/averaged_perceptron_tagger_eng")
assert nltk.data.load("tokenizers/punkt/english.pickle").tokenize("A. B.")
assert nltk.tag.pos_tag is nltk.pos_tag and nltk.tag.perceptron.PerceptronTagger
print(nltk.pos_tag(word_tokenize("They bark.")), WordNetLemmatizer().lemmatize("dogs"))
try:
    nltk.download("stopwords")
except ImportError as error:
    print(error)
"""


def test_a_program_that_cannot_be_changed_does_without_nltk() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.stdout.splitlines() == [
        "[('They', 'PRP'), ('bark', 'VBP'), ('.', '.')] dog",
        'NLTK is not installed: pip install "perceptron-nlp[nltk]"',
    ], done.stderr


BESIDE = """
import nltk
from nltk import word_tokenize as before
from perceptron_nlp.compat import nltk as ours
ours.install()
from nltk.tokenize import word_tokenize, wordpunct_tokenize

assert word_tokenize is nltk.word_tokenize is ours.word_tokenize
assert before is ours.word_tokenize
assert wordpunct_tokenize("a.b") == ["a", ".", "b"]
try:
    nltk.data.find("corpora/nowhere")
except LookupError:
    print(nltk.word_tokenize("Don't!"))
"""


def test_installed_nltk_keeps_all_else(tmp_path: Path) -> None:
    pytest.importorskip("nltk", reason="the extra nltk is not installed")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BESIDE], capture_output=True, text=True, check=False
    )
    assert done.stdout == "['Do', \"n't\", '!']\n", done.stderr
