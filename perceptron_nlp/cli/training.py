"""What the verbs that train share: options, checkpoint, learning curve, and summary.

The options are those that perceptron_nlp.TrainingOptions declares.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import percent, printable, shortened
from perceptron_nlp.cli.inputs import check_apart
from perceptron_nlp.cli.parsing import VerbParser, a_number, whole_number
from perceptron_nlp.cli.terminal import (
    BOLD,
    CYAN,
    FAINT,
    GREEN,
    Terminal,
    duration,
    say,
    write_message,
)
from perceptron_nlp.errors import quote
from perceptron_nlp.tagger.train.options import GROUPS as GROUPS
from perceptron_nlp.tagger.train.options import LearningOptions, declaration

OPTIONS = {option.name: option for option in fields(pn.TrainingOptions)}
LEARNING = tuple(option.name for option in fields(LearningOptions))


def add_options(verb: VerbParser, names: Iterable[str] = tuple(OPTIONS), **help: str) -> None:
    """Add options of training to a verb, each in the group that it is declared in."""
    wanted = set(names)
    for title in GROUPS:
        for option in OPTIONS.values():
            if option.name in wanted and declaration(option).group == title:
                _add_option(verb.group(title), option, help.get(option.name))


def _add_option(group: argparse._ActionsContainer, option: Field[Any], text: str | None) -> None:
    declared = declaration(option)
    usual = declared.unset if option.default is None else option.default
    text = text or declared.help
    if declared.choices:
        text = f"{', '.join(declared.choices[:-1])} or {declared.choices[-1]}: {text}"
    if usual not in ("", False):
        text += f" (default: {usual})"
    how: dict[str, Any] = {"help": text.replace("%", "%%")}
    if str(option.type).startswith("bool"):
        how["action"] = argparse.BooleanOptionalAction if option.default is None else "store_true"
    else:
        how["metavar"] = declared.metavar
        how["type"] = type_of(option)
    if option.name == "raw":
        how |= {"action": "append", "default": []}
    group.add_argument("--" + option.name.replace("_", "-"), **how)


def type_of(option: Field[Any]) -> Callable[[str], Any]:
    """Return what reads the value of an option; it raises ArgumentTypeError."""
    if option.name == "dictionary":
        return _count_and_share
    kind = str(option.type)
    if kind.startswith("float"):
        return a_number
    return whole_number if kind in ("int", "int | None") else str


def options_given(
    chosen: argparse.Namespace, names: Iterable[str] = tuple(OPTIONS)
) -> dict[str, Any]:
    """Return the options that a command line gives, checked; the others keep their defaults."""
    given = {name: getattr(chosen, name) for name in names}
    options = {
        name: value
        for name, value in given.items()
        if value not in (None, []) and (value is not False or OPTIONS[name].default is None)
    }
    if "templates" in options:
        options["templates"] = templates_named(options["templates"])
    pn.TrainingOptions(**options)
    return options


def templates_named(name: str) -> str | tuple[pn.Template, ...]:
    """Return the templates of a name: a list of the library, ``auto``, or a file."""
    if name in (pn.TrainingOptions().templates, *pn.preset_names()):
        return name
    if name.endswith(".txt") or os.path.basename(name) != name or os.path.exists(name):
        return pn.read_templates(name)
    pn.preset(name)
    return name


def _count_and_share(text: str) -> tuple[int, float]:
    count, _, share = text.partition(":")
    try:
        return int(count), float(share)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is not COUNT:SHARE, such as 20:0.97"
        ) from None


def check_checkpoint(chosen: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Check before files are read that a checkpoint can be saved or resumed from."""
    if chosen.checkpoint is not None:
        check_apart(chosen.checkpoint, inputs, "one of the training files")
        if os.path.realpath(chosen.checkpoint) == os.path.realpath(chosen.model):
            raise pn.FileError(
                f"{chosen.checkpoint}: is the model, too; name another file for the checkpoint"
            )
    if (chosen.checkpoint, chosen.every, chosen.resume) != (None, None, False):
        # Here, since most training keeps none.
        from perceptron_nlp.tagger.train.checkpoint import Checkpoint

        Checkpoint.of(chosen.checkpoint, chosen.every, chosen.resume)


def interrupted_message(checkpoint: str | None) -> str:
    """Return the message on a training that was interrupted."""
    if checkpoint is None or not os.path.lexists(checkpoint):
        return ""
    return (
        f"the training up to its last whole epoch is saved in {checkpoint}; the same command with"
        " --resume goes on"
    )


def summarize(tagger: pn.Tagger, path: str) -> None:
    """Print what was chosen, and the figures of the model."""
    size = os.path.getsize(path) if os.path.isfile(path) else len(tagger.to_bytes())
    parts = tagger.by_column.values()
    for part in parts:
        if len(parts) > 1:
            epoch = part.model.record["best_epoch"]
            say(f"{part.column}: {_figures(part)}, epoch {epoch}")
        _say_choices(part)
    say_calibration(tagger)
    say_cost(tagger)
    if len(parts) > 1:
        say(f"{path}: {len(parts)} columns, {size / 1e6:.2f} MB")
    else:
        say(
            f"{path}: {_figures(tagger)}, {size / 1e6:.2f} MB,"
            f" epoch {tagger.model.record['best_epoch']}"
        )


def say_calibration(tagger: pn.Tagger) -> None:
    """Print how each column was calibrated, or why not; nothing if it was not tried."""
    for column, part in tagger.by_column.items():
        found = part.model.record.get("calibration")
        if found is None:
            continue
        name = f"{column}: " if len(tagger.columns) > 1 else ""
        if found["method"] is None:
            say(f"{name}not calibrated: {found['why']}")
            continue
        say(
            f"{name}calibrated on {found['words']:,} tokens; expected calibration error"
            f" {found['ece']:.4f}, cross-validated"
        )


