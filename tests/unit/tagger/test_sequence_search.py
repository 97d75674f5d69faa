"""Beam search in tagging and structured training, held against a slow oracle."""

import collections
import itertools

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sequence_oracle import TEMPLATES, UNKNOWN, Oracle, keys_of

from perceptron_nlp._core.features.extract import FeatureProgram, hash64
from perceptron_nlp._core.model.frozenmodel import allowed_bytes
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.tag.decode import SentenceDecoder, TokenConstraints
from perceptron_nlp._core.train.search import learn_sequences
from perceptron_nlp._core.train.trainingset import TrainingSet
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templates import Template, compile_templates

WORDS = ("a", "b", "C")
SENTENCES = st.lists(st.sampled_from(WORDS), max_size=6)
PROGRAM = FeatureProgram(compile_templates([Template.parse(t) for t in TEMPLATES]))


def names(n):
    return [f"L{k:02}" for k in range(n)]


def template_of_keys():
    """The template of every key that can come up."""
    hashes = [hash64(name.encode()) for name in names(3)] + [hash64(b"\xffstart")]
    return {
        key: template
        for words in itertools.product(WORDS, repeat=3)
        for i in range(3)
        for past in itertools.product(hashes, repeat=2)
        for template, key in enumerate(keys_of(list(words), i, past))
    }


TEMPLATE_OF = template_of_keys()


def random_weights(n_labels, seed):
    """Small whole weights for every feature that can come up: many sums are equal."""
    rng = np.random.default_rng(seed)
    return {
        (key, label): int(weight)
        for key in sorted(TEMPLATE_OF)
        for label, weight in zip(rng.integers(0, n_labels, 3), rng.integers(-3, 4, 3), strict=True)
        if weight
    }


def decoder(weights, n_labels, grouped=False, **options):
    """A decoder with these weights; `grouped` tells it the templates of its keys."""
    cells = sorted(weights, key=lambda cell: (TEMPLATE_OF[cell[0]], *cell))
    keys = list(dict.fromkeys(key for key, _ in cells))
    counts = collections.Counter(key for key, _ in cells)
    sizes = collections.Counter(TEMPLATE_OF[key] for key in keys)
    if grouped:
        options["group_starts"] = np.cumsum([0, *(sizes[k] for k in range(len(TEMPLATES)))])
    return SentenceDecoder(
        PROGRAM,
        keys=np.array(keys, np.uint64),
        starts=np.cumsum([0, *(counts[key] for key in keys)]),
        cell_labels=np.array([label for _, label in cells], np.uint16),
        weights=np.array([weights[cell] for cell in cells], np.int16),
        labels=names(n_labels),
        label_hashes=np.array([hash64(n.encode()) for n in names(n_labels)], np.uint64),
        **options,
    )


def random_matrix(n_labels, seed):
    return np.random.default_rng(seed).random((n_labels + 1, n_labels + 1)) < 0.6


TABLES = {n: [random_weights(n, seed) for seed in range(3)] for n in (3, 70)}


@settings(max_examples=60, deadline=None)
@given(
    words=st.lists(SENTENCES, max_size=4),
    n=st.sampled_from([3, 70]),
    seed=st.integers(0, 2),
    width=st.integers(1, 5),
    backwards=st.booleans(),
    lawful=st.booleans(),
    narrow=st.booleans(),
)
def test_tagging_with_a_beam_gives_what_the_slow_search_gives(
    words, n, seed, width, backwards, lawful, narrow
):
    allowed = random_matrix(n, seed) if lawful and width > 1 else None
    oracle = Oracle(names(n), width=width, right_to_left=backwards, allowed=allowed)
    oracle.weights = TABLES[n][seed]
    fast = decoder(
        TABLES[n][seed], n, beam=width, right_to_left=backwards, allowed=allowed, grouped=narrow
    )
    expected = [[names(n)[k] for k in oracle.tag(sentence)] for sentence in words]
    assert fast.tag(words) == expected


KEPT = st.sampled_from([-1, -1, UNKNOWN, 0, 1, 2, 3])
CHOICES = [[0], [2], [0, 1], [1, 2]]


