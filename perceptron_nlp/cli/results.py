"""Results of verbs on standard output, in the form that ``--to`` names."""

from __future__ import annotations

import json

from perceptron_nlp.cli.terminal import output
from perceptron_nlp.pages.renderers import text_lines, written
from perceptron_nlp.pages.reports import Report

# What stands for characters that a terminal of ASCII lacks.
_ASCII = str.maketrans({"–": "-", "…": "...", "→": "->", "±": "+-", "−": "-"})


def show(report: Report, form: str) -> None:
    """Print a report in a form; see renderers.written."""
    terminal = output()
    if form == "text":
        width = terminal.width if terminal.bounded else None
        text = "\n".join(text_lines(report, width, terminal.paint)) + "\n"
    else:
        text = written(report, form)
    print_text(text, is_json=form == "json")


def print_text(text: str, *, is_json: bool = False) -> None:
    """Print a text, in ASCII if the stream is not Unicode."""
    if not output().unicode:
        if is_json:
            text = "".join(c if c.isascii() else json.dumps(c)[1:-1] for c in text)
        else:
            text = text.translate(_ASCII)
    print(text, end="")
