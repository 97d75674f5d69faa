"""``perceptron-nlp inspect``: show what is in a model."""

from __future__ import annotations

import argparse

import perceptron_nlp as pn
from perceptron_nlp.analysis.inspection import TOP
from perceptron_nlp.cli.inputs import open_inputs
from perceptron_nlp.cli.parsing import QUIET, THREADS, TO, Verb, format_options, picked
from perceptron_nlp.cli.results import show

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
