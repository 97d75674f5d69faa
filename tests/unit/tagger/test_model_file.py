"""A model file is checked through and through: no lie in it loads, and none crashes."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.tensors import read_tensors
from safetensors.numpy import load as foreign_load
from safetensors.numpy import save as foreign_save

import perceptron_nlp as pn
from perceptron_nlp.formats import write_tensors

Labeled = list[tuple[list[str], list[str]]]
Tensors = dict[str, npt.NDArray[Any]]
Metadata = dict[str, str]


class Parts:
    """A model file taken apart, to be changed and put together again with a right checksum."""

    def __init__(self, tagger: pn.Tagger) -> None:
        tensors, self.metadata = read_tensors(tagger.to_bytes(), "model")
        self.tensors = {name: array.copy() for name, array in tensors.items()}
        self.model: dict[str, Any] = json.loads(self.metadata["model"])

    def to_bytes(self) -> bytes:
        return write_tensors(
            self.tensors,
            {**self.metadata, "model": json.dumps(self.model)}
            if "model" in self.metadata
            else self.metadata,
        )

    def refused(self) -> str:
        with pytest.raises(pn.ModelError) as caught:
            pn.Tagger.from_bytes(self.to_bytes())
        assert "\n" not in str(caught.value)
        return str(caught.value)


@pytest.fixture
def parts(tagger: pn.Tagger) -> Parts:
    return Parts(tagger)


def set_at(name: str, place: int, value: int) -> Callable[[Parts], None]:
    def act(parts: Parts) -> None:
        parts.tensors[name][place] = value

    return act


def replaced(
    name: str, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
) -> Callable[[Parts], None]:
    def act(parts: Parts) -> None:
        parts.tensors[name] = change(parts.tensors[name])

    return act


def swapped(name: str) -> Callable[[Parts], None]:
    """The first two of equal neighbors within the first group change places."""

    def act(parts: Parts) -> None:
        array = parts.tensors[name]
        array[[0, 1]] = array[[1, 0]]

    return act


def unsorted_labels(parts: Parts) -> None:
    row = int(np.flatnonzero(parts.tensors["0.counts"] > 1)[0])
    at = int(parts.tensors["0.counts"][:row].sum())
    labels = parts.tensors["0.labels"]
    labels[[at, at + 1]] = labels[[at + 1, at]]


def key_in_two_groups(parts: Parts) -> None:
    starts = parts.tensors["0.group_starts"]
    second = int(np.flatnonzero(np.diff(starts[1:]))[0]) + 1
    parts.tensors["0.keys"][starts[second]] = parts.tensors["0.keys"][0]


NAMES = ["0.keys", "0.group_starts", "0.counts", "0.labels", "0.weights", "vocabulary"]


def test_the_parts_put_together_again_are_the_model(parts: Parts, tagger: pn.Tagger) -> None:
    again = pn.Tagger.from_bytes(parts.to_bytes())
    assert again.to_bytes() == tagger.to_bytes()
    assert sorted(parts.tensors) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_missing_array_is_named(name: str, parts: Parts) -> None:
    del parts.tensors[name]
    assert f"the model's {name}: missing" in parts.refused()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [np.float32, np.int8])
def test_an_array_of_another_type_is_named(name: str, dtype: Any, parts: Parts) -> None:
    parts.tensors[name] = parts.tensors[name].astype(dtype)
    assert f"the model's {name}: {np.dtype(dtype)}" in parts.refused()


@pytest.mark.parametrize("name", NAMES)
def test_an_array_of_another_shape_is_named(name: str, parts: Parts) -> None:
    parts.tensors[name] = parts.tensors[name].reshape(1, -1)
    assert f"the model's {name}: " in parts.refused()


@pytest.mark.parametrize("name", NAMES[:-1])
@pytest.mark.parametrize(
    "change",
    [lambda a: a[:-1], lambda a: np.append(a, a[-1:]), lambda a: a[:0]],
    ids=["shorter", "longer", "empty"],
)
def test_an_array_of_another_length_is_refused(
    name: str, change: Callable[[Any], Any], parts: Parts
) -> None:
    parts.tensors[name] = change(parts.tensors[name])
    assert "the model's 0." in parts.refused()


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (set_at("0.counts", 0, 0), "0.counts: do not add up"),
        (set_at("0.counts", 0, 200), "0.counts: do not add up"),
        (set_at("0.labels", 0, 255), "0.labels: beyond the 12 labels"),
        (set_at("0.group_starts", 0, 1), "0.group_starts: do not divide the rows"),
        (set_at("0.group_starts", 0, -1), "0.group_starts: do not divide the rows"),
        (set_at("0.group_starts", 1, -5), "0.group_starts: do not divide the rows"),
        (set_at("0.group_starts", 1, 2**62), "0.group_starts: do not divide the rows"),
        (set_at("0.group_starts", -1, 2**40), "0.group_starts: do not divide the rows"),
        (swapped("0.keys"), "0.keys: not in ascending order"),
        (replaced("0.keys", lambda a: np.zeros_like(a)), "0.keys: not in ascending order"),
        (unsorted_labels, "0.labels: not in ascending order"),
        (key_in_two_groups, "the model's parts do not fit together: keys: row"),
        (swapped("vocabulary"), "vocabulary: not in ascending order"),
        (replaced("0.weights", lambda a: a * 0), "0.weights: some are 0"),
    ],
)
def test_a_lie_in_an_array_is_refused(
    act: Callable[[Parts], None], text: str, parts: Parts
) -> None:
    act(parts)
    assert text in parts.refused()


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("labels", [], "labels: not sorted, repeated or missing"),
        ("labels", ["B", "A"], "labels: not sorted, repeated or missing"),
        ("labels", ["A", "A"], "labels: not sorted, repeated or missing"),
        ("labels", "AB", "labels: not a list of strings"),
        ("labels", [1, 2], "labels: not a list of strings"),
        ("labels", ["A\tB"], "the model's description is not valid: labels: 'A\\tB' holds a tab"),
        ("labels", ["A"], "0.labels: beyond the 1 labels"),
        ("templates", [], "description is not valid: templates: 1 to 1000 templates are needed"),
        ("templates", ["wrod"], "description is not valid: 'wrod': no view is called"),
        ("templates", ["word[0]"], "0.group_starts: do not divide the rows among the templates"),
        ("templates", None, "templates: not a list of strings"),
        ("templates", [f"column:c{i}" for i in range(1000)], "0.group_starts: do not divide"),
        ("extractor", 3, "extractor: not a name"),
        ("right_to_left", 1, "column, right_to_left: of another type"),
        ("column", None, "column, right_to_left: of another type"),
        ("table_bits", 0, "table_bits: out of range"),
        ("table_bits", 49, "table_bits: out of range"),
        ("table_bits", "8", "table_bits: out of range"),
        ("table_bits", True, "table_bits: out of range"),
        ("table_bits", 3, "0.keys: beyond the fixed table"),
        ("scale", 0.0, "scale: not a positive number"),
        ("scale", -1.0, "scale: not a positive number"),
        ("scale", 1, "scale: not a positive number"),
        ("scale", "1", "scale: not a positive number"),
        ("dictionary", [], "dictionary: gives labels that are not in the tag set"),
        (
            "dictionary",
            {"a": "NOT A LABEL"},
            "dictionary: gives labels that are not in the tag set",
        ),
        ("dictionary", {"a": 1}, "dictionary: gives labels that are not in the tag set"),
    ],
)
def test_a_lie_in_the_description_is_refused(
    name: str, value: object, text: str, parts: Parts
) -> None:
    parts.model[name] = value
    assert text in parts.refused()


@pytest.mark.parametrize(
    "name",
    [
        "column",
        "labels",
        "templates",
        "extractor",
        "right_to_left",
        "table_bits",
        "scale",
        "dictionary",
    ],
)
def test_a_description_without_one_of_its_parts_is_refused(name: str, parts: Parts) -> None:
    del parts.model[name]
    assert f"the model's description is not valid: '{name}'" in parts.refused()


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "null", "NaN", '{"a":', "[" * 100_000])
@pytest.mark.parametrize("name", ["model", "record"])
def test_a_description_that_is_no_json_object_is_refused(
    name: str, text: str, parts: Parts
) -> None:
    metadata = {**parts.metadata, name: text}
    with pytest.raises(pn.ModelError, match="the model's description is not valid"):
        pn.Tagger.from_bytes(write_tensors(parts.tensors, metadata))


@pytest.mark.parametrize("name", ["model", "record"])
def test_a_missing_description_is_refused(name: str, parts: Parts) -> None:
    del parts.metadata[name]
    assert "the model's description is not valid" in parts.refused()


@pytest.mark.parametrize(
    "record",
    [
        {"merged": [{"weight": 1.0, "sha256": "0"}]},
        {"merged": [None]},
        {"merged": [{"weight": 1.0, "sha256": "0", "record": None}]},
        {"merged": None},
        {"epochs": [{"epoch": 1}]},
        {"epochs": None},
        {"train": {"sentences": 1}},
        {"options": None},
    ],
)
def test_a_record_without_what_is_read_of_it_is_refused(record: Any, parts: Parts) -> None:
    parts.metadata["record"] = json.dumps(record)
    assert "the model's description is not valid: record" in parts.refused()


def test_a_newer_version_is_told_from_damage(parts: Parts) -> None:
    parts.metadata |= {"format_version": "4", "made_by": "9.9"}
    message = parts.refused()
    assert "model format '4', made by version '9.9'" in message and "upgrade" in message
    del parts.metadata["format_version"]
    assert "model format '?'" in parts.refused()


def test_a_file_of_another_program_is_told_from_damage(parts: Parts) -> None:
    for name in ("torch", ""):
        parts.metadata["format"] = name
        assert "a safetensors file of another program" in parts.refused()
    foreign = foreign_save({"x": np.zeros(3, np.float32)}, {"format": "np"})
    with pytest.raises(pn.ModelError, match="a safetensors file without a checksum"):
        pn.Tagger.from_bytes(foreign)


def test_the_file_is_one_that_any_safetensors_reader_opens(tagger: pn.Tagger) -> None:
    arrays = foreign_load(tagger.to_bytes())
    assert sorted(arrays) == sorted(NAMES)
    assert (arrays["0.weights"] == tagger.model.weights.weights).all()


@settings(max_examples=60)
@given(data=st.data())
def test_a_file_cut_short_or_made_longer_is_refused(data: st.DataObject, tagger: pn.Tagger) -> None:
    whole = tagger.to_bytes()
    cut = data.draw(st.integers(0, len(whole) - 1))
    for damaged in (
        whole[:cut],
        whole[cut + 1 :],
        whole + whole[: cut + 1],
        whole[:cut] + b"\0" + whole[cut:],
    ):
        with pytest.raises(pn.ModelError):
            pn.Tagger.from_bytes(damaged)


@settings(max_examples=100)
@given(data=st.data())
def test_a_file_with_any_byte_changed_is_refused(data: st.DataObject, tagger: pn.Tagger) -> None:
    damaged = bytearray(tagger.to_bytes())
    for place in data.draw(
        st.lists(
            st.integers(0, len(damaged) - 1) | st.integers(0, 400),
            min_size=1,
            max_size=4,
            unique=True,
        )
    ):
        damaged[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(pn.ModelError):
        pn.Tagger.from_bytes(damaged)


def test_every_refusal_names_the_file(tmp_path: Path, parts: Parts, tagger: pn.Tagger) -> None:
    path = tmp_path / "my.model"
    whole = tagger.to_bytes()
    parts.model["scale"] = 0.0
    key_in_two_groups(twice := Parts(tagger))
    for content in (b"", b"text\n", whole[:-1], whole[:3], parts.to_bytes(), twice.to_bytes()):
        path.write_bytes(content)
        with pytest.raises(pn.ModelError) as caught:
            pn.load(path)
        assert str(caught.value).startswith(f"{path}: ")
    for missing in (tmp_path, tmp_path / "none"):
        with pytest.raises(pn.FileError) as failed:
            pn.load(missing)
        assert str(missing) in str(failed.value)


@pytest.mark.parametrize("data", ["text", None, 3, [1]])
def test_bytes_are_needed(data: Any) -> None:
    with pytest.raises(pn.ArgumentTypeError, match="data: bytes are needed, not"):
        pn.Tagger.from_bytes(data)


def test_a_row_of_a_fixed_table_stands_once(small: Labeled) -> None:
    parts = Parts(pn.train(small, epochs=2, table_bits=8))
    starts = parts.tensors["0.group_starts"]
    starts[1:-1] = 3
    parts.tensors["0.keys"][3] = parts.tensors["0.keys"][0]
    parts.tensors["0.keys"][3:].sort()
    assert "0.keys: not in ascending order" in parts.refused()


HOSTILE_TEMPLATES = [
    [f"column:c{i}[{i % 17 - 8}]" for i in range(64)],
    [f"word.ngrams1-16[{i}] shape[{i}]" for i in range(-8, 9)],
    ["tag[-1] tag[-2] tag[-3] tag[-4] word[-8] word[8] first last"],
    [f"lower[{i}] lower[{j}]" for i in range(-8, 9) for j in range(-8, i)],
    ["word[0]"],
    ["bias"],
    ["tag[-4]"],
    ["first"],
]


@pytest.mark.parametrize("templates", HOSTILE_TEMPLATES, ids=lambda t: t[0])
@pytest.mark.parametrize("bits", [None, 1, 16])
def test_a_strange_but_consistent_description_tags_or_is_refused(
    templates: list[str], bits: int | None, tagger: pn.Tagger
) -> None:
    parts = Parts(tagger)
    rng = random.Random(len(templates))
    n = 2 if bits == 1 else 300
    parts.model |= {
        "templates": templates,
        "table_bits": bits,
        "dictionary": {"": "NOUN", "x" * 1000: "VERB"},
    }
    keys = sorted(rng.sample(range(2**bits if bits else 2**62), n))
    parts.tensors |= {
        "0.keys": np.array(keys, np.uint64),
        "0.counts": np.full(n, 2, np.uint8),
        "0.group_starts": np.array([0, *[n] * len(templates)], np.int64),
        "0.labels": np.tile(np.array([0, 11], np.uint8), n),
        "0.weights": np.tile(np.array([-32768, 32767], np.int16), n),
    }
    columns = {f"c{i}": ["x", "", "ß", "x" * 1000] for i in range(64)}
    sentence = pn.Sentence(["", "a", "x" * 1000, "é"], columns)
    try:
        hostile = pn.Tagger.from_bytes(parts.to_bytes())
    except pn.ModelError as error:
        assert len(templates) == 64 and "more than 64 columns" in str(error)
        return
    given = sentence if hostile.model.feature_columns else list(sentence.words)
    assert len(hostile.tag(given)) == 4
    assert hostile.tag_sents([given] * 3) == [hostile.tag(given)] * 3
    assert hostile.tag(given)[0] == "NOUN" and hostile.tag(given)[2] == "VERB"
