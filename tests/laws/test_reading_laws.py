"""Words of sentences in other hands are read as the words that training has."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from types import SimpleNamespace
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.installed import bundled_segmentation
from perceptron_nlp.tagger.model.lemmas import KnownLemmas
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.segment import Reading, Segmenter, reading_of
from perceptron_nlp.text.tagset import word_hash
from tests.oracles import reading as twin

ACCENTS = [
    *(("E", "É"), ("S", "Š"), ("a", "á"), ("a", "à"), ("a", "ấ"), ("e", "é"), ("s", "š")),
    *(("Α", "Ά"), ("α", "ά"), ("α", "ᾶ")),
]
LETTERS = "aesxAEXSαωσΣΑΩiIıİ-1йЙ\ud800áÉš\u0301"
words = st.text(LETTERS, min_size=1, max_size=7) | st.text("aesx", min_size=1, max_size=7)

TREEBANK = """\
Příliš/ADV/příliš žlutý/ADJ/žlutý kůň/NOUN/kůň pěl/VERB/pět ódy/NOUN/óda ./PUNCT/.
Kůň/NOUN/kůň běžel/VERB/běžet přes/ADP/přes zelenou/ADJ/zelený louku/NOUN/louka ./PUNCT/.
Včera/ADV/včera přišla/VERB/přijít moje/DET/můj sestra/NOUN/sestra domů/ADV/domů ./PUNCT/.
Naše/DET/náš škola/NOUN/škola je/AUX/být šedá/ADJ/šedý a/CCONJ/a široká/ADJ/široký ./PUNCT/.
Že/SCONJ/že prší/VERB/pršet ,/PUNCT/, věděl/VERB/vědět každý/DET/každý ./PUNCT/.
Dítě/NOUN/dítě četlo/VERB/číst velkou/ADJ/velký knihu/NOUN/kniha ./PUNCT/.
"""


def reader_of(
    accents: twin.Accents, known: Iterable[str], least: int, turkic: bool = False
) -> Segmenter:
    numbers = [(ord(a), ord(b)) for a, b in accents]
    halves = sorted({word_hash(word) >> 32 for word in known})
    reading = Reading(numbers, memoryview(array("I", halves)), least, turkic)
    return Segmenter(bundled_segmentation(), reading=reading)


def drawn_out(word: str, data: st.DataObject) -> str:
    """A word with some of its letters drawn out."""
    return "".join(letter * data.draw(st.sampled_from([1, 1, 1, 3, 5])) for letter in word)


@given(st.lists(words, min_size=1, max_size=6), st.sampled_from("twulc"), st.data())
def test_words_are_read_as_the_slow_twin_reads_them(
    told: list[str], case: str, data: st.DataObject
) -> None:
    table: dict[str, list[str]] = {}
    for plain, accented in ACCENTS:
        table.setdefault(plain, []).append(accented)
    cases = {"u": str.upper, "l": str.lower, "c": str.capitalize}
    known, shown = ["a"], []
    # Words that are others, with accents or in another case, are rare among random ones.
    for word in told:
        choices = [st.sampled_from([letter, *table.get(letter, ())]) for letter in word]
        made = "".join(map(data.draw, choices))
        known.append(data.draw(st.sampled_from([made, made.lower(), made.capitalize(), "x"])))
        own = cases.get(case, str)(word)
        shown.append(drawn_out(own, data) if case == "w" else own)
    least, turkic = data.draw(st.integers(1, 12)), data.draw(st.booleans())
    found = reader_of(ACCENTS, known, least, turkic).cutter.as_read(shown)
    assert [*found] == twin.as_read(shown, ACCENTS, {*known}, least, turkic)


def test_a_word_may_have_four_accents_and_no_more() -> None:
    reader = reader_of([("a", "á")], ["bábábábá", "bábábábábá"], 1)
    assert reader.cutter.as_read(["babababa", "bababababa"]) == ["bábábábá", "bababababa"]


def test_long_words_take_no_longer_than_others() -> None:
    reader = reader_of(ACCENTS, ["á"], 1)
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


def read(sentence: str, known: str, **how: bool) -> str:
    return " ".join(reader_of([], known.split(), 0, **how).cutter.as_read(sentence.split()))


def test_sentences_of_one_case_are_read_in_the_case_that_training_has() -> None:
    known = "the The boats London LONDON may May"
    assert read("the boats of london may sink", known) == "the boats of London may sink"
    assert read("THE BOATS OF LONDON MAY SINK", known) == "the boats OF LONDON may SINK"
    # Few letters, or a capital among the small ones, are taken at their word.
    assert read("in london", known) == "in london"
    assert read("The boats of london may sink", known) == "The boats of london may sink"
    assert read("ışık izmir istanbul ankara", "Işık İzmir Istanbul", turkic=True) == (
        "Işık İzmir istanbul ankara"
    )
    assert read("Ο ΜΕΓΑΛΟΣ ΚΟΣΜΟΣ", "ο μεγαλος κοσμος") == "ο μεγαλος κοσμος"


def test_letters_that_are_drawn_out_are_read_as_two_or_one() -> None:
    assert read("Soooo coooool daaaa дааа III ... 1000", "so cool da да") == (
        "So cool da да III ... 1000"
    )
    assert read("heee", "heee he") == "heee"


def test_letters_and_their_accents_are_those_of_the_lemmas(czech: pn.Tagger) -> None:
    found = reading_of(czech.model)
    pairs = {(chr(plain), chr(accented)) for plain, accented in found.accents}
    assert {("e", "ě"), ("E", "Ě"), ("r", "ř"), ("u", "ů")} <= pairs
    assert 4 <= found.least <= 10
    english = reading_of(pn.load("en").model)
    assert not english.accents and not english.least and len(english.vocabulary)


def pairs_of(*lemmas: str) -> set[str]:
    known = KnownLemmas("", [], {f"{lemma}\tNOUN": 0 for lemma in lemmas})
    parts = [SimpleNamespace(lemmas=known)]
    model = cast(TaggerModel, SimpleNamespace(parts_by_column=parts, vocabulary=array("I")))
    return {chr(plain) + chr(accented) for plain, accented in reading_of(model).accents}


def test_languages_have_the_letters_that_people_leave_out() -> None:
    assert pairs_of("ışık", "iş") == {"iı", "Iİ", "sş", "SŞ"}
    assert pairs_of("łódź", "đak", "øre", "guð") == {
        *("lł", "LŁ", "oó", "OÓ", "zź", "ZŹ", "dđ", "DĐ", "oø", "OØ", "dð", "DÐ")
    }
    assert pairs_of("άνθρωπος", "ϊ") == {"αά", "ΑΆ", "ιϊ", "ΙΪ"}
    assert pairs_of("nhật", "straße", "æra") == {"aậ", "AẬ"}
    # Marks that make letters of their own, and languages that have hardly any.
    assert not pairs_of("ёлка", "йод", "її") | pairs_of("がか", "각") | pairs_of("آب", "أحمد")
    assert not pairs_of("café", *(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"))
    assert not pairs_of()
