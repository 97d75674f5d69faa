"""``perceptron-nlp compare``: compare two taggers on gold text."""

from __future__ import annotations

import argparse

import perceptron_nlp as pn
from perceptron_nlp._checks import check_int
from perceptron_nlp.analysis.comparison import is_model_file
from perceptron_nlp.analysis.differences import SHOWN
from perceptron_nlp.cli.inputs import STDIN, check_stdin, check_there, open_inputs
from perceptron_nlp.cli.parsing import QUIET, THREADS, TO, Verb, format_options, picked
from perceptron_nlp.cli.results import show

COMPARE = Verb(
    """\
Compare two taggers on gold text: the difference, where it is, and whether it may be chance.""",
    f"""\
A  a model file, or the sentences of TEST as labeled by another tagger
B  the same for the other tagger
TEST...  labeled files; - is standard input
--column NAME  the column to compare, labeled by itself, as by tag --column (default: the one that
    was learned, of several the first that both fill, labeled with the others, as by tag)
{format_options()}
--limit N={SHOWN}  show at most N of the tokens that changed
--seed N=1  of the tests' random numbers
{TO}
{THREADS}
{QUIET}
""",
    """\
  perceptron-nlp compare old.model new.model test.conllu
  perceptron-nlp compare en.model theirs.conllu test.conllu --limit 100
  perceptron-nlp compare a.model b.model test.conllu --to json | jq .p_value""",
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
    show(result.report(systems, chosen.limit), chosen.to)
