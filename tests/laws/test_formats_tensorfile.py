"""Laws of the model container: whole files are read as written, damaged ones never."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from oracles.tensors import read_tensors
from safetensors.numpy import load

from perceptron_nlp.errors import ModelError
from perceptron_nlp.formats import write_tensors

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
DTYPES = st.sampled_from(["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"])
ARRAY = arrays.arrays(DTYPES, arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
TENSORS = st.dictionaries(TEXT.filter(lambda name: name != "__metadata__"), ARRAY, max_size=4)
METADATA = st.dictionaries(TEXT.filter(lambda key: key != "sha256"), TEXT, max_size=3)
FILE = write_tensors(
    {"keys": np.arange(40, dtype=np.uint64), "weights": np.ones((5, 3), np.float32)},
    {"name": "law", "options": '{"seed":1}'},
)


@given(TENSORS, METADATA)
def test_what_is_written_is_read_by_us_and_by_the_safetensors_library(tensors, metadata):
    content = write_tensors(tensors, metadata)
    read, strings = read_tensors(content, "m")
    assert strings == metadata
    assert read.keys() == tensors.keys()
    foreign = load(content)
    for name, array in tensors.items():
        for one in (read[name], foreign[name]):
            assert one.dtype == array.dtype and one.shape == array.shape
            assert one.tobytes() == array.tobytes()
    assert write_tensors(read, strings) == content


@given(st.integers(0, len(FILE) - 1))
def test_a_file_cut_anywhere_is_refused(length):
    with pytest.raises(ModelError, match=r"cut short|the file is empty|a text file"):
        read_tensors(FILE[:length], "m")


@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
def test_a_file_with_any_byte_changed_is_refused(place, change):
    damaged = bytearray(FILE)
    damaged[place] ^= change
    with pytest.raises(ModelError, match=r"^m\.model: ") as caught:
        read_tensors(damaged, "m.model")
    assert "\n" not in str(caught.value)


@given(st.data())
def test_a_file_with_pieces_zeroed_swapped_or_put_in_is_refused(data):
    places = st.integers(0, len(FILE))
    begin, middle, end = sorted(data.draw(st.tuples(places, places, places)))
    damaged = data.draw(
        st.sampled_from(
            [
                FILE[:begin] + bytes(end - begin) + FILE[end:],
                FILE[:begin] + FILE[middle:end] + FILE[begin:middle] + FILE[end:],
                FILE[:begin] + data.draw(st.binary(min_size=1, max_size=9)) + FILE[begin:],
                FILE[:begin] + FILE[end:],
                FILE[:end] + FILE[begin:],
            ]
        )
    )
    if damaged == FILE:
        assert read_tensors(damaged, "m")[1]["name"] == "law"
    else:
        with pytest.raises(ModelError, match=r"^m\.model: "):
            read_tensors(damaged, "m.model")
