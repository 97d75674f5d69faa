"""``perceptron-nlp study``: the perceptron family on a corpus, as a page with pictures."""

from __future__ import annotations

import argparse
import time

from perceptron_nlp._display import printable, shortened
from perceptron_nlp.cli.inputs import open_inputs
from perceptron_nlp.cli.parsing import QUIET, Verb, format_options
from perceptron_nlp.cli.terminal import messages, say
from perceptron_nlp.perceptrons.study.corpus import TOKENS, read_study_corpus, sample_files
from perceptron_nlp.perceptrons.study.experiments import study_corpus
from perceptron_nlp.perceptrons.study.report import check_libraries, made_folder, write_report

STUDY = Verb(
    """\
Run last, voted and averaged perceptrons on a corpus; write one HTML page and PNGs.""",
    f"""\
[DATA...]  labeled files (default: the sample corpus, if it is there)
--dev FILE  a labeled file to test on (default: every tenth sentence of DATA)
--column NAME  the column to learn (default: upos in CoNLL-U, else the last one)
{format_options()}
--tokens N={TOKENS}  tokens to learn from at most, and a fifth of it to test on; of more, sentences
    are left out evenly; voting takes time by its square
--out DIR=study  the folder for the page and its pictures
{QUIET}
""",
    """\
  perceptron-nlp study train.conllu --dev dev.conllu --column xpos --out xpos-study
  perceptron-nlp study chunks.txt --fields form,xpos,chunk
  perceptron-nlp study""",
)


def run_study(chosen: argparse.Namespace) -> None:
    """Check everything, study, write; the name of the page goes to standard output."""
    check_libraries()
    paths, dev = list(chosen.data), chosen.dev
    if not paths and dev is None:
        paths, dev = sample_files()
    opened = open_inputs(chosen, [*paths, *([] if dev is None else [dev])])
    corpus = read_study_corpus(
        opened[: len(paths)],
        column=chosen.column,
        dev=opened[-1] if dev is not None else None,
        tokens=chosen.tokens,
    )
    made_folder(chosen.out)
    progress = _Progress(chosen.quiet)
    found = study_corpus(corpus, say=progress)
    progress("drawing")
    print(printable(str(write_report(found, chosen.out)[0])))


class _Progress:
    """Prints each step with the seconds so far."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._began = time.monotonic()

    def __call__(self, text: str) -> None:
        if not self._quiet:
            seconds = time.monotonic() - self._began
            say(shortened(f"{seconds:5.0f} s  {text}", messages().width))
