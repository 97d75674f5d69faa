"""Span labels, by the rules of conlleval, on cases worked out by hand."""

import pytest

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.text.spans import (
    broken_positions,
    is_span_column,
    labels_of,
    scheme_of,
    spans_of,
    written,
)


@pytest.mark.parametrize(
    ("labels", "spans"),
    [
        ("", []),
        ("O O", []),
        ("B-A I-A O", [("A", 0, 2)]),
        ("B-A B-A", [("A", 0, 1), ("A", 1, 2)]),
        ("I-A I-A", [("A", 0, 2)]),
        ("O I-A", [("A", 1, 2)]),
        ("B-A I-B", [("A", 0, 1), ("B", 1, 2)]),
        ("I-A B-A I-A", [("A", 0, 1), ("A", 1, 3)]),
        ("B-A I-A E-A O S-B", [("A", 0, 3), ("B", 4, 5)]),
        ("S-A I-A", [("A", 0, 1), ("A", 1, 2)]),
        ("S-A S-A", [("A", 0, 1), ("A", 1, 2)]),
        ("B-A E-A I-A", [("A", 0, 2), ("A", 2, 3)]),
        ("B-A E-A E-A", [("A", 0, 2), ("A", 2, 3)]),
        ("O E-A", [("A", 1, 2)]),
        ("B-A E-B", [("A", 0, 1), ("B", 1, 2)]),
        ("B-A I-A L-A U-A", [("A", 0, 3), ("A", 3, 4)]),
        ("B-A-1 I-A-1", [("A-1", 0, 2)]),
    ],
)
def test_labels_are_read_as_conlleval_reads_them(labels, spans):
    assert spans_of(labels.split()) == spans


@pytest.mark.parametrize(
    ("scheme", "labels"),
    [("bio", "B-A I-A B-A O B-B"), ("iob1", "I-A I-A B-A O I-B"), ("iobes", "B-A E-A S-A O S-B")],
)
def test_spans_are_written_in_each_scheme(scheme, labels):
    spans = [("A", 0, 2), ("A", 2, 3), ("B", 4, 5)]
    assert labels_of(spans, 5, scheme=scheme) == labels.split()
    assert spans_of(labels.split()) == spans
    assert broken_positions(labels.split(), scheme=scheme) == []


def test_bio_and_iobes_lead_to_each_other():
    bio = ["B-A", "I-A", "I-A", "O", "B-B", "B-B"]
    iobes = ["B-A", "I-A", "E-A", "O", "S-B", "S-B"]
    assert written(bio, "iobes") == iobes
    assert written(iobes, "bio") == bio


@pytest.mark.parametrize(
    ("scheme", "labels", "broken"),
    [
        ("bio", "I-A B-A I-B O I-B", [0, 2, 4]),
        ("iobes", "B-A O", [1]),
        ("iobes", "B-A I-A", [2]),
        ("iobes", "E-A I-A E-A", [0, 1]),
        ("iobes", "B-A S-A", [1]),
        ("iob1", "B-A I-A B-A B-B", [0, 3]),
    ],
)
def test_labels_that_cannot_follow_are_found(scheme, labels, broken):
    assert broken_positions(labels.split(), scheme=scheme) == broken


@pytest.mark.parametrize(
    ("sentences", "scheme"),
    [
        (["B-A I-A", "O B-B"], "bio"),
        (["I-A I-A B-A", "O I-B"], "iob1"),
        (["O O", "B-A E-A"], "iobes"),
        (["O O"], "bio"),
    ],
)
def test_the_scheme_of_a_corpus_is_found(sentences, scheme):
    assert scheme_of([labels.split() for labels in sentences]) == scheme


@pytest.mark.parametrize(
    ("labels", "answer"),
    [
        ("O B-A", True),
        ("O O", False),
        ("", False),
        ("NOUN VERB", False),
        ("B-A X-A", False),
        ("B-", False),
        ("S-A L-B U-B", True),
    ],
)
def test_a_span_column_is_known_by_its_labels(labels, answer):
    assert is_span_column(labels.split()) is answer


def test_a_label_that_is_no_span_label_is_named():
    with pytest.raises(ArgumentError, match=r"labels\[1\]: 'NOUN' is neither O nor a span label"):
        spans_of(["O", "NOUN"])


@pytest.mark.parametrize("spans", [[("A", 0, 2), ("B", 1, 3)], [("A", 1, 1)], [("A", 2, 4)]])
def test_spans_that_no_labels_can_show_are_refused(spans):
    with pytest.raises(ArgumentError, match=r"^spans: "):
        labels_of(spans, 3)


def test_an_unknown_scheme_is_refused():
    with pytest.raises(ArgumentError, match="scheme: 'bilou' is not one of bio, iobes, iob1"):
        labels_of([], 1, scheme="bilou")
