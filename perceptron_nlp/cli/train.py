"""``perceptron-nlp train``: learns a tagger from labelled files and saves it."""

from __future__ import annotations

import argparse
import logging

import perceptron_nlp as pn
from perceptron_nlp.cli.checkpointing import (
    add_checkpoint_options,
    checkpoint_options,
    how_to_go_on,
)
from perceptron_nlp.cli.curve import LearningCurve
from perceptron_nlp.cli.inputs import check_stdin, check_there, open_inputs
from perceptron_nlp.cli.learningoptions import add_learning_options, learning_options
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
  perceptron-nlp train train.conllu --dev dev.conllu --model en.model
  perceptron-nlp train train.conllu --column xpos --epochs 5 --seed 7 --model xpos.model
  perceptron-nlp train train.conllu --column upos,xpos,feats --model all.model
  perceptron-nlp train a.conllu.gz b.conllu.gz --model small.model --table-bits 16
  perceptron-nlp train chunks.txt --fields form,xpos,chunk --column chunk --model chunk.model
  perceptron-nlp train train.conllu --dev dev.conllu --size 400kB --model small.model
  perceptron-nlp train train.conllu --templates mine.txt --model mine.model
  perceptron-nlp train big.conllu.gz --engine ray --workers 4 --model en.model
  perceptron-nlp train train.conllu --raw news.txt.gz --preset accurate --model en.model"""


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("train", "Train a tagger on labelled files.", EXAMPLES)
    verb.add_argument(
        "train",
        nargs="+",
        metavar="TRAIN",
        help="labelled files; - is standard input; .gz, .bz2 and .xz are unpacked",
    )
    verb.add_argument("--model", required=True, metavar="OUT", help="where the model is saved")
    verb.add_argument(
        "--dev", metavar="DEV", help="a labelled file to keep the best epoch by, and to stop early"
    )
    verb.add_argument(
        "--column",
        metavar="NAME",
        help="the column to learn, by name or number (default: upos in CoNLL-U, else"
        " the last one); several, parted by commas, make one model that fills"
        " them all",
    )
    add_format_options(verb)
    _add_evidence_options(verb)
    add_learning_options(verb)
    verb.add_argument(
        "--size",
        metavar="SIZE",
        help="compress the model into a file of this size, such as 400kB or 1.1MB;"
        " how is chosen by --dev, and what it cost is told",
    )
    verb.add_argument(
        "--max-memory",
        metavar="SIZE",
        help="for more text than memory: keep the training files on disc (in the"
        " folder TMPDIR) and this process below SIZE, such as 500MB; the model"
        " is the same",
    )
    verb.add_argument(
        "--resumable",
        action="store_true",
        help="keep in the model what its training needs to go on, so that resume can"
        " train it further; the file becomes several times as large",
    )
    add_checkpoint_options(verb)
    _add_engine_options(verb)
    add_quiet_option(verb)
    return verb


def _add_evidence_options(verb: VerbParser) -> None:
    verb.add_argument(
        "--raw",
        nargs="+",
        metavar="FILE",
        default=[],
        help="text without labels, a sentence a line, its words parted by spaces,"
        " or CoNLL-U, whose words are taken: clusters of words are learnt from"
        " it, which helps with words that the training files do not have",
    )
    verb.add_argument(
        "--lexicon",
        metavar="FILE",
        help="a form, a tab and a label on each line: what it says of words becomes"
        " features; the model keeps it",
    )


def _add_engine_options(verb: VerbParser) -> None:
    verb.add_argument(
        "--engine",
        metavar="NAME",
        help="ray: deal the sentences out to workers, whose weights are mixed after each epoch",
    )
    verb.add_argument(
        "--workers",
        type=whole_number,
        metavar="N",
        help="with --engine, how many workers (default: one a processor); the model"
        " depends on it, and one gives what training without an engine gives",
    )
    verb.add_argument(
        "--read-by",
        metavar="WHO",
        help="with --engine, program (the default: it reads the text and holds it) or"
        " workers (each reads its part of CoNLL-U files that all machines have)",
    )


def run(chosen: argparse.Namespace) -> None:
    """Check everything, train, save."""
    inputs = [*chosen.train, *([] if chosen.dev is None else [chosen.dev])]
    evidence = [*chosen.raw, *([] if chosen.lexicon is None else [chosen.lexicon])]
    check_there(evidence)
    check_stdin([*inputs, *evidence], quiet=True)
    check_model_place(chosen.model, [*inputs, *evidence])
    options = learning_options(chosen) | checkpoint_options(chosen, [*inputs, *evidence])
    corpora = open_inputs(inputs, format=chosen.format, fields=chosen.fields, quiet=chosen.quiet)
    n_train = len(chosen.train)
    several = chosen.column is not None and "," in chosen.column
    # What is logged is in the model's record, and said from there.
    logging.getLogger("perceptron_nlp").addHandler(logging.NullHandler())
    options |= {
        "raw": chosen.raw or None,
        "lexicon": chosen.lexicon,
        "engine": chosen.engine,
        "workers": chosen.workers,
        "read_by": chosen.read_by,
        "max_memory": chosen.max_memory,
    }
    try:
        tagger = pn.train(
            corpora[:n_train],
            dev=corpora[n_train:] or None,
            column=chosen.column,
            fields=chosen.fields,
            size=chosen.size,
            resumable=chosen.resumable,
            **options,
            callback=None if chosen.quiet else LearningCurve(messages(), several=several),
        )
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(how_to_go_on(interrupt, chosen.checkpoint)) from interrupt
    save_model(tagger, chosen.model)
    if not chosen.quiet:
        summarise(tagger, chosen.model)
