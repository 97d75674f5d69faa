"""All forms of the decoder give the same labels and the same scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import perceptron_nlp as pn
from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.model.frozenmodel import CacheMemory
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp.features.templates import compile_templates, most_features
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.train.data import label_hashes
from perceptron_nlp.tagger.train.packing import reduced

WORDS = [
    "a",
    "B",
    "the",
    "Old",
    "man",
    "1984",
    "re-do",
    "Ünïcode",
    "ὁ",
    "don't",
    "x" * 15,
    "y" * 16,
    "z" * 17,
    "Longest-word-of-them-all",
    "longest-word-of-them-ALL",
    "",
    "\ud800",
]
LISTS: dict[str, str | list[str]] = {
    "fast": "fast",
    "default": "default",
    "pairs": [
        "lower[0]",
        "lower[-2] shape[-1]",
        "lower[0] word[1]",
        "word[1] lower[2]",
        "lower[-1] lower[0] tag[-1]",
        "tag[-2]",
        "last shape[0]",
        "lower[-1] lower[1]",
    ],
    "six pairs": [
        "lower[0]",
        "lower[-1] lower[0]",
        "lower[0] shape[1]",
        "shape[1] lower[0]",
        "word[0] shape[-1]",
        "shape[-2] lower[-1]",
        "lower[-2] shape4[-3]",
        "tag[-1] lower[0]",
    ],
    "words alone": ["lower[0]", "word[1] word[0]", "shape[-1]"],
    "the label before": ["word[0]", "tag[-1]", "tag[-1] word[0]"],
    "n-grams": ["lower.ngrams1-3[0]", "tag[-1] shape[0]", "tag[-1] lower[0]", "first lower[1]"],
}


def decoder(model: TaggerModel, grouped: bool = True, **more: Any) -> SentenceDecoder:
    """A decoder; it has filters of keys and scores of 16 bits only where keys are `grouped`."""
    weights = model.weights
    return SentenceDecoder(
        FeatureProgram(compile_templates(model.templates)),
        keys=weights.keys,
        starts=weights.starts,
        group_starts=weights.group_starts if grouped else None,
        cell_labels=weights.labels,
        weights=weights.weights,
        labels=model.tags.labels,
        label_hashes=label_hashes(model.tags),
        table_bits=weights.table_bits,
        right_to_left=model.right_to_left,
        **more,
    )


def trained(
    name: str,
    n_labels: int,
    seed: int,
    table_bits: int | None,
    largest: int = 1 << 15,
    packed: bool = False,
) -> TaggerModel:
    """A model of random sentences, its weights made as large as sums of 16 bits allow."""
    random = np.random.default_rng(seed)
    sentences = []
    for _ in range(40):
        words = [WORDS[i] or "e" for i in random.integers(0, len(WORDS) - 1, 7)]
        sentences.append((words, [f"t{i}" for i in random.integers(0, n_labels, 7)]))
    model = pn.train(
        sentences,
        templates=LISTS[name],
        epochs=2,
        table_bits=table_bits,
        right_to_left=bool(seed % 2),
    ).model
    most = most_features(model.templates)
    if packed:
        model = model.replace(weights=reduced(model.weights, 1.0, None, sum(most)))
    bound = min(32767 // sum(most), largest)
    weights = random.integers(-bound, bound + 1, model.weights.n_cells).astype(np.int16)
    return model.replace(weights=model.weights.replace(weights=weights))


def results(decoder: SentenceDecoder, sentences: list[Sequence[str]]) -> tuple[object, ...]:
    scores = [decoder.tag_scored([sentence]) for sentence in sentences]
    return (
        decoder.tag(sentences),
        [list(labels) for labels, _ in scores],
        [table.tolist() for _, table in scores],
    )


@settings(max_examples=25, deadline=None)
@given(
    name=st.sampled_from(sorted(LISTS)),
    n_labels=st.sampled_from([1, 2, 8, 17, 24, 45, 64, 70]),
    seed=st.integers(0, 1000),
    table_bits=st.sampled_from([None, None, 9]),
    packed=st.booleans(),
    sentences=st.lists(st.lists(st.sampled_from(WORDS), max_size=70), max_size=12),
)
def test_16_bits_plain_c_and_small_caches_give_what_32_bits_give(
    name: str,
    n_labels: int,
    seed: int,
    table_bits: int | None,
    packed: bool,
    sentences: list[Sequence[str]],
) -> None:
    model = trained(name, n_labels, seed, table_bits, packed=packed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERCEPTRON_NLP_PORTABLE", "1")
        plain = decoder(model)
    wide = decoder(model, grouped=False)
    usual = decoder(model)
    assert not wide.narrow
    assert usual.narrow == (len(model.tags) <= 64)
    expected = results(wide, sentences)
    for form in (
        usual,
        plain,
        decoder(model, memory=CacheMemory(1)),
        decoder(model, memory=CacheMemory(2_000)),
    ):
        assert results(form, sentences) == expected
        assert results(form, sentences) == expected


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(LISTS)),
    n_labels=st.sampled_from([1, 2, 3, 4, 9, 17, 17, 33, 64, 70]),
    seed=st.integers(0, 1000),
    largest=st.sampled_from([1, 2, 30, 1 << 15]),
    beam=st.sampled_from([2, 3, 4, 4, 5, 8, 9]),
    sentences=st.lists(st.lists(st.sampled_from(WORDS), max_size=30), max_size=9),
)
def test_beams_in_16_bits_side_by_side_find_what_beams_in_doubles_find(
    name: str, n_labels: int, seed: int, largest: int, beam: int, sentences: list[Sequence[str]]
) -> None:
    model = trained(name, n_labels, seed, None, largest)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PERCEPTRON_NLP_PORTABLE", "1")
        plain = decoder(model, beam=beam)
    wide = decoder(model, grouped=False, beam=beam)
    usual = decoder(model, beam=beam)
    assert usual.narrow == (len(model.tags) <= 64)
    expected = results(wide, sentences)
    for form in (usual, plain, decoder(model, beam=beam, memory=CacheMemory(2_000))):
        assert results(form, sentences) == expected
        assert form.tag(sentences[::-1]) == wide.tag(sentences[::-1])


@pytest.mark.parametrize("name", ["default", "pairs", "six pairs"])
@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("packed", [False, True])
def test_text_that_repeats_itself_and_text_that_does_not_are_tagged_alike(
    name: str, beam: int, packed: bool
) -> None:
    """Pairs are remembered at first and where they come again; new ones are looked up each time."""
    model = trained(name, 17, 1, None, packed=packed)
    random = np.random.default_rng(2)
    again = [[WORDS[i] for i in random.integers(0, len(WORDS), 20)] for _ in range(600)]
    new = [
        [new for i, word in enumerate(words) for new in (word, f"new{i % 7}{k}")]
        for k, words in enumerate(again)
    ]
    slow = decoder(model, grouped=False, beam=beam)
    for fast in (decoder(model, beam=beam), decoder(model, beam=beam, memory=CacheMemory(1 << 20))):
        for text in (again, new, new, again, again, again, new[::-1], again):
            assert fast.tag(text) == slow.tag(text)


@pytest.mark.parametrize("n_labels", [2, 3, 17, 64])
@pytest.mark.parametrize("beam", [2, 4, 8])
def test_beams_find_the_same_in_long_sentences_of_the_heaviest_weights(
    n_labels: int, beam: int
) -> None:
    for seed in range(4):
        model = trained("the label before", n_labels, seed, None)
        random = np.random.default_rng(seed)
        text = [[WORDS[i] for i in random.integers(0, 8, 700)] for _ in range(3)]
        narrow = decoder(model, beam=beam)
        assert narrow.narrow
        assert narrow.tag(text) == decoder(model, beam=beam, narrow=False).tag(text)


@settings(max_examples=40, deadline=None)
@given(
    name=st.sampled_from(sorted(LISTS)),
    n_labels=st.sampled_from([255, 256, 300, 1000, 5000]),
    seed=st.integers(0, 1000),
    largest=st.sampled_from([1, 3, 2000, 32766]),
    lowest=st.sampled_from([0.0, -0.5, -1.0]),
    beam=st.sampled_from([1, 1, 1, 2]),
    sentences=st.lists(st.lists(st.sampled_from(WORDS), max_size=9), max_size=4),
)
def test_of_many_labels_the_first_of_the_best_is_found_without_looking_at_all(
    name: str,
    n_labels: int,
    seed: int,
    largest: int,
    lowest: float,
    beam: int,
    sentences: list[Sequence[str]],
) -> None:
    model = trained(name, 30, seed % 7, None)
    random = np.random.default_rng(seed)
    lengths = random.choice(
        [1, 2, 25, 60, n_labels // 5, n_labels],
        len(model.weights.keys),
        p=[0.4, 0.2, 0.1, 0.1, 0.1, 0.1],
    )
    cells = [np.sort(random.permutation(n_labels)[:length]) for length in lengths]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    weights = random.integers(int(lowest * largest), largest + 1, starts[-1])
    labels = [f"t{i}" for i in range(n_labels)]
    many = SentenceDecoder(
        FeatureProgram(compile_templates(model.templates)),
        keys=model.weights.keys,
        starts=starts,
        group_starts=model.weights.group_starts,
        cell_labels=np.concatenate(cells).astype(np.uint16),
        weights=weights.astype(np.int16),
        labels=labels,
        label_hashes=label_hashes(labels),
        beam=beam,
        right_to_left=model.right_to_left,
    )
    numbers, scores = many.tag_scored(list(sentences))
    if beam == 1:
        assert numbers.tolist() == scores.argmax(1).tolist()
    found = [label for given in many.tag(list(sentences)) for label in given]
    assert found == [labels[number] for number in numbers]


@pytest.mark.parametrize("beam", [1, 4])
def test_a_model_whose_sums_could_leave_16_bits_is_summed_in_32(beam: int) -> None:
    model = trained("fast", 4, 3, None)
    large = np.full_like(model.weights.weights, 32767)
    model = model.replace(weights=model.weights.replace(weights=large))
    assert not decoder(model, beam=beam).narrow
    tagged = decoder(model, beam=beam).tag([["the", "Old", "man"]])
    assert tagged == decoder(model, beam=beam, narrow=False).tag([["the", "Old", "man"]])


@pytest.mark.parametrize("sentence", [[], ["a"], ["x" * 100_000], ["é" * 70], ["\ud800", "\x00"]])
def test_every_string_can_be_labeled(sentence: Sequence[str]) -> None:
    model = trained("default", 5, 1, None)
    batch: list[Sequence[str]] = [list(sentence)]
    assert [len(labels) for labels in decoder(model).tag(batch)] == [len(sentence)]


def test_lists_that_change_afterwards_leave_the_result_alone() -> None:
    model = trained("fast", 5, 1, None)
    sentence = ["a", "man"]
    long: list[Sequence[str]] = [["the"] * 5000]
    given = decoder(model)
    batch: list[Sequence[str]] = [sentence]
    before = given.tag(batch)
    copy = [list(labels) for labels in before]
    sentence.clear()
    given.tag(long)
    assert before == copy
