"""K2: a training that is killed and resumed gives the bytes of one that was not."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import perceptron_nlp as pn
from benchmarks.trust import samples
from benchmarks.trust.children import ROOT, call, command, environment
from benchmarks.trust.reached import Reached

KINDS: dict[str, dict[str, Any]] = {
    "adagrad": {"update": "adagrad"},
    "perceptron, fixed table": {"update": "perceptron", "table_bits": 12},
    "beam": {"beam": 4},
    "three runs": {"runs": 3, "epochs": 3},
    "n-grams, dictionary": {
        "templates": ["word[0]", "lower.ngrams2-4[0]", "tag[-1]"],
        "dictionary": (3, 0.9),
        "min_count": 2,
    },
}


def train(kind: str, checkpoint: str | None, resume: bool, target: str) -> None:
    """Train and save; runs in a child."""
    sentences = list(pn.open_corpus(samples.TRAIN))
    dev = list(pn.open_corpus(samples.DEV))
    options = {"epochs": 5, "patience": 3, "templates": "fast", **KINDS[kind]}
    if checkpoint is not None:
        options |= {"checkpoint": checkpoint, "resume": resume}
    pn.train(sentences, dev=dev, column="upos", **options).save(target)


def killed(full: bool) -> Reached:
    """K2: kill a training at random moments, resume it each time, and compare the bytes."""
    kinds = list(KINDS) if full else ["adagrad"]
    times = 20 if full else 1
    kills = 0
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds:
            whole = os.path.join(folder, f"{kind}.pnlp")
            child = call("benchmarks.trust.resuming:train", kind, None, False, whole)
            if child.status != 0:
                wrong.append(f"{kind}: {child.fate}")
                continue
            for number in range(times):
                chance = random.Random(f"{kind} {number}")
                place = os.path.join(folder, f"{kind}-{number}")
                kills += _train_with_kills(kind, place, chance, wrong)
                if not wrong and Path(place).read_bytes() != Path(whole).read_bytes():
                    wrong.append(f"{kind} {number}: other bytes")
            left = [name for name in os.listdir(folder) if name.endswith(".part")]
            if left:
                wrong.append(f"{kind}: {len(left)} temporary files left")
    first = f"; first: {wrong[0]}" if wrong else ""
    return Reached(
        f"{len(kinds) * times} trainings, {kills} kills, {len(wrong)} wrong{first}",
        not wrong and kills > 0,
    )


def _train_with_kills(kind: str, place: str, chance: random.Random, wrong: list[str]) -> int:
    """Kill a training up to three times after its first checkpoint; then let it end."""
    checkpoint = Path(f"{place}.checkpoint")
    for kills in range(4):
        line = command("benchmarks.trust.resuming:train", kind, str(checkpoint), kills > 0, place)
        process = subprocess.Popen(
            line,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(),
            cwd=ROOT,
        )
        if kills < 3:
            before = _stamp(checkpoint)
            while process.poll() is None and _stamp(checkpoint) == before:
                time.sleep(0.001)
            time.sleep(chance.random() * 0.05)
            process.send_signal(signal.SIGKILL)
        _, err = process.communicate()
        if process.returncode == 0:
            return kills
        if process.returncode != -signal.SIGKILL:
            wrong.append(f"{kind}: {err[-300:]}")
            return kills
    wrong.append(f"{kind}: it did not end")
    return 3


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns
