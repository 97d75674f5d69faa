"""How a text is cut into folds."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.analysis.tune.folds import documents, make_folds
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.sources import Source


def examples(lengths: list[int]) -> Examples:
    """Sentences of so many words."""
    return Examples.read(Source([(["w"] * n, ["X"] * n) for n in lengths], "train"), "tag", ())


def marked(sizes: list[int], mark: str = "# newdoc id = d\n") -> Examples:
    """Documents of so many sentences."""
    row = "1\tw\t_\tX\t_\t_\t_\t_\t_\t_\n"
    text = "".join(
        mark + "# text = w\n" + row + "\n" + f"# sent_id = s\n{row}\n" * (size - 1)
        for size in sizes
    )
    sentences = list(pn.read_conllu(io.BytesIO(text.encode())))
    return Examples.read(Source(sentences, "train"), "upos", ())


@given(st.lists(st.integers(1, 30), min_size=2, max_size=60), st.data())
def test_each_sentence_is_in_one_fold_and_no_fold_is_empty(
    lengths: list[int], data: st.DataObject
) -> None:
    n_folds = data.draw(st.integers(2, len(lengths)))
    seed = data.draw(st.integers(0, 2**64 - 1))
    folds = make_folds(examples(lengths), n_folds, seed)
    assert sorted(number for fold in folds for number in fold) == list(range(len(lengths)))
    assert len(folds) == n_folds and all(folds)
    assert folds == make_folds(examples(lengths), n_folds, seed)
    words = [sum(lengths[number] for number in fold) for fold in folds]
    assert max(words) - min(words) <= max(lengths)


@given(st.lists(st.integers(1, 5), min_size=3, max_size=12), st.integers(0, 99))
def test_documents_stay_whole(sizes: list[int], seed: int) -> None:
    whole = marked(sizes)
    assert [len(document) for document in documents(whole.sentences)] == sizes
    fold_of = {number: at for at, fold in enumerate(make_folds(whole, 3, seed)) for number in fold}
    for document in documents(whole.sentences):
        assert len({fold_of[number] for number in document}) == 1


def test_the_seed_decides_the_folds() -> None:
    text = examples([3] * 30)
    assert make_folds(text, 3, 1) != make_folds(text, 3, 2)


def test_one_document_is_cut_between_its_sentences() -> None:
    assert len(make_folds(marked([7]), 3, 1)) == 3


def test_documents_of_column_files_are_known_by_their_marks() -> None:
    text = "-DOCSTART- O\n\na X\n\nb X\n\n-DOCSTART- O\n\nc X\n\n"
    sentences = list(pn.read_columns(io.BytesIO(text.encode())))
    assert documents(sentences) == [[0, 1], [2]]


@pytest.mark.parametrize(
    ("n_folds", "message"),
    [
        (1, "folds: 1 is not between 2 and 1,000"),
        (0, "folds: 0"),
        (-3, "folds: -3"),
        (5, "folds: 5 is more than the 4 sentences there are"),
    ],
)
def test_a_bad_number_of_folds_is_refused(n_folds: int, message: str) -> None:
    with pytest.raises(pn.ArgumentError, match=message):
        make_folds(examples([1, 1, 1, 1]), n_folds, 1)


def test_more_folds_than_documents_are_refused() -> None:
    with pytest.raises(pn.ArgumentError, match="more than the 2 documents"):
        make_folds(marked([5, 5]), 3, 1)


def test_a_fold_without_labels_is_refused() -> None:
    rows = [pn.Sentence(["a"], {"upos": [label]}) for label in ("X", "_", "_")]
    text = Examples.read(Source(rows, "train"), "upos", ())
    with pytest.raises(pn.ArgumentError, match="no word is labelled in part"):
        make_folds(text, 3, 1)
