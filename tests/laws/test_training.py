"""Greedy training in the core is what a slow trainer in plain Python does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracles.greedy_training import SlowTrainer
from oracles.naive_weights import cells_of
from oracles.word_views import text_hash

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp._core.train.greedy import learn
from perceptron_nlp._core.train.trainingset import TrainingSet
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.features.templates import Template, compile_templates
from perceptron_nlp.sampling import permutation

TEMPLATES = st.lists(
    st.sampled_from(
        [
            "word[0]",
            "lower[-1]",
            "lower.suffix1[1]",
            "first shape[0]",
            "last word[-1]",
            "bias",
            "word[0] word[1]",
            "lower[-2] lower[0]",
            "first last",
            "tag[-1]",
            "tag[-2]",
            "tag[-1] tag[-2]",
            "tag[-1] lower[0]",
            "tag[-4]",
            "tag[-3] word[1]",
            "tag[-1] first",
            "word.ngrams1-2[0]",
            "lower.ngrams2-3[1]",
            "column:x[0]",
            "column:x[1] word[0]",
            "word.pieces[0]",
            "tag[-1] column:x[-1]",
            "flags[0] word[0]",
        ]
    ),
    min_size=1,
    max_size=7,
    unique=True,
).map(lambda texts: [Template.parse(t) for t in texts])
WORDS = ["a", "b", "A", "ab", "a|b|", "aaaa", "ß1", "the", "👍"]


@dataclass
class Data:
    """A small corpus; `x` is a column of evidence."""

    labels: list[str]
    sentences: list[dict[str, list[str]]]
    gold: list[list[int | None]]
    forced: dict[str, int]


@st.composite
def corpora_of(draw: st.DrawFn, *, most_labels: int = 4) -> Data:
    n_labels = draw(st.sampled_from(sorted({1, 2, 3, most_labels, 40})))
    label = st.integers(0, n_labels - 1)
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=7))
    sentences, gold = [], []
    for n in lengths:
        sentences.append(
            {
                "form": draw(st.lists(st.sampled_from(WORDS), min_size=n, max_size=n)),
                "x": draw(st.lists(st.sampled_from(["p", "q"]), min_size=n, max_size=n)),
            }
        )
        gold.append(draw(st.lists(label | label | label | st.none(), min_size=n, max_size=n)))
    forced = draw(st.dictionaries(st.sampled_from(WORDS), label, max_size=2))
    return Data([f"L{i}" for i in range(n_labels)], sentences, gold, forced)


def training_set(
    data: Data,
    templates: Sequence[Template],
    table: WeightTable,
    min_count: int = 1,
    n_open: int | None = None,
) -> TrainingSet:
    """The arrays of the core's border, made in the plainest way."""
    compiled = compile_templates(templates)
    strings, tokens = [], []
    for name in compiled.columns:
        flat = [value for sentence in data.sentences for value in sentence[name]]
        types = list(dict.fromkeys(flat))
        strings.append([value.encode() for value in types])
        tokens.append([types.index(value) for value in flat])
    words = [word.decode() for word in strings[0]]
    return TrainingSet(
        FeatureProgram(compiled),
        table,
        strings=strings,
        tokens=np.array(tokens, np.int32),
        lengths=np.array([len(gold) for gold in data.gold], np.int64),
        gold=np.array([-1 if k is None else k for gold in data.gold for k in gold], np.int32),
        label_hashes=np.array([text_hash(label) for label in data.labels], np.uint64),
        forced=np.array([data.forced.get(word, -1) for word in words], np.int32),
        min_count=min_count,
        n_open=n_open,
    )


def assert_close(
    found: Mapping[tuple[int, int], float], expected: Mapping[tuple[int, int], float]
) -> None:
    for cell in found.keys() | expected.keys():
        assert abs(found.get(cell, 0) - expected.get(cell, 0)) <= 1e-9


@pytest.mark.parametrize(
    ("rule", "rate", "margin"),
    [
        ("perceptron", 1.0, 0.0),
        ("margin", 1.0, 1.0),
        ("margin", 2.0, 3.0),
        # Steps after few of which sums, and then weights, need more than 16 bits; after one, where
        # a word has an n-gram four times.
        ("perceptron", 3000.0, 0.0),
        ("margin", 12000.0, 3.0),
        ("perceptron", 40000.0, 0.0),
        ("perceptron", 9000.0, 0.0),
        ("passive-aggressive", 1.0, 1.0),
        ("passive-aggressive", 0.01, 2.0),
        ("adagrad", 0.1, 1.0),
    ],
)
@settings(max_examples=80, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=corpora_of(),
    templates=TEMPLATES,
    bits=st.sampled_from([None, None, 2, 7]),
    right_to_left=st.booleans(),
    min_count=st.sampled_from([1, 1, 2, 4]),
    seed=st.integers(0, 1000),
)
def test_the_core_learns_what_the_slow_trainer_learns(
    rule: str,
    rate: float,
    margin: float,
    data: Data,
    templates: list[Template],
    bits: int | None,
    right_to_left: bool,
    min_count: int,
    seed: int,
) -> None:
    table = WeightTable(len(data.labels), table_bits=bits, gradients=rule == "adagrad")
    fast = training_set(data, templates, table, min_count)
    slow = SlowTrainer(
        templates,
        data.labels,
        data.sentences,
        data.gold,
        rule,
        int(rate) if rate == int(rate) else rate,
        int(margin),
        bits,
        right_to_left,
        data.forced,
        min_count,
    )
    for epoch in range(3):
        order = permutation(len(data.sentences), seed, epoch)
        assert learn(
            fast, order, rule=rule, rate=rate, margin=margin, right_to_left=right_to_left
        ) == slow.learn(order.tolist())
        assert table.done == slow.weights.done
    if rule in ("perceptron", "margin"):
        assert cells_of(table.last()) == slow.weights.last()
        assert cells_of(table.average()) == (slow.weights.average() if table.done else {})
    else:
        assert_close(cells_of(table.last()), slow.weights.last())
        assert_close(cells_of(table.average()), slow.weights.average())


