"""CoNLL-U read as numbers is what the checked reader makes of it, errors included."""

from __future__ import annotations

import bz2
import gzip
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.formats import open_corpus
from perceptron_nlp.tagger.encoded import EncodedText
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train import data as data_module
from perceptron_nlp.tagger.train.data import Examples

CORPORA = Path(__file__).parents[1] / "corpora"
COLUMNS = ("upos", "UPOS", "xpos", "feats", "misc", "lemma", "nothing")

texts = st.text("aB_é𝄞'\"", min_size=1, max_size=3)
words = st.tuples(
    texts,
    st.sampled_from(["NOUN", "VERB", "_", "É"]),
    st.sampled_from(["A=b", "A=b|C=d", "_"]),
    st.sampled_from(["0", "_"]),
    st.sampled_from(["", "range", "empty", "bad id", "bad field"]),
    st.integers(0, 25),
)
files = st.lists(
    st.tuples(
        st.sampled_from(["", "# sent_id = 1\n", "# newdoc\n# a\tb\n", "\n", "\ufeff"]),
        st.lists(words, max_size=5),
    ),
    min_size=1,
    max_size=5,
)


def written(sentences: list[Any], newline: str, ending: str) -> bytes:
    """CoNLL-U that is right but for a few lines."""
    out = ""
    for before, rows in sentences:
        out += before
        for number, (form, upos, feats, head, oddity, when) in enumerate(rows, 1):
            if when == 0 and oddity == "bad id":
                out += f"{number + 1}\t{form}" + "\t_" * 8 + "\n"
            if oddity == "range":
                out += f"{number}-{number}\t{form}" + "\t_" * 8 + "\n"
            extra = "\t" if when == 0 and oddity == "bad field" else ""
            out += f"{number}\t{form}\t{form}\t{upos}\t{upos}\t{feats}\t{head}\t_\t_{extra}\t_\n"
            if oddity == "empty":
                out += f"{number}.1\t{form}" + "\t_" * 8 + "\n"
        out += "\n"
    return (out + ending).replace("\n", newline).encode()


def outcome(data: Any, column: str, evidence: tuple[str, ...] = ()) -> Any:
    """What comes of reading: the examples as plain values, or the error."""
    try:
        source = Source(data, "train", format="conllu")
        read = Examples.read(source, column, evidence)
    except pn.PerceptronNLPError as error:
        return type(error), str(error)
    return contents(read)


def contents(read: Examples) -> Any:
    strings, tokens = read.encoded(("form", *read.columns))
    return {
        "tags": read.tags.labels,
        "record": read.record(),
        "strings": strings,
        "tokens": [own.tolist() for own in tokens],
        "lengths": read.sentences.lengths.tolist(),
        "gold": read.gold_ids().tolist(),
        "labels": [list(labels) for labels in read.gold],
        "words": [list(found) for found in read.sentences.values("form")],
        "vocabulary": read.vocabulary().tolist(),
        "certain": read.unambiguous(1, 0.6),
        "sentences": [
            (s.words, dict(s.columns), s.path, [s.line_of(i) for i in range(len(s))])
            for s in read.sentences
        ],
    }


def both(data: Any, column: str, evidence: tuple[str, ...] = ()) -> tuple[Any, Any]:
    """The outcome with numbers where possible, and of the checked reader alone."""
    with pytest.MonkeyPatch.context() as patch:
        fast = outcome(data, column, evidence)
        patch.setattr(data_module, "number_conllu", lambda *_, **__: None)
        return fast, outcome(data, column, evidence)


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("path", sorted(CORPORA.glob("*.conllu*")), ids=lambda path: path.name)
def test_every_file_of_the_corpora_gives_the_same_examples_or_the_same_error(
    path: Path, column: str
) -> None:
    fast, slow = both(str(path), column, ("lemma",) if column == "upos" else ())
    assert fast == slow


@given(
    files,
    st.sampled_from(["\n", "\n", "\n", "\r\n"]),
    st.sampled_from(["", "", "# end", "1\tx"]),
    st.sampled_from(COLUMNS),
)
def test_random_files_give_the_same_examples_or_the_same_error(
    tmp_path_factory: pytest.TempPathFactory,
    sentences: list[Any],
    newline: str,
    ending: str,
    column: str,
) -> None:
    path = tmp_path_factory.getbasetemp() / "random.conllu"
    path.write_bytes(written(sentences, newline, ending))
    fast, slow = both(str(path), column)
    assert fast == slow


