"""Laws of running text in the core: the bytes are those of the slow way, however the text comes."""

from __future__ import annotations

import itertools
import random
import re
import tracemalloc
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.running import Pieces, as_tagged, as_written

import perceptron_nlp as pn
from perceptron_nlp._core.text.writer import may_have_gap
from perceptron_nlp.tagger.tag import fill as filling
from perceptron_nlp.tagger.tag.fill import TextFill
from perceptron_nlp.tagger.tag.text import labeled_batches, text_sentences

ODD = "\n\r\t \u2028\u2029\x0b\x0c\x85\xa0\u3000\ufeff\x00\x1b\u200d\u0301"
TEXTS = st.text(
    st.one_of(
        st.sampled_from(ODD + "du bois.LeAé,!?'-9中ไ"), st.characters(blacklist_categories=["Cs"])
    )
)
TEXTS |= st.lists(
    st.sampled_from(["du", " ", ".", "&quot;", "&eacute;t&eacute;", "&#39;", "&am", "p;", "&nbsp;"])
).map("".join)


@pytest.fixture(scope="module")
def fill(pipeline: pn.Tagger) -> TextFill:
    found = pipeline.labelers.text_filler()
    assert found is not None
    return found


def counting() -> Callable[[int], int]:
    """Return what names sentences from 1 on."""
    named = 0

    def numbers(n: int) -> int:
        nonlocal named
        named += n
        return named - n + 1

    return numbers


def written(fill: TextFill, text: str, lengths: list[int] | None = None, threads: int = 1) -> bytes:
    return b"".join(fill.texts(Pieces(text, lengths or []), counting(), threads))


@given(text=TEXTS, lengths=st.lists(st.integers(1, 40), max_size=8))
def test_the_core_writes_the_bytes_of_the_slow_way(
    pipeline: pn.Tagger, fill: TextFill, text: str, lengths: list[int]
) -> None:
    assert written(fill, text, lengths) == as_written(pipeline, text)


@given(text=TEXTS, lengths=st.lists(st.integers(1, 40), max_size=8), threads=st.integers(1, 2))
def test_the_core_writes_words_and_labels_of_the_slow_way(
    pipeline: pn.Tagger, text: str, lengths: list[int], threads: int
) -> None:
    fill = pipeline.labelers.text_filler(["upos"])
    assert fill is not None
    found = b"".join(fill.tagged(Pieces(text, lengths), threads))
    assert found == as_tagged(pipeline, text, "upos")


def test_columns_that_word_and_label_cannot_hold_are_refused(pipeline: pn.Tagger) -> None:
    for columns in (["upos", "lemma"], ["lemma"]):
        fill = pipeline.labelers.text_filler(columns)
        assert fill is not None and not fill.can_tag
        with pytest.raises(pn.ArgumentError, match="write CoNLL-U"):
            fill.tagged(Pieces("Le chat"))


def test_lemmas_of_many_words_are_remembered(pipeline: pn.Tagger, fill: TextFill) -> None:
    text = " ".join(f"Du{'abcdefghij'[k % 10] * (k // 300 + 1)}{k} bois" for k in range(3_000))
    assert written(fill, f"{text}\n\n{text}") == as_written(pipeline, f"{text}\n\n{text}")


def test_lemmas_that_take_too_much_memory_are_found_again(fill: TextFill) -> None:
    short = "Les chats dorment au bois .\n\n"
    long = "".join(
        f"{'abcdefghij'[k % 10] * 9_000}{'klmnopqrst'[k // 10 % 10] * (k // 100)}\n\n"
        for k in range(1_000)
    )
    found = written(fill, f"{short}{long}{short}").split(b"\n\n")
    assert len(found) == 1_003
    assert found[0].splitlines()[2:] == found[-2].splitlines()[2:]
    assert found[1:1_001] == written(fill, f"{short}{long}").split(b"\n\n")[1:1_001]


WORDS = st.sampled_from(["Le", "chat", "dort", "du", "bois", ".", "l'arbre", "Zoé", "\n\n"])


