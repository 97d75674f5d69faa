"""CoNLL-U filled in as bytes is what the checked reader and writer make of it."""

from __future__ import annotations

import io
from dataclasses import replace
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
TAGGER = pn.Tagger(replace(
    pn.train([(["The", "old", "man", "x y"], ["DET", "ADJ", "NOUN", "X"])] * 3, epochs=2).model,
    column="upos"))


def by_sentence(text: bytes) -> bytes | str:
    """The text filled in sentence by sentence, or what is wrong with it."""
    try:
        corpus = pn.open_corpus(io.BytesIO(text), format="conllu")
        done = "".join(
            corpus.rewrite(s, {"upos": TAGGER.tag(s.words)}) if s.words else corpus.rewrite(s, {})
            for s in corpus)
        return (done + corpus.tail).encode()
    except pn.FormatError as error:
        return str(error)


def filled(text: bytes) -> bytes | None:
    """The text filled in as bytes; None where the filler leaves it to the reader."""
    corpus = pn.open_corpus(io.BytesIO(text), format="conllu")
    fill = TAGGER.filler(corpus)
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
@given(data=st.data())
def test_damaged_text_is_filled_in_as_the_reader_would_or_left_to_it(data: st.DataObject) -> None:
    text = bytearray(GOOD)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(text) - 1))
        piece = data.draw(st.sampled_from(
            [b"", b"\t", b"\n", b"\n\n", b" ", b"_", b"0", b"1", b"2", b"9", b"-", b".", b":", b"|",
             b"=", b"#", b"\r", b"\0", b"\xc2\xa0", b"\xff", b"\xe2\x80\x83", b"3-4", b"x"]))
        text[at:at + data.draw(st.integers(0, 2))] = piece
    whole = bytes(text) + b"\n\n"
    try:
        done = filled(whole)
    except pn.FormatError:
        return
    assert done is None or done == by_sentence(whole)


@pytest.mark.parametrize("threads", [1, 2])
def test_the_command_line_fills_files_in_the_same_way(
        tmp_path: Path, threads: int, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    from perceptron_nlp.cli.main import main
    TAGGER.save(tmp_path / "m.model")
    odd = GOOD.replace(b"DET\tDT", b"DET\tD\r") + b"1\tlast\t_\t_\t_\t_\t_\t_\t_\t_"
    (tmp_path / "in.conllu").write_bytes(GOOD * 50 + odd)
    arguments = ["tag", str(tmp_path / "m.model"), str(tmp_path / "in.conllu"), "--quiet",
                 "--threads", str(threads)]
    assert main(arguments) == 0
    assert capfdbinary.readouterr().out == by_sentence(GOOD * 50 + odd)
