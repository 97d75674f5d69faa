"""M: models that are damaged, hostile, foreign or from elsewhere."""

from __future__ import annotations

import ast
import functools
import gc
import hashlib
import io
import json
import os
import pickle
import random
import re
import resource
import signal
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import ROOT, address_bytes, call, peak_bytes, resident_bytes
from benchmarks.trust.reached import Reached, count_of

SECONDS_TO_LOAD = 20
BATCH = 5_000
MOST_ASKED_FOR = 256 << 20
_CAUSE = re.compile("cut short|after its end|checksum|header|empty|version|not a model|text file")


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
        del damaged[at:at + size]
    elif kind == "swap":
        other = chance.randrange(len(data))
        damaged[at], damaged[other] = damaged[other], damaged[at]
    elif kind == "insert":
        damaged[at:at] = chance.randbytes(size)
    elif kind == "zero":
        damaged[at:at + size] = bytes(size)
    else:
        other = chance.randrange(len(data) - size + 1)
        damaged[at:at + size] = damaged[other:other + size]
    return bytes(damaged)


def load_mutants(path: str, first: int, count: int) -> dict[str, Any]:
    """Load mutants of the model at ``path``; runs in a child, and says what went wrong."""
    signal.signal(signal.SIGALRM, _hung)
    good = Path(path).read_bytes()
    with tempfile.TemporaryDirectory() as folder:
        bad = os.path.join(folder, "mutant.pnlp")
        before = resident_bytes()
        for _ in range(3):
            pn.load(path)
            gc.collect()
        loaded = max(peak_bytes(), resident_bytes()) - before
        wrong, unclear, refused = [], [], 0
        for seed in range(first, first + count):
            damaged = mutate(good, random.Random(seed))
            if damaged == good:
                continue
            Path(bad).write_bytes(damaged)
            signal.alarm(SECONDS_TO_LOAD)
            try:
                pn.load(bad)
                wrong.append(f"mutant {seed} loaded")
            except (pn.ModelError, pn.FileError) as error:
                refused += 1
                if not str(error).startswith(bad) or not _CAUSE.search(str(error)):
                    unclear.append(f"mutant {seed}: {error}")
            except Exception as error:
                wrong.append(f"mutant {seed}: {type(error).__name__}: {error}")
            signal.alarm(0)
        grown = peak_bytes() - before
    return {"wrong": wrong, "unclear": unclear, "refused": refused, "loaded": loaded,
            "grown": grown}


def _hung(number: int, frame: object) -> None:
    raise TimeoutError(f"no answer after {SECONDS_TO_LOAD} s")


class Mutants(NamedTuple):
    """What became of many mutants: those that went wrong, those with unclear messages."""

    tried: int
    refused: int
    crashes: int
    wrong: list[str]
    unclear: list[str]
    worst: float


@functools.cache
def _load_all(total: int) -> Mutants:
    wrong: list[str] = []
    unclear: list[str] = []
    refused = crashes = 0
    worst = 0.0
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.pnlp")
        Path(path).write_bytes(samples.small_model())
        for first in range(0, total, BATCH):
            count = min(BATCH, total - first)
            child = call("benchmarks.trust.damage:load_mutants", path, first, count, timeout=3600)
            if child.result is None:
                crashes += 1
                wrong.append(f"mutants {first} to {first + count}: {child.fate}")
                continue
            refused += child.result["refused"]
            wrong += child.result["wrong"]
            unclear += child.result["unclear"]
            worst = max(worst, child.result["grown"] / child.result["loaded"])
    return Mutants(total, refused, crashes, wrong, unclear, worst)


def mutants(full: bool) -> Reached:
    """M1: random damage is always refused, in bounded memory."""
    found = _load_all(100_000 if full else 300)
    first = f"; first: {found.wrong[0]}" if found.wrong else ""
    return Reached(
        f"{found.refused:,} mutants refused; {len(found.wrong)} wrong, {found.crashes} crashes; at"
        f" most {found.worst:.2f}× the memory of a good load{first}",
        not found.wrong and found.worst <= 2 and found.refused > 0.9 * found.tried)


def said(full: bool) -> Reached:
    """M2: each of these refusals names the file and what is wrong with it."""
    found = _load_all(10_000 if full else 300)
    first = f"; first: {found.unclear[0]}" if found.unclear else ""
    return Reached(f"{found.refused - len(found.unclear):,} of {found.refused:,} refusals clear"
                   f"{first}", found.refused > 0 and not found.unclear)


