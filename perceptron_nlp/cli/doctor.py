"""``perceptron-nlp doctor``: gold labels that are likely wrong."""

from __future__ import annotations

import argparse

import perceptron_nlp as pn
from perceptron_nlp._display import counted, printable
from perceptron_nlp.analysis.doctor.diagnosis import SHOWN
from perceptron_nlp.cli.inputs import check_apart, open_inputs
from perceptron_nlp.cli.parsing import QUIET, TO, UsageError, Verb, format_options, picked
from perceptron_nlp.cli.results import show
from perceptron_nlp.cli.terminal import Progress, say

DOCTOR = Verb(
    """\
Find labels that are likely wrong: those that taggers trained on the other sentences, and the same
words in the same context elsewhere, speak against. The likeliest errors come first.""",
    f"""\
GOLD...  labeled files, examined together; - is standard input
--column NAME  the column to examine (default: upos in CoNLL-U, else the last one)
--evidence NAMES  other columns of the files, right or mostly right, that the taggers see (default:
    those that --fields names; upos for feats)
--limit N  the first N candidate errors only (default: {SHOWN} for people, all in JSON, TSV
    and the table)
--fix-list FILE  write the candidate errors to FILE as a table to go through: a heading, then a line
    each, separated by tabs
--apply TABLE  examine nothing: write copies of GOLD with the labels that such a table expects, in
    all rows that were not deleted from it
--output DIR  with --apply: the folder for the copies
--folds N  judge each of N parts by taggers of the others (default: 10)
--runs N=1  taggers of each kind that judge a part
--seed N=1  decides the parts and the order of training
--threads N=1  parts that are scored at a time; the result does not depend on it
{TO}
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
    show(found.report(SHOWN if chosen.limit is None else chosen.limit), chosen.to)
    if chosen.fix_list is not None and not chosen.quiet:
        count = len(found.candidates[: chosen.limit])
        say(f"{chosen.fix_list}: {counted(count, 'candidate error')}")
