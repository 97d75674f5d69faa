"""``perceptron-nlp compress``: makes the file of a model smaller."""

from __future__ import annotations

import argparse
import os

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import STDIN, check_apart, check_there, open_inputs
from perceptron_nlp.cli.parsing import VerbParser, add_format_options, add_quiet_option
from perceptron_nlp.cli.sizes import say_cost
from perceptron_nlp.cli.style import say
from perceptron_nlp.tagger.tagger import model_path

EXAMPLES = """\
  perceptron-nlp compress en.model --size 400kB --dev dev.conllu -o small.model
  perceptron-nlp compress en.model --size 1.1MB -o smaller.model"""
DESCRIPTION = """\
Make the best model within a size out of one that exists: the features with the heaviest weights
stay, weights become coarser, and all is packed. What that cost is told."""


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("compress", DESCRIPTION, EXAMPLES)
    verb.add_argument("model", metavar="MODEL", help="a model file")
    verb.add_argument(
        "--size",
        required=True,
        metavar="SIZE",
        help="how large the new file may be: bytes, or a number with kB, MB or GB (of"
        " 1,000) or KiB, MiB or GiB (of 1,024)",
    )
    verb.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="OUT",
        help="the file to write, whole or not at all",
    )
    verb.add_argument(
        "--dev",
        metavar="DEV",
        help="a labelled file, by which it is chosen how coarse weights become"
        " (default: the heaviest is 127 at most)",
    )
    add_format_options(verb)
    add_quiet_option(verb)
    return verb


def run(chosen: argparse.Namespace) -> None:
    """Read the model, compress it, write it."""
    check_there([chosen.model])
    if chosen.output == STDIN:
        raise pn.FileError("-o: a model is not written to standard output; name a file")
    inputs = [] if chosen.dev is None else [chosen.dev]
    check_apart(chosen.output, inputs, "the labelled file")
    pn.check_place(chosen.output)
    tagger = pn.load(chosen.model)
    corpora = open_inputs(
        inputs, format=chosen.format, fields=chosen.fields, quiet=chosen.quiet, model=tagger.model
    )
    smaller = tagger.compress(
        chosen.size, dev=corpora[0] if corpora else None, format=chosen.format, fields=chosen.fields
    )
    smaller.save(chosen.output)
    if not chosen.quiet:
        if smaller is tagger:
            size = os.path.getsize(model_path(chosen.model))
            say(f"{chosen.model}: {size:,} bytes fit as they are")
        say_cost(smaller)
        say(f"{chosen.output}: {len(smaller.to_bytes()):,} bytes")
