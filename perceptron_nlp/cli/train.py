"""``perceptron-nlp train``: learns a tagger from labelled files and saves it."""

from __future__ import annotations

import argparse
import logging
import os
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.cli.calibrate import say_calibration
from perceptron_nlp.cli.curve import LearningCurve
from perceptron_nlp.cli.inputs import (
    STDIN,
    check_apart,
    check_stdin,
    check_there,
    open_inputs,
)
from perceptron_nlp.cli.parsing import (
    VerbParser,
    add_format_options,
    add_quiet_option,
    whole_number,
)
from perceptron_nlp.cli.sizes import say_cost
from perceptron_nlp.cli.style import messages, one_line, say
from perceptron_nlp.tagging.checkpoint import take_checkpoint_options

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

_OPTIONS = ("preset", "epochs", "seed", "update", "table_bits", "min_count", "dictionary",
            "patience", "beam", "margin", "rate", "cost", "window", "runs")
_DEFAULTS = pn.TrainingOptions()


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("train", "Train a tagger on labelled files.", EXAMPLES)
    verb.add_argument("train", nargs="+", metavar="TRAIN",
                      help="labelled files; - is standard input; .gz, .bz2 and .xz are unpacked")
    verb.add_argument("--model", required=True, metavar="OUT", help="where the model is saved")
    verb.add_argument("--dev", metavar="DEV",
                      help="a labelled file to keep the best epoch by, and to stop early")
    verb.add_argument("--column", metavar="NAME",
                      help="the column to learn, by name or number (default: upos in CoNLL-U, else"
                           " the last one); several, parted by commas, make one model that fills"
                           " them all")
    add_format_options(verb)
    _add_evidence_options(verb)
    add_learning_options(verb)
    verb.add_argument("--size", metavar="SIZE",
                      help="compress the model into a file of this size, such as 400kB or 1.1MB;"
                           " how is chosen by --dev, and what it cost is told")
    verb.add_argument("--max-memory", metavar="SIZE",
                      help="for more text than memory: keep the training files on disc (in the"
                           " folder TMPDIR) and this process below SIZE, such as 500MB; the model"
                           " is the same")
    verb.add_argument("--resumable", action="store_true",
                      help="keep in the model what its training needs to go on, so that resume can"
                           " train it further; the file becomes several times as large")
    add_checkpoint_options(verb)
    _add_engine_options(verb)
    add_quiet_option(verb)
    return verb


def add_checkpoint_options(verb: VerbParser) -> None:
    """``--checkpoint``, ``--every`` and ``--resume``."""
    verb.add_argument("--checkpoint", metavar="FILE",
                      help="save the state of the training in FILE on the way, and on Ctrl-C")
    verb.add_argument("--every", metavar="N",
                      help="when to save it: Nepochs or Nminutes (default: 1epoch)")
    verb.add_argument("--resume", action="store_true",
                      help="go on from the checkpoint; the model is the same as without a stop")


def _add_evidence_options(verb: VerbParser) -> None:
    verb.add_argument("--raw", nargs="+", metavar="FILE", default=[],
                      help="text without labels, a sentence a line, its words parted by spaces,"
                           " or CoNLL-U, whose words are taken: clusters of words are learnt from"
                           " it, which helps with words that the training files do not have")
    verb.add_argument("--lexicon", metavar="FILE",
                      help="a form, a tab and a label on each line: what it says of words becomes"
                           " features; the model keeps it")


def _add_engine_options(verb: VerbParser) -> None:
    verb.add_argument("--engine", metavar="NAME",
                      help="ray: deal the sentences out to workers, whose weights are mixed after"
                           " each epoch")
    verb.add_argument("--workers", type=whole_number, metavar="N",
                      help="with --engine, how many workers (default: one a processor); the model"
                           " depends on it, and one gives what training without an engine gives")
    verb.add_argument("--read-by", metavar="WHO",
                      help="with --engine, program (the default: it reads the text and holds it) or"
                           " workers (each reads its part of CoNLL-U files that all machines have)")


def add_table_bits_option(verb: VerbParser) -> None:
    """``--table-bits``."""
    verb.add_argument("--table-bits", type=whole_number, metavar="K",
                      help="train in a fixed table of 2^K rows (default: a table that grows)")


def add_patience_option(verb: VerbParser) -> None:
    """``--patience``."""
    verb.add_argument("--patience", type=whole_number, metavar="N",
                      help="stop after N epochs without a better dev score"
                           f" (default: {_DEFAULTS.patience})")


