"""The learning curve, drawn on standard error while a tagger is trained."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import perceptron_nlp as pn
from perceptron_nlp._display import printable
from perceptron_nlp.cli.style import BOLD, CYAN, FAINT, GREEN, Terminal, shortened, write_message

BLOCKS = "▁▂▃▄▅▆▇█"
ASCII_BLOCKS = "_.-=+*#@"
_LABEL_WIDTH = 19
_SHORTEST = 8
_TO_LINE_END = "\x1b[K"


def sparkline(values: Sequence[float], width: int, blocks: str = BLOCKS) -> str:
    """A row of blocks, one a value, low to high between the least and the greatest of them.

    Parameters
    ----------
    values : any number of them; only the last `width` are drawn
    blocks : the characters to draw with, from low to high
    """
    shown = values[-width:] if width > 0 else []
    if not shown:
        return ""
    low, high = min(shown), max(shown)
    top = len(blocks) - 1
    if high == low:
        return blocks[top // 2] * len(shown)
    return "".join(blocks[round((value - low) / (high - low) * top)] for value in shown)


def duration(seconds: float) -> str:
    """A time span as people say it: ``8 s``, ``3 min 20 s``, ``2 h 5 min``."""
    whole = max(0, round(seconds))
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


class LearningCurve:
    """Called with each EpochReport; draws a curve on a terminal, else writes a line an epoch.

    Parameters
    ----------
    terminal : standard error
    clock : seconds since any moment
    several : whether several columns are learnt, so that each must be named
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
        """Which column and run an epoch is of, where there are several."""
        column = f"{printable(report.column)}, " if self._several else ""
        return column + (f"run {report.run}/{report.runs}, " if report.runs > 1 else "")

    def _time_left(self, report: pn.EpochReport) -> float | None:
        """Seconds, from the epochs after the first, whose beginning is not known here."""
        now = self._clock()
        if len(self._train) == 1:
            self._first_end = now
            return None
        each = (now - self._first_end) / (len(self._train) - 1)
        return each * (report.epochs - report.epoch)

    def _plain(self, report: pn.EpochReport) -> str:
        line = (
            f"{self._which(report)}epoch {report.epoch}/{report.epochs}:"
            f" train {100 * report.train_accuracy:.2f} %"
        )
        if report.dev_accuracy is not None:
            line += f", dev {100 * report.dev_accuracy:.2f} %"
        return line

    def _picture(self, report: pn.EpochReport, left: float | None) -> list[str]:
        paint = self._terminal.paint
        lines = [self._series("train", self._train, CYAN, "")]
        if self._dev:
            best = f"best {100 * max(self._dev):.2f} % in epoch {report.best_epoch}"
            lines.append(self._series("dev", self._dev, GREEN, best))
        status = f"{self._which(report)}epoch {report.epoch} of {report.epochs}"
        if left is not None and report.epoch < report.epochs:
            status += f", {duration(left)} left"
        return [*lines, paint(shortened(status, self._terminal.width - 1), FAINT)]

    def _series(self, name: str, values: list[float], style: str, note: str) -> str:
        """``name  94.31 %  ▁▄▆▇█  note``, without what has no room."""
        paint = self._terminal.paint
        figure = f"{name:<7}{100 * values[-1]:6.2f} %  "
        room = self._terminal.width - 1 - _LABEL_WIDTH
        if room < len(note) + 2 + _SHORTEST:
            note = ""
        room -= len(note) + 2 if note else 0
        drawn = sparkline(values, room, BLOCKS if self._terminal.unicode else ASCII_BLOCKS)
        line = paint(figure, BOLD) + paint(drawn, style)
        return f"{line}  {note}" if note else line
