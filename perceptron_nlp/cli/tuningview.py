"""The progress of tuning on standard error: the epoch at hand, the trials, the best so far."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import percent, printable
from perceptron_nlp.cli.style import FAINT, Terminal, shortened, write_message

_CLEAR = "\r\x1b[K"
TemplateNames = Mapping[tuple[pn.Template, ...], str]


def settings_text(settings: Mapping[str, Any], names: TemplateNames) -> str:
    """Settings as people write them: ``beam=4 right-to-left=no``."""
    shown = []
    for name, value in settings.items():
        if isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, tuple):
            value = os.path.basename(names.get(value, f"{len(value)} templates"))
        shown.append(f"{name.replace('_', '-')}={value}")
    return " ".join(shown) or "as they are"


class TuningView:
    """Called with each TuningReport; a line a trial, and on a terminal a live one below.

    Parameters
    ----------
    terminal : standard error
    names : what lists of templates are called
    """

    def __init__(self, terminal: Terminal, names: TemplateNames) -> None:
        self._terminal = terminal
        self._names = names

    def __call__(self, report: pn.TuningReport) -> None:
        """Show one more epoch or trial."""
        if report.done is not None:
            self.clear()
            write_message(self._trial(report, report.done) + "\n")
        elif self._terminal.live:
            write_message(_CLEAR + self._terminal.paint(self._live(report), FAINT))

    def clear(self) -> None:
        """Take the live line away."""
        if self._terminal.live:
            write_message(_CLEAR)

    def _trial(self, report: pn.TuningReport, done: pn.Trial) -> str:
        mark = "  best so far" if report.best is done else ""
        return self._cut(
            f"trial {done.number}: {percent(done.score)}, epoch {done.epochs}{mark}"
            f"  {printable(settings_text(done.settings, self._names))}"
        )

    def _live(self, report: pn.TuningReport) -> str:
        what = f"trial {report.trial} of {report.trials} at most" if report.trial else "the chosen"
        if report.folds > 1:
            what += f", part {report.fold}/{report.folds}"
        if report.epoch is not None:
            what += f", epoch {report.epoch.epoch}/{report.epoch.epochs}"
        if report.best is not None:
            what += f"; best so far {percent(report.best.score)} in trial {report.best.number}"
        return self._cut(f"{what}  {printable(settings_text(report.settings, self._names))}")

    def _cut(self, line: str) -> str:
        return shortened(line, self._terminal.width - 1)
