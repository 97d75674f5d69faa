"""``perceptron-nlp explain``: why a tagger gives its labels."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

import perceptron_nlp as pn
from perceptron_nlp.analysis.serve import HOSTS, PORT, make_server
from perceptron_nlp.cli.inputs import (
    STDIN,
    check_apart,
    check_stdin,
    check_there,
    load_tagger,
    name_format,
    take_fields,
)
from perceptron_nlp.cli.parsing import (
    FORMATS,
    VerbParser,
    add_format_options,
    add_lexicon_option,
    add_quiet_option,
    whole_number,
)
from perceptron_nlp.cli.terminal import output, print_json, say
from perceptron_nlp.tagger.explain.explanation import SHOWN
from perceptron_nlp.tagger.explain.render import page

EXPLAIN_EXAMPLES = """\
  perceptron-nlp explain en.model new.conllu --html why.html
  echo "The old man the boats ." | perceptron-nlp explain en.model --format text
  perceptron-nlp explain en.model new.conllu --json | jq '.sentences[0].words[0]'
  perceptron-nlp explain both.model new.conllu --column xpos --top 10"""
EXPLAIN_DESCRIPTION = """\
Show why each word gets its label: what each of its features adds to the score of the label and to
that of the runner-up. The label that is given is that of the model; labels in the text do not
count. Nothing is an estimate: what the features add sums to the scores."""
_BATCH = 64


def explain_parser() -> VerbParser:
    """Return the parser of the verb."""
    verb = VerbParser("explain", run_explain, EXPLAIN_DESCRIPTION, EXPLAIN_EXAMPLES)
    verb.add_argument("model", metavar="MODEL", help="a model file")
    verb.add_argument(
        "text",
        nargs="?",
        default=STDIN,
        metavar="TEXT",
        help="the text (default: standard input, which - stands for)",
    )
    verb.add_argument(
        "--column",
        metavar="NAME",
        help="of a model of several columns, the one to explain (default: the first)",
    )
    verb.add_argument(
        "--top",
        type=whole_number,
        metavar="N",
        help="features shown one by one for each word, the heaviest"
        f" (default: {SHOWN}; with --json all)",
    )
    form = verb.add_mutually_exclusive_group()
    form.add_argument(
        "--html", metavar="FILE", help="write a page of HTML instead (needs the extra report)"
    )
    form.add_argument("--json", action="store_true", help="one JSON object")
    add_lexicon_option(verb)
    add_format_options(verb, FORMATS + "|text")
    add_quiet_option(verb)
    return verb


def run_explain(chosen: argparse.Namespace) -> None:
    """Read, explain, and print or write."""
    check_there([chosen.text])
    check_stdin([chosen.text, *filter(None, [chosen.lexicon])], quiet=True)
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
    """Explain all sentences, in batches."""
    # Refuses the column and the number before any reading.
    tagger.explain_sents([], column=chosen.column, top=top)
    with pn.open_corpus(chosen.text, format=chosen.format, fields=chosen.fields) as corpus:
        if not chosen.quiet and chosen.format == "auto":
            name_format(corpus)
        take_fields(corpus, tagger.model, quiet=chosen.quiet)
        sentences = list(corpus)
    window = tagger.window
    for at in range(0, len(sentences), _BATCH):
        end = at + _BATCH
        yield from tagger.explain_sents(
            sentences[at:end],
            column=chosen.column,
            top=top,
            before=sentences[max(0, at - window) : at],
            after=sentences[end : end + window],
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


SERVE_EXAMPLES = """\
  perceptron-nlp serve en
  perceptron-nlp serve en.model --port 0"""
SERVE_DESCRIPTION = """\
Serve a page, to this machine alone, on which one types a sentence and sees the labels of its words,
their confidences (where the model is calibrated), and why. Ctrl-C ends it. Needs the extra web."""


def serve_parser() -> VerbParser:
    """Return the parser of the verb."""
    verb = VerbParser("serve", run_serve, SERVE_DESCRIPTION, SERVE_EXAMPLES)
    verb.add_argument("model", metavar="MODEL", help="a model file, or en")
    verb.add_argument(
        "--port",
        type=whole_number,
        default=PORT,
        metavar="N",
        help=f"where to listen; 0 for any port that is free (default: {PORT})",
    )
    verb.add_argument(
        "--host",
        default=HOSTS[0],
        metavar="|".join(HOSTS),
        help=f"a name of this machine; others are not served (default: {HOSTS[0]})",
    )
    verb.add_argument(
        "--spaces",
        action="store_true",
        help="words are what stands between spaces, and sentences are lines (default:"
        " both are found by rules)",
    )
    add_lexicon_option(verb, column=False)
    return verb


def run_serve(chosen: argparse.Namespace) -> None:
    """Serve until interrupted; the address goes to standard output."""
    check_stdin(list(filter(None, [chosen.lexicon])), quiet=True)
    tagger = load_tagger(chosen.model, chosen.lexicon)
    with make_server(tagger, host=chosen.host, port=chosen.port, spaces=chosen.spaces) as server:
        print(server.url, flush=True)
        say("open this page in a browser; Ctrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            # This is how it is meant to end.
            return
