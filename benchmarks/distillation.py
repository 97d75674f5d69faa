"""What distillation gives on the dev part of EWT, choice by choice, as Markdown.

Teachers are the models that are named, or two that are trained here: of the preset
``accurate``, with clusters of the raw text of rawtext.py. They label the raw text once; each row is
a student of one seed, trained without the dev part, with the CPU seconds of its training::

    python benchmarks/distillation.py [MODEL …] [--only TEXT] [--seed N]
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Sequence
from typing import Any

from accuracy import TEACHERS
from corpora import treebank
from rawtext import raw_sentences

import perceptron_nlp as pn
from perceptron_nlp.combine.distill import (
    RAW_SHARE,
    RAW_WEIGHT,
    MixedSchedule,
    PseudoLabeled,
    Student,
    greedy_options,
    pseudo_label,
    take_teachers,
)
from perceptron_nlp.tagger.sources import Source
from perceptron_nlp.tagger.train.auto import auto_configure
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Task, Trainer

ROWS: dict[str, tuple[str, dict[str, Any]]] = {
    "default": ("default", {}),
    "fast": ("fast", {}),
    "default, a tenth of the raw text an epoch": ("default", {"share": 0.1}),
    "default, all of the raw text an epoch": ("default", {"share": 1.0}),
    "default, raw words count as much as gold ones": ("default", {"weight": 1.0}),
    "default, raw words count a tenth": ("default", {"weight": 0.1}),
}


def row(name: str, examples: Examples, labeled: PseudoLabeled, seed: int) -> str:
    """One line of the table."""
    preset, changes = ROWS[name]
    use = {"share": RAW_SHARE, "weight": RAW_WEIGHT, **changes}
    given, options, choices = auto_configure(
        examples, greedy_options({"preset": preset, "seed": seed}), None
    )
    start = time.process_time()
    task = Task(examples=given, dev=None, column="upos", options=options, choices=choices)
    model = Trainer(
        task,
        schedule=MixedSchedule(task, len(labeled.lengths), use["share"]),
        make_learner=lambda: Student(task, labeled, use["weight"]),
    ).run(None)
    seconds = time.process_time() - start
    tagger = pn.Tagger(model)
    right = 100 * tagger.evaluate(treebank("EWT", "dev")).accuracy
    return f"| {name} | {right:.2f} | {seconds:.1f} | {len(tagger.to_bytes()) / 1e6:.2f} |"


def main() -> None:
    """Print the table, a row as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teachers", nargs="*", metavar="MODEL")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows that begin with it")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    chosen = parser.parse_args()
    raw = list(raw_sentences())
    train = treebank("EWT", "train")
    named: Sequence[Any] = chosen.teachers or [
        pn.train(train, preset="accurate", seed=seed, right_to_left=backwards, raw=raw)
        for seed, backwards in TEACHERS
    ]
    teachers = take_teachers(named)
    for number, teacher in enumerate(teachers, 1):
        right = 100 * teacher.evaluate(treebank("EWT", "dev")).accuracy
        print(f"teacher {number}: {right:.2f} % on dev", flush=True)
    examples = Examples.read(Source(train, "train"), "upos", ())
    labeled = pseudo_label(teachers, raw, examples.tags)
    print(f"teachers agree on {100 * labeled.agreed:.2f} % of {len(labeled.tokens):,} raw words\n")
    print("| student | right on dev | CPU s | MB |\n|---|---|---|---|", flush=True)
    for name in ROWS:
        if name.startswith(chosen.only):
            print(row(name, examples, labeled, chosen.seed), flush=True)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nat most {most:.0f} MB resident", flush=True)


if __name__ == "__main__":
    main()
