"""``perceptron-nlp merge``: one model out of several."""

from __future__ import annotations

import argparse

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import STDIN, check_apart, check_there
from perceptron_nlp.cli.parsing import VerbParser, add_quiet_option
from perceptron_nlp.cli.style import say

EXAMPLES = """\
  perceptron-nlp merge news.model mail.model --model both.model
  perceptron-nlp merge large.model small.model --weights 3,1 --model both.model"""
DESCRIPTION = """\
Make one model out of several that were trained alike on other text. It scores each label with the
weighted mean of what the models score it with; labels and vocabularies are united."""


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("merge", DESCRIPTION, EXAMPLES)
    verb.add_argument(
        "models",
        nargs="+",
        metavar="MODEL",
        help="model files, trained with the same options and templates",
    )
    verb.add_argument("--model", required=True, metavar="OUT", help="where the model is saved")
    verb.add_argument(
        "--weights",
        type=_numbers,
        metavar="X,Y,…",
        help="how much each model counts, above 0; their sum does not matter"
        " (default: all the same)",
    )
    add_quiet_option(verb)
    return verb


def run(chosen: argparse.Namespace) -> None:
    """Read the models, merge them, write the one."""
    check_there(chosen.models)
    if chosen.model == STDIN:
        raise pn.FileError("--model: a model is not written to standard output; name a file")
    check_apart(chosen.model, chosen.models, "one of the models")
    pn.check_place(chosen.model)
    merged = pn.merge(chosen.models, weights=chosen.weights)
    merged.save(chosen.model)
    if not chosen.quiet:
        n_features = sum(part.weights.n_rows for part in merged.model.parts_by_column)
        say(
            f"{chosen.model}: {len(chosen.models)} models,"
            f" {n_features:,} features, {len(merged.to_bytes()) / 1e6:.2f} MB"
        )


def _numbers(text: str) -> list[float]:
    try:
        return [float(piece) for piece in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not numbers parted by commas") from None
