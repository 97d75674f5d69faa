"""``perceptron-nlp evaluate``: a tagger's labels, or what it makes of text, against gold ones."""

from __future__ import annotations

import argparse
import os
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp._display import counted
from perceptron_nlp.analysis.comparison import is_model_file
from perceptron_nlp.cli.inputs import (
    STDIN,
    ReadProgress,
    check_apart,
    check_stdin,
    check_there,
    load_tagger,
    open_inputs,
)
from perceptron_nlp.cli.parsing import (
    LEXICON,
    QUIET,
    THREADS,
    TO,
    UsageError,
    Verb,
    format_options,
    picked,
)
from perceptron_nlp.cli.results import show
from perceptron_nlp.cli.terminal import say
from perceptron_nlp.formats import begins_like_tensors

EVALUATE = Verb(
    """\
Compare a tagger's labels with gold ones.""",
    f"""\
MODEL  a model file; several before TEST, such as of several seeds, give means, deviations, and a
    test of each pair; or CoNLL-U that any program made of the text of TEST (- is standard input),
    which is scored as with --from-text
TEST...  labeled files; - is standard input
--column NAME  the column with the gold labels, by name or number; of several that the model fills,
    this one is labeled by itself, as by tag --column (default: the one, or all together, as by tag)
{LEXICON}
{format_options()}
--calibration  compare confidences with accuracy: of tokens with a confidence of 0.9, nine in ten
    should be right (the model must be calibrated)
--errors OUT  write all mistakes to OUT as a table separated by tabs: place, column, token, gold and
    predicted label, confidence if the model is calibrated, and the words around; the most frequent
    confusions come first
--all  details of all columns, with all labels and errors
--report DIR  write all of it as a page of HTML, DIR/index.html, with its charts next to it; an
    earlier report there is replaced (needs the extra report)
--from-text  from the running text of TEST, which is CoNLL-U: F1 of tokens, sentences, words and
    columns by the definition of the CoNLL 2018 shared task
{TO}
{THREADS}
{QUIET}
""",
    """\
  perceptron-nlp evaluate en.model test.conllu
  perceptron-nlp evaluate en.model test.conllu --to json | jq .accuracy
  perceptron-nlp evaluate en.model test.conllu --calibration
  perceptron-nlp evaluate en.model test.conllu --errors errors.tsv
  perceptron-nlp evaluate en.model test.conllu --report report
  perceptron-nlp evaluate en.model test.conllu --from-text
  perceptron-nlp evaluate seed1.model seed2.model seed3.model test.conllu
  perceptron-nlp evaluate system.conllu gold.conllu
  perceptron-nlp evaluate chunk.model test.txt --fields form,xpos,chunk""",
)


def run_evaluate(chosen: argparse.Namespace) -> None:
    """Evaluate and print."""
    models = [chosen.model]
    while len(chosen.test) > 1 and is_model_file(chosen.test[0]):
        models.append(chosen.test.pop(0))
    if len(models) > 1:
        _evaluate_models(models, chosen)
        return
    is_output = is_conllu(chosen.model)
    if is_output or chosen.from_text:
        _check_for_text(chosen, is_output)
        _check_errors(chosen)
        check_stdin([chosen.model, *chosen.test], quiet=chosen.quiet)
        if is_output:
            scores = pn.text_scores(chosen.test, chosen.model)
        else:
            tagger = load_tagger(chosen.model, chosen.lexicon)
            scores = tagger.evaluate_text(chosen.test, threads=chosen.threads)
        _write_errors(scores.columns, chosen)
        show(scores.report(everything=chosen.all), chosen.to)
        return
    check_stdin([*chosen.test, *filter(None, [chosen.lexicon])], quiet=True)
    _check_errors(chosen)
    tagger = load_tagger(chosen.model, chosen.lexicon, column=chosen.column)
    with ReadProgress(chosen.test, quiet=chosen.quiet) as progress:
        corpora = open_inputs(chosen, chosen.test, tagger.model, progress)
        how: dict[str, Any] = {
            "fields": chosen.fields,
            "threads": chosen.threads,
            "calibration": chosen.calibration,
            "mistakes": chosen.errors is not None,
        }
        if chosen.report is not None:
            results = _reported(tagger, corpora, chosen)
        elif chosen.column is None and len(tagger.columns) > 1:
            results = tagger.evaluate_columns(corpora, **how)
        else:
            one = tagger.evaluate(corpora, column=chosen.column, **how)
            results = pn.Evaluations({one.column: one})
    _write_errors(results, chosen)
    show(results.report(everything=chosen.all), chosen.to)


