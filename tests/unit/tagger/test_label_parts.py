"""Labels made of parts: trees, training, tagging, and what can be put together of them."""

import itertools
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sequence_oracle import TEMPLATES, keys_of

import perceptron_nlp as pn
from perceptron_nlp._core.features.extract import FeatureProgram, hash64
from perceptron_nlp._core.model.labelparts import LabelParts
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.train.factored import learn_factored
from perceptron_nlp._core.train.trainingset import TrainingSet
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templates import Template, compile_templates
from perceptron_nlp.tagger.model.file import model_from_bytes, model_to_bytes
from perceptron_nlp.tagger.model.label_components import (
    MODES,
    closure,
    features_of,
    holds_attributes,
    joint,
    parts_of,
)

WORDS = ("a", "b", "C")
LABELS = ("N|K=x", "N|K=x|Z=1", "N|K=y", "V|Z=1", "V|_")
PIECES = [set(label.split("|")) for label in LABELS]
GOLD = st.lists(
    st.tuples(st.sampled_from(WORDS), st.integers(-1, len(LABELS) - 1)), min_size=1, max_size=5
)


def training_set(sentences, parts, **table):
    words = [WORDS.index(word) for sentence in sentences for word, _ in sentence]
    weights = WeightTable(parts.n_parts, **table)
    return TrainingSet(
        FeatureProgram(compile_templates([Template.parse(t) for t in TEMPLATES])),
        weights,
        strings=[[w.encode() for w in WORDS]],
        tokens=np.array([words], np.int32),
        lengths=np.array([len(s) for s in sentences]),
        gold=np.array([label for s in sentences for _, label in s], np.int32),
        label_hashes=np.array([hash64(n.encode()) for n in LABELS], np.uint64),
        forced=np.full(len(WORDS), -1, np.int32),
    ), weights


class SlowPerceptron:
    """The same learning with a dictionary from (key, piece) to weight."""

    def __init__(self, margin):
        self.weights = {}
        self.margin = margin

    def sentence(self, pairs, backwards):
        words = [word for word, _ in pairs]
        past = [hash64(b"\xffstart")] * 2
        for i in range(len(pairs))[:: -1 if backwards else 1]:
            keys, gold = keys_of(words, i, past), pairs[i][1]
            scores = [
                sum(self.weights.get((key, piece), 0) for key in keys for piece in pieces)
                for pieces in PIECES
            ]
            guess = scores.index(max(scores))
            if gold >= 0:
                self.learn(keys, scores, gold, guess)
            past = [hash64(LABELS[guess].encode()), past[0]]

    def learn(self, keys, scores, gold, guess):
        others = [k for k in range(len(LABELS)) if k != gold]
        rival = max(others, key=lambda k: (scores[k], -k))
        if self.margin is None:
            if guess == gold:
                return
        elif scores[gold] - scores[rival] > self.margin:
            return
        for key in keys:
            for piece in PIECES[gold] ^ PIECES[rival]:
                sign = 1 if piece in PIECES[gold] else -1
                self.weights[key, piece] = self.weights.get((key, piece), 0) + sign


@given(
    sentences=st.lists(GOLD, min_size=1, max_size=4),
    margin=st.sampled_from([None, 1, 2]),
    backwards=st.booleans(),
)
def test_the_core_learns_the_weights_of_parts_that_the_slow_perceptron_learns(
    sentences, margin, backwards
):
    slow = SlowPerceptron(margin)
    parts = parts_of(LABELS, "pieces")
    data, table = training_set(sentences, parts)
    rule = {"rule": "perceptron"} if margin is None else {"rule": "margin", "margin": margin}
    for _ in range(3):
        learn_factored(data, parts, np.arange(len(sentences)), right_to_left=backwards, **rule)
        for sentence in sentences:
            slow.sentence(sentence, backwards)
    names = sorted(set().union(*PIECES))
    frozen = table.last()
    found = {
        (int(frozen.keys[row]), names[frozen.labels[cell]]): frozen.weights[cell]
        for row in range(len(frozen.keys))
        for cell in range(frozen.starts[row], frozen.starts[row + 1])
    }
    assert found == {cell: weight for cell, weight in slow.weights.items() if weight}


