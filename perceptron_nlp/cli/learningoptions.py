"""The options that say how to learn, of every verb that trains."""

from __future__ import annotations

import argparse
import os
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.cli.parsing import VerbParser, a_number, whole_number

_OPTIONS = (
    "preset",
    "epochs",
    "seed",
    "update",
    "table_bits",
    "min_count",
    "dictionary",
    "patience",
    "beam",
    "margin",
    "rate",
    "cost",
    "window",
    "runs",
)
_DEFAULTS = pn.TrainingOptions()


def add_table_bits_option(verb: VerbParser) -> None:
    """``--table-bits``."""
    verb.add_argument(
        "--table-bits",
        type=whole_number,
        metavar="K",
        help="train in a fixed table of 2^K rows (default: a table that grows)",
    )


def add_patience_option(verb: VerbParser) -> None:
    """``--patience``."""
    verb.add_argument(
        "--patience",
        type=whole_number,
        metavar="N",
        help=f"stop after N epochs without a better dev score (default: {_DEFAULTS.patience})",
    )


def add_runs_option(verb: VerbParser) -> None:
    """``--runs``."""
    verb.add_argument(
        "--runs",
        type=whole_number,
        metavar="N",
        help="train N times with the seeds SEED, SEED+1, … and sum the weights"
        " (default: 1, with the preset accurate 4; by the preset default, where"
        " this and --epochs are not given, 2 shorter ones for greedy labels from"
        " 10,000 words or more)",
    )


def add_learning_options(verb: VerbParser) -> None:
    """The options that say how to learn."""
    verb.add_argument(
        "--preset",
        metavar="NAME",
        help="fast, default or accurate: what the options below are if they are not"
        " given; fast leaves pairs of words out, accurate searches with a beam"
        f" and sums four runs (default: {_DEFAULTS.preset})",
    )
    verb.add_argument(
        "--epochs",
        type=whole_number,
        metavar="N",
        help=f"passes over the training files (default: {_DEFAULTS.passes}; what suits the rule)",
    )
    verb.add_argument(
        "--seed",
        type=whole_number,
        metavar="N",
        help=f"decides the order of sentences (default: {_DEFAULTS.seed})",
    )
    verb.add_argument(
        "--update",
        metavar="RULE",
        help="the learning rule: perceptron, margin, passive-aggressive or adagrad"
        f" (default: {_DEFAULTS.update})",
    )
    verb.add_argument(
        "--templates",
        metavar="NAME|FILE",
        help=f"the features: {', '.join(pn.preset_names())}, or a file with a"
        f" template a line (default: {_DEFAULTS.templates}, what suits the"
        " training files, measured on a part of them)",
    )
    add_table_bits_option(verb)
    verb.add_argument(
        "--min-count",
        type=whole_number,
        metavar="N",
        help=f"leave out features of words seen less often (default: {_DEFAULTS.min_count})",
    )
    verb.add_argument(
        "--dictionary",
        type=_count_and_share,
        metavar="COUNT:SHARE",
        help="words seen COUNT times or more, with one label in SHARE of them or"
        " more, always get it; for example 20:0.97 (default: none)",
    )
    add_patience_option(verb)
    verb.add_argument(
        "--right-to-left",
        action=argparse.BooleanOptionalAction,
        help="read sentences from their end (default: what suits the column)",
    )
    verb.add_argument(
        "--beam",
        type=whole_number,
        metavar="N",
        help="keep N states in the search for the best labels of a sentence, in"
        " training and in tagging (default: 1; 4 for spans)",
    )
    verb.add_argument(
        "--margin",
        type=a_number,
        metavar="X",
        help="the lead over other labels below which adagrad, margin and"
        " passive-aggressive learn (default: what suits the column)",
    )
    verb.add_argument(
        "--rate",
        type=a_number,
        metavar="X",
        help="the step of the learning rule (default: 0.1 for adagrad, else 1)",
    )
    verb.add_argument(
        "--cost",
        type=a_number,
        metavar="X",
        help="with a beam, what each wrong label gains while training"
        " (default: what suits the rule)",
    )
    verb.add_argument(
        "--window",
        type=whole_number,
        metavar="N",
        help="where templates look at a name's other places: look for them in N"
        " sentences on either side (default: 40)",
    )
    add_runs_option(verb)


def learning_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, checked; the others keep their defaults."""
    options: dict[str, Any] = {
        name: getattr(chosen, name) for name in _OPTIONS if getattr(chosen, name) is not None
    }
    if chosen.right_to_left is not None:
        options["right_to_left"] = chosen.right_to_left
    if chosen.templates is not None:
        options["templates"] = templates_named(chosen.templates)
    pn.TrainingOptions(**options)
    return options


def templates_named(name: str) -> str | tuple[pn.Template, ...]:
    """The templates that a command line names: a list of the library, or a file."""
    if name in pn.preset_names():
        return name
    if name.endswith(".txt") or os.path.basename(name) != name or os.path.exists(name):
        return pn.read_templates(name)
    pn.preset(name)
    return name


def _count_and_share(text: str) -> tuple[int, float]:
    count, _, share = text.partition(":")
    try:
        return int(count), float(share)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not COUNT:SHARE, such as 20:0.97") from None
