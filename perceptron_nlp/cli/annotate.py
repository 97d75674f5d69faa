"""``perceptron-nlp annotate``: make a treebank on a page, with a tagger that learns meanwhile."""

from __future__ import annotations

import argparse

from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.asking import ORDERS
from perceptron_nlp.annotation.server import PORT, Desk, make_server, read_guideline
from perceptron_nlp.annotation.session import MOST_SENTENCES
from perceptron_nlp.cli.inputs import check_apart, check_stdin, check_there
from perceptron_nlp.cli.parsing import Verb
from perceptron_nlp.cli.terminal import say, serve_until_interrupted
from perceptron_nlp.pages.serving import HOSTS, needed_uvicorn

ANNOTATE = Verb(
    """\
Serve a page, to this machine alone, on which a person corrects the tags that a tagger proposes,
while the tagger learns from it. It asks for the sentences from which most is learned. What was
accepted is in the file after each sentence; the same command goes on with it. Ctrl-C ends it. Needs
the extra web.""",
    f"""\
TEXT...  running text, lines of tokens separated by spaces, or CoNLL-U; - is standard input
--out GOLD  the CoNLL-U file of what is annotated (required)
--column NAMES=upos  what to annotate: upos, xpos or feats, and others after it, also lemma
--tags SET  the labels of the first column: ud, or a file with one a line (default: ud for upos, any
    for others)
--model MODEL  a model that proposes until what is learned here is better
--guideline FILE  text that the page shows, such as rules of annotation
--order {"|".join(ORDERS)}=active  what is asked for next: what most is learned from, the order of
    the text, or any
--check N=0  ask for a random sample of N tokens in between, which nothing is learned from, as proof
    of the accuracy
--against OTHER  a second annotator's file: agreement, and the tokens to settle
--sentences N={MOST_SENTENCES}  of a longer text take the first so many
--seed N=1  decides what is random
--port N={PORT}  where to listen; 0 for any port that is free
--host {"|".join(HOSTS)}={HOSTS[0]}  a name of this machine; others are not served
""",
    """\
  perceptron-nlp annotate text.txt --out gold.conllu
  perceptron-nlp annotate text.txt --out gold.conllu --column upos,feats,lemma --check 300
  perceptron-nlp annotate text.txt --out gold.conllu --against other.conllu""",
)


def run_annotate(chosen: argparse.Namespace) -> None:
    """Serve until interrupted; the address goes to standard output."""
    needed_uvicorn()
    others = [chosen.model, chosen.guideline, chosen.against]
    check_there([*chosen.text, *filter(None, others)])
    check_stdin(chosen.text, quiet=False)
    check_apart(chosen.out, chosen.text, "the text")
    check_apart(chosen.out, filter(None, others), "one of the other files")
    guideline = None if chosen.guideline is None else read_guideline(chosen.guideline)
    with Session(
        chosen.text,
        chosen.out,
        column=chosen.column,
        tags=chosen.tags,
        model=chosen.model,
        order=chosen.order,
        check=chosen.check,
        seed=chosen.seed,
        sentences=chosen.sentences,
        background=True,
    ) as session:
        desk = Desk(session, chosen.against, guideline, say)
        with make_server(desk, host=chosen.host, port=chosen.port) as server:
            serve_until_interrupted(server)
