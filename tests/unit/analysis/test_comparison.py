"""Comparisons: counted by hand, and what cannot be compared is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perceptron_nlp as pn

Small = list[tuple[list[str], list[str]]]
GOLD = "The/DET dog/NOUN barks/VERB\nA/DET cat/NOUN sleeps/VERB\n"
A = "The/DET dog/NOUN barks/NOUN\nA/DET cat/VERB sleeps/ADV\n"
B = "The/DET dog/VERB barks/VERB\nA/DET cat/NOUN sleeps/ADJ\n"


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``gold``, ``a`` and ``b``, three labelings of the same six words."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("gold", GOLD), ("a", A), ("b", B)):
        Path(name).write_text(text)


@pytest.mark.usefixtures("texts")
def test_scores_labels_and_changes_are_those_counted_by_hand() -> None:
    found = pn.compare("a", "b", "gold")
    assert (found.sentences, found.tokens, found.unlabeled) == (2, 6, 0)
    assert (found.accuracy.a, found.accuracy.b) == (3 / 6, 4 / 6)
    assert found.accuracy.difference == pytest.approx(1 / 6)
    assert (found.gained, found.lost) == (2, 1)
    assert found.mcnemar == 1.0
    assert found.f1 is None and found.main is found.accuracy
    noun = found.labels["NOUN"]
    assert (noun.support, noun.gained, noun.lost) == (2, 1, 1)
    assert (noun.f1_a, noun.f1_b) == (1 / 2, 2 / 3)
    assert [
        (c.path, c.line, c.sentence, c.index, c.word, c.gold, c.a, c.b, c.outcome)
        for c in found.changes
    ] == [
        ("gold", 1, 1, 1, "dog", "NOUN", "NOUN", "VERB", "lost"),
        ("gold", 1, 1, 2, "barks", "VERB", "NOUN", "VERB", "gained"),
        ("gold", 2, 2, 1, "cat", "NOUN", "VERB", "NOUN", "gained"),
        ("gold", 2, 2, 2, "sleeps", "VERB", "ADV", "ADJ", "other"),
    ]
    assert (found.changes[1].before, found.changes[1].after) == (("The", "dog"), ())


@pytest.mark.usefixtures("texts")
def test_the_other_way_round_gains_are_losses() -> None:
    one, other = pn.compare("a", "b", "gold"), pn.compare("b", "a", "gold")
    assert (one.gained, one.lost) == (other.lost, other.gained)
    assert one.accuracy.difference == -other.accuracy.difference
    assert one.accuracy.p_value == other.accuracy.p_value
    assert one.accuracy.interval_a == other.accuracy.interval_b


def test_a_tagger_is_as_good_as_itself(tagger: pn.Tagger, small: Small) -> None:
    found = pn.compare(tagger, tagger, small)
    assert (found.gained, found.lost, found.changes) == (0, 0, ())
    assert found.accuracy.difference == 0
    assert found.accuracy.p_value == found.mcnemar == 1.0
    assert found.accuracy.interval_difference == (0.0, 0.0)


def test_a_model_file_and_what_it_labels_are_the_same(
    tagger: pn.Tagger, small: Small, tmp_path: Path
) -> None:
    place = tmp_path / "a.model"
    tagger.save(place)
    labeled = [(words, tagger.tag(words)) for words, _ in small]
    found = pn.compare(place, labeled, small)
    assert found.changes == ()
    assert found.accuracy.a == tagger.evaluate(small).accuracy


def test_accuracy_is_that_of_evaluate(tagger: pn.Tagger, small: Small) -> None:
    other = pn.train(small, epochs=1, update="perceptron")
    found = pn.compare(tagger, other, small)
    assert found.accuracy.a == tagger.evaluate(small).accuracy
    assert found.accuracy.b == other.evaluate(small).accuracy
    scores = other.evaluate(small).labels
    assert {label: d.f1_b for label, d in found.labels.items() if label in scores} == {
        label: pytest.approx(score.f1) for label, score in scores.items()
    }


def test_lemmas_are_those_of_tags_that_agree() -> None:
    tagger = pn.load("en")
    gold = list(pn.read_conllu(Path(__file__).parents[3] / "data/english-test.conllu"))
    found = pn.compare(tagger, tagger.by_column["lemma"], gold, column="lemma")
    evaluated = tagger.evaluate(gold, column="lemma")
    assert found.accuracy.a == evaluated.accuracy == found.accuracy.b


def test_the_labels_compared_are_those_that_tag_writes(tmp_path: Path) -> None:
    gold = Path(__file__).parents[3] / "data/english-test.conllu"
    tagger = pn.load("en")
    found = pn.compare(tagger, tagger, gold)
    together = tagger.evaluate_columns(gold)["upos"]
    alone = pn.compare(tagger, tagger, gold, column="upos")
    assert found.accuracy.a == together.accuracy
    assert alone.accuracy.a == tagger.evaluate(gold, column="upos").accuracy
    assert found.notes[0] == "A: upos, xpos, feats, lemma together, as tag writes them"
    assert alone.notes[1] == "B: column upos by itself, as tag --column upos writes it"


def test_spans_are_judged_by_f1_and_told_apart_by_type() -> None:
    gold = [(["a", "b", "c", "d"], ["B-X", "I-X", "O", "B-Y"]), (["e"], ["B-X"])]
    a = [(["a", "b", "c", "d"], ["B-X", "O", "O", "B-Y"]), (["e"], ["B-X"])]
    b = [(["a", "b", "c", "d"], ["B-X", "I-X", "O", "O"]), (["e"], ["B-Y"])]
    found = pn.compare(a, b, gold)
    assert found.f1 is not None and found.main is found.f1
    assert (found.f1.a, found.f1.b) == (2 * 2 / 6, 2 * 1 / 5)
    assert set(found.labels) == {"X", "Y"}
    assert (found.labels["X"].gained, found.labels["X"].lost) == (1, 1)
    scores = found.to_dict()["scores"]
    assert [one["score"] for one in scores if one["measure"] == "F1"][:2] == [
        found.f1.a,
        found.f1.b,
    ]


def test_words_without_a_gold_label_do_not_count() -> None:
    gold = [pn.Sentence(["a", "b"], {"upos": ["X", "_"]})]
    given = [pn.Sentence(["a", "b"], {"upos": ["_", "Y"]})]
    found = pn.compare(gold, given, gold, column="upos")
    assert (found.tokens, found.unlabeled, found.lost) == (1, 1, 1)
    assert found.changes[0].b == "_"


@pytest.mark.usefixtures("texts")
def test_it_goes_into_json_with_all_changes() -> None:
    found = pn.compare("a", "b", "gold")
    told = json.loads(found.to("json"))
    assert told == json.loads(json.dumps(found.to_dict()))
    assert (told["mcnemar"], told["p_value"]) == (found.mcnemar, found.accuracy.p_value)
    assert [one["score"] for one in told["scores"]] == [3 / 6, 4 / 6, pytest.approx(1 / 6)]
    assert told["changes"][0]["context"] == "The [dog] barks" and len(told["changes"]) == 4
    assert found.rows() == told["labels"] and len(found.rows()) == len(found.labels)
    assert str(found) == told["title"]


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        (A.replace("dog", "fox"), "other:1: ", "'fox' stands where gold:1 has 'dog'"),
        (A.replace("A/DET ", ""), "other:2: ", "'cat' stands where gold:2 has 'A'"),
        (A.replace(" sleeps/ADV", ""), "other:2: ", "ends after 'cat', but goes on with 'sleeps'"),
        (A.replace("\n", " on/ADP\n", 1), "other:1: ", "'on' stands where a sentence ends"),
        (A + "Yes/INTJ\n", "other:3: ", "the text goes on here, but gold:2 ends the 2 sentences"),
        (A.splitlines()[0] + "\n", "other: ", "ends after 1 sentence, but gold:2 has another"),
    ],
)
def test_labelings_of_other_words_are_refused_by_file_and_line(
    text: str, place: str, message: str
) -> None:
    Path("other").write_text(text)
    with pytest.raises(pn.FormatError) as caught:
        pn.compare("a", "other", "gold", format="tagged")
    assert str(caught.value).startswith(place) and message in str(caught.value)


def test_taggers_of_different_columns_are_refused(tagger: pn.Tagger, small: Small) -> None:
    sentences = [
        pn.Sentence(words, {"upos": labels, "xpos": ["X"] * len(words)}) for words, labels in small
    ]
    other = pn.train(sentences, column="xpos", epochs=1)
    upos = pn.train(sentences, column="upos", epochs=1)
    with pytest.raises(pn.ArgumentError, match="b: a tagger of 'xpos', but a is one of 'upos'"):
        pn.compare(upos, other, sentences)
    with pytest.raises(pn.ArgumentError, match="a: a tagger of 'upos', none of whose labels"):
        pn.compare(upos, other, sentences, column="xpos")


def test_a_column_that_the_file_has_is_not_judged_by_another(tmp_path: Path) -> None:
    place = tmp_path / "x.conllu"
    place.write_text("1\tdog\t_\tSYM\tSYM\t_\t_\t_\t_\t_\n\n")
    tagger = pn.train(place, column="upos", epochs=1)
    with pytest.raises(pn.ArgumentError, match="cannot be judged by column 'xpos'"):
        pn.compare(tagger, tagger, place, column="xpos")


@pytest.mark.usefixtures("texts")
def test_bad_arguments_are_named() -> None:
    with pytest.raises(pn.ArgumentError, match="seed"):
        pn.compare("a", "b", "gold", seed=-1)
    with pytest.raises(pn.FormatError, match="no column 'xpos'"):
        pn.compare(
            [pn.Sentence(["a"], {"upos": ["X"]})],
            "b",
            [pn.Sentence(["a"], {"upos": ["X"]})],
            column="xpos",
        )
    with pytest.raises(pn.FileError, match="nowhere"):
        pn.compare("a", "nowhere", "gold")
    Path("damaged").write_bytes((8).to_bytes(8, "little") + b"{}      ")
    with pytest.raises(pn.ModelError, match="damaged"):
        pn.compare("damaged", "b", "gold")


def test_of_several_columns_the_first_that_both_have_is_compared(small: Small) -> None:
    sentences = [
        pn.Sentence(words, {"upos": labels, "xpos": [label.lower() for label in labels]})
        for words, labels in small
    ]
    both = pn.train(sentences, column=("upos", "xpos"), epochs=1)
    for a, b in ((both, both.by_column["xpos"]), (both.by_column["xpos"], both)):
        assert pn.compare(a, b, sentences).column == "xpos"
    assert pn.compare(both, both, sentences).column == "upos"


def test_a_column_is_named_by_a_str(tagger: pn.Tagger, small: Small) -> None:
    message = "column: the name of one column is needed, as a str, not"
    for work in (tagger.evaluate, lambda data, column: pn.compare(data, data, data, column=column)):
        for column in (4, ("upos",)):
            with pytest.raises(pn.ArgumentTypeError, match=message):
                work(small, column=column)
