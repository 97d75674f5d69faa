"""The container of models: what goes in comes out, and nothing damaged comes out."""

import hashlib
import json
import mmap
import os
import pickle
import re
import tracemalloc

import numpy as np
import pytest
from oracles.tensors import read_tensors
from safetensors.numpy import load

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, FileError, ModelError
from perceptron_nlp.formats import map_file_bytes, read_file_bytes, write_tensors

TENSORS = {
    "keys": np.arange(7, dtype=np.uint64),
    "weights": np.linspace(0, 1, 6, dtype=np.float32).reshape(2, 3),
    "flags": np.array([1, 0, 255], dtype=np.uint8),
    "one": np.array(3.5),
    "none": np.zeros((2, 0, 3), dtype=np.int16),
}
METADATA = {"name": 'Ünï "quoted"', "options": json.dumps({"sha256": "0" * 64})}
FILE = write_tensors(TENSORS, METADATA)


def sealed(header, data=b"", length=None):
    """A file with this header (its digest written as 64 zeros) and a checksum that is right."""
    header = header.encode() if isinstance(header, str) else header
    length = len(header) if length is None else length
    content = length.to_bytes(8, "little") + header + data
    digest = hashlib.sha256(content).hexdigest().encode()
    return content.replace(b'"sha256":"' + b"0" * 64, b'"sha256":"' + digest, 1)


def header(**entries):
    return json.dumps({"__metadata__": {"sha256": "0" * 64}, **entries}, separators=(",", ":"))


def entry(dtype="U8", shape=(4,), begin=0, end=4):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}


def refused(content):
    with pytest.raises(ModelError) as caught:
        read_tensors(content, "m.model")
    message = str(caught.value)
    assert message.startswith("m.model: ") and "\n" not in message
    return message


def test_what_is_written_is_read():
    tensors, metadata = read_tensors(FILE, "m")
    assert metadata == METADATA
    assert set(tensors) == set(TENSORS)
    for name, array in TENSORS.items():
        assert tensors[name].dtype == array.dtype and tensors[name].shape == array.shape
        assert (tensors[name] == array).all()


def test_the_safetensors_library_reads_it():
    for name, array in load(FILE).items():
        assert (array == TENSORS[name]).all() and array.dtype == TENSORS[name].dtype


def test_equal_content_is_equal_bytes_in_any_order_and_layout():
    turned = {name: TENSORS[name] for name in reversed(TENSORS)}
    turned["weights"] = np.asfortranarray(TENSORS["weights"]).astype(">f4")
    assert write_tensors(turned, dict(reversed(METADATA.items()))) == FILE
    tensors, metadata = read_tensors(FILE, "m")
    assert write_tensors(tensors, metadata) == FILE


def test_the_data_starts_at_64_bytes_and_every_array_at_its_item_size():
    length = int.from_bytes(FILE[:8], "little")
    assert (8 + length) % 64 == 0
    entries = json.loads(FILE[8 : 8 + length])
    for name, array in TENSORS.items():
        assert entries[name]["data_offsets"][0] % array.itemsize == 0


def test_the_checksum_is_of_the_file_with_zeros_in_its_place():
    digest = re.search(rb'"sha256":"([0-9a-f]{64})"', FILE)[1]
    assert hashlib.sha256(FILE.replace(digest, b"0" * 64, 1)).hexdigest().encode() == digest


def test_arrays_are_views_of_the_data_and_cannot_be_written():
    data = bytearray(FILE)
    tensors, _ = read_tensors(data, "m")
    data[-1] ^= 255
    assert tensors["flags"][2] == 0
    for array in tensors.values():
        assert not array.flags.writeable


def test_a_mapped_file_is_read_without_a_copy(tmp_path):
    (tmp_path / "m").write_bytes(FILE)
    mapped = map_file_bytes(tmp_path / "m")
    assert isinstance(mapped, mmap.mmap)
    tensors, metadata = read_tensors(mapped, "m")
    assert metadata == METADATA and (tensors["keys"] == TENSORS["keys"]).all()


def test_no_arrays_and_no_metadata_are_a_file_too():
    assert read_tensors(write_tensors({}, {}), "m") == ({}, {})


@pytest.mark.parametrize(
    "dtype", ["u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8"]
)
def test_every_type_of_number_is_kept(dtype):
    array = np.array([[1, 2], [3, 4]], dtype=dtype)
    tensors, _ = read_tensors(write_tensors({"a": array}, {}), "m")
    assert tensors["a"].dtype == array.dtype and (tensors["a"] == array).all()


@pytest.mark.parametrize(
    ("tensors", "metadata", "error", "message"),
    [
        ({"a": [1, 2]}, {}, ArgumentTypeError, r"tensors\['a'\]: an array is needed, not list"),
        ({"a": np.array(["x"])}, {}, ArgumentTypeError, "cannot be stored; possible are uint8"),
        ({"a": np.array([None])}, {}, ArgumentTypeError, "object cannot be stored"),
        ({3: np.zeros(1)}, {}, ArgumentTypeError, "a name must be a str, not int"),
        ({"__metadata__": np.zeros(1)}, {}, ArgumentError, "__metadata__ is taken"),
        ({}, {"a": 1}, ArgumentTypeError, r"metadata\['a'\]: key and value must be str"),
        ({}, {"sha256": ""}, ArgumentError, "sha256 is added by the file itself"),
        ({}, {"a": "\ud800"}, ArgumentError, "lone surrogate"),
    ],
)
def test_what_cannot_be_stored_is_refused(tensors, metadata, error, message):
    with pytest.raises(error, match=message):
        write_tensors(tensors, metadata)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (FILE[:5], "cut short: only 5 bytes are there"),
        (FILE[:200], "cut short: a header of"),
        (FILE[:-1], "cut short: 1 bytes are missing"),
        (FILE + b"x", "goes on for 1 bytes after its end"),
        (b"just some text\n", "a text file, not a model of perceptron_nlp"),
        (b"PK\x03\x04" + bytes(30), "a zip file (as of PyTorch or NumPy), not a model"),
        (pickle.dumps([1]), "a Python pickle, not a model"),
        (b"\x1f\x8b\x08" + bytes(30), "a gzip file"),
        (b"\xff" * 100, "it claims a header of 18,446,744,073,709,551,615 bytes"),
        (FILE[:-1] + bytes([FILE[-1] ^ 1]), "is damaged: its checksum does not fit"),
        (FILE.replace(b"name", b"nome", 1), "is damaged: its checksum does not fit"),
    ],
)
def test_a_file_that_is_no_whole_model_says_what_it_is(content, message):
    assert message in refused(content)


