"""``perceptron-nlp crossval`` and ``curve``: accuracy without a test set, and with more text."""

from __future__ import annotations

import argparse
import os
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import printable
from perceptron_nlp.analysis.crossvalidation import CURVE_FOLDS, FOLDS
from perceptron_nlp.analysis.learningcurve import CHARTS, SIZES
from perceptron_nlp.cli.inputs import check_apart, check_there, open_inputs
from perceptron_nlp.cli.parsing import (
    QUIET,
    TO,
    UsageError,
    Verb,
    VerbParser,
    format_options,
    picked,
)
from perceptron_nlp.cli.results import show
from perceptron_nlp.cli.terminal import Progress, say
from perceptron_nlp.cli.training import LEARNING, add_options, options_given

OPTIONS = (*LEARNING, "raw", "lexicon")
_THREADS = """\
--threads N  trainings at a time; the result does not depend on it (default: one a processor)"""


def _training(parser: VerbParser) -> None:
    add_options(parser, OPTIONS)
    parser.declare(QUIET)


CROSSVAL = Verb(
    """\
Evaluate a training without a test set: cut the files into parts, hold each of them out in turn, and
test on it what is trained on the others. Options of training are those of train.""",
    f"""\
FILE...  labeled files; - is standard input
--seeds N=1  do it with N seeds, each of which cuts other parts: mean and deviation
--folds N  parts; documents stay whole if they are marked and there are enough (default: {FOLDS}, or
    fewer in a small text)
--column NAME  the column to learn (default: upos in CoNLL-U, else the last one); several, separated
    by commas; text: where tokens and sentences end; all: text, tags and lemmas
--all  details of all columns, with all labels and errors
{_THREADS}
{TO}
{format_options()}
""",
    """\
  perceptron-nlp crossval mine.conllu
  perceptron-nlp crossval mine.conllu --folds 5 --column upos,xpos,feats
  perceptron-nlp crossval mine.conllu --column all --seeds 3
  perceptron-nlp crossval mine.conllu --preset accurate --to json | jq .mean""",
    _training,
)


def run_crossval(chosen: argparse.Namespace) -> None:
    """Train and test fold by fold, and print."""
    options = _prepared(chosen, chosen.file)
    corpora = open_inputs(chosen, chosen.file)
    with Progress("fold", quiet=chosen.quiet) as progress:
        how = picked(chosen, "folds", "seeds", "column", "fields", "threads")
        found = pn.cross_validate(corpora, callback=progress, **how, **options)
    show(found.report(everything=chosen.all), chosen.to)


def _prepared(chosen: argparse.Namespace, inputs: list[str]) -> dict[str, Any]:
    """Return the options of training, once all files are there."""
    check_there([*inputs, *chosen.raw, *([] if chosen.lexicon is None else [chosen.lexicon])])
    return options_given(chosen, OPTIONS)


CURVE = Verb(
    """\
Show how accuracy grows with the training text, and what twice as much would give: train on more and
more of the sentences, and test on a test set or on parts that are held out in turn.""",
    f"""\
FILE...  labeled files; - is standard input
--test TEST  a labeled file to test on
--folds N  without --test: hold out each of N parts in turn (default: {CURVE_FOLDS}, or fewer in a
    small text)
--sizes X,Y,…  shares of the sentences to train on (default: 0.01,0.02,0.05,0.1,0.2,0.5,1)
--column NAME  the column to learn (default: upos in CoNLL-U, else the last one); several, separated
    by commas, have a curve each; text: where tokens and sentences end; all: text, tags and lemmas
--chart OUT  write the curve (of several, the first) to OUT, a picture (.svg, .png) or a page
    (.html), too (needs the extra report)
{_THREADS}
{TO}
{format_options()}
""",
    """\
  perceptron-nlp curve mine.conllu
  perceptron-nlp curve train.conllu --test test.conllu --chart curve.svg
  perceptron-nlp curve train.conllu --test test.conllu --sizes 0.25,0.5,0.75,1""",
    _training,
)


def run_curve(chosen: argparse.Namespace) -> None:
    """Train and test size by size, draw, print."""
    inputs = [*chosen.file, *([] if chosen.test is None else [chosen.test])]
    options = _prepared(chosen, inputs)
    if chosen.chart is not None:
        if os.path.splitext(chosen.chart)[1].lower() not in CHARTS:
            raise UsageError(f"--chart: {chosen.chart} does not end in {', '.join(CHARTS)}")
        check_apart(chosen.chart, inputs, "one of the labeled files")
        pn.check_place(chosen.chart)
    corpora = open_inputs(chosen, inputs)
    n_data = len(chosen.file)
    with Progress("training", quiet=chosen.quiet) as progress:
        found = pn.learning_curve(
            corpora[:n_data],
            test=corpora[n_data:] or None,
            callback=progress,
            sizes=chosen.sizes or SIZES,
            **picked(chosen, "folds", "column", "fields", "threads"),
            **options,
        )
    if chosen.chart is not None:
        found.save_chart(chosen.chart)
    show(found.report(), chosen.to)
    if chosen.chart is not None and not chosen.quiet:
        say(f"{printable(chosen.chart)}: written")
