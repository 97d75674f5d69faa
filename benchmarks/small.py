"""Templates and settings for small treebanks, and unlabeled text of one's own, as Markdown.

    PERCEPTRON_NLP_CORPORA=folder python benchmarks/small.py WHAT [TREEBANK...]

WHAT is greedy, beam, features or unlabeled.

UPOS (with `features`, FEATS) on dev of the treebanks that have a train part, else by
cross-validation within the dev part: five folds, for FEATS two of them. Seed 1. With `unlabeled`,
every fourth sentence of train keeps its labels, and the others are raw text.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from unittest.mock import patch

import numpy as np
from corpora import DEV_ALONE, TREEBANKS, treebank

import perceptron_nlp as pn
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.tagger.train import auto
from perceptron_nlp.tagger.train.columns import closed, with_upos
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.options import LearningOptions

FAST, LARGE = ([*map(str, preset(name))] for name in ("fast", "default"))
ENDINGS = ["lower.suffix2[-1]", "lower.suffix2[1]"]
SHORT, LONG = ["lower.ngrams1-6[0]"], ["lower.ngrams3-6[0]"]
Q = [*FAST, *SHORT, *ENDINGS]
GREEDY: Mapping[str, tuple[list[str], dict[str, Any]]] = {
    "Q, 2 runs of 6": (Q, {"runs": 2}),
    "Q, 4 runs of 6": (Q, {"runs": 4}),
    "Q, 4 runs of 8": (Q, {"runs": 4, "epochs": 8}),
    "Q, 8 runs of 6": (Q, {"runs": 8}),
    "Q with pairs of words, 4 runs of 6": ([*LARGE, *SHORT, *ENDINGS], {"runs": 4}),
    "Q without the endings of neighbors, 4 runs of 6": ([*FAST, *SHORT], {"runs": 4}),
    "n-grams 3–6 in place of 1–6, 4 runs of 6": ([*FAST, *LONG, *ENDINGS], {"runs": 4}),
}
BEAM: Mapping[str, tuple[list[str], dict[str, Any]]] = {
    "Q, 4 runs of 6": (Q, {"runs": 4}),
    "… cost 2": (Q, {"runs": 4, "cost": 2.0}),
    "Q, 4 runs of 8": (Q, {"runs": 4, "epochs": 8}),
    "Q, 6 runs of 6": (Q, {"runs": 6}),
}
# Components, margin, and whether the label set is closed.
FEATURES = {
    "pieces, margin 1": ("pieces", 1.0, False),
    "pieces, margin 4": ("pieces", 4.0, False),
    "pieces, margin 4, closed label set": ("pieces", 4.0, True),
    "pieces and whole labels, margin 1": ("pieces+whole", 1.0, False),
    "pieces and whole labels, margin 4": ("pieces+whole", 4.0, False),
}

Sentences = list[pn.Sentence]


def sentences(name: str, part: str) -> Sentences:
    """The sentences of a part of a treebank."""
    return list(pn.read_conllu(treebank(name, part)))


def splits(name: str, folds: int) -> Iterator[tuple[Sentences, Sentences]]:
    """Pairs of what is learned and what it is scored on."""
    if name in TREEBANKS:
        yield sentences(name, "train"), sentences(name, "dev")
        return
    dev = sentences(name, "dev")
    order = np.random.default_rng(7).permutation(len(dev)).tolist()
    for fold in range(folds):
        held_out = {*order[fold::5]}
        yield (
            [one for number, one in enumerate(dev) if number not in held_out],
            [dev[number] for number in sorted(held_out)],
        )


def accuracy(name: str, column: str, folds: int, **options: Any) -> float:
    """Percentage of the tokens of all folds that are labeled correctly."""
    correct = n_tokens = 0.0
    for train, held_out in splits(name, folds):
        tagger = pn.train(train, column=column, seed=1, right_to_left=True, **options)
        found = tagger.evaluate(held_out, column=column)
        correct += found.accuracy * found.tokens
        n_tokens += found.tokens
    return 100 * correct / n_tokens


def show(what: str, figures: Sequence[float]) -> None:
    """Print a row: the mean, and each figure."""
    cells = [statistics.mean(figures), *figures]
    print(f"| {what} | " + " | ".join(f"{figure:.2f}" for figure in cells) + " |", flush=True)


def forced(mode: str, margin: float, close: bool) -> Any:
    """Return what has all trainings learn features so, whatever the text suggests."""

    def with_parts(
        examples: Examples, options: LearningOptions, _: object
    ) -> tuple[Examples, LearningOptions, float]:
        joint = replace(with_upos(examples), parts=mode)
        return (closed(joint) if close else joint), replace(options, margin=margin), 0.0

    return patch.multiple(auto, with_parts=with_parts, choose_parts=lambda one, *_: (one, []))


def unlabeled(name: str) -> dict[str, float]:
    """Accuracy of each way to use raw text on dev."""
    train, dev = sentences(name, "train"), sentences(name, "dev")
    gold = train[::4]
    raw = [list(one.words) for number, one in enumerate(train) if number % 4]
    teachers = [
        pn.train(gold, preset="accurate"),
        pn.train(gold, preset="accurate", right_to_left=False, seed=11),
        pn.train(gold, preset="accurate", templates=[*LARGE, *SHORT, *ENDINGS], seed=21),
    ]
    taggers = {
        "default": pn.train(gold),
        "… with clusters": pn.train(gold, raw=raw),
        "… self-training": pn.distill(teachers[:1], raw=raw, train=gold),
        "… tri-training": pn.distill(teachers, raw=raw, train=gold),
        "… with all of the raw text": pn.distill(teachers, raw=raw, train=gold, raw_share=1.0),
        "accurate": teachers[0],
        "accurate with raw text": pn.train(gold, preset="accurate", raw=raw),
    }
    return {what: 100 * tagger.evaluate(dev).accuracy for what, tagger in taggers.items()}


def main(what: str, names: Sequence[str]) -> None:
    """Print a table, a row as soon as it is measured."""
    print(f"| | mean | {' | '.join(names)} |\n|---|--:|" + "--:|" * len(names), flush=True)
    if what == "unlabeled":
        found = [unlabeled(name) for name in names]
        for way in found[0]:
            show(way, [one[way] for one in found])
    elif what == "features":
        for way, setting in FEATURES.items():
            for templates, more in ((FAST, ""), ([*FAST, *ENDINGS], ", endings of neighbors")):
                options: dict[str, Any] = {"templates": templates, "runs": 1, "epochs": 6}
                with forced(*setting):
                    show(way + more, [accuracy(name, "feats", 2, **options) for name in names])
    else:
        beam = 4 if what == "beam" else 1
        for way, (templates, own) in (BEAM if what == "beam" else GREEDY).items():
            options = {"beam": beam, "epochs": 6, "templates": templates, **own}
            show(way, [accuracy(name, "upos", 5, **options) for name in names])


if __name__ == "__main__":
    with_train = [name for name in TREEBANKS if name != "EWT"]
    usual = {
        "greedy": [*with_train, *DEV_ALONE],
        "beam": [*with_train, *DEV_ALONE],
        "features": ["Greek-GDT", "French-Sequoia", "German-GSD", "Russian-GSD"],
        "unlabeled": with_train,
    }
    if len(sys.argv) < 2 or sys.argv[1] not in usual or {*sys.argv[2:]} - {*TREEBANKS, *DEV_ALONE}:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:] or usual[sys.argv[1]])
