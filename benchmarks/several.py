"""Several columns: what kept labels give their neighbours, and UPOS to the columns after it.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/several.py keep [TREEBANK...]
    PERCEPTRON_NLP_CORPORA=folder python benchmarks/several.py evidence TREEBANK COLUMN

`keep` gives half of the words of a dev set their gold UPOS and counts the others. `evidence` lets
a column see the UPOS that a first tagger gave, jackknifed over five folds in training.
"""

from __future__ import annotations

import random
import sys

from corpora import TREEBANKS, treebank

import perceptron_nlp as pn
from perceptron_nlp.sampling import permutation

FOLDS, FOLD_EPOCHS = 5, 5
EVIDENCE = (
    "column:first[0]",
    "column:first[0] lower[0]",
    "column:first[-1] column:first[0]",
    "column:first[0] column:first[1]",
)


def sentences(name: str, part: str) -> list[pn.Sentence]:
    """The sentences of a treebank's part."""
    return [one for one in pn.read_conllu(treebank(name, part)) if one.words]


def keep(name: str) -> None:
    """Print what share of the words that have no label is right, without and with those kept."""
    dev = sentences(name, "dev")
    words = [list(one.words) for one in dev]
    gold = [one.column("upos") for one in dev]
    chance = random.Random(1)
    kept = [[label if chance.random() < 0.5 else None for label in labels] for labels in gold]
    for beam in (1, 4):
        tagger = pn.train(treebank(name, "train"), beam=beam, runs=1)
        shares = []
        for found in (tagger.tag_sents(words), tagger.tag_sents(words, keep=kept)):
            free = [
                truth == label
                for row in zip(gold, kept, found, strict=True)
                for truth, own, label in zip(*row, strict=True)
                if own is None
            ]
            shares.append(100 * sum(free) / len(free))
        print(
            f"{name} beam {beam}: {len(free)} words, {shares[0]:.2f} % without,"
            f" {shares[1]:.2f} % with the labels kept",
            flush=True,
        )


def evidence(name: str, column: str) -> None:
    """Print the accuracy of a column on dev alone, and with the UPOS of a first tagger."""
    train, dev = sentences(name, "train"), sentences(name, "dev")
    first = pn.train(train, column="upos", runs=1)
    order = permutation(len(train), 1)
    given: dict[int, list[str]] = {}
    for fold in range(FOLDS):
        held_out = {int(k) for k in order[fold::FOLDS]}
        part = pn.train(
            [s for k, s in enumerate(train) if k not in held_out],
            column="upos",
            epochs=FOLD_EPOCHS,
            templates=first.model.templates,
        )
        given |= {k: part.tag(list(train[k].words)) for k in held_out}
    seen = [pn.Sentence(s.words, {**s.columns, "first": given[k]}) for k, s in enumerate(train)]
    seen_dev = [pn.Sentence(s.words, {**s.columns, "first": first.tag(list(s.words))}) for s in dev]
    alone = pn.train(train, column=column, runs=1)
    print(f"{name} {column}: {100 * alone.evaluate(dev).accuracy:.2f} % alone", flush=True)
    templates = [*map(str, alone.model.templates), *EVIDENCE]
    for backwards in (True, False):
        tagger = pn.train(seen, column=column, templates=templates, right_to_left=backwards, runs=1)
        print(
            f"{name} {column}: {100 * tagger.evaluate(seen_dev).accuracy:.2f} % with UPOS, read"
            f" from the {'end' if backwards else 'start'}",
            flush=True,
        )


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"]:
        for chosen in sys.argv[2:] or TREEBANKS:
            keep(chosen)
    elif sys.argv[1:2] == ["evidence"] and len(sys.argv) == 4:
        evidence(sys.argv[2], sys.argv[3])
    else:
        sys.exit(__doc__)
