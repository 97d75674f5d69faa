"""Whole commands and borders of this library: files, starting, importing, loading, threads."""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from corpora import treebank
from cputime import least_seconds
from threads import thread_rows

import perceptron_nlp as pn
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.tagger import model_path
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import TemplateLearner
from perceptron_nlp.tagger.train.options import LearningOptions

PLAIN = (
    "--templates",
    "default",
    "--update",
    "perceptron",
    "--epochs",
    "10",
    "--beam",
    "1",
    "--no-right-to-left",
)
PEAK = (
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True,"
    " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
    " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
)
TAG_ONE = (
    "import sys, perceptron_nlp as pn;"
    " pn.load(sys.argv[1]).tag(['The', 'old', 'man', 'the', 'boats', '.'])"
)
TAG_TEXT = "import perceptron_nlp as pn; pn.load('en').tag_text('The old man the boats.')"


def started(*arguments: str) -> tuple[float, float]:
    """CPU seconds and seconds by the clock of a Python process with these arguments.

    It keeps compiled modules, as installed ones are kept, whatever the environment says.
    """
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(
        [sys.executable, *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=kept,
    )
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock


def peak_of(*arguments: str) -> float:
    """Peak megabytes of a Python process with these arguments."""
    run = subprocess.run(
        [sys.executable, "-c", PEAK, sys.executable, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return int(run.stdout) / (1e6 if sys.platform == "darwin" else 1000)


def core_seconds(sentences: list[pn.Sentence]) -> float:
    """CPU seconds of ten plain epochs of `default` templates, reading and hashing left out."""
    learner = TemplateLearner(
        Examples.read(Source(sentences, "train"), "upos", ()),
        preset("default"),
        LearningOptions(update="perceptron"),
        {},
    )
    used = 0.0
    for epoch in range(1, 11):
        order = permutation(len(sentences), 1, epoch)
        start = time.process_time()
        learner.learn(order)
        used += time.process_time() - start
    return used


def training_rows(folder: Path, rounds: int, train: str) -> list[tuple[str, str]]:
    """Ten plain epochs: the core, the whole command, its memory."""
    sentences = list(pn.read_conllu(train))
    command = ("-m", "perceptron_nlp", "train", train, "--model", str(folder / "model"), *PLAIN)
    core = min(core_seconds(sentences) for _ in range(rounds))
    whole = min(started(*command)[0] for _ in range(rounds))
    return [
        ("training, 10 plain epochs, `default` templates: in the core", f"{core:.2f} s"),
        ("the same, whole command", f"{whole:.2f} s"),
        ("the same, peak memory", f"{peak_of(*command):.0f} MB"),
    ]


def file_rows(folder: Path, rounds: int, copies: int, peer: float) -> list[tuple[str, str]]:
    """Whole files from the shell, start included, and plain reading beside the conllu package."""
    text = Path(treebank("EWT", "test")).read_text(encoding="utf-8")
    big, tokens = (
        folder / "big.conllu",
        copies * sum(len(sentence.words) for sentence in pn.read_conllu(treebank("EWT", "test"))),
    )
    big.write_text(text * copies, encoding="utf-8")
    rows = []
    for name in ("fast", "default"):
        command = (
            "-m",
            "perceptron_nlp",
            "tag",
            str(folder / name),
            str(big),
            "-o",
            str(folder / "out.conllu"),
        )
        speed = tokens / min(started(*command)[0] for _ in range(rounds))
        rows.append(
            (
                f"CoNLL-U file from the shell, `{name}`, {tokens:,} tokens, start included",
                f"{speed / 1e6:.2f} M tokens / CPU s, {speed / peer:.1f} × the fastest peer",
            )
        )
    part = treebank("EWT", "dev")
    ours = least_seconds(lambda: sum(1 for _ in pn.read_conllu(part)))
    if importlib.util.find_spec("conllu") is None:
        return [
            *rows,
            ("plain reading of EWT dev; pip install conllu to see it beside ours", f"{ours:.3f} s"),
        ]
    import conllu

    def theirs() -> int:
        with open(part, encoding="utf-8") as file:
            return sum(1 for _ in conllu.parse_incr(file))

    return [
        *rows,
        (
            "plain reading of EWT dev, beside the `conllu` package",
            f"{ours:.3f} s, {least_seconds(theirs) / ours:.1f} × as fast",
        ),
    ]


def starting_rows(folder: Path, rounds: int) -> list[tuple[str, str]]:
    """The bare interpreter, importing, loading, one sentence."""

    def least(*arguments: str) -> str:
        runs = [started(*arguments) for _ in range(4 * rounds)]
        return (
            f"{1000 * min(cpu for cpu, _ in runs):.0f} ms CPU,"
            f" {1000 * min(clock for _, clock in runs):.0f} ms by the clock"
        )

    rows = [
        ("starting Python alone", least("-c", "pass")),
        ("`import perceptron_nlp`, start included", least("-c", "import perceptron_nlp")),
        ("`import numpy`, start included", least("-c", "import numpy")),
    ]
    for name in ("fast", "default", "en"):
        path = Path(model_path("en")) if name == "en" else folder / name
        load = least_seconds(lambda path=path: pn.load(path))
        rows += [
            (
                f"from process start to one tagged sentence, `{name}`",
                least("-c", TAG_ONE, str(path)),
            ),
            (
                f"loading the model, `{name}`",
                f"{1000 * load:.1f} ms, {path.stat().st_size / 1e6:.2f} MB",
            ),
        ]
    return [
        *rows,
        ("from process start to one sentence of text in all columns, `en`", least("-c", TAG_TEXT)),
    ]


def report(rounds: int, quick: bool, peer: float) -> None:
    """The table; `peer` is the tokens a second of the fastest peer on a CoNLL-U file."""
    print("\n## Commands and borders\n\n| | |\n|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        train = treebank("EWT", "train")
        if quick:
            blocks = Path(train).read_text(encoding="utf-8").split("\n\n")
            train = str(folder / "train.conllu")
            Path(train).write_text("\n\n".join(blocks[:1000]) + "\n\n", encoding="utf-8")
        taggers = {}
        for templates in ("fast", "default"):
            taggers[templates] = pn.train(train, preset=templates, update="perceptron", epochs=3)
            taggers[templates].save(folder / templates)
        for part in (
            lambda: training_rows(folder, rounds, train),
            lambda: file_rows(folder, rounds, 2 if quick else 40, peer),
            lambda: starting_rows(folder, rounds),
            lambda: thread_rows(taggers, rounds + 1),
        ):
            for label, figure in part():
                print(f"| {label} | {figure} |", flush=True)
