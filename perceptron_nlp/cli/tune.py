"""``perceptron-nlp tune``: search for options that suit the files."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import percent, printable
from perceptron_nlp.analysis.tuning import SPACE, TRIALS, settings_text
from perceptron_nlp.cli.inputs import check_apart, open_inputs
from perceptron_nlp.cli.parsing import (
    PROGRAM,
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
from perceptron_nlp.pages.reports import Figure


def _options(parser: VerbParser) -> None:
    parser.add_argument(
        "--try",
        action="append",
        type=_values,
        metavar="NAME=V,V…",
        dest="space",
        help="values of an option to try, in place of the usual search; may be given for several"
        f" options (usual: {', '.join(name.replace('_', '-') for name in SPACE)})",
    )
    add_options(parser, LEARNING)
    parser.declare(QUIET)


TUNE = Verb(
    """\
Search for the options that suit your files, on a dev set or by cross-validation, and print the
command that trains with them. Options that say how to learn stay as they are given.""",
    f"""\
TRAIN...  labeled files; - is standard input
--dev DEV  a labeled file to score by
--folds N  without --dev: hold out each of N parts of TRAIN in turn; documents stay whole if they
    are marked (default: 10, or fewer in a small text)
--column NAME  the column to learn (default: upos in CoNLL-U, else the last one)
--trials N={TRIALS}  try at most N settings
--state FILE  keep what was measured in FILE; the same command goes on from it
--model OUT=tuned.model  the model that the printed command names
{TO}
{format_options()}
""",
    """\
  perceptron-nlp tune train.conllu --dev dev.conllu --state tuning.db
  perceptron-nlp tune train.conllu --folds 5 --column xpos --trials 40
  perceptron-nlp tune train.conllu --dev dev.conllu --try rate=0.05,0.1,0.2 --try beam=1,4,8
  perceptron-nlp tune train.conllu --dev dev.conllu --try templates=fast,mine.txt --beam 1""",
    _options,
)


def run_tune(chosen: argparse.Namespace) -> None:
    """Search, print the trials, then the command."""
    inputs = [*chosen.train, *([] if chosen.dev is None else [chosen.dev])]
    fixed = options_given(chosen, LEARNING)
    # The files that lists of templates were read from.
    files = {fixed.get("templates"): chosen.templates}
    space: dict[str, list[Any]] = {}
    for name, texts in chosen.space or ():
        field = name.replace("-", "_")
        if field in space:
            raise UsageError(f"--try {name} is given twice; list all its values in one")
        if field in fixed:
            raise UsageError(f"--try {name}: --{name} is given, too; leave one of them out")
        space[field] = [_value(name, text) for text in texts]
        if field == "templates":
            files |= {one: text for one, text in zip(space[field], texts, strict=True)}
    if chosen.state is not None:
        check_apart(chosen.state, inputs, "one of the training files")
    corpora = open_inputs(chosen, inputs)
    n_train = len(chosen.train)

    with Progress("trial", quiet=chosen.quiet) as progress:

        def measured(trial: pn.Trial, most: int) -> None:
            say(f"trial {trial.number}: {percent(trial.score)}  {settings_text(trial.settings)}")
            if progress.is_live:
                progress(trial.number, most)

        result = pn.tune(
            corpora[:n_train],
            dev=corpora[n_train:] or None,
            callback=None if chosen.quiet else measured,
            space=space or None,
            **picked(chosen, "folds", "column", "fields", "trials", "state"),
            **fixed,
        )
    command = shlex.join([PROGRAM, "train", *_arguments(chosen, result.options, files)])
    report = result.report()
    show(replace(report, figures=[*report.figures, Figure("command", command, "data")]), chosen.to)
    if chosen.to == "text":
        print(f"\n{printable(command)}")


def _values(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not equals or not all(values.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE,VALUE…")
    return name, values.split(",")


def _value(name: str, text: str) -> Any:
    """Return the value of an option of training, as ``train`` reads it; yes and no are flags."""
    flag = {"yes": f"--{name}", "no": f"--no-{name}"}.get(text, f"--{name}={text}")
    learning = Verb("", "", "", lambda parser: add_options(parser, LEARNING))
    reader = VerbParser("tune --try", learning, lambda chosen: None)
    (value,) = options_given(reader.parse([flag]), LEARNING).values()
    return value


def _arguments(
    chosen: argparse.Namespace, options: Mapping[str, Any], files: Mapping[Any, str]
) -> list[str]:
    """Return the arguments of ``train`` for these options."""
    arguments = [
        path if not path.startswith("-") or path == "-" else f"./{path}" for path in chosen.train
    ]
    given = [
        ("dev", chosen.dev),
        ("model", chosen.model),
        ("column", chosen.column),
        ("format", None if chosen.format == "auto" else chosen.format),
        ("fields", None if chosen.fields is None else ",".join(chosen.fields)),
    ]
    for name, value in [*given, *options.items()]:
        flag = "--" + name.replace("_", "-")
        if name == "templates":
            value = files.get(value, value)
        elif name == "dictionary" and value is not None:
            value = f"{value[0]}:{value[1]}"
        if isinstance(value, bool):
            arguments.append(flag if value else flag.replace("--", "--no-", 1))
        elif value is not None:
            # A value that begins with a dash would be taken for an option.
            arguments += [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]
    return arguments
