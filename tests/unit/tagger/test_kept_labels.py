"""Labels that words have already stay, and are context for the others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_span_columns import corpus as chunks
from test_two_passes import corpus as inflected

import perceptron_nlp as pn

ORDER = [(["x", "y"], ["A", "B"]), (["z", "y"], ["C", "D"])] * 4


def by_word(tokens: Any, i: int) -> list[str]:
    return [f"word {tokens[i]}"]


TAGGERS = {
    "greedy": pn.train(ORDER, right_to_left=False, templates=["word[0]", "tag[-1] word[0]"]),
    "backwards": pn.train(
        [(["x", "u"], ["A", "B"]), (["x", "v"], ["C", "D"])] * 4,
        right_to_left=True,
        templates=["word[0]", "tag[-1] word[0]"],
    ),
    "beam": pn.train(ORDER, beam=3, templates="default", update="perceptron"),
    "function": pn.train(
        ORDER,
        features=by_word,
        right_to_left=False,
        templates=["column:features.word.pieces", "tag[-1] column:features[0]"],
    ),
    "spans": pn.train(chunks("bio"), templates="default", epochs=3),
    "spans in IOB1": pn.train(chunks("iob1"), templates="default", epochs=3),
    "spans in IOBES": pn.train(chunks("iobes"), templates="default", epochs=3),
    "features": pn.train(inflected(), column="feats", epochs=3),
    "two passes": pn.train(inflected(), column="feats", epochs=3, two_passes=True),
    "many labels": pn.train(
        [([f"w{k}", "v"], [f"L{k:03}", "B"]) for k in range(90)], epochs=2, templates="fast"
    ),
    "dictionary": pn.train(ORDER, dictionary=(2, 0.9), right_to_left=False, templates="fast"),
}
WORDS = ["x", "y", "z", "la", "bel", "lupo", "b-x0", "i-x1", "e-x0", "o0", "s-y1", "w3", "v", "new"]
LABELS = [
    "A",
    "B",
    "C",
    "D",
    "B-X",
    "I-X",
    "E-X",
    "S-Y",
    "O",
    "Case=Gen|Number=Sing",
    "_",
    "L003",
    "never trained",
    "I-never",
    "B-Y",
]
SENTENCE = st.lists(
    st.tuples(st.sampled_from(WORDS), st.none() | st.sampled_from(LABELS)), max_size=7
)


@pytest.mark.parametrize("name", TAGGERS)
@given(sentences=st.lists(SENTENCE, max_size=3))
def test_kept_labels_survive_and_to_keep_nothing_is_to_tag(
    name: str, sentences: list[list[tuple[str, str | None]]]
) -> None:
    tagger = TAGGERS[name]
    words = [[word for word, _ in sentence] for sentence in sentences]
    keep = [[label for _, label in sentence] for sentence in sentences]
    found = tagger.tag_sents(words, keep=keep)
    for labels, kept in zip(found, keep, strict=True):
        assert len(labels) == len(kept)
        assert all(own in (None, label) for label, own in zip(labels, kept, strict=True))
    plain = tagger.tag_sents(words)
    assert tagger.tag_sents(words, keep=[[None] * len(one) for one in words]) == plain
    assert tagger.tag_sents(words, keep=[None] * len(words)) == plain
    # What the tagger gives by itself, when it is kept, changes nothing else.
    if name in ("greedy", "backwards", "function", "many labels", "dictionary"):
        halves = [[label if at % 2 else None for at, label in enumerate(one)] for one in plain]
        assert tagger.tag_sents(words, keep=halves) == plain


@pytest.mark.parametrize("name", ["greedy", "function"])
def test_a_kept_label_is_context_for_the_word_after_it(name: str) -> None:
    tagger = TAGGERS[name]
    assert tagger.tag(["new", "y"], keep=["A", None]) == ["A", "B"]
    assert tagger.tag(["new", "y"], keep=["C", None]) == ["C", "D"]


def test_a_kept_label_is_context_for_the_word_before_it_where_that_is_read_later() -> None:
    assert TAGGERS["backwards"].tag(["x", "new"], keep=[None, "B"]) == ["A", "B"]
    assert TAGGERS["backwards"].tag(["x", "new"], keep=[None, "D"]) == ["C", "D"]


def test_a_kept_inside_of_a_span_lets_it_begin_before() -> None:
    tagger = TAGGERS["spans"]
    assert tagger.tag(["b-x0", "o0"], keep=[None, "I-X"]) == ["B-X", "I-X"]


def test_a_kept_label_goes_before_the_dictionary() -> None:
    assert TAGGERS["dictionary"].tag(["x", "z"], keep=["D", None]) == ["D", "C"]


def test_each_column_keeps_its_own() -> None:
    rows = [pn.Sentence(["x", "y"], {"upos": ["A", "B"], "xpos": ["a", "b"]})]
    tagger = pn.train(rows, column="upos,xpos", epochs=1)
    assert tagger.tag(["x", "y"], keep={"xpos": [None, "q"]}, columns=tagger.columns) == {
        "upos": ["A", "B"],
        "xpos": ["a", "q"],
    }


@pytest.mark.parametrize(
    ("keep", "error", "message"),
    [
        (["A"], pn.ArgumentError, "keep[0]: 1 labels for 2 words"),
        ("AB", pn.ArgumentTypeError, "keep[0]: a list of labels is needed, not str"),
        (3, pn.ArgumentTypeError, "keep[0]: a list of labels is needed, not int"),
        (["A", 3], pn.ArgumentTypeError, "keep[0]: a label is a str, or None where there is none"),
    ],
)
def test_labels_that_cannot_be_kept_are_named(
    keep: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        TAGGERS["greedy"].tag(["x", "y"], keep=keep)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("keep", "error", "message"),
    [
        ([], pn.ArgumentError, "keep: of 0 sentences, but there are 1"),
        ("x", pn.ArgumentTypeError, "keep: a list is needed, not str"),
    ],
)
def test_labels_of_other_sentences_are_named(
    keep: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        TAGGERS["greedy"].tag_sents([["x", "y"]], keep=keep)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("keep", "error", "message"),
    [
        (
            {"xpos": ["A", None]},
            pn.ArgumentError,
            "keep: 'xpos' is not a column of this tagger, which fills tag",
        ),
        (["A", None], pn.ArgumentTypeError, "keep: a mapping from column to labels is needed"),
    ],
)
def test_columns_that_cannot_be_kept_are_named(
    keep: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error) as caught:
        TAGGERS["greedy"].tag(["x", "y"], keep=keep, columns=TAGGERS["greedy"].columns)
    assert message in str(caught.value)


@pytest.mark.parametrize("sentence", ["ab", 3, iter(["a"])])
def test_labels_of_what_is_no_sentence_are_refused(sentence: Any) -> None:
    with pytest.raises(pn.ArgumentTypeError, match=r"keep\[0\]: a list of words is needed"):
        TAGGERS["greedy"].tag_sents([sentence], keep=[["A"]])


def test_threads_keep_alike() -> None:
    words = [["x", "y"]] * 1500
    keep = [["A", None] if k % 3 else ["C", None] for k in range(1500)]
    tagger = TAGGERS["greedy"]
    assert tagger.tag_sents(words, keep=keep, threads=3) == tagger.tag_sents(words, keep=keep)
    assert tagger.tag_sents(words, keep=keep)[:2] == [["C", "D"], ["A", "B"]]
