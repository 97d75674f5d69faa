"""``perceptron-nlp serve``: a page on which one types a sentence and sees its labels."""

from __future__ import annotations

import argparse

from perceptron_nlp.analysis.serve import HOSTS, PORT, make_server
from perceptron_nlp.cli.inputs import check_stdin, load_tagger
from perceptron_nlp.cli.parsing import VerbParser, add_lexicon_option, whole_number
from perceptron_nlp.cli.style import say

EXAMPLES = """\
  perceptron-nlp serve en
  perceptron-nlp serve en.model --port 0"""
DESCRIPTION = """\
Serve a page, to this machine alone, on which one types a sentence and sees the labels of its words,
their confidences (where the model is calibrated), and why. Ctrl-C ends it. Needs the extra web."""


def parser() -> VerbParser:
    """The arguments of the verb."""
    verb = VerbParser("serve", DESCRIPTION, EXAMPLES)
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


def run(chosen: argparse.Namespace) -> None:
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
