"""tag_text, and models that are found by name."""

from __future__ import annotations

import copy
import gc
import pickle
import shutil
from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger import tagger as facade
from perceptron_nlp.tagger.tag import text as taggedtext

TEXT = "They don't sink! \n\n Mr. Hall\u00a0pays $5."


@pytest.fixture(scope="module")
def english() -> pn.Tagger:
    return pn.load("en")


def test_the_english_model_tags_text_in_every_column(english: pn.Tagger) -> None:
    assert english.columns == ("upos", "xpos", "feats", "lemma")
    first, second = english.tag_text(TEXT)
    assert [token.form for token in first.tokens] == ["They", "don't", "sink", "!"]
    assert [(word.form, word.label) for word in first] == [
        ("They", "PRON"),
        ("do", "AUX"),
        ("n't", "PART"),
        ("sink", "VERB"),
        ("!", "PUNCT"),
    ]
    assert first.tokens[1].words == first.words[1:3] == first[1:3]
    assert first[2].labels == {
        "upos": "PART",
        "xpos": "RB",
        "feats": "Polarity=Neg",
        "lemma": "not",
    }
    assert second.forms == ["Mr.", "Hall", "pays", "$", "5", "."]
    assert second.labels == english.tag(second.forms, columns=english.columns)["upos"]
    for sentence in (first, second):
        assert sentence.text == TEXT[sentence.start : sentence.end]
        assert all(TEXT[token.start : token.end] == token.form for token in sentence.tokens)
    assert second.tokens[-1].end == second.end == len(TEXT)
    assert len(second[1:3]) == 2 and second[0] == second.tokens[0].words[0]


def test_a_token_of_several_words_has_their_labels(english: pn.Tagger) -> None:
    (sentence,) = english.tag_text("They don't sink!")
    both, one = sentence.tokens[1], sentence.tokens[2]
    assert (both.label, both.lemma) == (("AUX", "PART"), ("do", "not"))
    assert (one.label, one.lemma, one.labels) == ("VERB", "sink", sentence[3].labels)
    assert both.labels["xpos"] == ("VBP", "RB") and (both.start, both.end) == (5, 10)
    assert repr(both) == "<don't do/AUX n't/PART 5:10>" and repr(one) == "<sink/VERB 11:15>"
    assert [word.start for word in sentence] == [0, 5, 5, 11, 15]


def test_many_texts_and_some_columns(english: pn.Tagger) -> None:
    texts = [TEXT, "", "It rains."]
    assert english.tag_text(texts) == [english.tag_text(text) for text in texts]
    (sentence,) = english.tag_text("It rains.", columns=["lemma", "xpos"])
    assert [dict(word.labels) for word in sentence][:2] == [
        {"xpos": "PRP", "lemma": "it"},
        {"xpos": "VBZ", "lemma": "rain"},
    ]
    assert sentence.labels == ["PRP", "VBZ", "."]
    with pytest.raises(pn.ArgumentError, match="columns"):
        english.tag_text("It rains.", columns=["ner"])


def test_tokens_and_sentences_do_not_change(english: pn.Tagger) -> None:
    (sentence,) = english.tag_text("The dog sleeps.")
    with pytest.raises(AttributeError):
        sentence.text = "Go."  # type: ignore[misc]
    with pytest.raises(AttributeError):
        sentence[0].label = "X"  # type: ignore[misc]
    with pytest.raises(TypeError):
        sentence[0].labels["upos"] = "X"  # type: ignore[index]
    assert (
        sentence == english.tag_text("The dog sleeps.")[0] != english.tag_text("The dog sleeps!")[0]
    )
    assert hash(sentence) == hash(english.tag_text("The dog sleeps.")[0])
    assert repr(sentence) == "<TextSentence 0:15, 4 words: The/DET dog/NOUN sleeps/VERB ./PUNCT>"


def test_sentences_pickle_and_copy(english: pn.Tagger) -> None:
    sentences = english.tag_text(TEXT)
    for copies in (pickle.loads(pickle.dumps(sentences)), copy.deepcopy(sentences)):
        assert copies == sentences and copies[0][2].labels == sentences[0][2].labels
        with pytest.raises(TypeError):
            copies[0][0].labels["upos"] = "X"  # type: ignore[index]


def test_a_word_made_by_hand_is_one_of_a_text(english: pn.Tagger) -> None:
    ((word, *_),) = english.tag_text("Dogs sleep.")
    same = pn.TextWord("Dogs", "NOUN", 0, 4, word.labels)
    assert word == same and hash(word) == hash(same) and repr(word) == "<Dogs/NOUN 0:4>"
    assert word != pn.TextWord("Dogs", "NOUN", 0, 5, word.labels)
    assert word != pn.TextWord("Dogs", "NOUN", 0, 4, {}) and word != ("Dogs", "NOUN", 0, 4)
    assert same.labels == word.labels and same.lemma == "dog"
    with pytest.raises(TypeError, match="does not change"):
        word.__init__("Cats", "NOUN", 0, 4, {})  # type: ignore[misc]
    with pytest.raises(TypeError, match="from str to str"):
        pn.TextWord("Dogs", "NOUN", 0, 4, {"upos": word})  # type: ignore[dict-item]