@given(files, st.data())
def test_a_part_of_numbered_examples_is_that_part_of_the_sentences(
    tmp_path_factory: pytest.TempPathFactory, sentences: list[Any], data: st.DataObject
) -> None:
    path = tmp_path_factory.getbasetemp() / "part.conllu"
    plain = [("", [(*row[:4], "", 1) for row in rows]) for _, rows in sentences]
    path.write_bytes(written([*plain, ("", [("a", "NOUN", "_", "_", "", 1)])], "\n", ""))
    fast = Examples.read(Source(str(path), "train"), "upos", ("lemma",))
    assert isinstance(fast.sentences, EncodedText)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(data_module, "number_conllu", lambda *_, **__: None)
        slow = Examples.read(Source(str(path), "train"), "upos", ("lemma",))
    numbers = data.draw(st.lists(st.sampled_from(range(len(slow.sentences))), unique=True))
    assert contents(fast.part(numbers)) == contents(slow.part(numbers))
    assert [s.words for s in fast.sentences[1:]] == [s.words for s in slow.sentences[1:]]
    assert [*map(list, fast.gold[1:])] == [*map(list, slow.gold[1:])]
    assert list(fast.gold[0]) == list(slow.gold[0])


@pytest.fixture
def good(tmp_path: Path) -> Path:
    rows = [
        ("", [(f"w{k % 7}", "NOUN" if k % 3 else "VERB", "_", "_", "", 1) for k in range(n, n + 4)])
        for n in range(60)
    ]
    path = tmp_path / "good.conllu"
    path.write_bytes(written(rows, "\n", ""))
    return path


def test_files_of_the_usual_form_are_read_as_numbers(good: Path) -> None:
    assert isinstance(Examples.read(Source(str(good), "train"), "upos", ()).sentences, EncodedText)


def test_packed_files_and_streams_are_read_as_numbers(good: Path, tmp_path: Path) -> None:
    expected = contents(Examples.read(Source(str(good), "train"), "upos", ()))
    text = good.read_bytes()
    for name, packed in (("a.gz", gzip.compress(text)), ("a.bz2", bz2.compress(text))):
        (tmp_path / name).write_bytes(packed)
        read = Examples.read(Source(str(tmp_path / name), "train"), "upos", ())
        assert isinstance(read.sentences, EncodedText)
        assert read.record() == expected["record"]
    stream = open_corpus(io.BytesIO(text))
    read = Examples.read(Source(stream, "train"), "upos", ())
    assert isinstance(read.sentences, EncodedText) and read.record() == expected["record"]
    with pytest.raises(pn.FileError, match="read only once"):
        list(stream)


def test_several_files_are_numbered_as_one(good: Path) -> None:
    files = [str(CORPORA / "good.conllu"), str(good)]
    fast, slow = both(files, "upos")
    assert fast == slow and isinstance(fast, dict)


def test_a_packed_file_that_is_cut_short_gives_the_error_of_the_checked_reader(
    good: Path, tmp_path: Path
) -> None:
    path = tmp_path / "cut.conllu.gz"
    path.write_bytes(gzip.compress(good.read_bytes())[:-20])
    fast, slow = both(str(path), "upos")
    assert fast == slow == (pn.FormatError, f"{path}: the compressed data is cut short")


def test_a_corpus_of_a_path_can_be_read_again_after_training(good: Path) -> None:
    corpus = open_corpus(str(good))
    pn.train(corpus, epochs=1)
    assert len(list(corpus)) == 60


def test_several_columns_of_a_stream_are_learnt(good: Path) -> None:
    stream = open_corpus(io.BytesIO(good.read_bytes()))
    tagger = pn.train(stream, column="upos,xpos", epochs=1)
    assert tagger.to_bytes() == pn.train(str(good), column="upos,xpos", epochs=1).to_bytes()


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"column": "feats"},
        {"column": "upos,xpos"},
        {"update": "perceptron", "min_count": 2},
        {"dictionary": (3, 0.9)},
        {"templates": ("word[0]", "column:lemma[1]")},
    ],
    ids=lambda options: ",".join(options) or "none",
)
def test_models_are_the_same_bytes(
    good: Path, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    fast = pn.train(str(good), dev=str(good), epochs=2, **options).to_bytes()
    monkeypatch.setattr(data_module, "number_conllu", lambda *_, **__: None)
    assert fast == pn.train(str(good), dev=str(good), epochs=2, **options).to_bytes()


def test_numbers_of_labels_that_no_word_has_are_an_empty_array(good: Path) -> None:
    read = Examples.read(Source(str(good), "train"), "upos", ())
    assert np.array_equal(read.part([]).gold_ids(), np.empty(0, np.int32))