# Labels of three slots, each of them left out or filled in one of three ways.
ALL_LABELS = sorted(
    [p for p in place if p >= 0]
    for place in itertools.product((-1, 0, 1, 2), (-1, 3, 4, 5), (-1, 6, 7, 8))
    if max(place) >= 0
)
FAMILIES = (
    lambda label: [part // 3 for part in label],
    lambda label: label[0],
    lambda label: len(label),
    None,
)


def slots_and(kinds, labels):
    """The slots of the parts, and the families of labels."""
    return ([p // 3 for p in range(9)], [*map(kinds, labels)]) if kinds else (None, None)


def with_wholes(labels):
    """Labels that have a part of their own each."""
    return [[*label, 9 + number] for number, label in enumerate(labels)]


@given(
    labels=st.lists(st.sampled_from([[], *ALL_LABELS]), min_size=1, unique_by=tuple),
    kinds=st.sampled_from(FAMILIES[:1] + FAMILIES[2:]),
    whole=st.booleans(),
    data=st.data(),
)
def test_the_search_finds_the_first_of_the_best_labels_but_one(labels, kinds, whole, data):
    but = data.draw(st.integers(-1, len(labels) - 1))
    n_wholes = len(labels) if [] in labels else data.draw(st.sampled_from([0, len(labels)]))
    own = with_wholes(labels) if n_wholes else labels
    scores = data.draw(st.lists(st.integers(-3, 3), min_size=9 + n_wholes, max_size=9 + n_wholes))
    parts = LabelParts(own, 9 + n_wholes, *slots_and(kinds, labels), n_wholes)
    totals = [sum(scores[part] for part in label) for label in own]
    others = [k for k in range(len(labels)) if k != but]
    expected = min(others, key=lambda k: (-totals[k], k), default=-1)
    found = parts.best(np.array(scores, np.int32 if whole else np.float64), but)
    assert found == (expected, totals[expected] if others else None)


@given(
    scores=st.lists(st.floats(-1e6, 1e6), min_size=9, max_size=9),
    wholes=st.lists(st.floats(-1e6, 1e6), min_size=len(ALL_LABELS), max_size=len(ALL_LABELS)),
    kinds=st.sampled_from(FAMILIES),
)
def test_passing_families_over_changes_no_score_to_the_last_bit(scores, wholes, kinds):
    labels, numbers = with_wholes(ALL_LABELS), np.array(scores + wholes)
    plain = LabelParts(labels, len(numbers), n_wholes=len(wholes))
    quick = LabelParts(labels, len(numbers), *slots_and(kinds, ALL_LABELS), len(wholes))
    assert quick.best(numbers) == plain.best(numbers)
    few = numbers[: len(scores)]
    quick = LabelParts(ALL_LABELS, 9, *slots_and(kinds, ALL_LABELS))
    assert quick.best(few) == LabelParts(ALL_LABELS, 9).best(few)


def learnt(sentences, calls):
    """The weights after AdaGrad over some sentences, in so many calls an epoch."""
    parts = parts_of(LABELS, "pieces+whole")
    data, table = training_set(sentences, parts, gradients=True)
    for _ in range(4):
        for piece in np.array_split(np.arange(len(sentences)), calls):
            learn_factored(data, parts, piece, rule="adagrad", rate=0.1)
    frozen = table.last()
    return [frozen.keys.tolist(), frozen.labels.tolist(), frozen.weights.tolist()]


@given(sentences=st.lists(GOLD, min_size=2, max_size=6), calls=st.integers(1, 3))
def test_an_epoch_may_be_learned_in_pieces(sentences, calls):
    assert learnt(sentences, calls) == learnt(sentences, 1)


@pytest.mark.parametrize("slots", [[0], [0, 0, 2], [0, -1, 1]])
def test_slots_that_do_not_fit_are_refused(slots):
    with pytest.raises(ArgumentError, match="slots: 3 numbers are needed"):
        LabelParts([[0, 1], [2]], 3, slots)


@pytest.mark.parametrize("labels", [[[0, 1], [1, 2]], [[0], [1, 2]], [[0, 2], [0, 1]], [[1], [0]]])
def test_each_label_has_its_whole(labels):
    with pytest.raises(ArgumentError, match="n_wholes: each label needs one, in the order"):
        LabelParts(labels, 3, [0], None, 2)


@given(scores=st.lists(st.integers(-3, 3), min_size=4, max_size=4))
def test_a_label_may_fill_a_slot_twice(scores):
    labels, numbers = [[0, 1], [2], [0, 3], [1]], np.array(scores, np.int32)
    found = LabelParts(labels, 4, [0, 0, 1, 1], "aabb").best(numbers)
    assert found == LabelParts(labels, 4).best(numbers)


def test_many_labels_with_attributes_of_their_own_are_made_in_little_time():
    labels = tuple(sorted(f"A{n}={n}" for n in range(20_000)))
    begin = time.process_time()
    assert parts_of(labels, "pieces+whole").n_parts == 40_000
    assert time.process_time() - begin < 10


def test_another_number_of_families_is_refused():
    with pytest.raises(ArgumentError, match="families: 2 are needed, one a label"):
        LabelParts([[0, 1], [2]], 3, [0, 1, 2], ["one"])


def test_scores_of_another_number_of_parts_are_refused():
    with pytest.raises(ArgumentError, match="part_scores: 3 are needed"):
        LabelParts([[0, 1], [2]], 3).best(np.zeros(2))


def features(word):
    """Made-up inflection: the ending tells the case, the beginning the number."""
    case = {"o": "Case=Nom", "u": "Case=Gen", "e": "Case=Dat"}[word[-1]]
    return f"{case}|Number={'Sing' if word[0] == 's' else 'Plur'}"


WORDLIST = [f"{a}{b}{c}" for a, b, c in itertools.product("sp", "klmnrtv", "oue")]
ROWS = [([word], [features(word)]) for word in WORDLIST if word[0] + word[-1] != "pe"]


def corpus(labels_of=features):
    return [
        pn.Sentence([word], {"upos": ["NOUN"], "feats": [labels_of(word)]}) for (word,), _ in ROWS
    ]


def test_features_are_learnt_with_the_part_of_speech_and_given_without_it():
    tagger = pn.train(corpus(), column="feats", epochs=20)
    assert tagger.model.scheme == "upos|feats" and tagger.model.parts in MODES
    assert all(label.startswith("NOUN|") for label in tagger.labels)
    assert [tagger.tag(words) for words, _ in ROWS] == [labels for _, labels in ROWS]


def test_a_label_never_seen_is_given_where_its_parts_are_known():
    tagger = pn.train(
        corpus(), column="feats", epochs=20, templates=["lower.prefix1[0]", "lower.suffix1[0]"]
    )
    assert "NOUN|Case=Dat|Number=Plur" not in {f"NOUN|{labels[0]}" for _, labels in ROWS}
    assert "Case=Dat|Number=Plur" not in tagger.tag(["pxe"])
    model = tagger.model
    described = model_to_bytes(model)
    assert model_from_bytes(described, "m").parts == model.parts


def test_scores_of_labels_are_those_that_tagging_compares():
    tagger = pn.train(corpus(), column="feats", epochs=3)
    for words, _ in ROWS[:6]:
        scores = tagger.scores(words)
        assert scores.shape == (1, len(tagger.labels))
        assert features_of(tagger.labels[int(scores[0].argmax())]) == tagger.tag(words)[0]


def test_features_without_parts_of_speech_are_learnt_alone():
    tagger = pn.train(ROWS, epochs=20)
    assert tagger.model.scheme is None and tagger.model.parts in MODES
    assert tagger.tag_sents([words for words, _ in ROWS]) == [labels for _, labels in ROWS]


def test_a_saved_model_of_parts_tags_and_saves_the_same():
    tagger = pn.train(corpus(), column="feats", runs=2, epochs=3)
    again = pn.Tagger.from_bytes(tagger.to_bytes())
    words = [words for words, _ in ROWS]
    assert again.tag_sents(words) == tagger.tag_sents(words)
    assert again.to_bytes() == tagger.to_bytes()


def test_passive_aggressive_and_beams_learn_labels_whole():
    for options in ({"update": "passive-aggressive"}, {"beam": 2}):
        assert pn.train(corpus(), column="feats", epochs=2, **options).model.parts is None


def test_closure_has_all_that_was_seen_and_pairs_only_that_were_seen_together():
    seen = ["N|K=x|Z=1", "N|K=x|Z=2", "N|K=y|Z=1", "V|Z=2", "V|Z=3"]
    assert set(closure(seen)) == {*seen}
    assert "N|K=y|Z=2" in closure([*seen, "A|K=y|Z=2", "N|K=z|Z=2"])


@given(
    st.lists(
        st.sampled_from(["N|K=x|Z=1", "N|K=y|Z=2", "N|K=x|Z=2", "V|Z=1", "N|K=y"]),
        min_size=1,
        unique=True,
    )
)
def test_closure_keeps_every_label_and_is_its_own_closure(labels):
    once = closure(labels)
    assert set(labels) <= set(once)
    assert closure(once) == once


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["_", "Case=Nom|Number=Sing"], True),
        (["_"], False),
        (["Case=Nom"], False),
        (["NOUN", "A=b|C=d"], False),
        (["A=|B=c"], False),
        (["=b|C=d"], False),
    ],
)
def test_columns_of_features_are_told_from_others(labels, expected):
    assert holds_attributes(labels) is expected


