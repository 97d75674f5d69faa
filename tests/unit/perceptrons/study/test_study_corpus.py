"""What a study reads: parts, features, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from perceptron_nlp.errors import ArgumentError, FileError, FormatError
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.perceptrons.study import corpus as corpus_module
from perceptron_nlp.perceptrons.study.corpus import (
    StudyCorpus,
    read_study_corpus,
    sample_files,
    shape,
    word_features,
)


def write(path: Path, lines: list[str]) -> str:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_one_file_gives_every_tenth_sentence_to_dev(corpus: StudyCorpus) -> None:
    assert (corpus.train.sentences, corpus.dev.sentences) == (54, 6)
    assert corpus.notes == ("dev is every tenth sentence, which train then does not have",)
    assert corpus.column == "tag"
    assert corpus.labels == sorted(set(corpus.train.y.tolist()))


def test_a_dev_file_leaves_data_whole(tagged_file: Path) -> None:
    both = read_study_corpus([str(tagged_file)] * 2, dev=str(tagged_file))
    assert (both.train.sentences, both.dev.sentences) == (120, 60)
    assert both.notes == ("dev is sixty.tagged",)
    assert both.name == "sixty.tagged, sixty.tagged"


def test_an_open_corpus_is_read_as_its_file_is(tagged_file: Path, corpus: StudyCorpus) -> None:
    opened = read_study_corpus([open_corpus(str(tagged_file))])
    assert opened.train.y.tolist() == corpus.train.y.tolist()


def test_a_large_part_is_thinned_evenly_and_says_so(tmp_path: Path) -> None:
    path = write(tmp_path / "many.tagged", [f"w{i}/A of/B it/A" for i in range(200)])
    thin = read_study_corpus([path], tokens=100)
    assert thin.train.sentences == 30
    assert "of train, one sentence in 6 is used (540 words in all)" in thin.notes
    assert thin.dev.sentences == 20


def test_words_without_a_label_are_only_neighbours(tmp_path: Path) -> None:
    rows = ["1\tA\t_\tDET", "2\tbig\t_\t_", "3\tcat\t_\tNOUN"]
    sentence = "".join(row + "\t_" * 6 + "\n" for row in rows)
    path = tmp_path / "half.conllu"
    path.write_text((sentence + "\n") * 10, encoding="utf-8")
    half = read_study_corpus([str(path)])
    assert half.train.y.tolist() == ["DET", "NOUN"] * 9
    assert half.dev.y.tolist() == ["DET", "NOUN"]


def test_the_sample_corpus_is_the_default() -> None:
    paths, dev = sample_files()
    sample = read_study_corpus()
    assert (sample.name, sample.column) == (Path(paths[0]).name, "upos")
    assert sample.notes == (f"dev is {Path(dev).name}",)


def test_without_the_sample_corpus_data_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "__file__", "/nowhere/perceptron_nlp/study/corpus.py")
    with pytest.raises(ArgumentError, match=r"^DATA: name a tagged file to study"):
        read_study_corpus()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["a/X b/Y"] * 9, r"^DATA: 9 sentences are too few to hold every tenth one out"),
        (["a/X b/X"] * 10, r"there is nothing to learn: 1 different labels \('X'\)"),
        (["a b c"] * 10, r"^column: .*read as text\) has none to learn by itself"),
    ],
    ids=["too few sentences", "one label", "no labels"],
)
def test_data_that_cannot_be_studied_is_refused(
    tmp_path: Path, lines: list[str], message: str
) -> None:
    with pytest.raises(ArgumentError, match=message):
        read_study_corpus([write(tmp_path / "bad.txt", lines)])


def test_other_bad_arguments_are_named(tagged_file: Path, tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"^tokens: 99 words are too few"):
        read_study_corpus([str(tagged_file)], tokens=99)
    with pytest.raises(ArgumentError, match=r"^dev: name the file to train on too"):
        read_study_corpus(dev=str(tagged_file))
    with pytest.raises(FileError, match="absent"):
        read_study_corpus([str(tmp_path / "absent.conllu")])
    paths, _ = sample_files()
    with pytest.raises(FormatError, match="no column 'upso'"):
        read_study_corpus(paths, column="upso")


def test_features_are_the_word_its_neighbours_and_its_letters() -> None:
    assert word_features(["The", "Old", "mill"], 1) == [
        "w=old", "p=the", "n=mill", "s1=d", "s2=ld", "s3=old", "f1=o", "shape=Xx",
        "ps=he", "ns=ll",
    ]  # fmt: skip
    assert word_features(["Go"], 0)[1:3] == ["p=<s>", "n=</s>"]
    assert [shape(word) for word in ("Lisbon", "20-year", "USA", "…")] == ["Xx", "d-x", "X", "…"]


def test_unseen_features_of_dev_have_no_column(tmp_path: Path) -> None:
    train, dev = tmp_path / "train.tagged", tmp_path / "dev.tagged"
    train.write_text("the/DET dog/NOUN\n")
    dev.write_text("zyx/NOUN the/DET\n")
    corpus = read_study_corpus([str(train)], dev=str(dev))
    X = corpus.dev.X
    assert X.shape == (2, corpus.train.X.shape[1]) == (2, 19)
    # Of zyx its shape and what is before it; of the all but the word before.
    assert np.diff(X.indptr).tolist() == [3, 8]
    assert X.indices.max() < 19 and X.data.tolist() == [1.0] * 11
