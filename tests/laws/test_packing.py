"""Packed numbers are the same numbers, in bytes that hold nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.tensors import array_of

from perceptron_nlp._core.model.modelrows import in_label_order, rice_decoded
from perceptron_nlp.errors import ModelError
from perceptron_nlp.formats import open_tensors, packed_tensors, unpacked_tensors, write_tensors
from perceptron_nlp.formats.tensorarrays import pack
from perceptron_nlp.formats.tensorfile import Tensor
from perceptron_nlp.tagger.model.file import _by_frequency, _in_label_order

numbers = st.lists(st.one_of(st.integers(0, 40), st.integers(0, 2**64 - 1)), max_size=60)


def words(values: list[int]) -> Any:
    return np.array(values, np.uint64)


def in_a_file(tensors: dict[str, Any]) -> dict[str, Tensor]:
    return open_tensors(write_tensors(tensors, {}), "a.model")[0]


@given(numbers)
def test_unpacking_gives_back_what_was_packed(values: list[int]) -> None:
    packed = pack(words(values))
    assert rice_decoded(packed.data, packed.length, packed.low_bits).tolist() == values
    # The shortest code is no longer than the numbers as they are, but for a bit of each.
    assert 8 * len(packed.data) <= 65 * len(values) + 16


@given(numbers)
def test_no_other_number_of_low_bits_makes_a_shorter_code(values: list[int]) -> None:
    lengths = [sum(value >> k for value in values) + len(values) * (1 + k) for k in range(64)]
    assert pack(words(values)).low_bits == lengths.index(min(lengths))


@given(numbers, st.data())
def test_no_bit_of_a_code_can_be_changed_unnoticed_and_no_byte_left_out(
    values: list[int], data: st.DataObject
) -> None:
    packed = pack(words(values))
    if not values:
        return
    place = data.draw(st.integers(0, 8 * len(packed.data) - 1))
    changed = packed.data.copy()
    changed[place // 8] ^= 0x80 >> place % 8
    for other in (
        packed._replace(data=changed),
        packed._replace(data=packed.data[:-1]),
        packed._replace(data=np.append(packed.data, np.uint8(0))),
        packed._replace(length=packed.length + 1),
        packed._replace(length=packed.length - 1),
    ):
        try:
            found = rice_decoded(other.data, other.length, other.low_bits)
        except ValueError:
            continue
        # A changed bit may make another number; the length cannot lie.
        assert other.data is changed and found.tolist() != values


@given(st.binary(max_size=40), st.integers(-2, 400), st.integers(-2, 70))
def test_any_bytes_unpack_to_as_many_numbers_as_they_have_bits_at_most(
    data: bytes, length: int, low_bits: int
) -> None:
    try:
        found = rice_decoded(np.frombuffer(data, np.uint8), length, low_bits)
    except ValueError:
        return
    assert len(found) == length <= 8 * len(data)
    assert pack(words(found.tolist())).length == length


rows = st.lists(st.sets(st.integers(0, 60_000), min_size=1, max_size=9), max_size=12)


@given(
    rows,
    st.sets(st.integers(0, 2**64 - 1), max_size=20),
    st.lists(st.integers(-32767, 32767).filter(bool), max_size=20),
)
def test_every_kind_of_array_comes_back(
    found: list[set[int]], keys: set[int], weights: list[int]
) -> None:
    tensors = {
        "0.keys": np.array(sorted(keys), np.uint64),
        "0.counts": np.array([len(row) for row in found], np.uint8),
        "0.labels": np.array([n for row in found for n in sorted(row)], np.uint16),
        "0.weights": np.array(weights, np.int16),
        "0.group_starts": np.arange(3),
    }
    kinds = {
        "0.keys": "ascending",
        "0.counts": "positive",
        "0.labels": "in_rows",
        "0.weights": "signed",
    }
    packed, how = packed_tensors(tensors, kinds)
    assert packed["0.group_starts"] is tensors["0.group_starts"]
    back = unpacked_tensors(in_a_file(packed), how, "a.model")
    for name, array in tensors.items():
        found_again = array_of(back[name])
        assert found_again.dtype == array.dtype and np.array_equal(found_again, array)


@pytest.mark.parametrize("spread", [0.5, 3.0, 8.0, 60.0])
@pytest.mark.parametrize("length", [511, 513, 4_000])
def test_many_numbers_come_back_a_few_of_them_far_larger_than_the_others(
    length: int, spread: float
) -> None:
    random = np.random.default_rng(length)
    values = random.geometric(1 / (1 + spread), length)
    values[random.integers(0, length, 9)] *= 1_000
    counts = random.geometric(0.3, length).clip(max=255)
    labels = np.concatenate([np.cumsum(random.geometric(0.2, n)) - 1 for n in counts])
    tensors = {
        "0.counts": counts.astype(np.uint8),
        "0.labels": labels.astype(np.uint16),
        "0.keys": np.cumsum(values).astype(np.uint64),
        "short.keys": np.cumsum(values).astype(np.uint32),
        "0.weights": np.where(random.random(length) < 0.5, values, -values).astype(np.int32),
    }
    kinds = {
        "0.counts": "positive",
        "0.labels": "in_rows",
        "0.keys": "ascending",
        "short.keys": "ascending",
        "0.weights": "signed",
    }
    for deflates in (False, True):
        packed, how = packed_tensors(tensors, kinds, deflates=deflates)
        back = unpacked_tensors(in_a_file(packed), how, "a.model")
        for name, array in tensors.items():
            found = array_of(back[name])
            same = found.dtype.itemsize >= array.dtype.itemsize if deflates else True
            assert same and np.array_equal(found, array), name


@given(
    st.lists(st.lists(st.integers(0, 300), min_size=1, max_size=12, unique=True), max_size=20),
    st.randoms(use_true_random=False),
)
def test_labels_by_frequency_come_back_in_their_order(rows: list[list[int]], random: Any) -> None:
    weights = np.array([random.randint(1, 99) for row in rows for _ in row], np.int16)
    tensors = {
        "0.counts": np.array([len(row) for row in rows], np.uint8),
        "0.labels": np.array([label for row in rows for label in sorted(row)], np.uint16),
        "0.weights": weights,
    }
    kinds = {"0.counts": "positive", "0.labels": "in_rows", "0.weights": "signed"}
    packed, how = packed_tensors(_by_frequency(tensors), kinds, deflates=True)
    back = unpacked_tensors(in_a_file(packed), how, "a.model")
    _in_label_order(back, "a.model")
    for name, array in tensors.items():
        assert np.array_equal(array_of(back[name]), array), name


@pytest.mark.parametrize("order", [[0], [1, 1], [2, 2, 2]])
def test_an_order_of_labels_that_cannot_be_is_a_model_error(order: list[int]) -> None:
    tensors = {
        "0.counts": np.array([2], np.uint8),
        "0.labels": np.array([0, 1], np.uint16),
        "0.weights": np.array([5, 6], np.int16),
    }
    kinds = {"0.counts": "positive", "0.labels": "in_rows", "0.weights": "signed"}
    packed, how = packed_tensors(tensors | {"0.order": np.array(order, np.uint16)}, kinds)
    back = unpacked_tensors(in_a_file(packed), how, "a.model")
    with pytest.raises(ModelError, match=r"0\.order: not an order of labels"):
        _in_label_order(back, "a.model")


def test_a_label_that_stands_twice_in_a_row_is_refused() -> None:
    labels, weights = np.array([0, 0, 2, 2], np.uint16), np.array([4, 5, 6, 7], np.int16)
    starts, order = np.array([0, 1, 4], np.int64), np.array([9, 3, 1], np.uint16)
    with pytest.raises(ValueError, match="a label stands twice in a row"):
        in_label_order(labels, weights, starts, order)


@pytest.mark.parametrize("size", [0, 7, 2**40, True, "9"])
def test_a_lie_about_deflated_bytes_is_a_model_error(size: object) -> None:
    tensors, how = packed_tensors({"forms": np.zeros(500, np.uint8)}, {}, deflates=True)
    assert how["forms"]["numbers"] == "plain" and how["forms"]["deflated"] == 500
    how["forms"]["deflated"] = size
    with pytest.raises(ModelError, match=r"a\.model: the model's 'forms', which is deflated: "):
        unpacked_tensors(in_a_file(tensors), how, "a.model")


def lies() -> dict[str, Any]:
    return {
        "a length beyond the bytes": {"length": 2**62},
        "a length below zero": {"length": -1},
        "more low bits than a number has": {"low_bits": 64},
        "a length that is no number": {"length": True},
        "an unknown kind": {"numbers": "zipped"},
        "an unknown type": {"dtype": "F64"},
        "a type that is too narrow": {"dtype": "U8"},
        "rows that are not told": {"numbers": "in_rows"},
        "another key": {"more": 1},
    }


@pytest.mark.parametrize("what", lies())
def test_a_lie_about_packed_numbers_is_a_model_error(what: str) -> None:
    tensors, how = packed_tensors(
        {"keys": np.array([3, 900, 70_000], np.uint64)}, {"keys": "ascending"}
    )
    how["keys"].update(lies()[what])
    with pytest.raises(ModelError, match=r"a\.model: the model's 'keys', which is packed: "):
        unpacked_tensors(in_a_file(tensors), how, "a.model")


def test_gaps_that_run_beyond_64_bits_are_a_model_error() -> None:
    packed = pack(words([2**63, 2**63, 5]))
    how = {
        "keys": {"dtype": "U64", "length": 3, "low_bits": packed.low_bits, "numbers": "ascending"}
    }
    with pytest.raises(ModelError, match="beyond 64 bits"):
        unpacked_tensors(in_a_file({"keys": packed.data}), how, "a.model")


@pytest.mark.parametrize("counts", [[2, 2], [9], [0, 3], [255] * 4, []])
def test_rows_that_do_not_add_up_are_a_model_error(counts: list[int]) -> None:
    packed = pack(words([1, 0, 1]))
    how = {
        "0.labels": {"dtype": "U16", "length": 3, "low_bits": packed.low_bits, "numbers": "in_rows"}
    }
    with pytest.raises(ModelError, match="its rows are of another size"):
        unpacked_tensors(
            in_a_file({"0.labels": packed.data, "0.counts": np.array(counts, np.uint8)}),
            how,
            "a.model",
        )
