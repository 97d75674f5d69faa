"""``perceptron-nlp tune``: search for options that suit the files."""

from __future__ import annotations

import argparse
import os
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._checks import did_you_mean
from perceptron_nlp._display import percent, points, printable
from perceptron_nlp.analysis.folds import FOLDS
from perceptron_nlp.analysis.tune.trials import SPACE, TRIALS
from perceptron_nlp.cli.inputs import check_apart, open_inputs
from perceptron_nlp.cli.parsing import (
    JSON,
    PROGRAM,
    QUIET,
    UsageError,
    Verb,
    VerbParser,
    format_options,
)
from perceptron_nlp.cli.terminal import (
    BOLD,
    FAINT,
    Terminal,
    draw_over,
    duration,
    erase_drawn,
    messages,
    output,
    print_json,
    shortened,
    write_message,
)
from perceptron_nlp.cli.training import (
    LEARNING,
    OPTIONS,
    add_options,
    options_given,
    templates_named,
    type_of,
)

TemplateNames = Mapping[tuple[pn.Template, ...], str]


def settings_text(settings: Mapping[str, Any], names: TemplateNames) -> str:
    """Return settings as people write them: ``beam=4 right-to-left=no``."""
    shown = []
    for name, value in settings.items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, tuple):
            value = os.path.basename(names.get(value, f"{len(value)} templates"))
        shown.append(f"{name.replace('_', '-')}={value}")
    return " ".join(shown) or "as they are"


