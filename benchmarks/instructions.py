"""Instructions for each token tagged or learnt from, held against recorded figures.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/instructions.py [--training] [--record]

Counts do not depend on how busy the machine is. One process runs under `valgrind --tool=callgrind`:
it learns from the first 2,000 sentences of EWT for five epochs, and tags EWT test with nothing
remembered, and then again, with `fast` and with `default` templates; and the first 4,000 sentences
of Brown once, with `default` templates, greedily, with a beam of four as `accurate` has it, and
packed into half of the size, and with UPOS of `en`; and the text of EWT test becomes CoNLL-U twice,
with all columns of `en`. Between the parts it calls getppid, before which callgrind writes down and
clears its counts; so starting, reading, hashing and loading are not in any figure. With --training
only the learning is counted, and by function. Prints Markdown; leaves with status 1 where a count
is over 5 % above the one in instructions.json, which --record writes. Counts hang on the
interpreter, the compiler and the instruction set: where these are not those of the record, they are
printed and not compared. Where valgrind is missing or fails it says so, and leaves with status 0.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

from corpora import corpora, treebank

import perceptron_nlp as pn
from perceptron_nlp.formats.conllu import running_text

RECORDED = Path(__file__).with_suffix(".json")
MARGIN = 1.05
ROUNDS = 3
EPOCHS = 5
LEARNT_SENTENCES = 2000
UPDATES = ("perceptron", "adagrad")
TEMPLATES = ("fast", "default")
# Models that tag natural text, by name: the beam of each.
NATURAL = {"default": 1, "accurate": 4}
# Packed ones: the first of these in half of its size, and the bundled one.
PACKED = ("default packed", "en, one column")
NATURAL_SENTENCES = 4000
DRIVER = """
import gc, io, json, os, sys
import perceptron_nlp as pn
from perceptron_nlp.features.templatefile import (preset)
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import TemplateLearner
from perceptron_nlp.tagger.train.options import LearningOptions
from perceptron_nlp.tagger.sources import Source
data = json.load(open(sys.argv[1], encoding="utf-8"))
learnt = [pn.Sentence(words, {"upos": labels}) for words, labels in data["learnt"]]
examples = Examples.read(Source(learnt, "train"), "upos", ())
for update in data["updates"]:
    learner = TemplateLearner(examples, preset("default"), LearningOptions(update=update), {})
    orders = [permutation(len(learnt), 1, epoch + 1) for epoch in range(data["epochs"])]
    os.getppid()
    for order in orders:
        learner.learn(order)
    os.getppid()
def loaded(model):
    tagger = pn.load(model)
    # The collector is not to go over what the other parts have left.
    gc.collect()
    gc.freeze()
    return tagger
for model in data["models"]:
    tagger = loaded(model)
    os.getppid()
    tagger.tag_sents(data["tagged"])
    os.getppid()
    for _ in range(data["rounds"]):
        tagger.tag_sents(data["tagged"])
    os.getppid()
for model in data["natural models"]:
    tagger = loaded(model)
    os.getppid()
    tagger.tag_sents(data["natural"])
    os.getppid()
for text in data["texts"]:
    fill = loaded("en").labelers.text_filler()
    for _ in range(2):
        os.getppid()
        with pn.open_corpus(io.BytesIO(text.encode()), format="text") as corpus:
            sum(map(len, fill.texts(corpus, int)))
    os.getppid()
"""


class NotCounted(Exception):
    """The machine cannot count; nothing is said of the code."""


def train_models(folder: Path, beams: dict[str, int]) -> list[str]:
    """Models to tag with, trained without valgrind; those of no templates' name have `default`."""
    paths = []
    for name, beam in beams.items():
        paths.append(str(folder / f"{name}-{beam}"))
        pn.train(
            treebank("EWT", "train"),
            templates=name if name in TEMPLATES else "default",
            update="perceptron",
            epochs=3,
            beam=beam,
            right_to_left=False,
        ).save(paths[-1])
    return paths


