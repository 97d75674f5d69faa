"""CoNLL-U filled in as bytes is what the checked reader and writer make of it."""

from __future__ import annotations

import io
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn

FILES = sorted((Path(__file__).parent.parent / "corpora").glob("*.conllu"))
GOOD = b"""# sent_id = 1
1\tThe\tthe\tDET\tDT\tDefinite=Def|PronType=Art\t2\tdet\t2:det\t_
2\told\told\tADJ\tJJ\tDegree=Pos\t0\troot\t0:root|2.1:x\tSpaceAfter=No
2.1\tx y\t_\t_\t_\t_\t_\t_\t2:dep\t_
3-4\tdon't\t_\t_\t_\tTypo=Yes\t_\t_\t_\t_
3\tdo\tdo\tAUX\t_\t_\t2\taux\t_\t_
4\tn't\tnot\tPART\t_\t_\t2\tadvmod\t_\t_

# a comment

1\t\xc3\xa9t\xc3\xa9\t_\tNOUN\t_\t_\t_\t_\t_\t_

"""
TAGGER = pn.Tagger(
    pn.train(
        [(["The", "old", "man", "x y"], ["DET", "ADJ", "NOUN", "X"])] * 3, epochs=2
    ).model.replace(column="upos")
)


def by_sentence(text: bytes) -> bytes | str:
    """The text filled in sentence by sentence, or what is wrong with it."""
    try:
        corpus = pn.open_corpus(io.BytesIO(text), format="conllu")
        done = "".join(
            corpus.rewrite(s, {"upos": TAGGER.tag(s.words)}) if s.words else corpus.rewrite(s, {})
            for s in corpus
        )
        return (done + corpus.tail).encode()
    except pn.FormatError as error:
        return str(error)


def filled(text: bytes) -> bytes | None:
    """The text filled in as bytes; None where the filler leaves it to the reader."""
    corpus = pn.open_corpus(io.BytesIO(text), format="conllu")
    fill = TAGGER.labelers.filler(corpus)
    return None if fill is None else fill(text)


def test_good_text_is_filled_in_as_bytes() -> None:
    expected = by_sentence(GOOD)
    assert isinstance(expected, bytes) and filled(GOOD) == expected != GOOD


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_bytes_are_filled_in_as_the_reader_would_or_left_to_it(path: Path) -> None:
    text = path.read_bytes()
    try:
        done = filled(text)
    except pn.FormatError:
        return  # not even its first lines can be read
    assert done is None or done == by_sentence(text)


@settings(max_examples=300, deadline=None)
@given(data=st.data(), more=st.integers(0, 2))
def test_damaged_text_is_filled_in_as_the_reader_would_or_left_to_it(
    data: st.DataObject, more: int
) -> None:
    """Lines with much behind them are judged in a way of their own (conllu_usual.h)."""
    text = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(
            st.sampled_from(
                [
                    b"",
                    b"\t",
                    b"\n",
                    b"\n\n",
                    b" ",
                    b"_",
                    b"0",
                    b"1",
                    b"2",
                    b"9",
                    b"-",
                    b".",
                    b":",
                    b"|",
                    b"=",
                    b"#",
                    b"\r",
                    b"\0",
                    b"\xc2\xa0",
                    b"\xff",
                    b"\xe2\x80\x83",
                    b"3-4",
                    b"x",
                    b"\x7f",
                    b"x" * 70,
                ]
            )
        )
        text[at : at + data.draw(st.integers(0, 2))] = piece
    whole = bytes(text) + b"\n\n" + GOOD * more
    try:
        done = filled(whole)
    except pn.FormatError:
        return
    assert done is None or done == by_sentence(whole)


WORD = [b"1", b"form", b"lemma", b"_", b"X", b"Name=Value", b"0", b"rel", b"0:rel", b"_"]
# Longer than is looked at at once.
LONG_WORD = [
    b"1",
    b"f" * 50,
    b"l" * 50,
    b"_",
    b"X",
    b"Name=" + b"v" * 40,
    b"0",
    b"r" * 30,
    b"0:rel",
    b"_",
]
ODD = [
    b"",
    b"_",
    b"0",
    b"1",
    b"2",
    b"3",
    b"4",
    b"01",
    b"1234",
    b"12345",
    b"1a",
    b":",
    b"/",
    b"1:",
    b":x",
    b"0:x",
    b"3:x:y",
    b"4:x",
    b"1:x|2:y",
    b"1:x|",
    b"01:x",
    b"0.1:x",
    b"3.1:x",
    b"a b",
    b"0:a-very-long-one",
    b"0:\xc2\xa0",
    b"0:x\x7f",
    b"0:\xe2\x80\x83",
    b"a\xc2\xa0b",
    b"\xc3\xa9",
    b"x\rx",
    b"A=1",
    b"Name=Value|Name=Value",
    b"Name=Value|Other=Value",
    b"Name==Value",
    b"Name=Valuf",
    b"Name=Value1",
    b"L=" + b"ong" * 20,
    b"L=" + b"ong" * 60,
    b"long" * 15,
    b"long" * 16,
    b"long" * 30,
]


