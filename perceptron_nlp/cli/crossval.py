"""``perceptron-nlp crossval`` and ``curve``: accuracy without a test set, and with more text."""

from __future__ import annotations

import argparse
import math
import os
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import percent, points, printable
from perceptron_nlp.analysis.crossvalidation import FOLDS
from perceptron_nlp.analysis.folds import FOLDS as CURVE_FOLDS
from perceptron_nlp.analysis.learningcurve import CHARTS, SIZES
from perceptron_nlp.cli.evaluate import page
from perceptron_nlp.cli.inputs import check_apart, check_there, open_inputs
from perceptron_nlp.cli.parsing import (
    JSON,
    QUIET,
    UsageError,
    Verb,
    VerbParser,
    format_options,
    picked,
)
from perceptron_nlp.cli.terminal import (
    BOLD,
    CYAN,
    DEFAULT_WIDTH,
    Progress,
    Terminal,
    output,
    print_json,
    say,
)
from perceptron_nlp.cli.training import LEARNING, add_options, options_given

OPTIONS = (*LEARNING, "raw", "lexicon")
_THREADS = """\
--threads N  trainings at a time; the result does not depend on it (default: one a processor)"""


def _training(parser: VerbParser) -> None:
    add_options(parser, OPTIONS)
    parser.declare(QUIET)


CROSSVAL = Verb(
    """\
Evaluate a training without a test set: cut the files into parts, hold each of them out in turn, and
test on it what is trained on the others. Options of training are those of train.""",
    f"""\
FILE...  labeled files; - is standard input
--folds N  parts; documents stay whole if they are marked and there are enough (default: {FOLDS}, or
    fewer in a small text)
--column NAME  the column to learn (default: upos in CoNLL-U, else the last one); several, separated
    by commas; all: every column of tags and lemmas
--all-labels  list labels that occur in no gold text, too
{_THREADS}
{JSON}
{format_options()}
""",
    """\
  perceptron-nlp crossval mine.conllu
  perceptron-nlp crossval mine.conllu --folds 5 --column upos,xpos,feats
  perceptron-nlp crossval mine.conllu --preset accurate --json | jq .mean""",
    _training,
)


def run_crossval(chosen: argparse.Namespace) -> None:
    """Train and test fold by fold, and print."""
    options = _prepared(chosen, chosen.file)
    corpora = open_inputs(chosen, chosen.file)
    with Progress("fold", quiet=chosen.quiet) as progress:
        how = picked(chosen, "folds", "column", "fields", "threads")
        found = pn.cross_validate(corpora, callback=progress, **how, **options)
    if chosen.json:
        print_json(found.to_dict())
        return
    terminal = output()
    for remark in () if chosen.quiet else found.remarks:
        say(remark)
    columns = list(found.by_column.values())
    for column in columns:
        print("\n".join([*fold_lines(column, terminal), ""]))
        lines = page(
            column.pooled, terminal, all_labels=chosen.all_labels, heading="all folds together"
        )
        print(lines, end="\n\n")
    if len(columns) > 1:
        share = pn.Evaluation.all_tags(column.pooled for column in columns)
        print(terminal.line(f"all columns right: {percent(share)}", BOLD))


def _prepared(chosen: argparse.Namespace, inputs: list[str]) -> dict[str, Any]:
    """Return the options of training, once all files are there."""
    check_there([*inputs, *chosen.raw, *([] if chosen.lexicon is None else [chosen.lexicon])])
    return options_given(chosen, OPTIONS)


def fold_lines(found: pn.CrossValidation, terminal: Terminal) -> list[str]:
    """Return the mean over the folds with their spread, and the least and the greatest."""
    what = "accuracy" if found.measure == "accuracy" else "F1 of spans"
    return [
        terminal.line(f"column {found.column}, {what} in {len(found.folds)} folds:", BOLD),
        terminal.line(
            f"{percent(found.mean)} on average, standard deviation {points(found.spread)},"
            f" from {points(min(found.scores))} to {percent(max(found.scores))}"
        ),
    ]


CURVE = Verb(
    """\
Show how accuracy grows with the training text, and what twice as much would give: train on more and
more of the sentences, and test on a test set or on parts that are held out in turn.""",
    f"""\
FILE...  labeled files; - is standard input
--test TEST  a labeled file to test on
--folds N  without --test: hold out each of N parts in turn (default: {CURVE_FOLDS}, or fewer in a
    small text)
--sizes X,Y,…  shares of the sentences to train on (default: 0.01,0.02,0.05,0.1,0.2,0.5,1)
--column NAME  the column to learn (default: upos in CoNLL-U, else the last one)
--chart OUT  write the curve to OUT, a picture (.svg, .png) or a page (.html), too (needs the extra
    report)
{_THREADS}
{JSON}
{format_options()}
""",
    """\
  perceptron-nlp curve mine.conllu
  perceptron-nlp curve train.conllu --test test.conllu --chart curve.svg
  perceptron-nlp curve train.conllu --test test.conllu --sizes 0.25,0.5,0.75,1""",
    _training,
)


