"""Which sentences of a long text are read: the first."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.pool import Pool

CUT = pn.load("en").segmenter.sentences_in
LINES = "".join(f"The boat , number {n} .\n" for n in range(300))


def test_of_a_long_text_the_first_sentences_are_asked_for(tmp_path: Path) -> None:
    path, packed = tmp_path / "text", tmp_path / "text.gz"
    path.write_text(LINES, "utf-8")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    lists = [list(sentence) for sentence in pn.open_corpus(path)]
    for source in (path, packed, lists, iter(lists)):
        pool = Pool(source, 100, CUT)
        assert [list(item.words) for item in pool.items] == lists[:100]
        assert pool.warnings[0].startswith("the first 100 sentences")
    whole = Pool(path, 300, CUT)
    assert [list(item.words) for item in whole.items] == lists and not whole.warnings


def test_work_on_some_sentences_goes_on_with_more(tmp_path: Path) -> None:
    path, out = tmp_path / "text", tmp_path / "gold.conllu"
    path.write_text(LINES, "utf-8")
    with Session(path, out, sentences=20) as session:
        for _ in range(3):
            task = session.next()
            assert task is not None
            session.accept(["X"] * len(task.words))
    with Session(path, out, sentences=40) as session:
        assert session.progress().sentences == 3 and session.progress().waiting == 37


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "text.conllu"
    path.write_text("1\tBoat" + "\t_" * 8 + "\n7\tx" + "\t_" * 8 + "\n\n", "utf-8")
    with pytest.raises(pn.FormatError, match=r"text.conllu:2:"):
        Pool(path, 2000, CUT)