@settings(max_examples=100, deadline=None)
@given(
    sentences=st.lists(st.lists(st.tuples(st.sampled_from(WORDS), KEPT), max_size=6), max_size=4),
    n=st.sampled_from([3, 70]),
    seed=st.integers(0, 2),
    width=st.integers(1, 5),
    backwards=st.booleans(),
    lawful=st.booleans(),
    narrow=st.booleans(),
)
def test_labels_that_are_kept_restrict_the_search_and_are_context(
    sentences, n, seed, width, backwards, lawful, narrow
):
    allowed = random_matrix(n, seed) if lawful and width > 1 else None
    oracle = Oracle(names(n), width=width, right_to_left=backwards, allowed=allowed)
    oracle.weights = TABLES[n][seed]
    fast = decoder(
        TABLES[n][seed], n, beam=width, right_to_left=backwards, allowed=allowed, grouped=narrow
    )
    assert fast.narrow == (narrow and n == 3)
    words = [[word for word, _ in sentence] for sentence in sentences]
    expected = [
        oracle.tag(w, forced=[k if k < 0 else tuple(CHOICES[k]) for _, k in sentence])
        for w, sentence in zip(words, sentences, strict=True)
    ]
    kept = TokenConstraints([[k for _, k in sentence] for sentence in sentences], CHOICES)
    assert fast.tag(words, kept) == [
        [None if k == n else names(n)[k] for k in labels] for labels in expected
    ]
    assert fast.tag(words) == [[names(n)[k] for k in oracle.tag(w)] for w in words]


@pytest.mark.parametrize(
    ("numbers", "sets", "message"),
    [
        ([[0, 2]], [[0], [1]], "numbers[0]: a number is not between -2 and 1"),
        ([[0], [-3]], [[0]], "numbers[1]: a number is not between -2 and 0"),
        ([[0, 0]], [[]], "sets[0]: label numbers are needed, ascending"),
        ([[0, 0]], [[1], [2, 2]], "sets[1]: label numbers are needed, ascending"),
        ([[0, 0]], [[3]], "constraints: labels beyond the 3 that there are"),
        ([[0, 0]], [[-1, 0]], "constraints: labels beyond the 3 that there are"),
        ([[0, 0], [0]], [[0]], "constraints: of 2 sentences, but there are 1"),
        ([[0]], [[0]], "sentences[0]: 1 labels asked for 2 words"),
    ],
)
def test_kept_labels_that_do_not_fit_are_refused(numbers, sets, message):
    fast = decoder(TABLES[3][0], 3)
    with pytest.raises(ArgumentError) as caught:
        fast.tag([["a", "b"]], TokenConstraints(numbers, sets))
    assert message in str(caught.value)
    assert len(fast.tag([["a", "b"]])[0]) == 2


@settings(max_examples=25, deadline=None)
@given(words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=4), seed=st.integers(0, 2))
def test_a_beam_with_room_for_every_state_finds_the_best_of_all_sequences(words, seed):
    oracle = Oracle(names(3), width=9)
    oracle.weights = TABLES[3][seed]

    def total(labels):
        return sum(oracle.score(words, i, labels[:i], labels[i]) for i in range(len(words)))

    found = decoder(TABLES[3][seed], 3, beam=9).tag([words])[0]
    best = max(total(labels) for labels in itertools.product(range(3), repeat=len(words)))
    assert total(tuple(names(3).index(label) for label in found)) == best


@settings(max_examples=25, deadline=None)
@given(
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=5),
    seed=st.integers(0, 2),
    n=st.sampled_from([3, 70]),
)
def test_scores_after_a_search_add_up_to_the_score_of_the_sequence(words, seed, n):
    oracle = Oracle(names(n), width=3)
    oracle.weights = TABLES[n][seed]
    labels, scores = decoder(TABLES[n][seed], n, beam=3).tag_scored([words])
    assert scores[range(len(words)), labels].sum() == oracle.search(words)[-1][0][0]


GOLD = st.lists(st.tuples(st.sampled_from(WORDS), st.integers(-1, 2)), min_size=1, max_size=6)


def training_set(sentences, always=None, **table):
    vocabulary = list(WORDS)
    words = [vocabulary.index(word) for sentence in sentences for word, _ in sentence]
    weights = WeightTable(3, **table)
    data = TrainingSet(
        PROGRAM,
        weights,
        strings=[[w.encode() for w in vocabulary]],
        tokens=np.array([words], np.int32),
        lengths=np.array([len(s) for s in sentences]),
        gold=np.array([label for s in sentences for _, label in s], np.int32),
        label_hashes=np.array([hash64(n.encode()) for n in names(3)], np.uint64),
        forced=np.array([(always or {}).get(word, -1) for word in vocabulary], np.int32),
    )
    return data, weights


