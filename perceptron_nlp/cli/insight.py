"""``perceptron-nlp compare``, ``inspect`` and ``doctor``: look into taggers and gold labels."""

from __future__ import annotations

import argparse

import perceptron_nlp as pn
from perceptron_nlp._checks import check_int
from perceptron_nlp._display import counted, printable
from perceptron_nlp.analysis.comparison import is_model_file
from perceptron_nlp.analysis.differences import SHOWN as SHOWN_CHANGES
from perceptron_nlp.analysis.doctor.diagnosis import SHOWN as SHOWN_ERRORS
from perceptron_nlp.analysis.inspection import TOP
from perceptron_nlp.cli.inputs import STDIN, check_apart, check_stdin, check_there, open_inputs
from perceptron_nlp.cli.parsing import QUIET, THREADS, TO, UsageError, Verb, format_options, picked
from perceptron_nlp.cli.results import show
from perceptron_nlp.cli.terminal import Progress, say

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
--limit N={SHOWN_CHANGES}  show at most N of the tokens that changed
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


INSPECT = Verb(
    """\
Show what is in a model: labels, templates, sizes, its file, and how it was trained; with text, what
each template is worth and which features weigh most.""",
    f"""\
MODEL  a model file
--dev DEV  a labeled file: measure the accuracy lost on it without each template (nothing is trained
    again)
--label LABEL  show the features with most weight for or against this label among those that --text
    or --dev has: a model holds only hashes of features
--text FILE  a file to find features in, labeled or not (default: the file of --dev)
--top N={TOP}  with --label, show N features
{TO}
{format_options("auto|conllu|columns|tagged|text")}
{THREADS}
{QUIET}
""",
    """\
  perceptron-nlp inspect en.model
  perceptron-nlp inspect en.model --dev dev.conllu
  perceptron-nlp inspect en.model --label NOUN --text some.txt --top 50
  perceptron-nlp inspect en.model --to json | jq .record.epochs""",
)


def run_inspect(chosen: argparse.Namespace) -> None:
    """Read the model and print."""
    texts = [path for path in (chosen.dev, chosen.text) if path is not None]
    corpora = open_inputs(chosen, texts)
    found = pn.inspect(
        chosen.model,
        dev=None if chosen.dev is None else corpora[0],
        text=None if chosen.text is None else corpora[-1],
        **picked(chosen, "label", "top", "fields", "threads"),
    )
    show(found.report(), chosen.to)


DOCTOR = Verb(
    """\
Find labels that are likely wrong: those that taggers trained on the other sentences, and the same
words in the same context elsewhere, speak against. The likeliest errors come first.""",
    f"""\
GOLD...  labeled files, examined together; - is standard input
--column NAME  the column to examine (default: upos in CoNLL-U, else the last one), or tokens: how
    text between spaces is cut into tokens and words
--contexts  only words that have the expected label elsewhere, between the same neighbors
--evidence NAMES  other columns of the files, right or mostly right, that the taggers see (default:
    those that --fields names; upos for feats)
--limit N  the first N candidate errors only (default: {SHOWN_ERRORS} for people, all in JSON, TSV
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
  perceptron-nlp doctor train.conllu --column tokens
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
        how = picked(
            chosen, "column", "fields", "folds", "runs", "seed", "threads", "evidence", "contexts"
        )
        found = pn.doctor(corpora, callback=progress, **how)
    if chosen.fix_list is not None:
        pn.replace_file(chosen.fix_list, found.to_table(chosen.limit).encode("utf-8"))
    show(found.report(SHOWN_ERRORS if chosen.limit is None else chosen.limit), chosen.to)
    if chosen.fix_list is not None and not chosen.quiet:
        count = len(found.candidates[: chosen.limit])
        say(f"{chosen.fix_list}: {counted(count, 'candidate error')}")
