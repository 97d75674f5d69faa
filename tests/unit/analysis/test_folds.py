"""How a text is cut into folds."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.folds import documents, make_folds


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


def folded(text: Examples, n_folds: int | None, seed: int) -> tuple[list[list[int]], list[str]]:
    sizes = [sum(label is not None for label in row) for row in text.gold]
    return make_folds(text.sentences, sizes, n_folds, seed, 5)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=60), st.data())
def test_each_sentence_is_in_one_fold_and_no_fold_is_empty(
    lengths: list[int], data: st.DataObject
) -> None:
    n_folds = data.draw(st.integers(2, len(lengths)))
    seed = data.draw(st.integers(0, 2**64 - 1))
    folds, remarks = folded(examples(lengths), n_folds, seed)
    assert sorted(number for fold in folds for number in fold) == list(range(len(lengths)))
    assert len(folds) == n_folds and all(folds)
    assert not remarks and folds == folded(examples(lengths), n_folds, seed)[0]
    words = [sum(lengths[number] for number in fold) for fold in folds]
    assert max(words) - min(words) <= max(lengths)


@given(st.integers(3, 12), st.integers(1, 4), st.integers(0, 99))
def test_documents_of_about_one_size_stay_whole(n: int, size: int, seed: int) -> None:
    whole = marked([size] * n)
    assert [len(document) for document in documents(whole.sentences)] == [size] * n
    folds, remarks = folded(whole, 3, seed)
    fold_of = {number: at for at, fold in enumerate(folds) for number in fold}
    for document in documents(whole.sentences):
        assert len({fold_of[number] for number in document}) == 1
    assert not remarks


@pytest.mark.parametrize("sizes", [[9, 9], [40, 1, 1]], ids=["few", "unequal"])
@pytest.mark.parametrize("n_folds", [3, None])
def test_few_or_unequal_documents_are_cut_between_sentences_with_a_remark(
    sizes: list[int], n_folds: int | None
) -> None:
    folds, remarks = folded(marked(sizes), n_folds, 1)
    assert len(folds) == (n_folds or 5)
    assert max(map(len, folds)) - min(map(len, folds)) <= 1
    (remark,) = remarks
    assert "documents are too few or too unequal" in remark and "folds" not in remark


def test_a_small_text_has_fewer_folds_unless_they_are_asked_for() -> None:
    folds, remarks = folded(examples([2, 2, 2]), None, 1)
    assert len(folds) == 3 and "3 parts" in remarks[0]
    with pytest.raises(pn.FormatError, match="fewer than two sentences have labels"):
        folded(examples([2]), None, 1)


def test_the_seed_decides_the_folds() -> None:
    text = examples([3] * 30)
    assert folded(text, 3, 1)[0] != folded(text, 3, 2)[0]


def test_one_document_is_cut_between_its_sentences() -> None:
    assert len(folded(marked([7]), 3, 1)[0]) == 3


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
        folded(examples([1, 1, 1, 1]), n_folds, 1)


def test_each_fold_has_labels_or_there_are_too_many() -> None:
    rows = [pn.Sentence(["a"], {"upos": [label]}) for label in ("X", "_", "_", "Y", "_")]
    text = Examples.read(Source(rows, "train"), "upos", ())
    for seed in range(9):
        assert all({0, 3} & set(fold) for fold in folded(text, 2, seed)[0])
    with pytest.raises(pn.ArgumentError, match="3 is more than the 2 sentences that have labels"):
        folded(text, 3, 1)
