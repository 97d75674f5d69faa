"""The tagger behind NLTK's interface."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn

# What NLTK warns of when it is imported.
pytestmark = pytest.mark.filterwarnings("ignore")
pytest.importorskip("nltk", reason="the extra nltk is not installed")
from nltk.tag.api import TaggerI  # noqa: E402

from perceptron_nlp.compat.nltk import PerceptronTagger  # noqa: E402

Gold = list[list[tuple[str, str]]]


@pytest.fixture(scope="module")
def gold(small: list[tuple[list[str], list[str]]]) -> Gold:
    return [list(zip(words, labels, strict=True)) for words, labels in small]


def test_it_is_trained_and_tags_as_nltk_has_it(
    gold: Gold, small: list[tuple[list[str], list[str]]], tmp_path: Path
) -> None:
    ours = PerceptronTagger(load=False)
    assert ours.classes == set() and ours.tagdict == {}
    ours.train(iter(gold), save_loc=tmp_path / "a.model", nr_iter=3)
    same = pn.train(small, epochs=3)
    words = small[0][0]
    assert isinstance(ours, TaggerI)
    assert ours.tagger.to_bytes() == same.to_bytes() == (tmp_path / "a.model").read_bytes()
    assert ours.tag(words) == list(zip(words, same.tag(words), strict=True))
    assert ours.tag_sents(iter([words, ["Stop"]])) == [ours.tag(words), ours.tag(["Stop"])]
    assert ours.classes == set(same.labels)
    assert PerceptronTagger(loc=tmp_path / "a.model").tag(words) == ours.tag(words)
    assert (ours.tag([]), ours.tag_sents([])) == ([], [])


def test_nltks_measures_work(gold: Gold, small: list[tuple[list[str], list[str]]]) -> None:
    ours = PerceptronTagger(load=False)
    ours.train(gold[:8])
    result = ours.tagger.evaluate(small)
    assert ours.accuracy(gold) == pytest.approx(result.accuracy)
    confusion = ours.confusion(gold)
    found = [
        (right, tag)
        for sentence, labeled in zip(
            gold, ours.tag_sents([words for words, _ in small]), strict=True
        )
        for (_, right), (_, tag) in zip(sentence, labeled, strict=True)
    ]
    assert confusion["NOUN", "NOUN"] == found.count(("NOUN", "NOUN"))
    assert ours.f_measure(gold)["NOUN"] == pytest.approx(result.labels["NOUN"].f1)
    assert "Prec." in ours.evaluate_per_tag(gold)


def test_words_that_always_get_one_tag_are_the_tagdict(gold: Gold) -> None:
    ours = PerceptronTagger(load=False, dictionary=(2, 0.6))
    ours.train(gold * 2)
    assert ours.tagdict["the"] == "DET" and ours.tag(["the"]) == [("the", "DET")]
    without = pn.train(
        [tuple(zip(*s, strict=True)) for s in gold * 2], epochs=5, dictionary=(2, 0.6)
    )
    assert without.model.dictionary == ours.tagdict
    free = ours.tag(["old", "the"], use_tagdict=False)
    assert [word for word, _ in free] == ["old", "the"]
    assert ours._chosen(False).model.dictionary == {}


def test_tokens_may_come_one_by_one(sure: pn.Tagger) -> None:
    tagger = PerceptronTagger(tagger=sure)
    words = ["The", "old", "man"]
    assert tagger.tag(iter(words)) == tagger.tag(words)
    assert tagger.tag(iter(words), return_conf=True) == tagger.tag(words, return_conf=True)
    assert tagger.tag_sents(map(iter, [words])) == [tagger.tag(words)]


def test_a_model_of_several_columns_gives_penn_tags(three: pn.Tagger) -> None:
    ours = PerceptronTagger(tagger=three)
    assert ours.tag(["The"]) == [("The", "DT")]


def test_what_cannot_be_done_is_said(gold: Gold, tmp_path: Path) -> None:
    with pytest.raises(pn.PerceptronNLPError, match="has no model yet; call train, or give loc"):
        PerceptronTagger(load=False).tag(["a"])
    with pytest.raises(pn.FileError, match=r"gone\.model"):
        PerceptronTagger(loc=tmp_path / "gone.model")
    ours = PerceptronTagger(load=False)
    with pytest.raises(pn.FileError, match="is a folder"):
        ours.train(gold, save_loc=tmp_path)
    assert ours.classes == set()
    ours.train(gold, nr_iter=1)
    with pytest.raises(pn.ArgumentTypeError, match="epochs: is nr_iter of train here"):
        PerceptronTagger(load=False, epochs=3).train(gold)


def test_confidences_stand_behind_the_tags(sure: pn.Tagger, gold: Gold) -> None:
    ours = PerceptronTagger(tagger=sure)
    words = ["The", "old", "man"]
    found = ours.tag(words, return_conf=True)
    assert [(word, tag) for word, tag, _ in found] == ours.tag(words)
    assert [x for _, _, x in found] == sure.by_column["xpos"].confidences(words)
    own = PerceptronTagger(load=False)
    own.train(gold, nr_iter=1)
    with pytest.raises(pn.ModelError, match="not calibrated"):
        own.tag(words, return_conf=True)
    own.calibrate([[(word, tag[::-1]) for word, tag in gold[0]], *gold] * 40)
    assert all(0 <= x <= 1 for _, _, x in own.tag(words, return_conf=True))