@pytest.mark.parametrize(
    ("rule", "rate", "margin"),
    [
        ("perceptron", 1.0, 0.0),
        ("margin", 2.0, 3.0),
        ("passive-aggressive", 0.01, 2.0),
        ("adagrad", 0.1, 1.0),
    ],
)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(
    data=corpora_of(),
    templates=TEMPLATES,
    bits=st.sampled_from([None, None, 7]),
    right_to_left=st.booleans(),
    min_count=st.sampled_from([1, 1, 2]),
    draw=st.data(),
)
def test_sentences_with_smaller_steps_and_closed_features_learn_as_in_the_slow_trainer(
    rule: str,
    rate: float,
    margin: float,
    data: Data,
    templates: list[Template],
    bits: int | None,
    right_to_left: bool,
    min_count: int,
    draw: st.DataObject,
) -> None:
    n = len(data.sentences)
    n_open = draw.draw(st.integers(1, n))
    table = WeightTable(len(data.labels), table_bits=bits, gradients=rule == "adagrad")
    fast = training_set(data, templates, table, min_count, n_open)
    slow = SlowTrainer(
        templates,
        data.labels,
        data.sentences,
        data.gold,
        rule,
        rate,
        int(margin),
        bits,
        right_to_left,
        data.forced,
        min_count,
        n_open,
    )
    for _ in range(3):
        order = draw.draw(st.lists(st.integers(0, n - 1), max_size=8))
        # Powers of two, so that sums of steps are exact whatever their order.
        scales = draw.draw(
            st.lists(
                st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=len(order), max_size=len(order)
            )
        )
        assert learn(
            fast,
            np.array(order, np.int64),
            rule=rule,
            rate=rate,
            margin=margin,
            right_to_left=right_to_left,
            scales=np.array(scales),
        ) == slow.learn(order, scales)
        assert table.done == slow.weights.done
    assert_close(cells_of(table.last()), slow.weights.last())
    assert_close(cells_of(table.average()), slow.weights.average())


@pytest.mark.parametrize("name", ["default", "classic"])
def test_the_presets_learn_what_the_slow_trainer_learns(name: str) -> None:
    texts = [
        "The old man the boats .",
        "She sells sea-shells in 1984 !",
        "Buffalo buffalo Buffalo",
        "Time flies like an arrow ; fruit flies like a banana",
    ]
    forms = [text.split() for text in texts]
    gold = [[len(word) % 5 for word in words] for words in forms]
    data = Data(
        [f"L{i}" for i in range(5)],
        [{"form": words} for words in forms],
        [list[int | None](g) for g in gold],
        {},
    )
    table = WeightTable(5)
    fast = training_set(data, preset(name), table)
    slow = SlowTrainer(preset(name), data.labels, data.sentences, data.gold)
    for _ in range(4):
        assert learn(fast, np.arange(4), margin=0.0) == slow.learn(range(4))
    assert cells_of(table.last()) == slow.weights.last()
    assert cells_of(table.average()) == slow.weights.average()


def test_a_frozen_table_names_the_template_that_made_each_row() -> None:
    templates = [Template.parse(t) for t in ("tag[-1]", "word[0]", "word[0] word[1]", "bias")]
    data = Data(["A", "B"], [{"form": ["a", "b"]}], [[1, 0]], {})
    table = WeightTable(2)
    learn(training_set(data, templates, table), np.arange(1))
    assert set(table.average().groups.tolist()) == {0, 1, 2, 3}


@pytest.mark.parametrize("order", [[0, 2], [-1], [0, 1, 7]])
def test_a_sentence_that_is_not_there_is_refused(order: list[int]) -> None:
    data = Data(["A", "B"], [{"form": ["a"]}] * 2, [[1], [0]], {})
    table = WeightTable(2)
    fast = training_set(data, [Template.parse("bias")], table)
    with pytest.raises(ArgumentError, match="order: sentence numbers run from 0 to 1"):
        learn(fast, np.array(order))
    assert table.done == 0