@given(words=st.lists(WORDS, max_size=80))
def test_threads_write_the_same_bytes(fill: TextFill, words: list[str]) -> None:
    text = " ".join(words) * 30
    lengths = [50] * (len(text) // 50)
    assert written(fill, text, lengths, threads=3) == written(fill, text)


@given(words=st.lists(st.sampled_from([*"uvwxyz", "."]), max_size=30), seed=st.integers(0, 3))
def test_columns_of_running_text_agree(pipeline: pn.Tagger, words: list[str], seed: int) -> None:
    drawn = random.Random(seed)
    upos = {word: drawn.choice("AB") for word in "uvwxyz"}
    rows = []
    for number in range(12):
        row = drawn.choices("uvwxyz", k=4)
        xpos = [upos[word].lower() for word in row] if number % 3 else ["a"] * 4
        rows.append(pn.Sentence(row, {"upos": [upos[word] for word in row], "xpos": xpos}))
    tagger = pn.train(rows, column="upos,xpos", epochs=1)
    model = tagger.model.replace(segmentation=pipeline.model.segmentation)
    text, own = " ".join(words), pn.Tagger(model)
    fill = own.labelers.text_filler()
    assert fill is not None and written(fill, text) == as_written(own, text)


def test_some_columns_are_written_alone(pipeline: pn.Tagger) -> None:
    text = "Le chat va au bois.\n\nIl dort"
    # Lemmas look at the parts of speech, which are labeled without being written.
    for columns in (["upos"], ["upos", "lemma"], ["lemma"]):
        fill = pipeline.labelers.text_filler(columns)
        assert fill is not None and written(fill, text) == as_written(pipeline, text, columns)


LETTERS = "aeAtTIİiıßǅσΣςςοίόΐΊ\u0301éÉñșȘşŞيی-1"
TURKISH = [("Iı", "ıı"), ("İti", "it"), ("ATIİ", "atı"), ("iti", "iti"), ("Ia", "ıa")]
GREEK = [
    ("Σοσσός", "σοσσο"),
    ("οσοσού", "όσοσο"),
    ("ίσος", "ισός"),
    ("Ισοί", "ισός"),
    ("ΤΑΤΑ", "ΤΑΤ"),
    ("ΤΕΤΑ", "ΤΕΤ"),
    ("Aéta", "Aet"),
    ("tééa", "teet"),
    ("was", "be"),
    ("Taté", "tat"),
    ("Táte", "táta"),
]

# Letters of which others are as well written: of the first training has both.
ALIKE = [("şaș", "aș"), ("Șaș", "șa"), ("aș", "aș"), ("یa", "ی"), ("aی", "aی")]


@pytest.fixture(scope="module", params=[TURKISH, GREEK, ALIKE])
def lemmatizer(request: pytest.FixtureRequest, pipeline: pn.Tagger) -> pn.Tagger:
    """A tagger of lemmas whose scripts drop, add, capitalize, and set accents."""
    pairs = request.param
    rows = [
        pn.Sentence(
            [form for form, _ in own],
            {"upos": ["AB"[k % 2] for k in range(len(own))], "lemma": [lemma for _, lemma in own]},
        )
        for own in (pairs, pairs[::-1], pairs[2:] + pairs[:2])
    ] * 2
    tagger = pn.train(rows, column="upos,lemma", epochs=3)
    return pn.Tagger(tagger.model.replace(segmentation=pipeline.model.segmentation))


@given(text=st.one_of(st.text(LETTERS + " ."), st.text(), TEXTS))
def test_lemmas_of_any_text_are_those_of_the_slow_way(lemmatizer: pn.Tagger, text: str) -> None:
    text = text.encode("utf-8", "ignore").decode()
    fill = lemmatizer.labelers.text_filler()
    assert fill is not None and written(fill, text) == as_written(lemmatizer, text)


@given(text=st.text(st.characters(), max_size=60) | TEXTS)
def test_objects_are_the_same_as_by_the_slow_way(pipeline: pn.Tagger, text: str) -> None:
    columns = pipeline.columns

    def label(sentences: list[list[str]], *_: object) -> dict[str, tuple[list[list[str]], None]]:
        found = pipeline.tag_sents(sentences, columns=columns)
        return {name: (labels, None) for name, labels in found.items()}

    pieces = labeled_batches(pipeline.segmenter.sentences_of(text), label, 0, 3)
    assert pipeline.tag_text(text) == list(text_sentences(text, pieces))


@pytest.mark.parametrize("threads", [2, 8])
def test_threads_change_no_object(
    pipeline: pn.Tagger, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    text = "Il zirpait du bois.\n\nElle dort\u00a0! " * 40 + "\n\n\n" + "sans fin " * 50
    whole = pipeline.tag_text(text)
    monkeypatch.setattr(filling, "PIECE", 100)
    assert pipeline.tag_text(text, threads=threads) == pipeline.tag_text(text) == whole
    assert next(pipeline.iter_text(text, threads=threads)) == whole[0]


def test_lemmas_of_a_user_are_known(pipeline: pn.Tagger) -> None:
    assert pipeline.model.more[0].lemmas is not None
    text = "Il zirpait."
    more = pipeline.with_lexicon({"zirper": "VERB"}, column="lemma")
    assert more.model.more[0].lemmas.lemmas["zirper\tVERB"] == 0
    fill = more.labelers.text_filler()
    assert fill is not None and written(fill, text) == as_written(more, text)
    with pytest.raises(pn.ArgumentError, match=r"no label .Verb."):
        pipeline.with_lexicon({"zirper": "Verb"}, column="lemma")


def test_an_endless_text_takes_constant_memory(fill: TextFill) -> None:
    def peak(text: str, n_pieces: int) -> int:
        class Endless(Pieces):
            left = n_pieces

            def take_text(self, least: int) -> bytes:
                self.left -= 1
                return text.encode() if self.left >= 0 else b""

        tracemalloc.start()
        length = sum(map(len, fill.texts(Endless(""), counting())))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert length > n_pieces
        return found

    for text in (
        "Le chat dort. " * 5_000,
        "é" * 50_000,
        "a" + " " * 100_000,
        ("9" * 63 + "x ") * 2_000,
    ):
        peak(text, 2)
        assert peak(text, 80) < 2 * peak(text, 20) + 10_000


@given(
    parts=st.lists(
        st.sampled_from([" ", "\n", "\u2003", "\u3000", "\x85", "a", "é", "中", " " * 7])
    )
)
def test_no_long_stretch_of_white_space_is_overlooked(parts: list[str]) -> None:
    text = "".join(parts)
    longest = max((len(own) for own in re.findall(r"\s+", text)), default=0)
    for least in range(1, 12):
        assert may_have_gap(text.encode(), least) >= (longest >= least)
    assert not may_have_gap(b"Le chat dort. " * 9, 3)


def test_what_is_no_utf_8_stays_in_the_source(fill: TextFill) -> None:
    class Damaged(Pieces):
        parts = itertools.chain([b"Le bois.\n\nEst", b" \xff "], itertools.repeat(b""))

        def take_text(self, least: int) -> bytes:
            return next(self.parts)

    source = Damaged("")
    found = b"".join(fill.texts(source, counting()))
    assert found.count(b"# text") == 1 and source.rest == b"\n\nEst \xff "