def run_curve(chosen: argparse.Namespace) -> None:
    """Train and test size by size, draw, print."""
    inputs = [*chosen.file, *([] if chosen.test is None else [chosen.test])]
    options = _prepared(chosen, inputs)
    if chosen.chart is not None:
        if os.path.splitext(chosen.chart)[1].lower() not in CHARTS:
            raise UsageError(f"--chart: {chosen.chart} does not end in {', '.join(CHARTS)}")
        check_apart(chosen.chart, inputs, "one of the labeled files")
        pn.check_place(chosen.chart)
    corpora = open_inputs(chosen, inputs)
    n_data = len(chosen.file)
    with Progress("training", quiet=chosen.quiet) as progress:
        found = pn.learning_curve(
            corpora[:n_data],
            test=corpora[n_data:] or None,
            callback=progress,
            sizes=chosen.sizes or SIZES,
            **picked(chosen, "folds", "column", "fields", "threads"),
            **options,
        )
    if chosen.chart is not None:
        found.save_chart(chosen.chart)
    if chosen.json:
        print_json(found.to_dict())
        return
    terminal = output()
    for remark in () if chosen.quiet else found.remarks:
        say(remark)
    lines = [*plot(found, terminal), "", *point_table(found, terminal), *forecasts(found, terminal)]
    print("\n".join(lines))
    if chosen.chart is not None and not chosen.quiet:
        say(f"{printable(chosen.chart)}: written")


_HEIGHT = 12
_AXIS = 8


def plot(found: pn.LearningCurve, terminal: Terminal) -> list[str]:
    """Draw accuracy over the logarithm of the size; in a pipe, in ASCII and 80 columns wide."""
    in_color = terminal.bounded and terminal.unicode
    dot, ring, line, corner, floor = "●○│└─" if in_color else "*o|+-"
    width = min(terminal.width if terminal.bounded else DEFAULT_WIDTH, DEFAULT_WIDTH) - _AXIS - 3
    marks = [(point.tokens, point.accuracy, dot) for point in found.points]
    if found.next_doubling is not None:
        marks.append((found.next_doubling.tokens, found.next_doubling.accuracy, ring))
    columns = _columns([tokens for tokens, _, _ in marks], width)
    low, high = (end(accuracy for _, accuracy, _ in marks) for end in (min, max))
    room = max(high - low, 0.01)
    cells = [[" "] * width for _ in range(_HEIGHT)]
    for column, (_, accuracy, mark) in zip(columns, marks, strict=True):
        cells[round((high - accuracy) / room * (_HEIGHT - 1))][column] = mark
    what = f"column {found.column}, accuracy by tokens of training text"
    lines = [terminal.line(f"{what} ({dot} measured, {ring} forecast)", BOLD)]
    for number, row in enumerate(cells):
        share = high - room * number / (_HEIGHT - 1)
        head = percent(share, 1) if number % 3 == 0 or number == _HEIGHT - 1 else ""
        text = terminal.paint("".join(row).rstrip(), CYAN)
        lines.append(f"{head:>{_AXIS}} {line}{text}")
    lines.append(f"{'':{_AXIS}} {corner}{floor * width}")
    names = [" "] * (width + _AXIS)
    free = 0
    for column, (tokens, _, _) in zip(columns, marks, strict=True):
        name = _short(tokens)
        start = max(0, column - len(name) // 2)
        if start >= free:
            names[start : start + len(name)] = name
            free = start + len(name) + 1
    return [*lines, (" " * (_AXIS + 2) + "".join(names)).rstrip()]


def _columns(sizes: list[float], width: int) -> list[int]:
    """Return the column of each size, the logarithms being evenly spread."""
    if sizes[-1] <= sizes[0]:
        return [0] * len(sizes)
    span = math.log(sizes[-1] / sizes[0])
    return [round(math.log(size / sizes[0]) / span * (width - 1)) for size in sizes]


def _short(count: float) -> str:
    """Return a count in at most four characters or so: ``980``, ``5.2k``, ``51k``, ``1.2M``."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if count >= unit:
            return f"{count / unit:.1f}{name}" if count < 10 * unit else f"{count / unit:.0f}{name}"
    return f"{count:.0f}"


def point_table(found: pn.LearningCurve, terminal: Terminal) -> list[str]:
    """Return a line for each size, and one for twice the largest."""
    dash = "–" if terminal.bounded and terminal.unicode else "-"
    head = "  share  sentences     tokens  accuracy   known  unknown"
    lines = [terminal.line(head + ("  deviation" if found.folds else ""), BOLD)]
    for point in found.points:
        known, unknown = (
            dash if share is None else points(share)
            for share in (point.known_accuracy, point.unknown_accuracy)
        )
        line = (
            f"{100 * point.share:>5.4g} %  {point.sentences:9,.0f}  {point.tokens:9,.0f}"
            f"  {points(point.accuracy):>8}  {known:>6}  {unknown:>7}"
        )
        lines.append(terminal.line(line + (f"  {points(point.spread):>9}" if found.folds else "")))
    forecast = found.next_doubling
    if forecast is not None:
        share = 200 * found.points[-1].share
        lines.append(
            terminal.line(
                f"{share:>5.4g} %  {'':9}  {forecast.tokens:9,.0f}"
                f"  {points(forecast.accuracy):>8}  forecast"
            )
        )
    if found.folds:
        held = f"each line: the mean of {found.folds} trainings, each tested on a part held out"
        lines.append(terminal.line(held))
    return lines


def forecasts(found: pn.LearningCurve, terminal: Terminal) -> list[str]:
    """Return how far forecasts of the sizes that were measured were off."""
    past = found.past_forecasts
    if not past:
        return []
    off = [abs(one.accuracy - (one.measured or 0.0)) for one in past]
    return [
        "",
        terminal.line(
            f"forecasts from smaller sizes: off by {points(sum(off) / len(off))} points on"
            f" average, {points(off[-1])} at the last"
        ),
    ]
