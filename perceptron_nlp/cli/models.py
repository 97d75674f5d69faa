"""``perceptron-nlp calibrate``: teaches a model how sure it may be of its labels."""

from __future__ import annotations

import argparse
import os

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import STDIN, check_apart, check_stdin, check_there, open_inputs
from perceptron_nlp.cli.parsing import VerbParser, add_format_options, add_quiet_option
from perceptron_nlp.cli.terminal import say
from perceptron_nlp.cli.training import say_calibration, say_cost
from perceptron_nlp.tagger.tagger import model_path

CALIBRATE_EXAMPLES = """\
  perceptron-nlp calibrate en.model dev.conllu
  perceptron-nlp calibrate en.model dev.conllu -o sure.model"""
CALIBRATE_DESCRIPTION = """\
Learn from labelled text how likely the labels of a model are right, so that tag --confidence can
tell. Its labels stay the same. Training with --dev does this too; the text must not be what the
model was trained on."""


def calibrate_parser() -> VerbParser:
    """Return the parser of the verb."""
    verb = VerbParser("calibrate", run_calibrate, CALIBRATE_DESCRIPTION, CALIBRATE_EXAMPLES)
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


def run_calibrate(chosen: argparse.Namespace) -> None:
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


COMPRESS_EXAMPLES = """\
  perceptron-nlp compress en.model --size 400kB --dev dev.conllu -o small.model
  perceptron-nlp compress en.model --size 1.1MB -o smaller.model"""
COMPRESS_DESCRIPTION = """\
Make the best model within a size out of one that exists: the features with the heaviest weights
stay, weights become coarser, and all is packed. What that cost is told."""


def compress_parser() -> VerbParser:
    """Return the parser of the verb."""
    verb = VerbParser("compress", run_compress, COMPRESS_DESCRIPTION, COMPRESS_EXAMPLES)
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


def run_compress(chosen: argparse.Namespace) -> None:
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


MERGE_EXAMPLES = """\
  perceptron-nlp merge news.model mail.model --model both.model
  perceptron-nlp merge large.model small.model --weights 3,1 --model both.model"""
MERGE_DESCRIPTION = """\
Make one model out of several that were trained alike on other text. It scores each label with the
weighted mean of what the models score it with; labels and vocabularies are united."""


def merge_parser() -> VerbParser:
    """Return the parser of the verb."""
    verb = VerbParser("merge", run_merge, MERGE_DESCRIPTION, MERGE_EXAMPLES)
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


def run_merge(chosen: argparse.Namespace) -> None:
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
