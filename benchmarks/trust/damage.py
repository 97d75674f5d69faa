"""M: models that are damaged, hostile, foreign or from elsewhere."""

from __future__ import annotations

import functools
import gc
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
from pathlib import Path
from typing import Any, NamedTuple

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import address_bytes, call, peak_bytes, resident_bytes
from benchmarks.trust.damaging import costly_files, hostile_files, mutate, resign, taken_apart
from benchmarks.trust.reached import Reached, count_of

SECONDS_TO_LOAD = 20
BATCH = 5_000
MOST_ASKED_FOR = 256 << 20
_CAUSE = re.compile("cut short|after its end|checksum|header|empty|version|not a model|text file")


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
    return {
        "wrong": wrong,
        "unclear": unclear,
        "refused": refused,
        "loaded": loaded,
        "grown": grown,
    }


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
        not found.wrong and found.worst <= 2 and found.refused > 0.9 * found.tried,
    )


def said(full: bool) -> Reached:
    """M2: each of these refusals names the file and what is wrong with it."""
    found = _load_all(10_000 if full else 300)
    first = f"; first: {found.unclear[0]}" if found.unclear else ""
    return Reached(
        f"{found.refused - len(found.unclear):,} of {found.refused:,} refusals clear{first}",
        found.refused > 0 and not found.unclear,
    )


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
    return Reached(
        f"{reached.figure}; at most {most / 2**20:.1f} MB", reached.kept and most < 64 << 20
    )


def foreign_files(full: bool) -> Reached:
    """M4: what is no model of this version is refused, and the message says what it is."""
    del full
    good = samples.small_model()
    newer, arrays = taken_apart(good)
    newer["__metadata__"]["format_version"] = "9"
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
