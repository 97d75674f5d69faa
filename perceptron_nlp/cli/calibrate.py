"""``perceptron-nlp calibrate``: teaches a model how sure it may be of its labels."""

from __future__ import annotations

import argparse

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import STDIN, check_apart, check_stdin, check_there, open_inputs
from perceptron_nlp.cli.parsing import VerbParser, add_format_options, add_quiet_option
from perceptron_nlp.cli.style import say
from perceptron_nlp.cli.summary import say_calibration

EXAMPLES = """\
  perceptron-nlp calibrate en.model dev.conllu
  perceptron-nlp calibrate en.model dev.conllu -o sure.model"""
DESCRIPTION = """\
Learn from labelled text how likely the labels of a model are right, so that tag --confidence can
tell. Its labels stay the same. Training with --dev does this too; the text must not be what the
model was trained on."""


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("calibrate", DESCRIPTION, EXAMPLES)
    verb.add_argument("model", metavar="MODEL", help="a model file")
    verb.add_argument("dev", nargs="+", metavar="DEV", help="labelled files; - is standard input")
    verb.add_argument(
        "-o",
        "--output",
        metavar="OUT",
        help="the file to write, whole or not at all (default: MODEL itself)",
    )
    add_format_options(verb)
    add_quiet_option(verb)
    return verb


def run(chosen: argparse.Namespace) -> None:
    """Read the model, calibrate it, write it."""
    check_there([chosen.model])
    check_stdin(chosen.dev, quiet=True)
    if chosen.output == STDIN:
        raise pn.FileError("-o: a model is not written to standard output; name a file")
    place = chosen.model if chosen.output is None else chosen.output
    check_apart(place, chosen.dev, "one of the labelled files")
    pn.check_place(place)
    tagger = pn.load(chosen.model)
    corpora = open_inputs(
        chosen.dev,
        format=chosen.format,
        fields=chosen.fields,
        quiet=chosen.quiet,
        model=tagger.model,
    )
    calibrated = tagger.calibrate(corpora, fields=chosen.fields)
    calibrated.save(place)
    if not chosen.quiet:
        say_calibration(calibrated)
        say(f"{place}: {len(calibrated.to_bytes()):,} bytes")