def as_dictionary(frozen):
    return {
        (int(frozen.keys[row]), int(frozen.labels[cell])): float(frozen.weights[cell])
        for row in range(len(frozen.keys))
        for cell in range(frozen.starts[row], frozen.starts[row + 1])
    }


@settings(max_examples=60, deadline=None)
@given(
    sentences=st.lists(GOLD, min_size=1, max_size=5),
    width=st.integers(1, 4),
    cost=st.integers(0, 2),
    backwards=st.booleans(),
    lawful=st.booleans(),
    always=st.dictionaries(st.sampled_from(WORDS), st.integers(0, 2), max_size=2),
)
# Which label the second word is given hangs on the first, which is not scored.
@example(
    sentences=[[("a", 1), ("b", -1), ("C", 0), ("C", 2)]],
    width=3,
    cost=2,
    backwards=True,
    lawful=False,
    always={"a": 1},
)
def test_structured_training_learns_the_weights_of_the_slow_perceptron(
    sentences, width, cost, backwards, lawful, always
):
    how = {"cost": cost, "right_to_left": backwards}
    how["allowed"] = random_matrix(3, 1) if lawful else None
    oracle = Oracle(names(3), width=width, always=always, **how)
    data, weights = training_set(sentences, always)
    for _ in range(3):
        learn_sequences(data, np.arange(len(sentences)), beam=width, **how)
        for sentence in sentences:
            oracle.learn([word for word, _ in sentence], [label for _, label in sentence])
    assert as_dictionary(weights.last()) == {c: w for c, w in oracle.weights.items() if w}
    assert weights.done == oracle.done
    assert as_dictionary(weights.average()) == pytest.approx(
        {c: s / oracle.done for c, s in oracle.sums.items() if s}
    )


@settings(max_examples=100, deadline=None)
@given(sentences=st.lists(GOLD, min_size=1, max_size=4), width=st.integers(1, 3))
def test_a_word_without_a_label_forces_no_update(sentences, width):
    data, weights = training_set(sentences)
    for _ in range(4):
        for number in range(len(sentences)):
            before = as_dictionary(weights.last())
            examples, mistakes, updates = learn_sequences(data, np.array([number]), beam=width)
            assert examples == sum(label >= 0 for _, label in sentences[number])
            assert mistakes == updates <= examples
            assert mistakes or as_dictionary(weights.last()) == before


@pytest.mark.parametrize("rule", ["perceptron", "adagrad"])
def test_structured_training_learns_sentences_that_only_their_order_tells_apart(rule):
    sentences = [
        [("a", 0), ("a", 1), ("b", 2)],
        [("b", 2), ("a", 0), ("a", 1)],
        [("a", 0), ("a", 1)],
        [("b", 2), ("b", 2), ("a", 0), ("a", 1)],
    ]
    data, _ = training_set(sentences, gradients=rule == "adagrad")
    for _ in range(30):
        found = learn_sequences(
            data, np.arange(4), rule=rule, beam=3, rate=0.1 if rule == "adagrad" else 1
        )
    assert found == (12, 0, 0)


def test_a_fixed_table_learns_the_same_where_no_keys_meet():
    sentences = [[("a", 0), ("C", 1), ("b", 2)], [("b", 1), ("a", 0)]]
    results = []
    for table in ({}, {"table_bits": 22}):
        data, weights = training_set(sentences, **table)
        for _ in range(5):
            learn_sequences(data, np.arange(2), beam=2, cost=1.0)
        results.append(sorted(weights.last().weights.tolist()))
    assert results[0] == results[1]


def test_a_transition_matrix_of_another_size_is_refused():
    with pytest.raises(ArgumentError, match="4 by 4 is needed for 3 labels"):
        allowed_bytes(np.ones((3, 3)), 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam": 0}, "beam: 0 is not between 1 and 64"),
        ({"beam": 65}, "beam: 65"),
        ({"rule": "passive-aggressive"}, "learns from single labels"),
        ({"rule": "adagrad"}, "gradients=True"),
    ],
)
def test_structured_training_refuses_what_it_cannot_do(options, message):
    data, _ = training_set([[("a", 0)]])
    with pytest.raises(ArgumentError, match=message):
        learn_sequences(data, np.arange(1), **options)
