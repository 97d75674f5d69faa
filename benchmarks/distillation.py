"""What distillation gives on the dev part of EWT, choice by choice, as Markdown.

Teachers are the models that are named, or two that are trained here: of the preset
``accurate``, with clusters of the raw text of rawtext.py. They label the raw text once; each row is
a student of one seed, trained without the dev part, with the CPU seconds of its training::

    python benchmarks/distillation.py [MODEL …] [--only TEXT] [--seed N]

With ``--others``, the teachers are programs of other hands: two of the preset ``accurate`` that
learned all of EWT train write CoNLL-U of the free text of rawtext.py, with confidences, and
students learn from these files and from the first 1,000 sentences of EWT train alone.
"""

from __future__ import annotations

import argparse
import re
import resource
import tempfile
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from accuracy import TEACHERS
from corpora import treebank
from rawtext import free_sentences, raw_sentences

import perceptron_nlp as pn
from perceptron_nlp.combine.distill import (
    RAW_SHARE,
    RAW_WEIGHT,
    MixedSchedule,
    Student,
    greedy_options,
    take_teachers,
)
from perceptron_nlp.combine.votes import PseudoLabeled, pseudo_label
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


def write_as_another(tagger: pn.Tagger, text: Sequence[list[str]], path: Path) -> None:
    """Write what a tagger makes of a text as CoNLL-U, with confidences in MISC."""
    labels: Any = tagger.tag_sents(text, confidences=True)
    pn.write_conllu(
        (
            pn.Sentence(words, {"upos": own, "misc": [f"Conf={x:.4f}" for x in sure]})
            for words, own, sure in zip(text, *labels, strict=True)
        ),
        path,
    )


def learn_from_others(seed: int) -> None:
    """Print the table of what files of other programs bring."""
    train, dev = treebank("EWT", "train"), treebank("EWT", "dev")
    gold = list(islice(pn.read_conllu(train), 1000))
    text = [words for words in free_sentences() if words]
    others = [
        pn.train(train, preset="accurate", seed=seed, right_to_left=backwards).calibrate(dev)
        for seed, backwards in TEACHERS
    ]
    for number, one in enumerate(others, 1):
        right = 100 * one.evaluate(treebank("EWT", "test")).accuracy
        print(f"program {number}: {right:.2f} % on test", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        files, plain = [], []
        for number, one in enumerate(others):
            files.append(Path(folder) / f"{number}.conllu")
            write_as_another(one, text, files[-1])
            plain.append(Path(folder) / f"{number}-plain.conllu")
            plain[-1].write_text(re.sub(r"Conf=[0-9.]+", "_", files[-1].read_text()))
        ways: dict[str, dict[str, Any]] = {
            "gold sentences alone": {},
            "and one program's file": {"labeled": plain[:1]},
            "and both programs' files, which vote": {"labeled": plain},
            "… with weights 1 and 0.5": {"labeled": plain, "weights": [1, 0.5]},
            "… with confidences": {"labeled": files},
            "… raw words count as much as gold ones": {"labeled": plain, "raw_weight": 1.0},
            "… all of it in each epoch": {"labeled": plain, "raw_weight": 1.0, "raw_share": 1.0},
            "by the models in place of files": {"teachers": others, "raw": text},
        }
        print(f"{sum(map(len, gold)):,} gold tokens, {sum(map(len, text)):,} raw ones")
        print("| learned from | dev | test | CPU s |\n|---|---|---|---|", flush=True)
        for name, how in ways.items():
            start = time.process_time()
            make = pn.distill if how else pn.train
            tagger = make(train=gold, column="upos", seed=seed, **how)
            seconds = time.process_time() - start
            right = [
                100 * tagger.evaluate(treebank("EWT", part)).accuracy for part in ("dev", "test")
            ]
            print(f"| {name} | {right[0]:.2f} | {right[1]:.2f} | {seconds:.1f} |", flush=True)


def main() -> None:
    """Print the table, a row as soon as it is done."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("teachers", nargs="*", metavar="MODEL")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows that begin with it")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--others", action="store_true", help="learn from files of other programs")
    chosen = parser.parse_args()
    if chosen.others:
        learn_from_others(chosen.seed)
        return
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
