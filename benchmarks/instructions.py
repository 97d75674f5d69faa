"""Instructions for each token tagged or learnt from, held against recorded figures.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/instructions.py [--training] [--record]

Learns from the first 2,000 sentences of EWT for five epochs, the reading and hashing subtracted.
Trains `fast` and `default` lists on EWT, then tags its test part under `valgrind
--tool=callgrind`: the same text again and again (everything is remembered), and once with nothing
remembered. The same run without tagging is subtracted. With --training only the learning is
counted, and by function. Counts do not depend on how busy the
machine is. Prints Markdown; leaves with status 1 where a count is over 5 % above the one in
instructions.json, which --record writes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from corpora import treebank

import perceptron_nlp as pn

RECORDED = Path(__file__).with_suffix(".json")
MARGIN = 1.05
ROUNDS = 5
DRIVER = """
import sys
import perceptron_nlp as pn
model, text, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
sentences = [line.split(" ") for line in open(text, encoding="utf-8").read().split("\\n")]
tagger = pn.load(model)
for _ in range(rounds):
    tagger.tag_sents(sentences)
"""
EPOCHS = 5
LEARNING_DRIVER = """
import sys
from itertools import islice
import perceptron_nlp as pn
from perceptron_nlp.features.templates import preset
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagging.examples import Examples
from perceptron_nlp.tagging.learners import TemplateLearner
from perceptron_nlp.tagging.options import TrainingOptions
from perceptron_nlp.tagging.sources import Source
path, update, epochs = sys.argv[1], sys.argv[2], int(sys.argv[3])
chosen = list(islice(pn.read_conllu(path), 2000))
examples = Examples.read(Source(chosen, "train"), "upos", ())
learner = TemplateLearner(examples, preset("default"), TrainingOptions(update=update), {})
for epoch in range(1, epochs + 1):
    learner.learn(permutation(len(chosen), 1, epoch))
print(examples.n_tokens)
"""


def learning(update: str, lines: list[str]) -> float:
    """Instructions a token and epoch; appends a table by function of the core to `lines`."""
    counts = []
    for epochs in (0, EPOCHS):
        with tempfile.TemporaryDirectory() as folder:
            run = subprocess.run(
                ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
                 sys.executable, "-c", LEARNING_DRIVER, treebank("EWT", "train"), update,
                 str(epochs)],
                check=True, capture_output=True, text=True,
                env={**os.environ, "PYTHONHASHSEED": "0"})
            listed = subprocess.run(["callgrind_annotate", "--threshold=100", f"{folder}/out"],
                                    check=True, capture_output=True, text=True).stdout
        tokens = int(run.stdout)
        found = re.findall(r"^ *([\d,]+) .*?:(\S+) \[\S*/_core/\w+\.\S+\]", listed, re.MULTILINE)
        by_function: dict[str, int] = {}
        for count, name in found:
            by_function[name] = by_function.get(name, 0) + int(count.replace(",", ""))
        total = re.search(r"Collected : (\d+)", run.stderr)
        if total is None:
            sys.exit(f"valgrind did not say how many instructions it counted:\n{run.stderr}")
        counts.append((int(total[1]), by_function))
    (base, before), (end, after) = counts
    shares = {name: (count - before.get(name, 0)) / EPOCHS / tokens
              for name, count in after.items()}
    lines += [f"| {update} | {name} | {share:,.0f} |"
              for name, share in sorted(shares.items(), key=lambda item: -item[1]) if share >= 1]
    return (end - base) / EPOCHS / tokens


def instructions(*arguments: str) -> int:
    """Instructions of the driver."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out",
             sys.executable, "-c", DRIVER, *arguments],
            check=True, capture_output=True, text=True,
            env={**os.environ, "PYTHONHASHSEED": "0"})
    found = re.search(r"Collected : (\d+)", run.stderr)
    if found is None:
        sys.exit(f"valgrind did not say how many instructions it counted:\n{run.stderr}")
    return int(found[1])


def measured() -> dict[str, float]:
    """Instructions a token, by what is done."""
    figures: dict[str, float] = {}
    sentences = [[word.replace(" ", "_") for word in sentence.words]
                 for sentence in pn.read_conllu(treebank("EWT", "test"))]
    tokens = sum(map(len, sentences))
    with tempfile.TemporaryDirectory() as name:
        text, model = Path(name) / "text", Path(name) / "model"
        text.write_text("\n".join(map(" ".join, sentences)), encoding="utf-8")
        for templates in ("fast", "default"):
            pn.train(treebank("EWT", "train"), templates=templates, update="perceptron", epochs=3,
                     beam=1, right_to_left=False).save(model)
            counts = [instructions(str(model), str(text), str(rounds))
                      for rounds in (0, 1, 1 + ROUNDS)]
            figures[f"{templates}, new text"] = (counts[1] - counts[0]) / tokens
            figures[f"{templates}, text seen before"] = (counts[2] - counts[1]) / ROUNDS / tokens
    return figures


def main() -> None:
    """Print the table; compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--record", action="store_true", help="write the figures down")
    parser.add_argument("--training", action="store_true",
                        help="count only the learning, and by function")
    chosen = parser.parse_args()
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed; it counts the instructions")
    by_function = ["| update | function | instructions a token |", "|---|---|---|"]
    figures = {f"training, {update}": learning(update, by_function)
               for update in ("perceptron", "adagrad")}
    if chosen.training:
        print("\n".join(by_function), end="\n\n")
    else:
        figures |= measured()
    recorded = json.loads(RECORDED.read_text()) if RECORDED.exists() else {}
    print("| EWT; tagging with Python lists in and out | instructions a token | recorded |")
    print("|---|---|---|")
    for name, count in figures.items():
        print(f"| {name} | {count:,.0f} | {recorded.get(name, '–')} |")
    if chosen.record:
        rounded = recorded | {name: round(count) for name, count in figures.items()}
        RECORDED.write_text(json.dumps(rounded, indent=1) + "\n")
        return
    worse = [name for name, count in figures.items()
             if name in recorded and count > MARGIN * recorded[name]]
    if worse:
        sys.exit(f"over 5 % more instructions than recorded: {', '.join(worse)}")


if __name__ == "__main__":
    main()
