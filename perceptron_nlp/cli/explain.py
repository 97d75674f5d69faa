"""``perceptron-nlp explain`` and ``serve``: why each token gets its label."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator

import perceptron_nlp as pn
from perceptron_nlp.analysis.serve import make_server
from perceptron_nlp.cli.inputs import (
    check_stdin,
    check_there,
    load_tagger,
    name_format,
    take_fields,
    take_segmenter,
)
from perceptron_nlp.cli.parsing import (
    FORMATS,
    LEXICON,
    QUIET,
    SERVE_LEXICON,
    TO,
    Verb,
    format_options,
)
from perceptron_nlp.cli.results import print_text, show
from perceptron_nlp.cli.terminal import output, serve_until_interrupted
from perceptron_nlp.pages.renderers import json_text
from perceptron_nlp.pages.reports import Column, Report, Table
from perceptron_nlp.pages.serving import HOSTS, PORT
from perceptron_nlp.tagger.explain.explanation import SHOWN
from perceptron_nlp.tagger.explain.render import page

EXPLAIN = Verb(
    """\
Show why each token gets its label: the contribution of each feature to the score of the label and
of the runner-up. The label is predicted by the model; labels in the text are ignored. Nothing is an
estimate: the contributions sum to the scores.""",
    f"""\
MODEL  a model file
[TEXT]  the text (default: standard input, which - stands for)
--column NAME  of a model of several columns, the one to explain (default: the first)
--top N  features shown one by one for each token, the heaviest (default: {SHOWN}; in json all)
{TO}
{LEXICON}
{format_options(FORMATS + "|text")}
{QUIET}
""",
    """\
  perceptron-nlp explain en.model new.conllu --to html > why.html
  echo "The old man the boats ." | perceptron-nlp explain en.model --format text
  perceptron-nlp explain en.model new.conllu --to json | jq '.sentences[0].words[0]'
  perceptron-nlp explain both.model new.conllu --column xpos --top 10""",
)


def run_explain(chosen: argparse.Namespace) -> None:
    """Read, explain, and print or write."""
    check_there([chosen.text])
    check_stdin([chosen.text, *filter(None, [chosen.lexicon])], quiet=True)
    tagger = load_tagger(chosen.model, chosen.lexicon, column=chosen.column)
    check_stdin([chosen.text], quiet=chosen.quiet)
    top = SHOWN if chosen.top is None and chosen.to != "json" else chosen.top
    found = _explanations(tagger, chosen, top)
    if chosen.to == "text":
        _print(found, top)
    elif chosen.to == "json":
        print_text(json_text({"sentences": [one.to_dict() for one in found]}), is_json=True)
    elif chosen.to == "html":
        column = chosen.column or tagger.column
        right_to_left = tagger.by_column[column].model.right_to_left
        title = f"Why these labels: {column}"
        print_text(page(found, top=top, right_to_left=right_to_left, title=title))
    else:
        reports = [one.report() for one in found if one]
        tables = [table for one in reports for table in one.tables]
        rows = [(number, *row) for number, table in enumerate(tables, 1) for row in table.rows]
        columns = [Column("sentence", "count"), *(tables[0].columns if tables else ())]
        show(
            Report(
                f"column {chosen.column or tagger.column}",
                tables=[Table("words", "", columns, rows)],
            ),
            chosen.to,
        )


def _explanations(
    tagger: pn.Tagger, chosen: argparse.Namespace, top: int | None
) -> Iterator[pn.Explanation]:
    """Explain all sentences."""
    # Refuses the column and the number before any reading.
    nothing = pn.Sentence([], {name: [] for name in tagger.feature_columns})
    tagger.explain(nothing, column=chosen.column, top=top)
    with pn.open_corpus(chosen.text, format=chosen.format, fields=chosen.fields) as corpus:
        if not chosen.quiet and chosen.format == "auto":
            name_format(corpus)
        take_fields(corpus, tagger.model, quiet=chosen.quiet)
        take_segmenter(corpus, tagger, quiet=chosen.quiet or chosen.format != "auto")
        sentences = list(corpus)
    window = tagger.window
    for at, sentence in enumerate(sentences):
        yield tagger.explain(
            sentence,
            column=chosen.column,
            top=top,
            before=sentences[max(0, at - window) : at],
            after=sentences[at + 1 : at + 1 + window],
        )


def _print(found: Iterator[pn.Explanation], top: int | None) -> None:
    terminal = output()
    is_first = True
    for explanation in found:
        if explanation:
            said = explanation.to_text(
                width=terminal.width, top=top, paint=terminal.paint, with_direction=is_first
            )
            print(said if is_first else "\n" + said)
            is_first = False


SERVE = Verb(
    """\
Serve a page, to this machine alone, on which one types a sentence and sees the labels of its
tokens, their confidences (if the model is calibrated), and why. Ctrl-C ends it. Needs the extra
web.""",
    f"""\
MODEL  a model file, or en
--port N={PORT}  where to listen; 0 for any port that is free
--host {"|".join(HOSTS)}={HOSTS[0]}  a name of this machine; others are not served
--spaces  split words at spaces and sentences at line ends (default: both are found as the model
    cuts text)
{SERVE_LEXICON}
""",
    """\
  perceptron-nlp serve en
  perceptron-nlp serve en.model --port 0""",
)


def run_serve(chosen: argparse.Namespace) -> None:
    """Serve until interrupted; the address goes to standard output."""
    check_stdin(list(filter(None, [chosen.lexicon])), quiet=True)
    tagger = load_tagger(chosen.model, chosen.lexicon)
    with make_server(
        tagger,
        name=os.path.basename(chosen.model),
        host=chosen.host,
        port=chosen.port,
        spaces=chosen.spaces,
    ) as server:
        serve_until_interrupted(server)