def add_runs_option(verb: VerbParser) -> None:
    """``--runs``."""
    verb.add_argument("--runs", type=whole_number, metavar="N",
                      help="train N times with the seeds SEED, SEED+1, … and sum the weights"
                           " (default: 1, with the preset accurate 4; by the preset default, where"
                           " this and --epochs are not given, 2 shorter ones for greedy labels from"
                           " 10,000 words or more)")


def add_learning_options(verb: VerbParser) -> None:
    """The options that say how to learn."""
    verb.add_argument("--preset", metavar="NAME",
                      help="fast, default or accurate: what the options below are if they are not"
                           " given; fast leaves pairs of words out, accurate searches with a beam"
                           f" and sums four runs (default: {_DEFAULTS.preset})")
    verb.add_argument("--epochs", type=whole_number, metavar="N",
                      help="passes over the training files"
                           f" (default: {_DEFAULTS.passes}; what suits the rule)")
    verb.add_argument("--seed", type=whole_number, metavar="N",
                      help=f"decides the order of sentences (default: {_DEFAULTS.seed})")
    verb.add_argument("--update", metavar="RULE",
                      help="the learning rule: perceptron, margin, passive-aggressive or adagrad"
                           f" (default: {_DEFAULTS.update})")
    verb.add_argument("--templates", metavar="NAME|FILE",
                      help=f"the features: {', '.join(pn.preset_names())}, or a file with a"
                           f" template a line (default: {_DEFAULTS.templates}, what suits the"
                           " training files, measured on a part of them)")
    add_table_bits_option(verb)
    verb.add_argument("--min-count", type=whole_number, metavar="N",
                      help="leave out features of words seen less often"
                           f" (default: {_DEFAULTS.min_count})")
    verb.add_argument("--dictionary", type=_count_and_share, metavar="COUNT:SHARE",
                      help="words seen COUNT times or more, with one label in SHARE of them or"
                           " more, always get it; for example 20:0.97 (default: none)")
    add_patience_option(verb)
    verb.add_argument("--right-to-left", action=argparse.BooleanOptionalAction,
                      help="read sentences from their end (default: what suits the column)")
    verb.add_argument("--beam", type=whole_number, metavar="N",
                      help="keep N states in the search for the best labels of a sentence, in"
                           " training and in tagging (default: 1; 4 for spans)")
    verb.add_argument("--margin", type=a_number, metavar="X",
                      help="the lead over other labels below which adagrad, margin and"
                           " passive-aggressive learn (default: what suits the column)")
    verb.add_argument("--rate", type=a_number, metavar="X",
                      help="the step of the learning rule (default: 0.1 for adagrad, else 1)")
    verb.add_argument("--cost", type=a_number, metavar="X",
                      help="with a beam, what each wrong label gains while training"
                           " (default: what suits the rule)")
    verb.add_argument("--window", type=whole_number, metavar="N",
                      help="where templates look at a name's other places: look for them in N"
                           " sentences on either side (default: 40)")
    add_runs_option(verb)


def run(chosen: argparse.Namespace) -> None:
    """Check everything, train, save."""
    inputs = [*chosen.train, *([] if chosen.dev is None else [chosen.dev])]
    evidence = [*chosen.raw, *([] if chosen.lexicon is None else [chosen.lexicon])]
    check_there(evidence)
    check_stdin([*inputs, *evidence], quiet=True)
    check_model_place(chosen.model, [*inputs, *evidence])
    options = learning_options(chosen) | checkpoint_options(chosen, [*inputs, *evidence])
    corpora = open_inputs(
        inputs, format=chosen.format, fields=chosen.fields, quiet=chosen.quiet)
    n_train = len(chosen.train)
    several = chosen.column is not None and "," in chosen.column
    # What is logged is in the model's record, and said from there.
    logging.getLogger("perceptron_nlp").addHandler(logging.NullHandler())
    options |= {"raw": chosen.raw or None, "lexicon": chosen.lexicon, "engine": chosen.engine,
                "workers": chosen.workers, "read_by": chosen.read_by,
                "max_memory": chosen.max_memory}
    try:
        tagger = pn.train(
            corpora[:n_train], dev=corpora[n_train:] or None, column=chosen.column,
            fields=chosen.fields, size=chosen.size, resumable=chosen.resumable, **options,
            callback=None if chosen.quiet else LearningCurve(messages(), several=several))
    except KeyboardInterrupt as interrupt:
        raise KeyboardInterrupt(how_to_go_on(interrupt, chosen.checkpoint)) from interrupt
    save_model(tagger, chosen.model)
    if not chosen.quiet:
        summarise(tagger, chosen.model)


