"""``perceptron-nlp train`` and ``resume``: train a tagger on labeled files."""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from functools import partial

import perceptron_nlp as pn
from perceptron_nlp._checks import check_choice
from perceptron_nlp.cli.inputs import (
    check_model_place,
    check_stdin,
    check_there,
    open_inputs,
    save_model,
)
from perceptron_nlp.cli.parsing import (
    MODEL_OUT,
    QUIET,
    UsageError,
    Verb,
    VerbParser,
    format_options,
)
from perceptron_nlp.cli.terminal import messages, say
from perceptron_nlp.cli.training import (
    GROUPS,
    TrainingView,
    add_options,
    check_checkpoint,
    interrupted_message,
    options_given,
    summarize,
)

_DATA = f"""\
--dev DEV  a labeled file to keep the best epoch by, and to stop early
--column NAME  the column to learn, by name or number (default: upos in CoNLL-U, else the last
    one); several, separated by commas, make one model that fills them all. lemma: what words are
    listed under in a dictionary; text: where tokens and sentences end, for running text; all:
    text, tags and lemmas of a treebank
{format_options()}
"""

ENGINES = ("ray",)
_ENGINE = """\
--engine NAME  ray: distribute the sentences among workers, whose weights are mixed after each
    epoch
--workers N  how many workers an engine has; the model depends on it, and with one is as without
    (default: one a processor)
"""


def _options(parser: VerbParser) -> None:
    for group in GROUPS:
        parser.group(group)
    parser.declare(_DATA, "data")
    parser.declare(MODEL_OUT, "output")
    add_options(parser)
    parser.declare(_ENGINE, "large scale")
    parser.declare(QUIET, "output")


TRAIN = Verb(
    "Train a tagger on labeled files.",
    "TRAIN...  labeled files; - is standard input; .gz, .bz2 and .xz are decompressed",
    """\
  perceptron-nlp train train.conllu --dev dev.conllu --model en.model
  perceptron-nlp train train.conllu --column xpos --epochs 5 --seed 7 --model xpos.model
  perceptron-nlp train train.conllu --column upos,xpos,feats --model all.model
  perceptron-nlp train a.conllu.gz b.conllu.gz --model small.model --table-bits 16
  perceptron-nlp train chunks.txt --fields form,xpos,chunk --column chunk --model chunk.model
  perceptron-nlp train train.conllu --dev dev.conllu --size 400kB --model small.model
  perceptron-nlp train train.conllu --templates mine.txt --model mine.model
  perceptron-nlp train big.conllu.gz --engine ray --workers 4 --model en.model
  perceptron-nlp train train.conllu --raw news.txt.gz --preset accurate --model en.model""",
    _options,
)


# Middle half of the 19 pairs of figures of default and accurate in docs/accuracy.md.
ACCURATE = "--preset accurate: 3 to 8 % fewer mistakes in most columns, 4 times the training"

# 0.2 to 0.6 points of UPOS on the tests of docs/accuracy.md.
LEARN_DEV = "--learn-dev: learns the dev set, too, for a model to ship: better, twice the training"


def run_train(chosen: argparse.Namespace) -> None:
    """Check everything, train, save."""
    inputs = [*chosen.train, *([] if chosen.dev is None else [chosen.dev])]
    further = [*chosen.raw, *filter(None, [chosen.lexicon, chosen.abbreviations])]
    check_there(further)
    check_stdin([*inputs, *further], quiet=True)
    check_model_place(chosen.model, [*inputs, *further])
    check_checkpoint(chosen, [*inputs, *further])
    options = options_given(chosen)
    corpora = open_inputs(chosen, inputs)
    n_train = len(chosen.train)
    several = chosen.column is not None and "," in chosen.column
    try:
        tagger = _trainer(chosen)(
            corpora[:n_train],
            dev=corpora[n_train:] or None,
            column=chosen.column,
            fields=chosen.fields,
            **options,
            callback=None if chosen.quiet else TrainingView(messages(), several=several),
        )
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(interrupted_message(chosen.checkpoint)) from interrupt
    save_model(tagger, chosen.model)
    if not chosen.quiet:
        summarize(tagger, chosen.model)
        if tagger.columns and pn.TrainingOptions(**options).preset == "default":
            say(ACCURATE)
        if chosen.dev is not None and not chosen.learn_dev and chosen.max_memory is None:
            say(LEARN_DEV)


def _trainer(chosen: argparse.Namespace) -> Callable[..., pn.Tagger]:
    """Return what trains: this process, or an engine."""
    if chosen.engine is None:
        if chosen.workers is not None:
            raise UsageError("--workers: is an option of an engine; name one, too: --engine ray")
        return pn.train
    check_choice("engine", chosen.engine, ENGINES)
    engine = importlib.import_module("perceptron_nlp.integrations.engines")
    return partial(engine.train, workers=chosen.workers)


RESUME = Verb(
    """\
Train a model further, on other files: it becomes what one training over the old files and then
these would have given. Only a model that was trained with --resumable can be, and is again.""",
    f"""\
start:MODEL  a model trained with --resumable
NEW...  labeled files, as for train; - is standard input
{MODEL_OUT}
--dev DEV  a labeled file to keep the best of the new epochs by, and to stop early
--epochs N  passes over the new files (default: as many as in training)
--average all|new=all  what the weights are averaged over: all examples since the beginning of the
    first training, or the new ones alone
{format_options()}
{QUIET}
""",
    """\
  perceptron-nlp resume en.model mail.conllu --dev mail-dev.conllu --model mail.model
  perceptron-nlp resume en.model mail.conllu --epochs 2 --average new --model mail.model""",
)


def run_resume(chosen: argparse.Namespace) -> None:
    """Check everything, go on training, save."""
    labeled = [*chosen.new, *([] if chosen.dev is None else [chosen.dev])]
    check_there([chosen.start, *labeled])
    check_stdin(labeled, quiet=chosen.quiet)
    check_model_place(chosen.model, [chosen.start, *labeled])
    tagger = pn.load(chosen.start)
    corpora = open_inputs(chosen, labeled, tagger.model)
    n_data = len(chosen.new)
    try:
        resumed = tagger.resume(
            corpora[:n_data],
            epochs=chosen.epochs,
            dev=corpora[n_data:] or None,
            average=chosen.average,
            fields=chosen.fields,
            callback=None
            if chosen.quiet
            else TrainingView(messages(), several=len(tagger.columns) > 1),
        )
    except pn.ArgumentError as error:
        raise pn.ArgumentError(str(error).replace("resumable=True", "--resumable")) from error
    save_model(resumed, chosen.model)
    if not chosen.quiet:
        summarize(resumed, chosen.model)
