"""``perceptron-nlp doctor``: gold labels that are likely wrong."""

from __future__ import annotations

import argparse
import re

import perceptron_nlp as pn
from perceptron_nlp._display import counted, percent, printable
from perceptron_nlp.cli.inputs import check_apart, open_inputs
from perceptron_nlp.cli.parsing import JSON, QUIET, UsageError, Verb, format_options, picked
from perceptron_nlp.cli.terminal import (
    BOLD,
    CYAN,
    DEFAULT_WIDTH,
    Progress,
    Terminal,
    output,
    print_json,
    shortened,
    shortened_inside,
)

_SHOWN = 20
_SHORTEST_PATH = 12


DOCTOR = Verb(
    """\
Find labels that are likely wrong: those that taggers trained on the other sentences, and the same
words in the same context elsewhere, speak against. The likeliest errors come first.""",
    f"""\
GOLD...  labeled files, examined together; - is standard input
--column NAME  the column to examine (default: upos in CoNLL-U, else the last one)
--evidence NAMES  other columns of the files, right or mostly right, that the taggers see (default:
    those that --fields names; upos for feats)
--limit N  the first N candidate errors only (default: {_SHOWN} on the screen, all in JSON and in
    the table)
--fix-list FILE  write the candidate errors to FILE as a table to go through: a heading, then a line
    each, separated by tabs
--apply TABLE  examine nothing: write copies of GOLD with the labels that such a table expects, in
    all rows that were not deleted from it
--output DIR  with --apply: the folder for the copies
--folds N  judge each of N parts by taggers of the others (default: 10)
--runs N=1  taggers of each kind that judge a part
--seed N=1  decides the parts and the order of training
--threads N=1  parts that are scored at a time; the result does not depend on it
{JSON}
{format_options()}
{QUIET}
""",
    """\
  perceptron-nlp doctor train.conllu
  perceptron-nlp doctor train.conllu dev.conllu --column xpos --limit 100
  perceptron-nlp doctor train.conllu --evidence xpos,feats --fix-list candidates.tsv
  perceptron-nlp doctor train.conllu --apply candidates.tsv --output corrected""",
)


def run_doctor(chosen: argparse.Namespace) -> None:
    """Examine, write the table, print."""
    if chosen.limit is not None and chosen.limit < 1:
        raise UsageError(f"--limit: {chosen.limit} is less than 1")
    if (chosen.apply is None) != (chosen.output is None):
        raise UsageError("--apply, --output: one does not go without the other")
    if chosen.apply is not None:
        changed = pn.apply_corrections(
            chosen.gold, chosen.apply, chosen.output, **picked(chosen, "column", "format", "fields")
        )
        print(
            f"{printable(chosen.output)}: {counted(changed, 'label')} changed in"
            f" {counted(len(chosen.gold), 'file')}"
        )
        return
    if chosen.fix_list is not None:
        check_apart(chosen.fix_list, chosen.gold, "one of the files to examine")
        pn.check_place(chosen.fix_list)
    corpora = open_inputs(chosen, chosen.gold)
    with Progress("part", quiet=chosen.quiet) as progress:
        how = picked(chosen, "column", "fields", "folds", "runs", "seed", "threads", "evidence")
        found = pn.doctor(corpora, callback=progress, **how)
    if chosen.fix_list is not None:
        pn.replace_file(chosen.fix_list, found.to_table(chosen.limit).encode("utf-8"))
    if chosen.json:
        print_json(found.to_dict(chosen.limit))
        return
    terminal = output()
    shown = _SHOWN if chosen.limit is None else chosen.limit
    print(
        "\n".join([*report(found, shown, terminal), *written(found, chosen.fix_list, chosen.limit)])
    )


def report(found: pn.Diagnosis, limit: int, terminal: Terminal) -> list[str]:
    """Return the result as lines for a person."""
    lines = [
        f"column {found.column}: {found.labelled:,} labels in"
        f" {found.sentences:,} sentences, {counted(len(found.candidates), 'candidate error')}"
        f" ({percent(1 - found.agreement)})"
    ]
    lines = [terminal.line(line) for line in [*lines, *found.notes]]
    lines += wrapped(found.certainty, terminal, indent=0)
    arrow, ellipsis = ("→", "… and") if terminal.unicode else ("->", "and")
    for number, one in enumerate(found.candidates[:limit], 1):
        where = f"{one.path}:{one.line}" if one.line else f"{one.path}, word {one.index + 1}"
        begin, end = f"{number}. ", printable(f"  {one.gold} {arrow} {one.expected}")
        room = max(_SHORTEST_PATH, terminal.width - len(begin) - len(end))
        lines += [
            "",
            terminal.line(begin + shortened_inside(printable(where), room) + end, BOLD),
            terminal.line("   " + one.context, CYAN),
        ]
        lines += ["   " + line for line in wrapped(printable(one.reason), terminal)]
    more = len(found.candidates) - limit
    if more > 0:
        lines += ["", f"{ellipsis} {more:,} more (--limit, --fix-list)"]
    return lines


def wrapped(text: str, terminal: Terminal, indent: int = 3) -> list[str]:
    """Return the text in lines that can be indented; a terminal cuts longer words."""
    width = (terminal.width if terminal.bounded else DEFAULT_WIDTH) - indent
    lines = [""]
    # A number and its unit stay together.
    for word in re.split(" (?!%)", text):
        joined = f"{lines[-1]} {word}" if lines[-1] else word
        if len(joined) <= width:
            lines[-1] = joined
        else:
            lines.append(shortened(word, width) if terminal.bounded else word)
    return [line for line in lines if line]


def written(found: pn.Diagnosis, path: str | None, limit: int | None) -> list[str]:
    """Return the line about the table, if one was written."""
    if path is None:
        return []
    return ["", f"{printable(path)}: {counted(len(found.candidates[:limit]), 'candidate error')}"]
