"""The perceptron family, measured: growth of the cost of keeping weights, and what averaging gives.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/family.py [--epochs N]

Prints Markdown. Powers are fitted over streams in which one variable doubles three times. The
second table is of the EWT treebank, each word by itself, the whole of train and dev.
"""

from __future__ import annotations

import argparse

from corpora import treebank

from perceptron_nlp.perceptrons.study.corpus import read_study_corpus
from perceptron_nlp.perceptrons.study.costs import VARIABLES, Curve, growth_curves
from perceptron_nlp.perceptrons.study.experiments import Comparison, compare
from perceptron_nlp.perceptrons.study.report import power_rows

TOLERANCE = 0.15
TITLES = {
    "elements": "Time: array elements copied, computed, picked out or written",
    "bytes": "Space: bytes at the peak",
    "seconds": "Time: processor seconds",
}


def print_table(head: list[str], rows: list[list[str]]) -> None:
    """A Markdown table."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def print_growth(growth: list[Curve]) -> None:
    """Fitted powers, and how far the worst is from the stated one."""
    for quantity, title in TITLES.items():
        print(f"## {title}\n\nFitted power (stated power).\n")
        print_table(["row", "stated", *VARIABLES], power_rows(growth, quantity))
        worst = max(
            (c for c in growth if c.quantity == quantity), key=lambda c: abs(c.power - c.stated)
        )
        off = abs(worst.power - worst.stated)
        print(
            f"Worst: {worst.keeper.ids} in {worst.series.variable}, off by {off:.2f}"
            f" ({'within' if off <= TOLERANCE else 'NOT within'} {TOLERANCE}).\n"
        )


def print_comparison(found: Comparison) -> None:
    """Standard against averaged."""
    rows = [
        [name, f"{each.seconds:.3f} s", f"{each.accuracy:.4f}"]
        for name, each in (("standard", found.standard), ("averaged", found.averaged))
    ]
    print_table(["weights", "training", "right on dev"], rows)
    print(
        f"The average takes {100 * found.more_time:+.1f} % time; {found.epochs} epochs, the"
        f" fastest of {found.repeats} in turn, processor time."
    )


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    parser.add_argument("--epochs", type=int, default=10)
    epochs = parser.parse_args().epochs
    train, dev = treebank("EWT", "train"), treebank("EWT", "dev")
    print("# The perceptron family\n")
    print_growth(growth_curves())
    corpus = read_study_corpus([train], dev=dev, tokens=10**9)
    print(
        f"## Standard against averaged: {corpus.column} of EWT, {len(corpus.train):,} words,"
        f" {corpus.train.X.shape[1]:,} features, {len(corpus.dev):,} words of dev\n"
    )
    print_comparison(compare(corpus, epochs=epochs, repeats=9))


if __name__ == "__main__":
    main()