def test_the_collector_knows_nothing_of_words_which_share_labels(english: pn.Tagger) -> None:
    text = "The dog sleeps. The dog sleeps."
    first, second = english.tag_text(text)
    assert not any(map(gc.is_tracked, (*first, first.words)))
    assert all(a.labels is b.labels for a, b in zip(first, second, strict=True))
    assert english.tag_text(text)[0][1].labels is first[1].labels
    assert not any(map(gc.is_tracked, pn.tokenize(text)[0]))


def test_text_without_words_has_no_sentences(tagger: pn.Tagger) -> None:
    assert tagger.tag_text("") == tagger.tag_text(" \n\n\t") == []


@pytest.mark.parametrize("text", [b"bytes", None, [b"words"]])
def test_what_is_no_str_is_refused(tagger: pn.Tagger, text: object) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="text: a str is needed, not "):
        tagger.tag_text(text)  # type: ignore[arg-type]


def test_characters_that_no_file_can_hold_are_tagged(tagger: pn.Tagger) -> None:
    (sentence,) = tagger.tag_text("a\ud800 \0b \ufeff")
    assert [token.form for token in sentence] == ["a", "\ud800", "\0", "b", "\ufeff"]


def test_batches_and_threads_change_nothing(
    tagger: pn.Tagger, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "The old man boards the ferry. She sold it! " * 30
    whole = tagger.tag_text(text)
    assert len(whole) == 60 and tagger.tag_text(text, threads=2) == whole
    monkeypatch.setattr(taggedtext, "BATCH", 7)
    assert list(tagger.iter_text(text)) == whole


def test_a_model_that_looks_nearby_sees_across_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        ([title, name, "."], ["O", f"B-{kind}", "O"])
        for kind, name, known in (
            ("PER", "Ada", "Mr"),
            ("LOC", "Bo", "near"),
            ("PER", "Cy", "Mr"),
            ("LOC", "Dee", "near"),
        )
        for title in (known, "then", known, "then")
    ]
    tagger = pn.train(rows, window=4, epochs=3)
    text = " ".join(
        f"{title} {name}."
        for name in ("Xa", "Yo", "Zu", "Xa")
        for title in ("then", "near", "then")
    )
    whole = tagger.tag_text(text)
    assert [s.labels for s in whole] == tagger.tag_sents([s.forms for s in whole])
    for batch in (1, 2, 5):
        monkeypatch.setattr(taggedtext, "BATCH", batch)
        assert tagger.tag_text(text) == whole


def test_tokenize_gives_the_same_tokens_without_labels(tagger: pn.Tagger) -> None:
    cut, tagged = pn.tokenize(TEXT), tagger.tag_text(TEXT)
    assert [[(w.form, w.start, w.end) for w in s] for s in cut] == [
        [(w.form, w.start, w.end) for w in s] for s in tagged
    ]
    assert {word.label for s in cut for word in s} == {None}
    assert dict(cut[0][0].labels) == {}


def test_a_file_goes_before_the_model_of_its_name(
    tagger: pn.Tagger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "en").mkdir()
    columns = ("upos", "xpos", "feats", "lemma")
    assert pn.load("en").columns == pn.read_model("en").columns == columns
    (tmp_path / "en").rmdir()
    tagger.save("en")
    assert pn.load("en").columns == tagger.columns
    with pytest.raises(pn.FileError, match=r"^\./en2: there is no such file"):
        pn.load("./en2")
    with pytest.raises(pn.FileError, match=r"^xx: there is no such file"):
        pn.load("xx")


def test_a_model_that_was_removed_is_missed_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(facade, "FOLDER", tmp_path / "models")
    with pytest.raises(
        pn.FileError,
        match=r"^en: .* was removed from it .*; install perceptron-nlp"
        " again, or name a model file",
    ):
        pn.load("en")
    (tmp_path / "models").mkdir()
    shutil.copy(Path(pn.__file__).parent / "models" / "en.model", tmp_path / "models")
    assert pn.load("en", mmap=True).tag(["Stop", "!"]) == ["VERB", "PUNCT"]


def test_the_model_is_small_and_has_its_licence_beside_it() -> None:
    folder = Path(pn.__file__).parent / "models"
    assert (folder / "en.model").stat().st_size <= 4_750_000
    card = (folder / "README.md").read_text("utf-8")
    assert f"{(folder / 'en.model').stat().st_size:,} bytes" in card
    licence = (folder / "LICENSE").read_text("utf-8")
    assert "CC BY-SA 4.0" in licence and "UD English-EWT" in licence


def test_the_english_model_is_as_good_as_its_card_says(english: pn.Tagger, corpora: Path) -> None:
    card = (Path(pn.__file__).parent / "models" / "README.md").read_text("utf-8")
    found = english.evaluate_columns(
        corpora / "treebanks" / "UD_English-EWT" / "en_ewt-ud-test.conllu", calibration=True
    )
    assert found["upos"].accuracy >= 0.954
    for name, result in found.items():
        assert f"{name.upper()} {100 * result.accuracy:.2f} %" in card
        assert result.calibration is not None
        assert f"{name.upper()} {100 * result.calibration.ece:.2f} points" in card