# ---- M3 ----

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
    return json.loads(data[8:8 + length]), data[8 + length:]


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
    starts[1:4] = 2**63 - 1, -2**63, -1
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
    parts = {"0.keys": np.array([3], "<u8"), "0.group_starts": np.array([0, 1], "<i8"),
             "0.labels": np.array([1], "u1"), "0.counts": np.array([1], "u1"),
             "0.weights": np.array([5], "<i2"), "vocabulary": np.array([7], "<u4")}
    order = sorted(parts, key=lambda name: (-parts[name].itemsize, name))
    header, _ = taken_apart(samples.small_model())
    described = json.loads(header["__metadata__"]["model"])
    described |= {"templates": ["word[0]"], "labels": ["A", "B"], "table_bits": bits,
                  "dictionary": {}}
    header = {"__metadata__": header["__metadata__"] | {"model": json.dumps(described)}}
    at, arrays = 0, b""
    for name in order:
        array = parts[name]
        names = {"<u8": "U64", "<i8": "I64", "<u4": "U32", "<i2": "I16", "|u1": "U8"}
        header[name] = {"dtype": names[array.dtype.str], "shape": [1 if array.size == 1 else 2],
                        "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
        arrays += array.tobytes()
    return resign(header, arrays)


def load_hostile(paths: list[str], may_load: bool) -> dict[str, Any]:
    """Load hostile files; runs in a child, whose peak memory is measured.

    Memory that is asked for and never touched would not be seen in it, so that is limited.
    """
    before = peak_bytes()
    room = address_bytes() + MOST_ASKED_FOR
    resource.setrlimit(resource.RLIMIT_AS, (room, room))
    wrong = []
    for path in paths:
        try:
            pn.load(path).tag(["a", "b"])
            if not may_load:
                wrong.append(f"{Path(path).name}: loaded")
        except pn.ModelError as error:
            if not str(error).startswith(path):
                wrong.append(f"unclear: {error}")
    return {"wrong": wrong, "grown": peak_bytes() - before}


def hostile_headers(full: bool) -> Reached:
    """M3: a header that claims much gets nothing of it."""
    del full
    wrong: list[str] = []
    tried = most = 0
    for files, may_load in ((hostile_files(), False), (costly_files(), True)):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, data in files:
                paths.append(os.path.join(folder, name.replace("/", "-")))
                Path(paths[-1]).write_bytes(data)
            tried += len(paths)
            child = call("benchmarks.trust.damage:load_hostile", paths, may_load, timeout=120)
        if child.result is None:
            wrong.append(child.fate)
            continue
        wrong += child.result["wrong"]
        most = max(most, child.result["grown"])
    reached = count_of(wrong, tried, "hostile files harmless")
    return Reached(f"{reached.figure}; at most {most / 2**20:.1f} MB",
                   reached.kept and most < 64 << 20)


# ---- M4 ----

def foreign_files(full: bool) -> Reached:
    """M4: what is no model of this version is refused, and the message says what it is."""
    del full
    good = samples.small_model()
    newer, arrays = taken_apart(good)
    newer["__metadata__"]["format_version"] = "3"
    newer["__metadata__"]["made_by"] = "9.0"
    stranger = {"weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}
    text = json.dumps(stranger).encode()
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("data.pkl", b"x")
    files = {
        "of a newer version": (resign(newer, arrays), "9.0"),
        "of another library": (len(text).to_bytes(8, "little") + text + bytes(4), "checksum"),
        "signed by another library": (resign(dict(stranger), bytes(4)), "another program"),
        "a pickle": (pickle.dumps({"weights": [1]}), "pickle"),
        "a zip file": (zipped.getvalue(), "zip"),
        "a gzip file": (b"\x1f\x8b" + bytes(100), "gzip"),
        "a text": (b"The old man the boats .\n" * 10, "text file"),
        "empty": (b"", "empty"),
        "one byte": (b"\x00", "cut short"),
        "random": (random.Random(1).randbytes(10_000), "not a model"),
    }
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (data, word) in files.items():
            path = os.path.join(folder, "model.pnlp")
            Path(path).write_bytes(data)
            wrong += _refused(name, path, word, pn.ModelError)
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        wrong += _refused("a pipe", pipe, "pipe", pn.FileError)
        wrong += _refused("a folder", folder, "folder", pn.FileError)
        wrong += _refused("not there", os.path.join(folder, "nothing"), "no such", pn.FileError)
        wrong += _refused("a device", "/dev/zero", "device", pn.FileError)
    return count_of(wrong, len(files) + 4, "foreign files refused by what they are")


def _refused(name: str, path: str, word: str, kind: type[Exception]) -> list[str]:
    try:
        pn.load(path)
    except kind as error:
        return [] if word in str(error) and path in str(error) else [f"{name}: {error}"]
    except Exception as error:
        return [f"{name}: {type(error).__name__}: {error}"]
    return [f"{name}: loaded"]


# ---- M5 ----

_RUNNERS = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "runpy",
            "importlib", "imp", "code", "ctypes", "subprocess", "yaml"}
_CALLS = {"eval", "exec", "compile", "__import__", "execfile"}
# What is imported there stands in the source: the modules of public names, zstd of Python 3.14, the
# presets; pages, verbs and guests, none of which has a part in loading.
_ALLOWED = {("__init__.py", "importlib"), ("formats/__init__.py", "importlib"),
            ("formats/opening.py", "importlib"), ("features/templates.py", "importlib")}
_APART = ("cli/", "integrations/", "learning/", "reports/", "serving/", "study/")


def no_code(full: bool) -> Reached:
    """M5: nothing that could run code from a file is imported or called anywhere."""
    del full
    package = ROOT / "perceptron_nlp"
    sources = sorted([*package.rglob("*.py"), *package.rglob("*.pyx")])
    wrong: list[str] = []
    for source in sources:
        name = source.relative_to(package).as_posix()
        text = source.read_text("utf-8")
        found = _runners_in(text) if source.suffix == ".py" else _runners_in_cython(text)
        wrong += [f"{name}: {what}" for what in found if (name, what) not in _ALLOWED
                  and not (what == "importlib" and name.startswith(_APART))]
        if "allow_pickle=True" in text:
            wrong.append(f"{name}: allow_pickle")
    return count_of(wrong, len(sources), "sources free of code loading")


def _runners_in(text: str) -> list[str]:
    found = []
    for node in ast.walk(ast.parse(text)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names = [node.module or ""]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [node.func.id] if node.func.id in _CALLS else []
        found += [root for root in (name.split(".")[0] for name in names) if root in _RUNNERS]
    return found


def _runners_in_cython(text: str) -> list[str]:
    imports = re.findall(r"^\s*(?:from|import) (\w+)", text, re.MULTILINE)
    calls = re.findall(r"\b(eval|exec|__import__)\(", text)
    return [name for name in imports if name in _RUNNERS] + calls
