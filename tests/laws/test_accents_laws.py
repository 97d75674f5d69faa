"""Sentences without accents are read with those of the words that training has."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.bundled import bundled_segmentation
from perceptron_nlp.tagger.model.lemmas import KnownLemmas
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.accents import Accents, accents_of
from perceptron_nlp.tagger.tag.segment import Segmenter
from perceptron_nlp.text.tagset import word_hash
from tests.oracles import accents as twin

LETTERS = [
    *(("a", "á", "á"), ("a", "à", "à"), ("a", "ấ", "ấ"), ("e", "é", "é"), ("E", "É", "é")),
    *(("s", "š", "š"), ("S", "Š", "š"), ("α", "ά", "ά"), ("Α", "Ά", "ά"), ("α", "ᾶ", "ᾶ")),
]
PLAIN = "aesxAEXSαωΑΩ-1й\ud800"
words = st.text("".join(own for own in PLAIN if own != "\ud800") + "áàấéÉšάᾶ\u0301", max_size=7)
plain_words = st.text(PLAIN, min_size=1, max_size=7)

TREEBANK = """\
Příliš/ADV/příliš žlutý/ADJ/žlutý kůň/NOUN/kůň pěl/VERB/pět ódy/NOUN/óda ./PUNCT/.
Kůň/NOUN/kůň běžel/VERB/běžet přes/ADP/přes zelenou/ADJ/zelený louku/NOUN/louka ./PUNCT/.
Včera/ADV/včera přišla/VERB/přijít moje/DET/můj sestra/NOUN/sestra domů/ADV/domů ./PUNCT/.
Naše/DET/náš škola/NOUN/škola je/AUX/být šedá/ADJ/šedý a/CCONJ/a široká/ADJ/široký ./PUNCT/.
Že/SCONJ/že prší/VERB/pršet ,/PUNCT/, věděl/VERB/vědět každý/DET/každý ./PUNCT/.
Dítě/NOUN/dítě četlo/VERB/číst velkou/ADJ/velký knihu/NOUN/kniha ./PUNCT/.
"""


def reader_of(letters: twin.Letters, known: Iterable[str], least: int) -> Segmenter:
    numbers = [(ord(a), ord(b), ord(c)) for a, b, c in letters]
    halves = sorted({word_hash(word) >> 32 for word in known})
    accents = Accents(numbers, memoryview(array("I", halves)), least)
    return Segmenter(bundled_segmentation(), accents=accents)


@given(st.lists(plain_words, min_size=1, max_size=4), st.lists(words, max_size=60), st.data())
def test_words_are_read_as_the_slow_twin_reads_them(
    shown: list[str], known: list[str], data: st.DataObject
) -> None:
    # Words that are others with accents are rare among random ones.
    table = {plain: [b for a, b, _ in LETTERS if a == plain] for plain, _, _ in LETTERS}
    for word in shown:
        choices = [st.sampled_from([letter, *table.get(letter, ())]) for letter in word]
        made = "".join(map(data.draw, choices))
        known.append(data.draw(st.sampled_from([made, made.lower(), word[:-1]])))
    known = [word for word in known if word.isprintable()]
    least = data.draw(st.integers(1, 12))
    letters = sorted(LETTERS, key=lambda own: own[0])
    found = reader_of(letters, known, least).cutter.as_read(shown)
    assert found == twin.as_read(shown, letters, {*known}, least)


def test_a_word_may_have_four_accents_and_no_more() -> None:
    reader = reader_of([("a", "á", "á")], ["bábábábá", "bábábábábá"], 1)
    assert reader.cutter.as_read(["babababa", "bababababa"]) == ["bábábábá", "bababababa"]


def test_long_words_take_no_longer_than_others() -> None:
    reader = reader_of(sorted(LETTERS, key=lambda own: own[0]), ["á"], 1)
    assert reader.cutter.as_read(["a" * 40, "a" * 41, "a"]) == ["a" * 40, "a" * 41, "á"]


@pytest.fixture(scope="module")
def czech(tmp_path_factory: pytest.TempPathFactory) -> pn.Tagger:
    path = tmp_path_factory.mktemp("accents") / "train.conllu"
    sentences = []
    for line in TREEBANK.splitlines() * 20:
        rows = [token.split("/") for token in line.split()]
        no_space = [form in ",." for form, *_ in rows[1:]] + [False]
        rest = ["SpaceAfter=No" if glued else "_" for glued in no_space]
        sentences.append(
            "".join(
                "\t".join((str(n), form, lemma, upos, *"______"[:5], misc)) + "\n"
                for n, ((form, upos, lemma), misc) in enumerate(zip(rows, rest, strict=True), 1)
            )
        )
    path.write_text("\n".join(sentences) + "\n", "utf-8")
    return pn.train(str(path), dev=str(path), column="all", seed=1)


def bare(text: str) -> str:
    return text.translate(
        str.maketrans("áčďéěíňóřšťúůýžÁČĎÉĚÍŇÓŘŠŤÚŮÝŽ", "acdeeinorstuuyzACDEEINORSTUUYZ")
    )


def told(sentences: Sequence[pn.TextSentence]) -> list[tuple[object, ...]]:
    return [(word.start, word.end, word.labels, word.lemma) for one in sentences for word in one]


def text_of() -> str:
    lines = (" ".join(own.split("/")[0] for own in one.split()) for one in TREEBANK.splitlines())
    return " ".join(lines).replace(" .", ".").replace(" ,", ",")


def test_text_without_accents_gets_the_labels_and_lemmas_of_text_with_them(
    czech: pn.Tagger,
) -> None:
    text = text_of()
    whole, found = czech.tag_text(text), czech.tag_text(bare(text))
    assert told(found) == told(whole)
    assert [word.form for one in found for word in one] == [
        bare(word.form) for one in whole for word in one
    ]


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_stream_is_read_as_the_whole_text(czech: pn.Tagger, size: int) -> None:
    text = bare(text_of())
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert told([*czech.iter_text(pieces)]) == told(czech.tag_text(text))


def test_confidences_are_those_of_the_same_labels(czech: pn.Tagger) -> None:
    text = bare(text_of())
    plain, sure = czech.tag_arrays([text]), czech.tag_arrays([text], confidences=True)
    assert sure.confidences
    one, other = (
        [own.labels["upos"][1][number] for number in own.labels["upos"][0]] for own in (plain, sure)
    )
    assert one == other


def test_a_sentence_with_an_accent_is_taken_at_its_word(czech: pn.Tagger) -> None:
    (sentence,) = czech.tag_text("Vcera prisla moje sestra domů.")
    assert [word.lemma for word in sentence][:2] != ["včera", "přijít"]
    (sentence,) = czech.tag_text("Vcera prisla moje sestra domu\u0301.")
    assert [word.lemma for word in sentence][:2] != ["včera", "přijít"]


def test_letters_and_their_accents_are_those_of_the_lemmas(czech: pn.Tagger) -> None:
    found = accents_of(czech.model)
    assert found is not None
    pairs = {(chr(plain), chr(accented)) for plain, accented, _ in found.letters}
    assert {("e", "ě"), ("E", "Ě"), ("r", "ř"), ("u", "ů")} <= pairs
    assert 4 <= found.least <= 10
    assert accents_of(pn.load("en").model) is None


def model_of(lemmas: Iterable[str], alphabet: str = "") -> TaggerModel:
    known = KnownLemmas(alphabet, [], {f"{lemma}\tNOUN": 0 for lemma in lemmas})
    part = SimpleNamespace(lemmas=known)
    return cast(TaggerModel, SimpleNamespace(parts_by_column=[part], vocabulary=array("I")))


def pairs_of(*lemmas: str) -> set[str]:
    found = accents_of(model_of(lemmas))
    return set() if found is None else {chr(a) + chr(b) + chr(c) for a, b, c in found.letters}


def test_languages_have_the_letters_that_people_leave_out() -> None:
    assert pairs_of("ışık", "iş") == {"iıı", "Iİi", "sşş", "SŞş"}
    assert pairs_of("łódź", "đak", "øre", "guð") == {
        *("lłł", "LŁł", "oóó", "OÓó", "zźź", "ZŹź", "dđđ", "DĐđ", "oøø", "OØø", "dðð", "DÐð")
    }
    assert pairs_of("άνθρωπος", "ϊ") == {"αάά", "ΑΆά", "ιϊϊ", "ΙΪϊ"}
    assert pairs_of("nhật", "straße", "æra") == {"aậậ", "AẬậ"}
    # Marks that make letters of their own, and languages that have hardly any.
    assert not pairs_of("ёлка", "йод", "її") | pairs_of("がか", "각") | pairs_of("آب", "أحمد")
    assert not pairs_of("café", *(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"))
    assert not pairs_of()
