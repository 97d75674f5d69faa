"""What each option of training gives on dev, and what it costs, as Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/options.py [TREEBANK...]

Each row changes one option of the preset `default`; UPOS, one seed, one run of 8 epochs without a
dev set. All rows but `classic` have the list `fast`, with n-grams on Turkish. A treebank takes a
minute.
"""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Mapping
from typing import Any

from corpora import TREEBANKS, treebank

import perceptron_nlp as pn
from perceptron_nlp.features.templatefile import preset

NGRAMS = ("lower.ngrams3-6[0]",)
FEWEST = ("Greek-GDT", "Turkish-IMST")
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "as they are": {},
    "update perceptron": {"update": "perceptron"},
    "update margin": {"update": "margin"},
    "update passive-aggressive": {"update": "passive-aggressive"},
    "margin 0.5": {"margin": 0.5},
    "margin 2": {"margin": 2.0},
    "margin 4": {"margin": 4.0},
    "beam 2": {"beam": 2},
    "beam 4": {"beam": 4},
    "beam 8": {"beam": 8},
    "beam 4, cost 0": {"beam": 4, "cost": 0.0},
    "beam 4, cost 2": {"beam": 4, "cost": 2.0},
    "runs 4": {"runs": 4},
    "templates classic": {"templates": "classic"},
    "min_count 2": {"min_count": 2},
    "dictionary 20:0.97": {"dictionary": (20, 0.97)},
    "table_bits 18": {"table_bits": 18},
    "table_bits 16": {"table_bits": 16},
    "epochs 5": {"epochs": 5},
    "epochs 16": {"epochs": 16},
}
TAGGED = 5


def measure(name: str, options: Mapping[str, Any]) -> str:
    """Cells of a row: percent right on dev, CPU s to train, CPU ns to tag a word, MB."""
    start = time.process_time()
    tagger = pn.train(treebank(name, "train"), **options)
    training = time.process_time() - start
    dev = [list(one.words) for one in pn.read_conllu(treebank(name, "dev"))]
    tagger.tag_sents(dev)
    start = time.process_time()
    for _ in range(TAGGED):
        tagger.tag_sents(dev)
    tagging = (time.process_time() - start) / TAGGED
    right = 100 * tagger.evaluate(treebank(name, "dev")).accuracy
    size = len(tagger.to_bytes()) / 1e6
    return f"{right:.2f} | {training:.1f} | {1e9 * tagging / sum(map(len, dev)):.0f} | {size:.2f}"


def main(names: list[str]) -> None:
    """Print a table for each treebank, a row as soon as it is done."""
    logging.disable(logging.WARNING)
    for name in names:
        print(
            f"| {name} | right | training, CPU s | tagging, ns a word | MB |\n"
            "|---|--:|--:|--:|--:|",
            flush=True,
        )
        more = NGRAMS if name.startswith("Turkish") else ()
        templates = [*map(str, preset("fast")), *more]
        chosen = {"runs": 1, "templates": templates}
        for what, options in VARIANTS.items():
            print(f"| {what} | {measure(name, {**chosen, **options})} |", flush=True)


if __name__ == "__main__":
    if {*sys.argv[1:]} - {*TREEBANKS}:
        sys.exit(__doc__)
    main(sys.argv[1:] or [*FEWEST])
