"""Training and tagging on engines: accuracy of shards, killed workers, memory, speed.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/engines.py accuracy|kills|memory|reading|tagging

accuracy   UPOS accuracy on EWT's dev and test part, of the ordinary trainer and of shards after as
           many epochs: by how often and by what they are mixed on dev, with the defaults on test
kills      a worker of three is killed at a random moment, 20 times; how many models are the same
memory     the most memory that each of four workers has had, epoch by epoch
reading    the most memory that the program has had by itself, when it reads files of more and more
           text and deals them out to two workers, and when the workers read them
tagging    see engine_tagging.py

Needs Ray, PySpark with Java, and pyarrow. What it costs to train is in engine_costs.py.
"""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from corpora import treebank
from engine_tagging import ray_on_two, tagging
from here import Here

import perceptron_nlp as pn

KILLS = 20


def accuracy() -> None:
    """The table of accuracies."""
    train = treebank("EWT", "train")

    def row(name: str, part: str, **options: Any) -> None:
        tagger = pn.train(train, **options)
        print(
            f"{name:44s} {part}: {100 * tagger.evaluate(treebank('EWT', part)).accuracy:.2f} %",
            flush=True,
        )

    row("ordinary, default", "test")
    for workers in (4, 2, 8):
        row(f"{workers} shards, default", "test", engine=Here(workers=workers))
    row("ordinary, fast", "dev", preset="fast")
    for sharding in (
        {"mix_by": "errors"},
        {"mix_by": "examples"},
        {"mix_by": "errors", "mixes": 2},
        {"mix_by": "errors", "mixes": 4},
    ):
        row(f"4 shards, fast, {sharding}", "dev", preset="fast", engine=Here(workers=4, **sharding))


def kills() -> None:
    """Kill workers of trainings, and compare models."""
    from perceptron_nlp.integrations.ray import RayEngine

    ray_on_two()
    options = {"templates": "fast", "epochs": 3}
    data = treebank("French-Sequoia", "dev")

    def trained(moment: float | None, shard: int) -> tuple[bytes, float, bool]:
        engine, over, hit = RayEngine(3), threading.Event(), threading.Event()

        def kill() -> None:
            while not engine.processes and not over.is_set():
                time.sleep(0.001)
            if not over.wait(moment):
                os.kill(engine.processes[shard][1], signal.SIGKILL)
                hit.set()

        if moment is not None:
            threading.Thread(target=kill, daemon=True).start()
        begun = time.monotonic()
        model = bytes(pn.train(data, engine=engine, **options).to_bytes())
        over.set()
        return model, time.monotonic() - begun, hit.is_set()

    whole, seconds, _ = trained(None, 0)
    chance = random.Random(1)
    same = done = 0
    while done < KILLS:
        moment = chance.uniform(0, seconds * 0.6)
        model, took, hit = trained(moment, chance.randrange(3))
        if hit:
            done += 1
            same += model == whole
            print(
                f"killed after {moment:5.2f} s: {'the same' if model == whole else 'OTHER'}"
                f" bytes, {took:.1f} s instead of {seconds:.1f} s",
                flush=True,
            )
    print(f"{same} of {done} models are the same, byte for byte")


def memory() -> None:
    """Peaks of workers."""
    from perceptron_nlp.integrations.ray import RayEngine

    ray_on_two()
    engine = RayEngine(4)
    pn.train(treebank("EWT", "train"), engine=engine, epochs=8)
    for number, piece in enumerate(engine.rounds, 1):
        peaks = ", ".join(f"{count.peak_memory / 1e6:.0f}" for count in piece.counts)
        print(
            f"epoch {number}: {peaks} MB; state {piece.bytes_state / 1e6:.1f} MB, sent"
            f" {sum(c.bytes_sent for c in piece.counts) / 4e6:.1f} MB by each, mix"
            f" {piece.bytes_mixed / 1e6:.1f} MB"
        )


def reading() -> None:
    """Peaks of programs, each in a process of its own."""
    with tempfile.TemporaryDirectory() as place:
        for times in (4, 8, 16):
            path = Path(place) / "text.conllu"
            path.write_bytes(Path(treebank("EWT", "train")).read_bytes() * times)
            peaks = {
                who: int(
                    subprocess.run(
                        [sys.executable, __file__, "reading-by", who, str(path)],
                        check=True,
                        stdout=subprocess.PIPE,
                    ).stdout
                )
                for who in ("program", "workers")
            }
            print(
                f"{path.stat().st_size / 1e6:.0f} MB of text: "
                + ", ".join(
                    f"read by the {who}: {peak / 1e6:.0f} MB" for who, peak in peaks.items()
                ),
                flush=True,
            )


def reading_by(who: str, path: str) -> None:
    """Train, and print the most bytes that this process has had."""
    from perceptron_nlp.integrations.ray import RayEngine

    ray_on_two()
    pn.train(path, engine=RayEngine(2, read_by=who), preset="fast", epochs=1)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)


WAYS = {
    "accuracy": accuracy,
    "kills": kills,
    "memory": memory,
    "reading": reading,
    "tagging": tagging,
}

if __name__ == "__main__":
    if sys.argv[1:2] == ["reading-by"]:
        reading_by(*sys.argv[2:])
        sys.exit()
    if len(sys.argv) != 2 or sys.argv[1] not in WAYS:
        sys.exit(__doc__)
    WAYS[sys.argv[1]]()