def _figures(tagger: pn.Tagger) -> str:
    return f"{len(tagger.labels)} labels, {tagger.model.weights.n_rows:,} features"


def _say_choices(tagger: pn.Tagger) -> None:
    record = tagger.model.record
    for part in ("train", "dev"):
        counts = record[part]
        if counts is not None and counts["labeled"] < counts["tokens"]:
            say(
                f"{part}: {counts['tokens'] - counts['labeled']:,} of {counts['tokens']:,} tokens"
                f" have no {tagger.column} and were left out"
            )
    for choice in record.get("choices", []):
        say(f"chosen: {choice}")


def say_cost(tagger: pn.Tagger, *, by_dev: bool = True) -> None:
    """Print the cost of compression if the model was compressed, and was compared by anything."""
    found = tagger.model.record.get("compressed")
    if found is None:
        return
    before, after = found["scores"]
    parts = tagger.model.parts_by_column
    passes = [*parts, *filter(None, (part.first for part in parts))]
    n_rows = sum(one.weights.n_rows for one in passes)
    line = (
        f"compressed: {found['bytes_before']:,} bytes to {len(tagger.to_bytes()):,},"
        f" {found['rows_before']:,} features to {n_rows:,}"
    )
    if found["steps"] is not None:
        line += f", weights up to {found['steps']}"
    if before is not None and by_dev:
        line += f"; dev accuracy {percent(before)} before, {percent(after)} now"
    elif before is not None:
        line += f"; {percent(after)} of the labels as before"
    say(line)


BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.-=+*#@"
_LABEL_WIDTH = 19
_SHORTEST = 8
_TO_LINE_END = "\x1b[K"


def sparkline(values: Sequence[float], width: int, blocks: str = BLOCKS) -> str:
    """Draw a row of blocks, from low to high, for the last `width` values."""
    shown = values[-width:] if width > 0 else []
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    top = len(blocks) - 1
    if high == low:
        return blocks[top // 2] * len(shown)
    return "".join(blocks[round((value - low) / (high - low) * top)] for value in shown)


class TrainingView:
    """A callback of training that draws a curve on a terminal, else prints a line an epoch.

    `clock` tells seconds since any moment; with `several` columns each is named.
    """

    def __init__(
        self,
        terminal: Terminal,
        clock: Callable[[], float] = time.monotonic,
        *,
        several: bool = False,
    ) -> None:
        self._terminal = terminal
        self._several = several
        self._clock = clock
        self._train: list[float] = []
        self._dev: list[float] = []
        self._first_end = 0.0
        self._drawn = 0

    def __call__(self, report: pn.EpochReport) -> None:
        """Show one more epoch."""
        if report.epoch == 1:
            self._train, self._dev, self._drawn = [], [], 0
        self._train.append(report.train_accuracy)
        if report.dev_accuracy is not None:
            self._dev.append(report.dev_accuracy)
        left = self._time_left(report)
        if not self._terminal.live:
            write_message(self._plain(report) + "\n")
            return
        lines = self._picture(report, left)
        up = f"\x1b[{self._drawn}F" if self._drawn else ""
        write_message(up + "".join(f"{line}{_TO_LINE_END}\n" for line in lines))
        self._drawn = len(lines)

    def _which(self, report: pn.EpochReport) -> str:
        """Return the column and the run of an epoch if there are several."""
        column = f"{printable(report.column)}, " if self._several else ""
        return column + (f"run {report.run}/{report.runs}, " if report.runs > 1 else "")

    def _time_left(self, report: pn.EpochReport) -> float | None:
        """Estimate the seconds left from the epochs after the first, whose start is not known."""
        now = self._clock()
        if len(self._train) == 1:
            self._first_end = now
            return None
        each = (now - self._first_end) / (len(self._train) - 1)
        return each * (report.epochs - report.epoch)

    def _plain(self, report: pn.EpochReport) -> str:
        line = (
            f"{self._which(report)}epoch {report.epoch}/{report.epochs}:"
            f" train {percent(report.train_accuracy)}"
        )
        if report.dev_accuracy is not None:
            line += f", dev {percent(report.dev_accuracy)}"
        return line

    def _picture(self, report: pn.EpochReport, left: float | None) -> list[str]:
        paint = self._terminal.paint
        lines = [self._series("train", self._train, CYAN, "")]
        if self._dev:
            best = f"best {percent(max(self._dev))} in epoch {report.best_epoch}"
            lines.append(self._series("dev", self._dev, GREEN, best))
        status = f"{self._which(report)}epoch {report.epoch} of {report.epochs}"
        if left is not None and report.epoch < report.epochs:
            status += f", {duration(left)} left"
        return [*lines, paint(shortened(status, self._terminal.width - 1), FAINT)]

    def _series(self, name: str, values: list[float], style: str, note: str) -> str:
        """Draw ``name  94.31 %  ▁▄▆▇█  note``, without what has no room."""
        paint = self._terminal.paint
        figure = f"{name:<7}{percent(values[-1]):>8}  "
        room = self._terminal.width - 1 - _LABEL_WIDTH
        if room < len(note) + 2 + _SHORTEST:
            note = ""
        room -= len(note) + 2 if note else 0
        drawn = sparkline(values, room, BLOCKS if self._terminal.unicode else ASCII_BLOCKS)
        line = paint(figure, BOLD) + paint(drawn, style)
        return f"{line}  {note}" if note else line
