"""What lazy averaging costs, in instructions: the core with averages against the core without.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/averaging.py [--sentences N]

Builds the core a second time, without averages, in a temporary folder; runs both under
`valgrind --tool=callgrind`, once without and once with the epochs, and subtracts, so that reading
and hashing do not count. Instruction counts do not depend on how busy the machine is.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from corpora import treebank

ROOT = Path(__file__).resolve().parent.parent
DRIVER = """
import sys
import numpy as np
import perceptron_nlp as pn
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.learners import TemplateLearner
from perceptron_nlp.tagger.train.options import LearningOptions
from perceptron_nlp.features.templatefile import (preset)
path, sentences, epochs, split, bits = sys.argv[1], *map(int, sys.argv[2:6])
chosen = []
for number, sentence in enumerate(pn.read_conllu(path)):
    if number == sentences:
        break
    tags = [f"{tag}{len(word) % split}" for word, tag in
            zip(sentence.words, sentence.column("upos"))]
    chosen.append(pn.Sentence(sentence.words, {"tag": tags}))
from perceptron_nlp.tagger.sources import Source
examples = Examples.read(Source(chosen, "train"), "tag", ())
options = LearningOptions(update="perceptron", table_bits=bits or None)
learner = TemplateLearner(examples, preset("default"), options, {})
for epoch in range(1, epochs + 1):
    learner.learn(permutation(len(chosen), 1, epoch))
"""


def vanilla_copy(folder: Path) -> Path:
    """A copy of the package whose core leaves the averages out."""
    for name in ("perceptron_nlp", "scripts"):
        shutil.copytree(
            ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.so", "*.c", "__pycache__")
        )
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, folder)
    place = folder / "installed"
    subprocess.run(
        [
            sys.executable,
            "-m",
            "pip",
            "install",
            "--quiet",
            "--no-deps",
            "--target",
            str(place),
            str(folder),
        ],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, "PERCEPTRON_NLP_VANILLA": "1"},
    )
    return place


def instructions(package: Path, arguments: list[str]) -> int:
    """Instructions of the driver with the package at that place."""
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            [
                "valgrind",
                "--tool=callgrind",
                f"--callgrind-out-file={folder}/out",
                sys.executable,
                "-P",
                "-c",
                DRIVER,
                *arguments,
            ],
            check=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(package), "PYTHONHASHSEED": "0"},
        )
    found = re.search(r"Collected : (\d+)", run.stderr)
    if found is None:
        sys.exit(f"valgrind did not say how many instructions it counted:\n{run.stderr}")
    return int(found[1])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--sentences", type=int, default=3000)
    sentences = str(parser.parse_args().sentences)
    if shutil.which("valgrind") is None:
        sys.exit("valgrind is not installed; it counts the instructions")
    print(
        f"# Lazy averaging, in instructions (EWT train, first {sentences} sentences,"
        " perceptron, `default` templates)\n"
    )
    print("| table | labels | epochs | without, M | with, M | more |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        plain = vanilla_copy(Path(folder))
        cases = [
            ("exact", 1, 0, 1),
            ("exact", 1, 0, 5),
            ("exact", 2, 0, 5),
            ("fixed, 2^16 rows", 1, 16, 5),
            ("fixed, 2^18 rows", 1, 18, 5),
        ]
        for table, split, bits, epochs in cases:
            counts = []
            for package in (plain, ROOT):
                base = [treebank("EWT", "train"), sentences]
                end = [str(split), str(bits)]
                counts.append(
                    instructions(package, [*base, str(epochs), *end])
                    - instructions(package, [*base, "0", *end])
                )
            without, averaged = counts
            print(
                f"| {table} | {'17' if split == 1 else 'about 34'} | {epochs} |"
                f" {without / 1e6:,.0f} | {averaged / 1e6:,.0f} |"
                f" {100 * (averaged / without - 1):+.1f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
