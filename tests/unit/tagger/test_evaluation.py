"""The numbers of an evaluation, by an example small enough to count by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

import perceptron_nlp as pn
from perceptron_nlp.tagger.label_scores import LabelScore

DATA = Path(__file__).parents[3] / "data"


def by_hand() -> pn.Evaluation:
    """Nine words in four sentences, two of them without a label; 5 of 7 right."""
    result = pn.Evaluation("upos")
    result.add(["N", "V", "N"], ["N", "V", "N"], [True, True, False])
    result.add(["N", None, "V", "A"], ["N", "X", "N", "A"], [True, False, False, True])
    result.add(["V"], ["X"], [False])
    result.add([None], ["N"], [True])
    return result


def test_shares_are_counted_over_labeled_words() -> None:
    result = by_hand()
    assert (result.sentences, result.tokens, result.unlabeled, result.correct) == (3, 7, 2, 5)
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
    assert found["column"] == "upos" and found["labels"][1]["support"] == 3
    assert list(found["labels"][1]) == ["label", "precision", "recall", "f1", "support"]
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


@pytest.mark.parametrize("column", ["upos", "feats", "lemma"])
def test_one_of_several_columns_is_evaluated_and_explained_as_it_is_tagged(column: str) -> None:
    tagger = pn.load("en")
    gold = list(pn.read_conllu(DATA / "english-test.conllu"))
    found = tagger.tag_sents(gold, columns=[column])[column]
    right = sum(
        label == other
        for sentence, labels in zip(gold, found, strict=True)
        for label, other in zip(sentence.column(column), labels, strict=True)
    )
    assert tagger.evaluate(gold, column=column).correct == right
    explained = [tagger.explain(one, column=column, top=0) for one in gold]
    assert [[why.label for why in words] for words in explained] == found


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


def of_features() -> pn.Evaluation:
    result = pn.Evaluation("feats")
    gold = ["Case=Nom|Number=Sing", "Case=Acc|Number=Plur", "_", "Number=Sing"]
    given = ["Case=Nom|Number=Plur", "Case=Acc|Number=Plur", "Case=Nom", "_"]
    result.add(gold, given, [True] * 4)
    return result


def test_each_feature_has_precision_recall_and_f1() -> None:
    features = of_features().features
    assert list(features) == ["Case", "Number"]
    assert features["Case"] == LabelScore(2 / 3, 1.0, pytest.approx(0.8), 2)
    assert features["Number"] == LabelScore(1 / 2, 1 / 3, pytest.approx(0.4), 3)
    assert of_features().to_dict()["features"][0]["support"] == 3
    single = pn.Evaluation("feats")
    single.add(["Number=Sing", "_"], ["Number=Plur", "_"], [True, True])
    assert list(single.features) == ["Number"]
    assert by_hand().features == {} and "features" not in by_hand().to_dict()


def test_macro_f1_is_the_mean_over_labels_of_the_gold_text() -> None:
    assert by_hand().macro_f1 == pytest.approx((1 + 2 * 0.75 / 1.75 + 0.5) / 3)
    assert pn.Evaluation("upos").macro_f1 == 0.0


def test_a_table_has_a_row_for_each_label_the_most_frequent_of_the_gold_text_first() -> None:
    assert [row["label"] for row in by_hand().rows()] == ["N", "V", "A", "X"]
    assert by_hand().rows()[0]["support"] == 3


def test_words_are_right_in_all_columns_or_not() -> None:
    a, b = pn.Evaluation("upos"), pn.Evaluation("xpos")
    a.add(["N", "V", None, "A", None], ["N", "V", "X", "X", "X"], [True] * 5)
    b.add(["n", "v", "a", None, None], ["n", "x", "a", "x", "x"], [True] * 5)
    assert pn.Evaluation.all_tags([a, b]) == 2 / 4
    assert pn.Evaluation.all_tags([a]) == a.accuracy


def test_pooled_counts_are_sums() -> None:
    whole = pn.Evaluation.pooled([by_hand(), by_hand()])
    assert whole.tokens == 14 and whole.correct == 10 and whole.unlabeled == 4
    assert whole.confusion["N", "N"] == 6 and whole.labels == {
        name: LabelScore(score.precision, score.recall, score.f1, 2 * score.support)
        for name, score in by_hand().labels.items()
    }
    assert whole.outcomes == by_hand().outcomes * 2


def test_mistakes_have_place_labels_confidence_and_context(tmp_path: Path) -> None:
    path = tmp_path / "gold.conllu"
    rows = [f"{i}\tw{i}\t_\t{'X' if i < 7 else 'Y'}\t_\t_\t_\t_\t_\t_\n" for i in range(1, 9)]
    path.write_text("".join(rows) + "\n")
    tagger = pn.train([(["w1"], ["X"])], epochs=1, column="upos")
    found = tagger.evaluate(path, mistakes=True)
    assert found.mistakes is not None and tagger.evaluate(path).mistakes is None
    assert [one.token for one in found.mistakes] == ["w7", "w8"]
    one = found.mistakes[0]
    assert (one.path, one.line, one.gold, one.predicted) == (str(path), 7, "Y", "X")
    assert one.confidence is None
    assert one.before == ("w2", "w3", "w4", "w5", "w6") and one.after == ("w8",)
    assert len(found.mistakes) == found.tokens - found.correct


def test_the_most_frequent_confusions_and_surest_mistakes_come_first() -> None:
    def mistake(token: str, gold: str, predicted: str, confidence: float) -> pn.Mistake:
        return pn.Mistake("f", 3, token, gold, predicted, confidence, ("a", "b"), ())

    result = pn.Evaluation("upos")
    result.mistakes = [
        mistake("1", "N", "V", 0.9),
        mistake("2", "V", "N", 0.3),
        mistake("3\x1b", "V", "N", 0.7),
    ]
    lines = pn.Evaluations({"upos": result}).mistakes_table().splitlines()
    assert lines[0].split("\t")[:3] == ["place", "column", "token"]
    assert [line.split("\t")[2] for line in lines[1:]] == ["3\\x1b", "2", "1"]
    assert lines[1] == "f:3\tupos\t3\\x1b\tV\tN\t0.7000\ta b\t"
