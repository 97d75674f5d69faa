"""A column may be given by its number, from 1, and is then known by its name."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn

CONLLU = "1\tDogs\tdog\tNOUN\tNNS\t_\t_\t_\t_\t_\n2\tbark\tbark\t_\tVBP\t_\t_\t_\t_\t_\n\n"
COLUMNS = "Dogs NNS B-NP\nbark VBP B-VP\n\n"


@pytest.fixture
def conllu(tmp_path: Path) -> Path:
    path = tmp_path / "a.conllu"
    path.write_text(CONLLU)
    return path


def test_a_number_means_the_named_column_with_all_its_rules(conllu: Path) -> None:
    tagger = pn.train(conllu, column="4", epochs=1)
    assert tagger.column == "upos"
    assert tagger.labels == ("NOUN",)
    assert tagger.evaluate(conllu, column="4").unlabeled == 1


def test_a_numbered_column_is_not_evidence_for_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text(COLUMNS)
    tagger = pn.train(path, fields=["form", "xpos", "chunk"], column="3", epochs=1)
    assert tagger.column == "chunk"
    assert tagger.model.feature_columns == ("xpos",)


@pytest.mark.parametrize("column", ["1", "2", "form"])
def test_the_words_themselves_cannot_be_learnt(conllu: Path, column: str) -> None:
    with pytest.raises(pn.ArgumentError, match=r"column: (id|form) is given, not learned"):
        pn.train(conllu, column=column)


def test_a_number_beyond_the_columns_is_refused(conllu: Path) -> None:
    with pytest.raises(pn.FormatError, match="no column '11'"):
        pn.train(conllu, column="11")
