"""``perceptron-nlp validate``: what breaks the rules of CoNLL-U and Universal Dependencies."""

from __future__ import annotations

import argparse
from collections import Counter

from perceptron_nlp._checks import check_int
from perceptron_nlp._display import counted, printable
from perceptron_nlp.cli.inputs import check_stdin, check_there
from perceptron_nlp.cli.parsing import QUIET, TO, Verb
from perceptron_nlp.cli.results import print_text, show
from perceptron_nlp.formats.ud_rules import RULES, Finding
from perceptron_nlp.formats.validation import Validator
from perceptron_nlp.pages.reports import Column, Figure, Report, Table

VALIDATE = Verb(
    """\
Check CoNLL-U by the rules of Universal Dependencies up to level 2: every line that breaks one, with
the cure. Exit status: 0 nothing found, 1 something found, 2 a file cannot be read.""",
    f"""\
FILES...  files of CoNLL-U, each judged by itself; - is standard input
--level N=2  1: the file alone (characters, lines, fields, IDs); 2: also metadata, text, values, the
    tree and the enhanced graph
--limit N=20  show the first N findings of each rule; 0 for all
{TO}
{QUIET}
""",
    """\
  perceptron-nlp validate train.conllu dev.conllu.xz
  perceptron-nlp validate gold.conllu --level 1
  perceptron-nlp validate gold.conllu --to json | jq .rules""",
)


def run_validate(chosen: argparse.Namespace) -> int:
    """Print the findings as they come, and how many there are; 1 if there are any."""
    check_int("limit", chosen.limit, 0, 1 << 31)
    check_there(chosen.files)
    check_stdin(chosen.files, quiet=chosen.quiet)
    counts: Counter[str] = Counter()
    kept: list[Finding] = []
    sentences = lines = 0
    for path in chosen.files:
        judged = Validator(path, chosen.level)
        for finding in judged.findings():
            counts[finding.rule] += 1
            if chosen.limit and counts[finding.rule] > chosen.limit:
                continue
            if chosen.to == "text":
                print_text(printable(str(finding)) + "\n")
            else:
                kept.append(finding)
        sentences += judged.sentences
        lines += judged.lines
    found = counts.total()
    title = f"{counted(found, 'finding')} in {counted(sentences, 'sentence')}"
    rows = [(rule, RULES[rule].level, count) for rule, count in counts.most_common()]
    rules = Table("rules", "", [Column("rule"), Column("level"), Column("count", "count")], rows)
    if chosen.to == "text":
        if not chosen.quiet or found:
            show(Report(title, tables=[rules] if rows else ()), chosen.to)
        return int(found > 0)
    figures = [Figure("findings", found), Figure("sentences", sentences), Figure("lines", lines)]
    columns = [Column(name) for name in ("path", "line", "level", "rule", "what", "cure")]
    show(Report(title, figures, [Table("found", "", columns, kept), rules]), chosen.to)
    return int(found > 0)