def packed(path: str) -> str:
    """A model in half of its size."""
    tagger = pn.load(path)
    tagger.compress(len(tagger.to_bytes()) // 2, force=True).save(f"{path}-packed")
    return f"{path}-packed"


def brown() -> list[list[str]]:
    """The words of the first sentences of Brown."""
    path = corpora() / "corpora" / "brown" / "brown.tagged.txt"
    with path.open(encoding="utf-8") as lines:
        sentences = ([word.rpartition("/")[0] for word in line.split()] for line in lines)
        return list(islice(filter(None, sentences), NATURAL_SENTENCES))


def dumps(folder: Path, data: dict[str, object]) -> list[Path]:
    """Callgrind's files of the driver's parts, in order; the last part is not among them."""
    source = folder / "data.json"
    source.write_text(json.dumps(data), encoding="utf-8")
    run = subprocess.run(
        [
            "valgrind",
            "--tool=callgrind",
            "--dump-before=getppid",
            f"--callgrind-out-file={folder}/out",
            sys.executable,
            "-c",
            DRIVER,
            str(source),
        ],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    if run.returncode:
        raise NotCounted(f"the run under valgrind failed:\n{run.stderr}")
    return sorted(folder.glob("out.*"), key=lambda path: int(path.suffix[1:]))


def total(dump: Path) -> int:
    """Instructions of a part."""
    found = re.search(r"^(?:totals|summary): (\d+)", dump.read_text(errors="replace"), re.MULTILINE)
    if found is None:
        raise NotCounted(f"callgrind wrote no total into {dump.name}")
    return int(found[1])


def surroundings() -> dict[str, str]:
    """What counts hang on besides the code."""
    compiler = subprocess.run(["cc", "--version"], check=False, capture_output=True, text=True)
    flags = Path("/proc/cpuinfo")
    wide = flags.exists() and " avx2 " in flags.read_text(encoding="utf-8", errors="replace")
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "compiler": compiler.stdout.partition("\n")[0],
        "library": " ".join(platform.libc_ver()),
        "vectors": "avx2" if wide else "plain",
    }


def by_function(update: str, dump: Path, examined: int) -> list[str]:
    """Rows of a table: instructions a token of each function of the core."""
    listed = subprocess.run(
        ["callgrind_annotate", "--threshold=100", str(dump)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    counts: dict[str, int] = {}
    for count, name in re.findall(
        r"^ *([\d,]+) .*?:(\S+) \[\S*/_core/\w+/\w+\.\S+\]", listed, re.MULTILINE
    ):
        counts[name] = counts.get(name, 0) + int(count.replace(",", ""))
    return [
        f"| {update} | {name} | {count / examined:,.0f} |"
        for name, count in sorted(counts.items(), key=lambda item: -item[1])
        if count >= examined
    ]


def measured(training: bool) -> tuple[dict[str, float], list[str]]:
    """Instructions a token, by what is done; rows of learning by function, where asked for."""
    if shutil.which("valgrind") is None:
        raise NotCounted("valgrind is not installed.")
    learnt = [
        (list(sentence.words), list(sentence.column("upos")))
        for sentence in islice(pn.read_conllu(treebank("EWT", "train")), LEARNT_SENTENCES)
    ]
    tagged = [list(sentence.words) for sentence in pn.read_conllu(treebank("EWT", "test"))]
    examined = EPOCHS * sum(len(words) for words, _ in learnt)
    tokens = sum(map(len, tagged))
    figures: dict[str, float] = {}
    rows: list[str] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = [] if training else train_models(folder, dict.fromkeys(TEMPLATES, 1))
        natural = [] if training else train_models(folder, NATURAL)
        natural += [packed(natural[0]), "en"] if natural else []
        text = [] if training else brown()
        texts = [] if training else [running_text(pn.read_conllu(treebank("EWT", "test")))[0]]
        parts = dumps(
            folder,
            {
                "learnt": learnt,
                "tagged": tagged,
                "models": models,
                "natural": text,
                "natural models": natural,
                "texts": texts,
                "updates": UPDATES,
                "epochs": EPOCHS,
                "rounds": ROUNDS,
            },
        )
        for number, update in enumerate(UPDATES):
            dump = parts[2 * number + 1]
            figures[f"training, {update}"] = total(dump) / examined
            if training:
                rows += by_function(update, dump, examined)
        for number, templates in enumerate(TEMPLATES if models else ()):
            start = 2 * len(UPDATES) + 1 + 3 * number
            figures[f"{templates}, new text"] = total(parts[start]) / tokens
            figures[f"{templates}, text seen before"] = total(parts[start + 1]) / ROUNDS / tokens
        for number, name in enumerate((*NATURAL, *PACKED) if natural else ()):
            start = 2 * len(UPDATES) + 3 * len(TEMPLATES) + 1 + 2 * number
            figures[f"{name}, natural text"] = total(parts[start]) / sum(map(len, text))
        for number, name in enumerate(("first", "second") if texts else ()):
            start = 2 * len(UPDATES) + 3 * len(TEMPLATES) + 2 * len(natural) + 1
            figures[f"text to CoNLL-U, {name} time"] = total(parts[start + number]) / tokens
    return figures, rows


def recorded() -> dict[str, Any]:
    """What is on record: counts, prefetches, and the surroundings that they were counted in."""
    return json.loads(RECORDED.read_text(encoding="utf-8")) if RECORDED.exists() else {}


def write_down(record: dict[str, Any]) -> None:
    """Put a record in the place of the one that there is."""
    RECORDED.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Print the table; compare or record."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--record", action="store_true", help="write the figures down")
    parser.add_argument(
        "--training", action="store_true", help="count only the learning, and by function"
    )
    chosen = parser.parse_args()
    try:
        figures, rows = measured(chosen.training)
    except NotCounted as reason:
        print(f"Instructions are not counted: {reason}")
        return
    if rows:
        print("| update | function | instructions a token |\n|---|---|---|")
        print("\n".join(rows), end="\n\n")
    record = recorded()
    before, here = record.get("counts", {}), surroundings()
    print("| EWT; tagging with Python lists in and out | instructions a token | recorded |")
    print("|---|---|---|")
    for name, count in figures.items():
        print(f"| {name} | {count:,.0f} | {before.get(name, '–')} |")
    if chosen.record:
        counts = before | {name: round(count) for name, count in figures.items()}
        write_down(record | {"surroundings": here, "counts": counts})
        return
    there = record.get("surroundings", {})
    other = {name for name, value in here.items() if there.get(name) != value}
    if other:
        print(f"\nNot compared: the record was made with another {', '.join(sorted(other))}.")
        return
    worse = [
        name for name, count in figures.items() if name in before and count > MARGIN * before[name]
    ]
    if worse:
        sys.exit(f"over 5 % more instructions than recorded: {', '.join(worse)}")


if __name__ == "__main__":
    main()
