"""The numbers of an evaluation, by an example small enough to count by hand."""

from __future__ import annotations

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.evaluation import LabelScore


def by_hand() -> pn.Evaluation:
    """Nine words in four sentences, two of them without a label; 5 of 7 right."""
    result = pn.Evaluation("upos")
    result.add(["N", "V", "N"], ["N", "V", "N"], [True, True, False])
    result.add(["N", None, "V", "A"], ["N", "X", "N", "A"], [True, False, False, True])
    result.add(["V"], ["X"], [False])
    result.add([None], ["N"], [True])
    return result


def test_shares_are_counted_over_labelled_words() -> None:
    result = by_hand()
    assert (result.sentences, result.tokens, result.unlabelled, result.correct) == (3, 7, 2, 5)
    assert result.accuracy == 5 / 7
    assert (result.known_tokens, result.known_correct) == (4, 4)
    assert result.known_accuracy == 1.0
    assert result.unknown_accuracy == 1 / 3
    assert (result.correct_sentences, result.sentence_accuracy) == (1, 1 / 3)


def test_labels_have_precision_recall_f1_and_support() -> None:
    labels = by_hand().labels
    assert list(labels) == ["A", "N", "V", "X"]
    assert labels["A"] == LabelScore(1.0, 1.0, 1.0, 1)
    assert labels["N"] == LabelScore(3 / 4, 1.0, 2 * 0.75 / 1.75, 3)
    assert labels["V"] == LabelScore(1.0, 1 / 3, pytest.approx(0.5), 3)
    assert labels["X"] == LabelScore(0.0, 0.0, 0.0, 0)


def test_the_confusion_counts_gold_and_given_pairs() -> None:
    assert by_hand().confusion == {
        ("N", "N"): 3,
        ("V", "V"): 1,
        ("V", "N"): 1,
        ("A", "A"): 1,
        ("V", "X"): 1,
    }


def test_the_json_object_has_the_promised_keys() -> None:
    found = by_hand().to_dict()
    assert {
        "column",
        "sentences",
        "tokens",
        "accuracy",
        "known_accuracy",
        "unknown_accuracy",
        "sentence_accuracy",
        "labels",
    } <= found.keys()
    assert found["column"] == "upos" and found["labels"]["V"]["support"] == 3
    assert set(found["labels"]["V"]) == {"precision", "recall", "f1", "support"}
    assert str(by_hand()) == "upos: 71.43 % of 7 words in 3 sentences"


def test_nothing_to_share_is_none_or_zero() -> None:
    empty = pn.Evaluation("upos")
    assert empty.accuracy == empty.sentence_accuracy == 0.0
    assert empty.known_accuracy is None and empty.unknown_accuracy is None
    assert empty.labels == {}


def test_lists_of_different_lengths_are_not_compared() -> None:
    with pytest.raises(ValueError, match="zip"):
        pn.Evaluation("upos").add(["N", "V"], ["N"], [True, True])


def test_a_tagger_is_evaluated_on_what_it_tags() -> None:
    data = [(["a", "b"], ["A", "B"]), (["b", "a"], ["B", "A"])]
    tagger = pn.train(data, templates=["word[0]"], epochs=5)
    # Known words: a, b; c is new and gets the lowest label.
    result = tagger.evaluate([(["a", "c"], ["A", "A"]), (["b", "c", "b"], ["B", "B", "A"])])
    assert (result.tokens, result.correct, result.sentences) == (5, 3, 2)
    assert (result.known_tokens, result.known_correct) == (3, 2)
    assert result.unknown_accuracy == 0.5 and result.sentence_accuracy == 0.5
    assert result.column == tagger.column


def test_threads_change_no_number(
    tagger: pn.Tagger, small: list[tuple[list[str], list[str]]]
) -> None:
    assert tagger.evaluate(small * 60, threads=3) == tagger.evaluate(small * 60)


def test_data_without_labels_or_columns_is_refused(tagger: pn.Tagger) -> None:
    with pytest.raises(pn.FormatError, match="data: no word has a label in column"):
        tagger.evaluate([pn.Sentence(["a"], {"upos": ["_"]})], column="upos")
    with pytest.raises(pn.FormatError, match="no column 'tag'; there are: form, x, y"):
        tagger.evaluate([pn.Sentence(["a"], {"x": ["b"], "y": ["c"]})])
    with pytest.raises(pn.ArgumentTypeError, match="data: a path or sentences are needed"):
        tagger.evaluate(3)  # type: ignore[arg-type]
