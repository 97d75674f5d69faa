"""Damage done to model files: bytes that are wrong, and claims with the checksum that fits them."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.trust import samples


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A copy of the file with one thing wrong: flipped, cut, swapped, inserted or zeroed bytes."""
    damaged = bytearray(data)
    # Half of the damage goes to the first bytes, where the structure is.
    reach = len(data) if chance.random() < 0.5 else min(len(data), 4096)
    at = chance.randrange(reach)
    size = min(1 << chance.randrange(12), len(data) - at)
    kind = chance.choice(["flip", "flip", "byte", "cut", "drop", "swap", "insert", "zero", "copy"])
    if kind == "flip":
        damaged[at] ^= 1 << chance.randrange(8)
    elif kind == "byte":
        damaged[at] = chance.randrange(256)
    elif kind == "cut":
        del damaged[at:]
    elif kind == "drop":
        del damaged[at : at + size]
    elif kind == "swap":
        other = chance.randrange(len(data))
        damaged[at], damaged[other] = damaged[other], damaged[at]
    elif kind == "insert":
        damaged[at:at] = chance.randbytes(size)
    elif kind == "zero":
        damaged[at : at + size] = bytes(size)
    else:
        other = chance.randrange(len(data) - size + 1)
        damaged[at : at + size] = damaged[other : other + size]
    return bytes(damaged)


def resign(header: dict[str, Any], arrays: bytes) -> bytes:
    """A file with this header and these bytes of arrays, with the checksum that fits."""
    header.setdefault("__metadata__", {})["sha256"] = "0" * 64
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % 64)
    data = len(text).to_bytes(8, "little") + text + arrays
    digest = hashlib.sha256(data).hexdigest().encode()
    return data.replace(b'"sha256":"' + b"0" * 64, b'"sha256":"' + digest, 1)


def taken_apart(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The header and the bytes of the arrays of a file."""
    length = int.from_bytes(data[:8], "little")
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def hostile_files() -> Iterator[tuple[str, bytes]]:
    """Files with the right checksum that claim what is not there."""
    good = samples.small_model()
    for claim in (2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64, 10**30):
        header, arrays = taken_apart(good)
        header["0.keys"]["shape"] = [claim]
        yield f"shape [{claim}]", resign(header, arrays)
        header, arrays = taken_apart(good)
        header["0.keys"]["shape"] = [claim, 0]
        header["0.keys"]["data_offsets"] = [0, 0]
        yield f"shape [{claim}, 0]", resign(header, arrays)
        header, arrays = taken_apart(good)
        header["vocabulary"]["data_offsets"][1] = claim
        yield f"data offset {claim}", resign(header, arrays)
        header, arrays = taken_apart(good)
        begin = header["vocabulary"]["data_offsets"][0]
        header["vocabulary"]["shape"] = [claim]
        header["vocabulary"]["data_offsets"][1] = begin + 4 * claim
        yield f"{claim} rows throughout", resign(header, arrays)
        yield f"header of {claim} bytes", (claim % 2**64).to_bytes(8, "little") + good[8:]
    yield "64 dimensions", _claiming(shape=[1] * 64)
    yield "a negative shape", _claiming(shape=[-1])
    yield "a shape of true", _claiming(shape=[True])
    yield "deep JSON", _with_model("[" * 50_000)
    yield "a long number", _with_model('{"scale":' + "9" * 100_000 + "}")
    yield "a scale whose scores are infinite", _described(scale=5e-324)
    yield "starts of groups that wrap around", _wrapped_groups()
    yield "one template a thousand times", _described(templates=["word[0]"] * 1000)


def costly_files() -> Iterator[tuple[str, bytes]]:
    """Small files that are valid, and ask for much."""
    yield "a fixed table of 2^30 rows", _fixed(30)


def _claiming(shape: list[Any]) -> bytes:
    header, arrays = taken_apart(samples.small_model())
    header["0.keys"]["shape"] = shape
    return resign(header, arrays)


def _wrapped_groups() -> bytes:
    """Each start of a group lies above the one before it, modulo 2^64."""
    header, arrays = taken_apart(samples.small_model())
    begin, end = header["0.group_starts"]["data_offsets"]
    starts = np.frombuffer(arrays[begin:end], "<i8").copy()
    starts[1:4] = 2**63 - 1, -(2**63), -(2**60)
    return resign(header, arrays[:begin] + starts.tobytes() + arrays[end:])


def _with_model(text: str) -> bytes:
    header, arrays = taken_apart(samples.small_model())
    header["__metadata__"]["model"] = text
    return resign(header, arrays)


def _described(**changes: Any) -> bytes:
    header, arrays = taken_apart(samples.small_model())
    described = json.loads(header["__metadata__"]["model"]) | changes
    header["__metadata__"]["model"] = json.dumps(described)
    return resign(header, arrays)


def _fixed(bits: int) -> bytes:
    """A model with one row in a fixed table of 2**bits."""
    parts = {
        "0.keys": np.array([3], "<u8"),
        "0.group_starts": np.array([0, 1], "<i8"),
        "0.labels": np.array([1], "u1"),
        "0.counts": np.array([1], "u1"),
        "0.weights": np.array([5], "<i2"),
        "vocabulary": np.array([7], "<u4"),
    }
    order = sorted(parts, key=lambda name: (-parts[name].itemsize, name))
    header, _ = taken_apart(samples.small_model())
    described = json.loads(header["__metadata__"]["model"])
    described |= {
        "templates": ["word[0]"],
        "labels": ["A", "B"],
        "table_bits": bits,
        "dictionary": {},
    }
    header = {"__metadata__": header["__metadata__"] | {"model": json.dumps(described)}}
    at, arrays = 0, b""
    for name in order:
        array = parts[name]
        names = {"<u8": "U64", "<i8": "I64", "<u4": "U32", "<i2": "I16", "|u1": "U8"}
        header[name] = {
            "dtype": names[array.dtype.str],
            "shape": [1 if array.size == 1 else 2],
            "data_offsets": [at, at + array.nbytes],
        }
        at += array.nbytes
        arrays += array.tobytes()
    return resign(header, arrays)