class TuningView:
    """A callback of tuning: a line a trial, and on a terminal a live one below."""

    def __init__(
        self, terminal: Terminal, names: TemplateNames, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._terminal = terminal
        self._names = names
        self._clock = clock
        self._start = clock()

    def __call__(self, report: pn.TuningReport) -> None:
        """Show one more epoch or trial."""
        if report.done is not None:
            write_message(self._trial(report, report.done) + "\n")
        elif self._terminal.live:
            draw_over(self._terminal.paint(self._live(report), FAINT))

    def _trial(self, report: pn.TuningReport, done: pn.Trial) -> str:
        mark = "  best so far" if report.best is done else ""
        return self._cut(
            f"trial {done.number}: {percent(done.score)}, epoch {done.epochs}{mark}"
            f"  {printable(settings_text(done.settings, self._names))}"
        )

    def _live(self, report: pn.TuningReport) -> str:
        what = f"trial {report.trial} of {report.trials} at most" if report.trial else "the chosen"
        if report.trial > 1:
            each = (self._clock() - self._start) / (report.trial - 1)
            what += f", {duration(each * (report.trials - report.trial + 1))} left"
        if report.folds > 1:
            what += f", fold {report.fold}/{report.folds}"
        if report.epoch is not None:
            what += f", epoch {report.epoch.epoch}/{report.epoch.epochs}"
        if report.best is not None:
            what += f"; best so far {percent(report.best.score)} in trial {report.best.number}"
        return self._cut(f"{what}  {printable(settings_text(report.settings, self._names))}")

    def _cut(self, line: str) -> str:
        return shortened(line, self._terminal.width - 1)


_TRIED = ("beam", "min-count", "table-bits", "runs", "margin", "rate", "cost", "update", "preset")


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
command that trains with them. Options that say how to learn stay as they are given; --epochs is the
most that are tried.""",
    f"""\
TRAIN...  labeled files; - is standard input
--dev DEV  a labeled file to score by
--folds N  without --dev: hold out each of N parts of TRAIN in turn; documents stay whole if they
    are marked (default: {FOLDS})
--column NAME  the column to learn (default: upos in CoNLL-U, else the last one)
--trials N={TRIALS}  try at most N settings
--minutes N  begin no trial after N minutes
--state FILE  keep what was measured in FILE; the same command goes on from it
--model OUT=tuned.model  the model that the printed command names
{JSON}
{format_options()}
""",
    """\
  perceptron-nlp tune train.conllu --dev dev.conllu --state tuning.log
  perceptron-nlp tune train.conllu --folds 10 --column xpos --minutes 30
  perceptron-nlp tune train.conllu --dev dev.conllu --try rate=0.05,0.1,0.2 --try beam=1,4,8
  perceptron-nlp tune train.conllu --dev dev.conllu --try templates=fast,mine.txt --beam 1""",
    _options,
)


def run_tune(chosen: argparse.Namespace) -> None:
    """Search, print the trials, then the command."""
    inputs = [*chosen.train, *([] if chosen.dev is None else [chosen.dev])]
    fixed = options_given(chosen, LEARNING)
    names: dict[tuple[pn.Template, ...], str] = {}
    space = _space(chosen.space, names)
    for name in sorted({*fixed} & {*(space or ())}):
        flag = name.replace("_", "-")
        raise UsageError(f"--try {flag}: --{flag} is given, too; leave one of them out")
    if not isinstance(fixed.get("templates", ""), str):
        names[fixed["templates"]] = chosen.templates
    if chosen.state is not None:
        check_apart(chosen.state, inputs, "one of the training files")
    corpora = open_inputs(chosen, inputs)
    n_train = len(chosen.train)
    try:
        result = pn.tune(
            corpora[:n_train],
            dev=corpora[n_train:] or None,
            folds=chosen.folds,
            column=chosen.column,
            fields=chosen.fields,
            callback=None if chosen.quiet else TuningView(messages(), names),
            space=space,
            trials=chosen.trials,
            minutes=chosen.minutes,
            state=chosen.state,
            **fixed,
        )
    finally:
        erase_drawn()
    command = shlex.join([PROGRAM, "train", *_command(chosen, result.options, names)])
    if chosen.json:
        print_json({**result.to_dict(), "command": command})
        return
    terminal = output()
    print(
        "\n".join(
            [
                *trial_table(result, names, terminal),
                "",
                *summary(result, terminal),
                "",
                printable(command),
            ]
        )
    )


def _values(text: str) -> tuple[str, list[str]]:
    name, equals, values = text.partition("=")
    if not equals or not all(values.split(",")):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE,VALUE…")
    return name, values.split(",")


def _space(
    given: Sequence[tuple[str, list[str]]] | None, names: dict[tuple[pn.Template, ...], str]
) -> dict[str, list[Any]] | None:
    """Return the values to try; lists of templates from files are entered in `names`."""
    if given is None:
        return None
    space: dict[str, list[Any]] = {}
    for name, texts in given:
        field = name.replace("-", "_")
        if field in space:
            raise UsageError(f"--try {name} is given twice; list all its values in one")
        space[field] = [_value(name, text) for text in texts]
        if name == "templates":
            names |= {
                value: text
                for value, text in zip(space[field], texts, strict=True)
                if not isinstance(value, str)
            }
    return space


def _value(name: str, text: str) -> Any:
    if name == "templates":
        return templates_named(text)
    if name == "right-to-left":
        if text not in ("yes", "no"):
            raise UsageError(f"--try {name}: {text!r} is neither yes nor no")
        return text == "yes"
    if name not in _TRIED:
        known = [*_TRIED, "templates", "right-to-left"]
        raise UsageError(
            f"--try {name}: there is no such option to try"
            + (did_you_mean(name, known) or f"; there are {', '.join(known)}")
        )
    try:
        return type_of(OPTIONS[name.replace("-", "_")])(text)
    except argparse.ArgumentTypeError as error:
        raise UsageError(f"--try {name}: {error}") from None


def _command(
    chosen: argparse.Namespace,
    options: Mapping[str, Any],
    names: Mapping[tuple[pn.Template, ...], str],
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
        if name == "templates" and not isinstance(value, str):
            value = names[tuple(value)]
        elif name == "dictionary" and value is not None:
            value = f"{value[0]}:{value[1]}"
        if isinstance(value, bool):
            arguments.append(flag if value else flag.replace("--", "--no-", 1))
        elif value is not None and (name, value) != ("templates", "auto"):
            # A value that begins with a dash would be taken for an option.
            arguments += [f"{flag}={value}"] if str(value).startswith("-") else [flag, str(value)]
    return arguments


def trial_table(
    result: pn.TuningResult, names: Mapping[tuple[pn.Template, ...], str], terminal: Terminal
) -> list[str]:
    """Return a line for each trial, the best first."""
    measure = "F1" if result.measure == "f1" else "accuracy"
    head = f"{'trial':>5}  {measure:>8}  {'behind':>13}  epochs  {'work':>5}  options"
    lines = [terminal.line(head, BOLD)]
    for trial in sorted(result.trials, key=lambda trial: (-trial.score, trial.number)):
        behind, error = trial.behind or 0.0, trial.error or 0.0
        apart = "best" if trial is result.best else f"{points(behind)} ± {points(error)}"
        mark = "*" if trial is result.chosen else " "
        lines.append(
            terminal.line(
                f"{mark}{trial.number:>4}  {points(trial.score):>8}  {apart:>13}"
                f"  {trial.epochs:>6}  {trial.work:>5}"
                f"  {settings_text(trial.settings, names)}"
            )
        )
    return lines


def summary(result: pn.TuningResult, terminal: Terminal) -> list[str]:
    """Return lines on the trial that is chosen, the reason, and the expected score."""
    best, chosen = result.best, result.chosen
    lines = list(result.remarks)
    noise = sum(trial.within_noise for trial in result.trials) - 1
    if noise:
        lines.append(
            f"{noise} other trial{'s are' if noise > 1 else ' is'} within one standard"
            " error of the best, which is noise:"
        )
        why = (
            "as good as any, and none of them takes less work"
            if chosen is best
            else f"whose work is {chosen.work} a token, not {best.work}"
        )
        lines.append(f"trial {chosen.number} is chosen, {why}")
    else:
        lines.append(f"trial {chosen.number} is chosen, ahead of all others by more than noise")
    if result.stopped is not None:
        lines.append(f"the search ended at --{result.stopped}; more may find better")
    if chosen.epochs == len(chosen.curve) and len(chosen.curve) > 1:
        lines.append("its last epoch was its best; a larger --epochs may find better")
    low, high = result.interval
    what = "F1" if result.measure == "f1" else "accuracy"
    lines.append(
        f"expected: {percent(result.expected)} {what}"
        f" (95 % of samples: {points(low)} to {points(high)})"
    )
    if len(result.by_fold) > 1:
        lines.append(
            f"fold by fold: {points(min(result.by_fold))} to {points(max(result.by_fold))}"
        )
    return [terminal.line(line) for line in lines]