def test_adagrad_needs_a_table_with_gradients() -> None:
    data = Data(["A", "B"], [{"form": ["a"]}], [[1]], {})
    fast = training_set(data, [Template.parse("bias")], WeightTable(2))
    with pytest.raises(ArgumentError, match="adagrad needs a table made with gradients=True"):
        learn(fast, np.arange(1), rule="adagrad")


def test_learning_from_no_sentences_changes_nothing() -> None:
    data = Data(["A", "B"], [{"form": ["a"]}], [[1]], {})
    table = WeightTable(2)
    assert learn(training_set(data, [Template.parse("bias")], table), np.arange(0)) == (0, 0, 0)
    assert table.done == 0


@given(data=corpora_of(), templates=TEMPLATES, rule=st.sampled_from(["perceptron", "adagrad"]))
def test_steps_times_one_are_the_steps_themselves(
    data: Data, templates: list[Template], rule: str
) -> None:
    n = len(data.sentences)
    states = []
    for scales, n_open in ((None, None), (np.ones(n), n)):
        table = WeightTable(len(data.labels), gradients=rule == "adagrad")
        learn(
            training_set(data, templates, table, n_open=n_open),
            np.arange(n),
            rule=rule,
            scales=scales,
        )
        arrays = table.to_arrays()
        states.append({name: array.tobytes() for name, array in arrays.items()})
    assert states[0] == states[1]


@pytest.mark.parametrize("n_labels", [2, 8, 9, 16, 17, 24, 32, 33])
@pytest.mark.parametrize(
    ("rule", "rate"),
    [("perceptron", 1.0), ("perceptron", 5000.0), ("margin", 1.0), ("adagrad", 0.1)],
)
def test_weights_of_any_form_learn_the_same_bytes(
    n_labels: int, rule: str, rate: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = np.random.default_rng(n_labels)
    sentences = [{"form": [f"w{k}" for k in random.integers(0, 12, 6)]} for _ in range(40)]
    gold = random.integers(0, n_labels, (40, 6)).tolist()
    data = Data([f"L{k}" for k in range(n_labels)], sentences, gold, {})
    templates = [
        Template.parse(text)
        for text in (
            "word[0]",
            "word[-1]",
            "word[1]",
            "tag[-1]",
            "word[0] word[1]",
            "tag[-1] word[0]",
        )
    ]
    states = []
    for plain, scales in (("0", None), ("1", None), ("0", np.ones(40)), ("1", np.ones(40))):
        monkeypatch.setenv("PERCEPTRON_NLP_PORTABLE", plain)
        table = WeightTable(n_labels, gradients=rule == "adagrad")
        fast = training_set(data, templates, table)
        counts = [learn(fast, np.arange(40), rule=rule, rate=rate, scales=scales) for _ in range(4)]
        arrays = table.to_arrays()
        states.append((counts, {name: array.tobytes() for name, array in arrays.items()}))
    assert all(state == states[0] for state in states)
    assert table.done == 4 * 40 * 6


def test_a_state_that_is_taken_up_goes_on_by_whole_and_by_broken_steps() -> None:
    data = Data(["A", "B", "C"], [{"form": ["a", "b"]}, {"form": ["b", "a"]}], [[0, 1], [2, 0]], {})
    steps = (1.0, 0.5, 2.0, 30000.0, 1.0)
    whole = WeightTable(3)
    one = training_set(data, [Template.parse("word[0]"), Template.parse("tag[-1]")], whole)
    part = whole
    for rate in steps:
        taken = WeightTable(3)
        taken.from_arrays(part.to_arrays(), part.done)
        again = training_set(data, [Template.parse("word[0]"), Template.parse("tag[-1]")], taken)
        assert learn(one, np.arange(2), rate=rate) == learn(again, np.arange(2), rate=rate)
        assert cells_of(whole.average()) == cells_of(taken.average())
        part = taken
    assert {label for _, label in cells_of(whole.last())} == {0, 1, 2}


@pytest.mark.parametrize("scales", [[1.0], [1.0, -0.5], [1.0, float("nan")], [float("inf"), 1.0]])
def test_scales_that_are_no_multiples_of_a_step_are_refused(scales: list[float]) -> None:
    data = Data(["A", "B"], [{"form": ["a"]}] * 2, [[1], [0]], {})
    table = WeightTable(2)
    fast = training_set(data, [Template.parse("bias")], table)
    with pytest.raises(ArgumentError, match="scales: 2 finite numbers are needed"):
        learn(fast, np.arange(2), scales=np.array(scales))
    assert table.done == 0


@pytest.mark.parametrize("n_open", [-1, 3])
def test_more_open_sentences_than_there_are_are_refused(n_open: int) -> None:
    data = Data(["A", "B"], [{"form": ["a"]}] * 2, [[1], [0]], {})
    with pytest.raises(ArgumentError, match=f"n_open: {n_open} is not between 0 and 2"):
        training_set(data, [Template.parse("bias")], WeightTable(2), n_open=n_open)
