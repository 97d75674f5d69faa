"""Train, evaluate and tag on UD English-EWT, with NLTK's tagger beside it. Prints Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/main_job.py [--seeds N]

Accuracy is the mean over seeds 1 to N (5; 0 leaves it out), epochs chosen on dev, figures from
test. Speeds are tokens per CPU second, the best of several runs that take turns; quote the ratio,
for machines differ. Whole commands are measured in processes of their own.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from corpora import TREEBANKS, treebank

import perceptron_nlp as pn

ROUNDS = 5


def command(*arguments: str) -> tuple[float, float]:
    """CPU seconds and peak megabytes of `perceptron-nlp` with these arguments."""
    program = [sys.executable, "-m", "perceptron_nlp", *arguments]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    script = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True,"
        " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL);"
        " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    peak = subprocess.run(
        [sys.executable, "-c", script, *program], check=True, capture_output=True, text=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, int(peak.stdout) / 1000


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def accuracy_table(seeds: int) -> None:
    """Test accuracy of the plain averaged perceptron on the four treebanks."""
    print(f"\n## Accuracy, plain averaged perceptron (UPOS, % of words, mean of {seeds} seeds)\n")
    print("| treebank | templates | dev | test | seeds |\n|---|---|---|---|---|")
    for name in TREEBANKS:
        for templates in ("default", "classic"):
            dev, test = [], []
            for seed in range(1, seeds + 1):
                tagger = pn.train(
                    treebank(name, "train"),
                    dev=treebank(name, "dev"),
                    seed=seed,
                    update="perceptron",
                    templates=templates,
                )
                record = tagger.model.record
                dev.append(max(epoch["dev_accuracy"] for epoch in record["epochs"]))
                test.append(tagger.evaluate(treebank(name, "test")).accuracy)
            spread = " ".join(f"{100 * value:.2f}" for value in test)
            print(
                f"| {name} | {templates} | {100 * statistics.mean(dev):.2f} |"
                f" {100 * statistics.mean(test):.2f} | {spread} |",
                flush=True,
            )


def command_table(folder: Path) -> str:
    """The whole commands, start to end; the path of the model."""
    model = str(folder / "ewt.model")
    train = (
        "train",
        treebank("EWT", "train"),
        "--model",
        model,
        "--update",
        "perceptron",
        "--templates",
        "default",
    )
    print("\n## Whole commands on EWT (process start to end)\n")
    print("| command | CPU seconds | peak MB |\n|---|---|---|")
    for label, arguments in (
        ("train", train),
        ("train, --dev", (*train, "--dev", treebank("EWT", "dev"))),
        (
            "tag the test set",
            ("tag", model, treebank("EWT", "test"), "-o", str(folder / "out.conllu")),
        ),
        ("evaluate", ("evaluate", model, treebank("EWT", "test"))),
    ):
        cpu, peak = min(command(*arguments) for _ in range(3))
        print(f"| {label} | {cpu:.2f} | {peak:.0f} |", flush=True)
    print(f"\nModel: {os.path.getsize(model) / 1e6:.2f} MB.")
    load = min(cpu_seconds(lambda: pn.load(model)) for _ in range(10))
    print(f"Loading it: {1000 * load:.1f} ms of CPU.")
    bare = min(_start("pass") for _ in range(10))
    ours = min(_start("import perceptron_nlp") for _ in range(10))
    numpy = min(_start("import numpy") for _ in range(10))
    print(
        f"`import perceptron_nlp`: {1000 * (ours - bare):.0f} ms over a bare interpreter,"
        f" of which NumPy {1000 * (numpy - bare):.0f} ms."
    )
    return model


def _start(code: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def speed_table(model: str) -> None:
    """tag_sents on lists against NLTK's tagger trained on the same sentences, turn by turn."""
    print("\n## Tagging lists of str on one core (EWT test)\n")
    sentences = [list(s.words) for s in pn.read_conllu(treebank("EWT", "test"))]
    words = sum(map(len, sentences))
    ours = pn.load(model)
    jobs: dict[str, Callable[[], object]] = {
        "perceptron_nlp, `default` templates": lambda: ours.tag_sents(sentences)
    }
    try:
        from nltk.tag.perceptron import PerceptronTagger
    except ImportError:
        print("NLTK is not installed: pip install nltk to see it beside ours.\n")
    else:
        theirs = PerceptronTagger(load=False)
        theirs.train(
            [
                list(zip(s.words, s.column("upos"), strict=True))
                for s in pn.read_conllu(treebank("EWT", "train"))
            ],
            nr_iter=1,
        )
        jobs["NLTK PerceptronTagger"] = lambda: [theirs.tag(sentence) for sentence in sentences]
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(ROUNDS):
        for name, work in jobs.items():
            best[name] = min(best[name], cpu_seconds(work))
    slowest = max(best.values())
    print("| tagger | tokens / s | ratio |\n|---|---|---|")
    for name, seconds in best.items():
        print(f"| {name} | {words / seconds:,.0f} | {slowest / seconds:.1f}× |")


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--seeds", type=int, default=5)
    seeds = parser.parse_args().seeds
    print(
        f"# The main job\n\nperceptron_nlp {pn.__version__}, Python {platform.python_version()},"
        f" {platform.machine()}"
    )
    with tempfile.TemporaryDirectory() as folder:
        speed_table(command_table(Path(folder)))
    if seeds:
        accuracy_table(seeds)


if __name__ == "__main__":
    main()
