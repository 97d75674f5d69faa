"""Features learned in two passes."""

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.model.derived import FIRST_COLUMNS, with_first_labels
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train import auto as choices
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.stacking import jackknifed, second_pass_templates

NOUNS = {"lupo": "Nom", "lupu": "Gen", "kato": "Nom", "katu": "Gen"}


def corpus():
    """The adjective says nothing of its case: it agrees with the noun that follows."""
    rows = []
    for number in range(24):
        noun = list(NOUNS)[number % 4]
        case = f"Case={NOUNS[noun]}|Number=Sing"
        words = ["la", "bel", noun] if number % 3 else ["bel", noun]
        rows.append(
            pn.Sentence(
                words,
                {
                    "upos": ["DET", "ADJ", "NOUN"][-len(words) :],
                    "feats": ["_", case, case][-len(words) :],
                },
            )
        )
    return rows


def examples():
    read = Examples.read(Source(corpus(), "train"), "feats", ())
    gold = [
        [f"{u}|{f}" for u, f in zip(s.column("upos"), s.column("feats"), strict=True)]
        for s in read.sentences
    ]
    return read.relabeled(gold)


def test_two_passes_learn_save_load_and_tag():
    rows = corpus()
    tagger = pn.train(rows, column="feats", two_passes=True, right_to_left=False)
    assert tagger.model.first is not None and tagger.model.right_to_left
    assert (
        set(FIRST_COLUMNS) <= set(tagger.model.template_columns)
        and tagger.model.feature_columns == ()
    )
    expected = [list(row.column("feats")) for row in rows]
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    for one in (tagger, again):
        assert one.tag_sents([list(row.words) for row in rows]) == expected
        assert one.evaluate(rows).accuracy == 1
    assert again.to_bytes() == tagger.to_bytes()
    assert tagger.scores(["bel", "lupo"]).shape == (2, len(tagger.labels))


def test_a_tagger_of_two_passes_cannot_be_gone_on_with():
    tagger = pn.train(corpus(), column="feats", two_passes=True, epochs=1)
    with pytest.raises(pn.ArgumentError, match="resume: features learned in two passes"):
        tagger.resume(corpus())
    one = pn.train(corpus(), column="feats", two_passes=False, epochs=1, resumable=True)
    assert one.resume(corpus(), epochs=1).model.record["before"] == one.model.record


def test_the_preset_accurate_learns_features_in_two_passes_and_others_in_one():
    assert pn.train(corpus(), column="feats", preset="accurate", epochs=2).model.first is not None
    assert pn.train(corpus(), column="upos", preset="accurate", epochs=2).model.first is None
    assert pn.train(corpus(), column="feats", epochs=2).model.first is None


def test_where_there_is_much_text_the_first_pass_gives_parts_of_speech(monkeypatch):
    monkeypatch.setattr(choices, "MUCH_TEXT", 10)
    rows = corpus()
    tagger = pn.train(rows, column="feats", two_passes=True, right_to_left=False)
    first = tagger.model.first
    assert (first.column, first.scheme, set(first.tags)) == ("upos", None, {"DET", "ADJ", "NOUN"})
    assert "the first one of parts of speech" in " ".join(tagger.model.record["choices"])
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    assert again.evaluate(rows).accuracy == tagger.evaluate(rows).accuracy == 1
    assert again.to_bytes() == tagger.to_bytes()


def test_no_sentence_is_labeled_by_a_tagger_that_learnt_from_it():
    known = []

    def train(part):
        sentences = set(map(id, part.sentences))

        def label(held_out):
            known.append(len(sentences) + len(held_out))
            assert not sentences & set(map(id, held_out))
            return [["X|Case=Nom"] * len(sentence.words) for sentence in held_out]

        return label

    made = jackknifed(examples(), examples(), train)
    assert set(known) == {24}
    assert all(s.column("pass1-upos") == ("X",) * len(s.words) for s in made.sentences)
    assert list(made.gold) == list(examples().gold) and made.columns == FIRST_COLUMNS


def test_the_second_pass_sees_wholes_parts_of_speech_and_agreement():
    sentence = with_first_labels(["la", "bel"], ["DET|_", "ADJ|Case=Gen|Degree=Pos|Number=Sing"])
    assert sentence.column("pass1") == ("DET|_", "ADJ|Case=Gen|Degree=Pos|Number=Sing")
    assert sentence.column("pass1-upos") == ("DET", "ADJ")
    assert sentence.column("pass1-agreement") == ("_", "Case=Gen|Number=Sing")
    assert set().union(*(t.columns for t in second_pass_templates())) == set(FIRST_COLUMNS)


def test_a_first_pass_of_other_labels_is_refused():
    tagger = pn.train(corpus(), column="feats", two_passes=True, epochs=1)
    data = tagger.to_bytes()
    assert data.count(b"upos|feats") == 2
    with pytest.raises(pn.ModelError):
        pn.Tagger.from_bytes(data.replace(b"upos|feats", b"xpos|feats"))


def test_two_passes_that_are_no_bool_are_refused():
    with pytest.raises(pn.ArgumentTypeError, match="two_passes: a bool is needed, not int"):
        pn.train(corpus(), two_passes=1)