def test_joint_labels_come_apart_again():
    assert features_of(joint("NOUN", "Case=Nom|Number=Sing")) == "Case=Nom|Number=Sing"
    assert features_of(joint("PUNCT", "_")) == "_"


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ([], "no labels"),
        ([[0], []], r"parts\[1\]: a label needs"),
        ([[1, 0]], "ascending"),
        ([[0, 3]], "from 0 to 2"),
        ([[-1]], "from 0 to 2"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, message):
    with pytest.raises(ArgumentError, match=message):
        LabelParts(parts, 3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rule": "passive-aggressive"}, "does not learn labels made of parts"),
        ({"rule": "adagrad"}, "gradients=True"),
    ],
)
def test_training_of_parts_refuses_what_it_cannot_do(options, message):
    parts = parts_of(LABELS, "pieces")
    data, _ = training_set([[("a", 0)]], parts)
    with pytest.raises(ArgumentError, match=message):
        learn_factored(data, parts, np.arange(1), **options)


def test_a_table_of_another_size_is_refused():
    parts = parts_of(LABELS, "pieces")
    data, _ = training_set([[("a", 0)]], parts)
    with pytest.raises(ArgumentError, match="2 parts, but the table has"):
        learn_factored(data, LabelParts([[0], [1]] * 2 + [[0, 1]], 2), np.arange(1))
