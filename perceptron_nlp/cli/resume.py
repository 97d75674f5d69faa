"""``perceptron-nlp resume``: goes on with the training of a model, on other files."""

from __future__ import annotations

import argparse
import logging

import perceptron_nlp as pn
from perceptron_nlp.cli.curve import LearningCurve
from perceptron_nlp.cli.inputs import check_stdin, check_there, open_inputs
from perceptron_nlp.cli.modelplace import check_model_place, save_model
from perceptron_nlp.cli.parsing import (
    VerbParser,
    add_format_options,
    add_quiet_option,
    whole_number,
)
from perceptron_nlp.cli.style import messages
from perceptron_nlp.cli.summary import summarise

EXAMPLES = """\
  perceptron-nlp resume en.model mail.conllu --dev mail-dev.conllu --model mail.model
  perceptron-nlp resume en.model mail.conllu --epochs 2 --average new --model mail.model"""
DESCRIPTION = """\
Train a model further, on other files: it becomes what one training over the old files and then
these would have given. Only a model that was trained with --resumable can be, and is again."""


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("resume", DESCRIPTION, EXAMPLES)
    verb.add_argument("start", metavar="MODEL", help="a model trained with --resumable")
    verb.add_argument(
        "data", nargs="+", metavar="NEW", help="labelled files, as for train; - is standard input"
    )
    verb.add_argument("--model", required=True, metavar="OUT", help="where the model is saved")
    verb.add_argument(
        "--dev",
        metavar="DEV",
        help="a labelled file to keep the best of the new epochs by, and to stop early",
    )
    verb.add_argument(
        "--epochs",
        type=whole_number,
        metavar="N",
        help="passes over the new files (default: as many as in training)",
    )
    verb.add_argument(
        "--average",
        default="all",
        metavar="all|new",
        help="what the weights are the mean over: all words since the beginning of"
        " the first training, or the new ones alone (default: all)",
    )
    add_format_options(verb)
    add_quiet_option(verb)
    return verb


def run(chosen: argparse.Namespace) -> None:
    """Check everything, go on training, save."""
    logging.getLogger("perceptron_nlp").addHandler(logging.NullHandler())
    labelled = [*chosen.data, *([] if chosen.dev is None else [chosen.dev])]
    check_there([chosen.start, *labelled])
    check_stdin(labelled, quiet=chosen.quiet)
    check_model_place(chosen.model, [chosen.start, *labelled])
    tagger = pn.load(chosen.start)
    corpora = open_inputs(
        labelled, format=chosen.format, fields=chosen.fields, quiet=chosen.quiet, model=tagger.model
    )
    n_data = len(chosen.data)
    try:
        resumed = tagger.resume(
            corpora[:n_data],
            epochs=chosen.epochs,
            dev=corpora[n_data:] or None,
            average=chosen.average,
            fields=chosen.fields,
            callback=None
            if chosen.quiet
            else LearningCurve(messages(), several=len(tagger.columns) > 1),
        )
    except pn.ArgumentError as error:
        raise pn.ArgumentError(str(error).replace("resumable=True", "--resumable")) from error
    save_model(resumed, chosen.model)
    if not chosen.quiet:
        summarise(resumed, chosen.model)