def test_a_safetensors_file_of_others_is_told_apart():
    content = sealed(json.dumps({"a": entry()}), b"data")
    assert "a safetensors file without a checksum" in refused(content)


HUGE = 2**62
LIES = {
    "no-json": ("{", "it is not JSON"),
    "no-object": ("[1]", "it is not a JSON object"),
    "no-utf8": (b'{"\xff":1}', "it is not UTF-8"),
    "nested": ("[" * 100_000, "it is not JSON"),
    "endless-number": ('{"a":' + "9" * 5000 + "}", "it is not JSON"),
    "not-a-number": ('{"a":NaN}', "NaN is not JSON"),
    "key-twice": ('{"a":1,"a":2}', "a key is there twice"),
    "surrogate": ('{"__metadata__":{"a":"\\ud800"}}', "a string holds a lone surrogate"),
    "metadata-list": ('{"__metadata__":[]}', "__metadata__ does not map strings to strings"),
    "metadata-number": ('{"__metadata__":{"a":1}}', "does not map strings to strings"),
    "array-is-no-object": (header(a=3), "array 'a' must have dtype, shape and data_offsets"),
    "key-missing": (header(a={"dtype": "U8", "shape": [4]}), "must have dtype, shape"),
    "key-too-many": (header(a={**entry(), "x": 1}), "must have dtype, shape"),
    "unknown-type": (header(a=entry("BF16")), "array 'a' is of an unknown type 'BF16'"),
    "type-is-no-string": (header(a=entry(["U8"])), "is of an unknown type"),
    "negative-shape": (header(a=entry(shape=(-4,))), "has the impossible shape '[-4]'"),
    "shape-of-bools": (header(a=entry(shape=(True,))), "has the impossible shape"),
    "shape-of-floats": (header(a=entry(shape=(4.0,))), "has the impossible shape"),
    "too-many-dimensions": (header(a=entry(shape=(1,) * 65)), "has the impossible shape"),
    "offsets-turned": (header(a=entry(begin=4, end=0)), "has the impossible place '[4, 0]'"),
    "negative-offset": (header(a=entry(begin=-4, end=0)), "has the impossible place"),
    "shape-too-large": (header(a=entry(shape=(5,))), "claims 4 bytes, which its shape"),
    "product-overflows": (header(a=entry(shape=(HUGE, 4), end=0)), "claims 0 bytes, which"),
    "huge-rows": (header(a=entry(shape=(HUGE,), end=HUGE)), "cut short: 4,611,686,018"),
    "gap": (header(a=entry(begin=1, end=5)), "array 'a' has a gap before it"),
    "overlap": (header(a=entry(), b=entry(begin=2, end=6)), "'b' has an overlap with another"),
    "outside": (header(a=entry(shape=(8,), end=8)), "cut short: 4 bytes are missing"),
    "rest": (header(a=entry(shape=(3,), end=3)), "goes on for 1 bytes after its end"),
}


@pytest.mark.parametrize("lie", sorted(LIES))
def test_a_header_that_lies_is_refused_even_with_the_right_checksum(lie):
    content, message = LIES[lie]
    assert message in refused(sealed(content, b"data"))


def test_a_header_that_claims_much_allocates_little():
    content = sealed(header(a=entry("F64", (HUGE,), 0, 8 * HUGE - 1)), b"data")
    tracemalloc.start()
    for attempt in (content, sealed(header(a=entry()), b"", 99_999_999), b"\xff" * 1000):
        refused(attempt)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1_000_000


def test_files_that_are_no_regular_files_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for read in (read_file_bytes, map_file_bytes):
        with pytest.raises(FileError, match="nowhere: there is no such file"):
            read(tmp_path / "nowhere")
        with pytest.raises(FileError, match="is a folder; name the model file in it"):
            read(tmp_path)
        with pytest.raises(FileError, match="pipe: is a pipe or device"):
            read(tmp_path / "pipe")
        with pytest.raises(FileError, match="cannot be the name of a file"):
            read("a\0b")
        with pytest.raises(ArgumentTypeError, match="path: a str or path is needed, not int"):
            read(3)


def test_a_file_is_read_whole_and_an_empty_one_cannot_be_mapped(tmp_path):
    (tmp_path / "m").write_bytes(FILE)
    assert read_file_bytes(str(tmp_path / "m")) == FILE
    (tmp_path / "m").write_bytes(b"")
    assert read_file_bytes(tmp_path / "m") == b""
    with pytest.raises(ModelError, match="m: the file is empty"):
        map_file_bytes(tmp_path / "m")