def _evaluate_models(models: list[str], chosen: argparse.Namespace) -> None:
    """Evaluate several models and print."""
    given = {
        "--calibration": chosen.calibration,
        "--errors": chosen.errors,
        "--report": chosen.report,
        "--lexicon": chosen.lexicon,
        "--all": chosen.all,
    }
    for option, value in given.items():
        if value:
            raise UsageError(f"{option}: is of one model; name one, or leave it out")
    check_there([*models, *chosen.test])
    check_stdin(chosen.test, quiet=True)
    corpora = open_inputs(chosen, chosen.test)
    how = picked(chosen, "column", "fields", "threads", "from_text")
    show(pn.evaluate_models(models, corpora, **how).report(), chosen.to)


def _check_errors(chosen: argparse.Namespace) -> None:
    """Check before the work that the table of mistakes can be written."""
    if chosen.errors is None:
        return
    if chosen.report is not None:
        raise UsageError("--errors does not go with --report; run them one after the other")
    check_apart(chosen.errors, [chosen.model, *chosen.test], "one of the files to compare")
    pn.check_place(chosen.errors)


def _write_errors(results: pn.Evaluations, chosen: argparse.Namespace) -> None:
    """Write the table of mistakes if it is asked for."""
    if chosen.errors is None:
        return
    pn.replace_file(chosen.errors, results.mistakes_table().encode("utf-8"))
    if not chosen.quiet:
        count = sum(len(result.mistakes or ()) for result in results.values())
        say(f"{chosen.errors}: {counted(count, 'mistake')}")


def is_conllu(path: str) -> bool:
    """Return True for standard input and for a file that is CoNLL-U, not a model."""
    if path == STDIN:
        return True
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as file:
        if begins_like_tensors(file.read(9)):
            return False
    try:
        with pn.open_corpus(path) as corpus:
            return corpus.format == "conllu"
    except pn.FormatError:
        return False


def _check_for_text(chosen: argparse.Namespace, is_output: bool) -> None:
    """Raise UsageError for options that say nothing of running text."""
    given = {
        "--column": chosen.column,
        "--fields": chosen.fields,
        "--format": chosen.format != "auto" and chosen.format != "conllu",
        "--calibration": chosen.calibration,
        "--report": chosen.report,
        "--lexicon": is_output and chosen.lexicon,
    }
    what = f"{chosen.model} as CoNLL-U" if is_output else "--from-text"
    for option, value in given.items():
        if value:
            raise UsageError(f"{option} does not go with {what}; leave it out")


def _reported(
    tagger: pn.Tagger, corpora: list[pn.Corpus], chosen: argparse.Namespace
) -> pn.Evaluations:
    """Write the report and return its scores."""
    if chosen.calibration:
        # Refused before the work if a model is not calibrated.
        for part in tagger.by_column.values():
            part.confidences([])
    written = pn.report(
        tagger,
        corpora,
        chosen.report,
        column=chosen.column,
        fields=chosen.fields,
        threads=chosen.threads,
        title=f"Accuracy of {os.path.basename(chosen.model)}",
    )
    if not chosen.quiet:
        size = sum(page.stat().st_size for page in written.pages)
        pages = "" if len(written.pages) == 1 else f" in {len(written.pages)} pages"
        say(f"{written.page}: {size:,} bytes{pages}, and {len(written.pictures)} pictures")
    if not chosen.calibration:
        for result in written.evaluations.values():
            result.calibration = None
    return written.evaluations
