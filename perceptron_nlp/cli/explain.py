"""``perceptron-nlp explain`` and ``serve``: why each token gets its label."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator

import perceptron_nlp as pn
from perceptron_nlp.analysis.serve import make_server
from perceptron_nlp.cli.inputs import (
    check_apart,
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
    UsageError,
    Verb,
    format_options,
)
from perceptron_nlp.cli.terminal import output, print_json, serve_until_interrupted
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
--top N  features shown one by one for each token, the heaviest (default: {SHOWN}; with --json all)
--html FILE  write a page of HTML instead (needs the extra report)
--json  one JSON object
{LEXICON}
{format_options(FORMATS + "|text")}
{QUIET}
""",
    """\
  perceptron-nlp explain en.model new.conllu --html why.html
  echo "The old man the boats ." | perceptron-nlp explain en.model --format text
  perceptron-nlp explain en.model new.conllu --json | jq '.sentences[0].words[0]'
  perceptron-nlp explain both.model new.conllu --column xpos --top 10""",
)


def run_explain(chosen: argparse.Namespace) -> None:
    """Read, explain, and print or write."""
    check_there([chosen.text])
    check_stdin([chosen.text, *filter(None, [chosen.lexicon])], quiet=True)
    if chosen.html is not None and chosen.json:
        raise UsageError("--html, --json: only one of them can be given")
    if chosen.html is not None:
        check_apart(chosen.html, [chosen.model], "the model")
        check_apart(chosen.html, [chosen.text], "the text")
        check_apart(chosen.html, filter(None, [chosen.lexicon]), "the lexicon")
        pn.check_place(chosen.html)
    elif sys.stdout is None:
        raise pn.FileError("<stdout>: is closed; name a file with --html")
    tagger = load_tagger(chosen.model, chosen.lexicon, column=chosen.column)
    check_stdin([chosen.text], quiet=chosen.quiet)
    top = SHOWN if chosen.top is None and not chosen.json else chosen.top
    found = _explanations(tagger, chosen, top)
    if chosen.html is not None:
        text = page(
            found,
            top=top,
            right_to_left=tagger.by_column[chosen.column or tagger.column].model.right_to_left,
            title=f"Why these labels: {tagger.column}"
            if chosen.column is None
            else f"Why these labels: {chosen.column}",
        )
        pn.replace_file(chosen.html, text.encode())
    elif chosen.json:
        print_json({"sentences": [explanation.to_dict() for explanation in found]})
    else:
        _print(found, top)


def _explanations(
    tagger: pn.Tagger, chosen: argparse.Namespace, top: int | None
) -> Iterator[pn.Explanation]:
    """Explain all sentences."""
    # Refuses the column and the number before any reading.
    tagger.explain([], column=chosen.column, top=top)
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
    has learned, or by rules)
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