def check_words(changed: Iterable[tuple[int, int, bytes]], word: list[bytes]) -> None:
    """Words with some values changed, much behind them, are filled in rightly or left."""
    words = [[b"%d" % number, *word[1:]] for number in (1, 2, 3)]
    for row, column, value in changed:
        words[row][column] = value
    text = b"".join(b"\t".join(word) + b"\n" for word in words) + b"\n" + GOOD * 2
    done = filled(GOOD + text)
    assert done is None or done == by_sentence(GOOD + text)


@pytest.mark.parametrize("word", [WORD, LONG_WORD], ids=["short", "long"])
@pytest.mark.parametrize("column", range(10))
def test_a_word_with_an_odd_value_is_filled_in_as_the_reader_would_or_left_to_it(
    column: int, word: list[bytes]
) -> None:
    for value in ODD:
        check_words([(1, column, value)], word)


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 9), st.sampled_from(ODD)), max_size=4))
def test_words_with_odd_values_are_filled_in_as_the_reader_would_or_left_to_it(
    changed: list[tuple[int, int, bytes]],
) -> None:
    check_words(changed, WORD)


def test_usual_words_with_much_behind_them_are_filled_in_as_bytes() -> None:
    for text in (GOOD, b"\t".join(LONG_WORD) + b"\n\n"):
        expected = by_sentence(text * 9)
        assert isinstance(expected, bytes) and filled(text * 9) == expected != text * 9


@pytest.mark.parametrize("threads", [1, 2])
def test_the_command_line_fills_files_in_the_same_way(
    tmp_path: Path, threads: int, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    from perceptron_nlp.cli.main import main

    TAGGER.save(tmp_path / "m.model")
    odd = GOOD.replace(b"DET\tDT", b"DET\tD\r") + b"1\tlast\t_\t_\t_\t_\t_\t_\t_\t_"
    (tmp_path / "in.conllu").write_bytes(GOOD * 50 + odd)
    arguments = [
        "tag",
        str(tmp_path / "m.model"),
        str(tmp_path / "in.conllu"),
        "--quiet",
        "--threads",
        str(threads),
    ]
    assert main(arguments) == 0
    assert capfdbinary.readouterr().out == by_sentence(GOOD * 50 + odd)


def slowly(tagger: pn.Tagger, sentences: list[list[str]]) -> dict[str, list[list[str]]]:
    """The labels of sentences column by column, each with an object of every word."""
    keep = {name: [[None] * len(own) for own in sentences] for name in tagger.columns}
    return tagger.tag_sents(sentences, columns=tagger.columns, keep=keep)


WORDS = st.one_of(
    st.sampled_from(
        ["Le", "chat", "dort", "du", "des", "bois", "vagues", ".", "ÉTÉ", "Vagues", "12"]
    ),
    st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=70),
)


@settings(max_examples=100, deadline=None)
@given(sentences=st.lists(st.lists(WORDS, min_size=1, max_size=9), min_size=1, max_size=6))
def test_lemmas_are_filled_in_as_bytes_beside_the_tags_that_they_depend_on(
    pipeline: pn.Tagger, sentences: list[list[str]]
) -> None:
    rows = [
        "".join(f"{n}\t{word}" + "\t_" * 8 + "\n" for n, word in enumerate(own, 1)) + "\n"
        for own in sentences
    ]
    corpus = pn.open_corpus(io.BytesIO("".join(rows).encode()), format="conllu")
    fill = pipeline.labelers.filler(corpus)
    assert fill is not None
    labels = slowly(pipeline, sentences)
    expected = "".join(
        corpus.rewrite(sentence, {name: own[at] for name, own in labels.items()})
        for at, sentence in enumerate(corpus)
    )
    assert fill("".join(rows).encode()) in (expected.encode(), None)
    assert fill(rows[0].encode()) is not None or not rows[0].isascii()
