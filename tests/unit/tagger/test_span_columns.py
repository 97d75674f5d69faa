"""Columns of spans: IOBES inside, legal sequences, counts of spans."""

import itertools
import logging

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.conlleval import counts

import perceptron_nlp as pn
from perceptron_nlp.tagger.evaluation import Evaluation, SpanScores
from perceptron_nlp.text.spans import broken_positions, labels_of, legal_steps, may_follow, spans_of
from perceptron_nlp.text.tagset import TagSet

IOBES = ["O", *(f"{prefix}-{kind}" for kind in "XY" for prefix in "BIES")]
SPANS = st.lists(st.tuples(st.sampled_from("XY"), st.integers(0, 3), st.integers(1, 3)), max_size=4)


def labels_from(pieces, scheme):
    """Pieces (type, words left out before it, length) as labels."""
    spans, at = [], 0
    for kind, gap, length in pieces:
        spans.append((kind, at + gap, at + gap + length))
        at += gap + length
    return labels_of(spans, at + 1, scheme=scheme)


@given(st.lists(st.sampled_from(IOBES), max_size=4))
def test_transitions_allow_a_sequence_just_when_nothing_in_it_is_broken(labels):
    steps = itertools.pairwise([None, *labels, None])
    legal = all(may_follow(one, two) for one, two in steps)
    assert legal == (broken_positions(labels, scheme="iobes") == [])


def test_transitions_read_from_the_end_are_those_from_the_start_turned_round():
    tags = TagSet(IOBES)
    forwards, backwards = (np.array(legal_steps(tags, turned)) for turned in (False, True))
    for one, two in itertools.product(range(len(tags) + 1), repeat=2):
        assert backwards[two, one] == forwards[one, two]
    assert np.flatnonzero(forwards[len(tags), :-1]).tolist() == [
        i for i, label in enumerate(tags) if label[0] in "BOS"
    ]


def corpus(scheme):
    rows = []
    for pieces in (
        [("X", 0, 2)],
        [("X", 1, 1), ("Y", 0, 2)],
        [("Y", 0, 1), ("X", 0, 3)],
        [("X", 0, 1), ("X", 0, 2)],
        [("Y", 2, 2)],
    ):
        labels = labels_from(pieces, scheme)
        rows.append(
            (
                [f"{label.lower()}{k % 2}" for k, label in enumerate(labels_from(pieces, "iobes"))],
                labels,
            )
        )
    return rows


@pytest.mark.parametrize("scheme", ["bio", "iobes", "iob1"])
@pytest.mark.parametrize("right_to_left", [False, True])
def test_spans_come_back_in_the_scheme_of_the_training_text(scheme, right_to_left):
    rows = corpus(scheme)
    tagger = pn.train(rows, right_to_left=right_to_left, templates="default")
    assert tagger.tag_sents([words for words, _ in rows]) == [labels for _, labels in rows]
    assert pn.Tagger.from_bytes(tagger.to_bytes()).tag(rows[1][0]) == rows[1][1]
    assert tagger.evaluate(rows).spans.f1 == 1


@given(st.lists(st.sampled_from(["b-x0", "i-x1", "e-x0", "o0", "s-y1", "new"]), max_size=8))
def test_whatever_the_words_the_labels_given_are_legal(words):
    labels = TAGGER.tag(words)
    assert broken_positions(labels, scheme="bio") == []


TAGGER = pn.train(corpus("bio"), templates="default", epochs=2)


def test_broken_gold_labels_are_counted_and_read_as_conlleval_reads_them(caplog):
    rows = [*corpus("bio"), (["x", "y"], ["I-X", "I-X"])]
    with caplog.at_level(logging.WARNING, "perceptron_nlp"):
        tagger = pn.train(rows, templates="default", epochs=30)
    assert "1 labels break BIO" in caplog.text
    assert any("1 labels break BIO" in note for note in tagger.model.record["choices"])
    assert tagger.tag(["x", "y"]) == ["B-X", "I-X"]


def test_a_greedy_tagger_learns_span_labels_as_they_stand():
    tagger = pn.train(corpus("bio"), beam=1)
    assert tagger.model.scheme is None
    assert set(tagger.labels) == {"O", "B-X", "I-X", "B-Y", "I-Y"}


@given(gold=SPANS, given_=SPANS)
def test_span_scores_count_spans_that_agree_in_type_and_both_ends(gold, given_):
    one, two = labels_from(gold, "bio"), labels_from(given_, "bio")
    length = max(len(one), len(two))
    one, two = (labels + ["O"] * (length - len(labels)) for labels in (one, two))
    scores = SpanScores()
    scores.add(one, two)
    truth, found = spans_of(one), spans_of(two)
    right = len(set(truth) & set(found))
    assert scores.precision == (right / len(found) if found else 0)
    assert scores.recall == (right / len(truth) if truth else 0)
    both = scores.precision + scores.recall
    assert scores.f1 == pytest.approx(2 * scores.precision * scores.recall / both if both else 0)


@given(st.lists(st.tuples(st.sampled_from(IOBES), st.sampled_from(IOBES)), max_size=9))
def test_span_scores_of_any_labels_even_broken_ones_are_conllevals(pairs):
    gold, found = [one for one, _ in pairs], [two for _, two in pairs]
    scores = SpanScores()
    scores.add(gold, found)
    assert (scores.gold.total(), scores.given.total(), scores.right.total()) == counts(gold, found)


def test_an_evaluation_of_spans_counts_a_known_case():
    result = Evaluation("chunk", spans=SpanScores())
    result.add(["B-X", "I-X", "B-Y", "B-X"], ["B-X", "I-X", "B-Y", "I-Y"], [True] * 4)
    described = result.to_dict()
    assert (described["precision"], described["recall"], described["f1"]) == (1 / 2, 1 / 3, 2 / 5)
    assert described["spans"][1:] == [
        {"type": "X", "precision": 1, "recall": 1 / 2, "f1": 2 / 3, "support": 2},
        {"type": "Y", "precision": 0, "recall": 0, "f1": 0, "support": 1},
    ]
    assert "F1 40.00 of 3 spans (precision 50.00, recall 33.33)" in str(result)


def test_an_evaluation_of_other_labels_has_no_span_scores():
    rows = [(["a", "b"], ["N", "V"])]
    assert "f1" not in pn.train(rows).evaluate(rows).to_dict()


def test_a_rule_for_single_labels_learns_span_labels_as_they_stand():
    assert pn.train(corpus("bio"), update="passive-aggressive").model.scheme is None


def test_spans_of_a_sentence_have_start_end_and_type():
    text = [(["Ann", "Lee", "saw", "Bob"], ["B-PER", "I-PER", "O", "B-PER"])] * 4
    tagger = pn.train(text, epochs=3)
    assert pn.spans_of(tagger.tag(["Ann", "Lee", "saw", "Bob"])) == [("PER", 0, 2), ("PER", 3, 4)]
    kept = [None, None, "B-PER", None]
    assert ("PER", 2, 3) in pn.spans_of(tagger.tag(["Ann", "Lee", "saw", "Bob"], keep=kept))
    with pytest.raises(pn.ArgumentError, match="X"):
        pn.spans_of(pn.train([(["a"], ["X"])], epochs=1).tag(["a"]))