def how_to_go_on(interrupt: KeyboardInterrupt, checkpoint: str | None) -> str:
    """What is said of a training that was interrupted."""
    said = str(interrupt)
    # Between two columns nobody has said it.
    if not said and checkpoint is not None and os.path.lexists(checkpoint):
        said = f"the training so far is saved in {checkpoint}; resume=True goes on"
    return said.replace("resume=True", "the same command with --resume")


def save_model(tagger: pn.Tagger, path: str) -> None:
    """Raises FileError where it cannot be saved: a pipe without reader is none of ours."""
    try:
        tagger.save(path)
    except BrokenPipeError as error:
        raise pn.FileError(f"{path}: cannot be written: {error.strerror}") from error


def check_model_place(path: str, inputs: list[str]) -> None:
    """Before hours of work, not after them: raises FileError where no model can be saved."""
    if path == STDIN:
        raise pn.FileError("--model: a model is not written to standard output; name a file")
    check_apart(path, inputs, "one of the files to learn from")
    pn.check_place(path)


def learning_options(chosen: argparse.Namespace) -> dict[str, Any]:
    """The options that were given, checked; the others keep their defaults."""
    options: dict[str, Any] = {
        name: getattr(chosen, name) for name in _OPTIONS if getattr(chosen, name) is not None}
    if chosen.right_to_left is not None:
        options["right_to_left"] = chosen.right_to_left
    if chosen.templates is not None:
        options["templates"] = templates_named(chosen.templates)
    pn.TrainingOptions(**options)
    return options


def checkpoint_options(chosen: argparse.Namespace, inputs: list[str]) -> dict[str, Any]:
    """Where the state of the training is saved, if it is."""
    given: dict[str, Any] = {"checkpoint": chosen.checkpoint, "every": chosen.every,
                             "resume": chosen.resume}
    if chosen.checkpoint is not None:
        check_apart(chosen.checkpoint, inputs, "one of the files to learn from")
        if os.path.realpath(chosen.checkpoint) == os.path.realpath(chosen.model):
            raise pn.FileError(f"{chosen.checkpoint}: is the model, too; name another file for"
                               " the checkpoint")
    # Now, and not after the files have been read.
    take_checkpoint_options(dict(given))
    return given


def templates_named(name: str) -> str | tuple[pn.Template, ...]:
    """The templates that a command line names: a list of the library, or a file."""
    if name in pn.preset_names():
        return name
    if name.endswith(".txt") or os.path.basename(name) != name or os.path.exists(name):
        return pn.read_templates(name)
    pn.preset(name)
    return name


def a_number(text: str) -> float:
    """A number; argparse reports what is none."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def _count_and_share(text: str) -> tuple[int, float]:
    count, _, share = text.partition(":")
    try:
        return int(count), float(share)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r} is not COUNT:SHARE, such as 20:0.97") from None


def summarise(tagger: pn.Tagger, path: str) -> None:
    """Say what was decided, and what the model is like."""
    size = os.path.getsize(path) if os.path.isfile(path) else len(tagger.to_bytes())
    parts = tagger.by_column.values()
    for part in parts:
        if len(parts) > 1:
            epoch = part.model.record["best_epoch"]
            say(f"{one_line(part.column)}: {_figures(part)}, epoch {epoch}")
        _say_choices(part)
    say_calibration(tagger)
    say_cost(tagger)
    if len(parts) > 1:
        say(f"{one_line(path)}: {len(parts)} columns, {size / 1e6:.2f} MB")
    else:
        say(f"{one_line(path)}: {_figures(tagger)}, {size / 1e6:.2f} MB,"
            f" epoch {tagger.model.record['best_epoch']}")


def _figures(tagger: pn.Tagger) -> str:
    return f"{len(tagger.labels)} labels, {tagger.model.weights.n_rows:,} features"


def _say_choices(tagger: pn.Tagger) -> None:
    record = tagger.model.record
    for part in ("train", "dev"):
        counts = record[part]
        if counts is not None and counts["labelled"] < counts["tokens"]:
            say(f"{part}: {counts['tokens'] - counts['labelled']:,} of {counts['tokens']:,} words"
                f" have no {tagger.column} and were left out")
    for choice in record.get("choices", []):
        say(f"decided: {choice}")
    for doubt in record.get("doubts", []):
        say(f"warning: {one_line(doubt)}")
