"""``perceptron-nlp compare``: compare two taggers on gold text."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

import perceptron_nlp as pn
from perceptron_nlp._checks import check_int
from perceptron_nlp._display import p_value, percent, points, printable
from perceptron_nlp.analysis.comparison import is_model_file
from perceptron_nlp.analysis.differences import Change, Score
from perceptron_nlp.analysis.significance import ROUNDS
from perceptron_nlp.cli.inputs import STDIN, check_stdin, check_there, open_inputs
from perceptron_nlp.cli.parsing import JSON, QUIET, THREADS, Verb, format_options, picked
from perceptron_nlp.cli.terminal import BOLD, Terminal, output, print_json, shortened_inside

SIGNIFICANT = 0.05
_SHOWN = 20
_FIGURES = "F1 of A   F1 of B  gained   lost   support"
_LONGEST_LABEL = 24
_LONGEST_WORD = 20
_SHORTEST_PATH = 12


COMPARE = Verb(
    """\
Compare two taggers on gold text: the difference, where it is, and whether it may be chance.""",
    f"""\
A  a model file, or the sentences of TEST as labeled by another tagger
B  the same for the other tagger
TEST...  labeled files; - is standard input
--column NAME  the column to compare (default: the one that was learned, of several the first that
    both fill)
{format_options()}
--limit N={_SHOWN}  show at most N of the tokens that changed
--seed N=1  of the tests' random numbers
{JSON}
{THREADS}
{QUIET}
""",
    """\
  perceptron-nlp compare old.model new.model test.conllu
  perceptron-nlp compare en.model theirs.conllu test.conllu --limit 100
  perceptron-nlp compare a.model b.model test.conllu --json | jq .tests""",
)


def run_compare(chosen: argparse.Namespace) -> None:
    """Compare and print."""
    check_int("limit", chosen.limit, 0, 1 << 31)
    systems = [chosen.a, chosen.b]
    check_there([*systems, *chosen.test])
    check_stdin([*systems, *chosen.test], quiet=True)
    labeled = [path for path in systems if path == STDIN or not is_model_file(path)]
    opened = open_inputs(chosen, [*labeled, *chosen.test])
    texts = iter(opened)
    a, b = (next(texts) if path in labeled else path for path in systems)
    how = picked(chosen, "column", "fields", "threads", "seed")
    result = pn.compare(a, b, list(texts), **how)
    if chosen.json:
        print_json({"a": chosen.a, "b": chosen.b, **result.to_dict(limit=chosen.limit)})
        return
    terminal = output()
    print(
        "\n".join(
            [
                *summary(result, systems, terminal),
                *label_table(result, terminal),
                *change_table(result, chosen.limit, terminal),
            ]
        )
    )


def summary(result: pn.Comparison, names: Sequence[str], terminal: Terminal) -> list[str]:
    """Return lines with both scores, their difference, and the tests of it."""
    lines = [terminal.line(f"column {result.column}, {result.tokens:,} tokens", BOLD)]
    figures = [("accuracy", result.accuracy)]
    if result.f1 is not None:
        figures.append(("F1", result.f1))
    for measure, score in figures:
        lines += map(terminal.line, _score(measure, score, names, terminal.width))
    if result.unlabeled:
        lines.append(terminal.line(f"{result.unlabeled:,} tokens without a gold label left out"))
    words = (
        f"tokens correct in B alone {result.gained:,}, in A alone {result.lost:,}:"
        f" {p_value(result.mcnemar)} (McNemar's exact test)"
    )
    swaps = (
        f"sentences swapped {ROUNDS:,} times: {p_value(result.main.p_value)}"
        " (approximate randomization)"
    )
    return [*lines, *map(terminal.line, (words, swaps)), terminal.line(verdict(result), BOLD)]


def _score(measure: str, score: Score, names: Sequence[str], width: int) -> list[str]:
    rows = [
        ("A", score.a, score.interval_a, printable(names[0])),
        ("B", score.b, score.interval_b, printable(names[1])),
    ]
    lines = []
    for letter, value, (low, high), name in rows:
        line = (
            f"{letter}  {measure:<8} {percent(value):>8}  (95 %: {points(low)} to {points(high)})  "
        )
        lines.append(line + shortened_inside(name, max(_SHORTEST_PATH, width - len(line))))
    low, high = score.interval_difference
    lines.append(
        f"B less A {points(score.difference, sign=True):>6}    (95 %: {points(low, sign=True)} to"
        f" {points(high, sign=True)})"
    )
    return lines


def verdict(result: pn.Comparison) -> str:
    """Return the comparison in a sentence."""
    score = result.main
    if not result.changes:
        return "A and B give the same labels."
    if score.difference == 0:
        return "A and B are equally good."
    better = "B" if score.difference > 0 else "A"
    if score.p_value <= SIGNIFICANT:
        return f"{better} is better: chance alone would hardly do this."
    return f"{better} scored higher, but that may well be chance."


def label_table(result: pn.Comparison, terminal: Terminal) -> list[str]:
    """Return a line for each label that differs, the greatest differences first."""
    rows = {
        printable(label): d
        for label, d in result.labels.items()
        if d.gained or d.lost or d.f1_a != d.f1_b
    }
    if not rows:
        return []
    what = "label" if result.f1 is None else "span"
    longest = max(len(what), *map(len, rows))
    if terminal.bounded:
        longest = min(longest, _LONGEST_LABEL, terminal.width - len(_FIGURES) - 2)
    width = max(5, longest)
    lines = ["", terminal.line(f"{what:<{width}}  {_FIGURES}", BOLD)]
    order = sorted(
        rows.items(), key=lambda row: (-abs(row[1].gained - row[1].lost), -row[1].gained, row[0])
    )
    for label, d in order:
        lines.append(
            terminal.line(
                f"{shortened_inside(label, width):<{width}}"
                f"  {points(d.f1_a):>7}   {points(d.f1_b):>7}"
                f"  {d.gained:6,} {d.lost:6,}  {d.support:8,}"
            )
        )
    return lines


def change_table(result: pn.Comparison, limit: int, terminal: Terminal) -> list[str]:
    """Return a line for each token that changed, with its location and its context."""
    shown = result.changes[:limit]
    if not shown:
        return []
    rows = [["location", "token", "gold", "A", "B"]]
    rows += [[printable(text) for text in (_place(c), c.word, c.gold, c.a, c.b)] for c in shown]
    if terminal.bounded:
        # The labels matter most: if there is too little room, paths are cut.
        most = [_LONGEST_WORD, *[_LONGEST_LABEL] * 3]
        rows = [[row[0], *map(shortened_inside, row[1:], most)] for row in rows]
        others = sum(max(len(row[i]) for row in rows) + 2 for i in range(1, len(rows[0])))
        room = max(_SHORTEST_PATH, terminal.width - others - 2)
        rows = [[shortened_inside(row[0], room), *row[1:]] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    room = terminal.width - sum(width + 2 for width in widths)
    around = ["", *(_context(change, room) for change in shown)]
    lines = [
        "".join(f"{cell:<{width}}  " for cell, width in zip(row, widths, strict=True)) + words
        for row, words in zip(rows, around, strict=True)
    ]
    head = f"tokens that changed: {len(result.changes):,}"
    if len(shown) < len(result.changes):
        head += f", the first {len(shown):,} of them (--limit shows more)"
    return ["", terminal.line(head, BOLD), *(terminal.line(line.rstrip()) for line in lines)]


def _place(change: Change) -> str:
    return f"{change.path}:{change.line}" if change.line else f"sentence {change.sentence}"


def _context(change: Change, room: int) -> str:
    """Return the token in brackets, with as much context as there is room for."""
    most = max(len(change.before), len(change.after))
    for n in range(most, -1, -1):
        before = change.before[max(0, len(change.before) - n) :]
        text = printable(" ".join([*before, f"[{change.word}]", *change.after[:n]]))
        if len(text) <= room:
            return text
    return ""
