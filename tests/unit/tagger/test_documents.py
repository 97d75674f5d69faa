"""What other sentences show of a name: the columns, and taggers that look at them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.context import DocumentContext, starts_document
from perceptron_nlp.tagger.model.derived import Around
from perceptron_nlp.tagger.tag import threads as threads_module

WORDS = ["Ada", "Bo", "met", "ada", "(", "Cy", "the", "|"]
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=5), max_size=12)


def known(word: str) -> bool:
    return word in ("met", "the", "bo")


def made(sentences, window, **around):
    """The columns of sentences, which have the evidence column `up`."""

    def given_as(words):
        return pn.Sentence(words, {"up": [word.upper() for word in words]})

    around = {name: [given_as(words) for words in value] for name, value in around.items()}
    return [
        dict(sentence.columns)
        for sentence in DocumentContext(window).add(
            [given_as(words) for words in sentences], Around(["up"], known, **around)
        )
    ]


def test_the_columns_of_a_small_text_are_these():
    text = [["Ada", "met", "Bo"], ["said", "Ada", "Cy"], ["ada", "!"]]
    first, second, _ = made(text, 5)
    assert set(first["near"][0].split("|")) == {"n1", "is", "n1is", "^is", "besidexX"}
    assert set(first["near"][2].split("|")) == {"n0", "--", "n0--"}
    assert first["near-left"] == ("said", "|", "|")
    assert first["near-right"] == ("cy", "|", "|")
    assert first["near-right-up"] == ("CY", "|", "|")
    assert second["near-left"] == ("|", "<s>", "|")
    assert second["near-right-up"] == ("|", "MET", "|")
    assert first["near-case"] == ("N", "l", "C")
    assert first["near-share"] == ("3", "3", "3")


@given(SENTENCES, st.integers(0, 4), st.integers(0, 12))
def test_a_text_in_pieces_with_their_neighbours_has_the_columns_of_the_whole(text, window, cut):
    cut = min(cut, len(text))
    one = made(text[:cut], window, after=text[cut : cut + window])
    two = made(text[cut:], window, before=text[max(0, cut - window) : cut])
    assert one + two == made(text, window)


@given(SENTENCES, st.integers(0, 3))
def test_sentences_beyond_the_window_make_no_difference(text, window):
    whole = made(text, window)
    for number in range(len(text)):
        low, high = max(0, number - window), number + window + 1
        assert made(text[low:high], window)[number - low] == whole[number]


@given(SENTENCES)
def test_a_window_as_wide_as_the_text_is_the_text(text):
    assert made(text, 12) == made(text, 1000)


MARKED = "-DOCSTART- O\n\nAda B-X\n\nAda B-X\n\n-DOCSTART- O\n\nAda B-X\n"
CONLLU = "".join(
    f"{mark}1\tAda\t_\tX\t_\t_\t_\t_\t_\t_\n\n"
    for mark in ("# newdoc id = a\n", "# text = Ada\n", "# newdoc\n")
)


@pytest.mark.parametrize(("name", "text"), [("a.txt", MARKED), ("a.conllu", CONLLU)])
def test_documents_begin_at_their_marks(tmp_path: Path, name: str, text: str):
    (tmp_path / name).write_text(text)
    one, two, three = pn.open_corpus(tmp_path / name)
    assert [starts_document(one, two), starts_document(two, three)] == [False, True]
    found = DocumentContext(9).add([one, two, three], Around(knows=known))
    counts = [sentence.column("near")[0] for sentence in found]
    assert ["n1" in value.split("|") for value in counts] == [True, True, False]


def test_a_document_ends_with_its_file_and_sentences_in_memory_belong_together(tmp_path: Path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Ada B-X\n")
    one, two = (
        next(iter(pn.open_corpus(tmp_path / name, format="lines"))) for name in ("a.txt", "b.txt")
    )
    assert starts_document(one, two)
    assert not starts_document(pn.Sentence(["a"]), pn.Sentence(["b"], path="elsewhere"))


def news(count: int, seed: int = 1) -> list[pn.Sentence]:
    """Pairs of sentences: the second has a name that only the first says the kind of."""
    draw, text = random.Random(seed), []
    for number in range(count):
        kind, title = draw.choice([("PER", "Mr"), ("LOC", "near")])
        name = f"N{seed}x{number}"
        for words, labels in (
            ([title, name, "."], ["O", f"B-{kind}", "O"]),
            (["then", name, "!"], ["O", f"B-{kind}", "O"]),
        ):
            text.append(pn.Sentence(words, {"pos": ["p"] * 3, "ner": labels}))
    return text


@pytest.fixture(scope="module")
def names() -> pn.Tagger:
    return pn.train(news(60), column="ner", fields=None, epochs=4)


def test_names_are_found_out_from_the_training_text_and_learnt_from_other_places(names):
    assert any(
        "100.0 % of the spans begin with a capital letter" in note
        for note in names.model.record["choices"]
    )
    assert names.window == 40
    assert names.model.feature_columns == ()
    assert names.evaluate(news(30, seed=2), column="ner").spans.f1 == 1


def test_a_single_sentence_shows_only_itself(names):
    text = news(40, seed=2)
    alone = [names.tag(sentence.words) for sentence in text]
    assert alone == [names.tag_sents([sentence.words])[0] for sentence in text]
    assert alone != names.tag_sents(text)


@settings(max_examples=20)
@given(st.integers(0, 60), st.integers(1, 4), st.integers(1, 7))
def test_neither_threads_nor_chunks_nor_pieces_change_labels(cut, threads, chunk):
    tagger, text = TAGGER, [list(s.words) for s in news(30, seed=4)]
    whole = tagger.tag_sents(text)
    window = tagger.window
    pieces = [
        *tagger.tag_sents(text[:cut], after=text[cut : cut + window]),
        *tagger.tag_sents(text[cut:], before=text[max(0, cut - window) : cut]),
    ]
    before, threads_module.CHUNK = threads_module.CHUNK, chunk
    try:
        assert tagger.tag_sents(text, threads=threads) == whole == pieces
    finally:
        threads_module.CHUNK = before


TAGGER = pn.train(news(40), column="ner", epochs=3, window=2)


def test_a_model_that_looks_nearby_comes_back_from_its_file():
    again = pn.Tagger.from_bytes(TAGGER.to_bytes())
    text = [list(s.words) for s in news(30, seed=5)]
    assert again.window == 2
    assert again.tag_sents(text) == TAGGER.tag_sents(text)
    assert again.to_bytes() == TAGGER.to_bytes()
    assert pn.train(news(40), column="ner", epochs=3, window=2).to_bytes() == TAGGER.to_bytes()


def test_scores_of_a_sentence_are_those_it_is_tagged_by():
    words = ["Mr", "Nobody", "."]
    scores = TAGGER.scores(words)
    assert [label[-3:] for label in TAGGER.tag(words)] == [
        TAGGER.labels[row.argmax()][-3:] for row in scores
    ]


def test_evidence_columns_are_looked_at_nearby_too():
    templates = [*map(str, pn.preset("names", ["pos"]))]
    tagger = pn.train(news(10), column="ner", templates=templates, epochs=1)
    assert tagger.model.feature_columns == ("pos",)
    with pytest.raises(
        pn.ArgumentError,
        match=r"sentences\[0\]: this model looks at the columns"
        r" pos in addition to the words",
    ):
        tagger.tag_sents([["Ada"]])


def test_other_spans_are_no_names():
    rows = [(["a", "b", "C"], ["B-X", "I-X", "B-Y"]), (["d", "e"], ["B-X", "O"])] * 9
    assert pn.train(rows, epochs=1).window == 0


def test_a_column_that_the_tagger_makes_itself_cannot_be_given(tmp_path: Path):
    (tmp_path / "a.txt").write_text("Ada x B-X\n\nBo x B-X\n")
    with pytest.raises(pn.ArgumentError, match="fields: near is the name of a column that the"):
        pn.train(tmp_path / "a.txt", fields=["form", "near", "ner"])


@pytest.mark.parametrize("window", [-1, 1001, 2**70])
def test_a_window_out_of_range_is_refused(window):
    with pytest.raises(pn.ArgumentError, match=r"window: .* is not between 0 and 1,000"):
        pn.train(news(2), column="ner", window=window)
