"""``perceptron-nlp annotate``, ``study`` and ``completion``: what takes the extras."""

from __future__ import annotations

import argparse
import importlib
import time
from typing import Any, cast

import perceptron_nlp as pn
from perceptron_nlp._checks import did_you_mean
from perceptron_nlp._display import percent, printable, shortened
from perceptron_nlp.annotation import Session
from perceptron_nlp.annotation.asking import ORDERS
from perceptron_nlp.annotation.server import PORT, Desk, make_server, read_guideline
from perceptron_nlp.annotation.session import MOST_SENTENCES
from perceptron_nlp.cli.inputs import check_apart, check_stdin, check_there, open_inputs
from perceptron_nlp.cli.main import VERBS, parser_of
from perceptron_nlp.cli.parsing import PROGRAM, QUIET, Verb, format_options
from perceptron_nlp.cli.terminal import messages, say, serve_until_interrupted
from perceptron_nlp.errors import missing_extra
from perceptron_nlp.pages.serving import HOSTS, needed_uvicorn
from perceptron_nlp.perceptrons.study.corpus import TOKENS, read_study_corpus, sample_files
from perceptron_nlp.perceptrons.study.experiments import study_corpus
from perceptron_nlp.perceptrons.study.report import check_libraries, made_folder, write_report

ANNOTATE = Verb(
    """\
Serve a page, to this machine alone, on which a person corrects the tags that a tagger proposes,
while the tagger learns from it. It asks for the sentences from which most is learned. What was
accepted is in the file after each sentence; the same command goes on with it. Ctrl-C ends it. Needs
the extra web.""",
    f"""\
[TEXT...]  running text, lines of tokens separated by spaces, or CoNLL-U; - is standard input
    (default: the draft)
--out GOLD  the CoNLL-U file of what is annotated (required)
--column NAMES=upos  what to annotate: upos, xpos or feats, and others after it, also lemma
--tags SET  the labels of the first column: ud, or a file with one a line (default: ud for upos, any
    for others)
--model MODEL  a model that proposes until what is learned here is better
--draft FILE  CoNLL-U of any program, whose labels are proposed; how many were right is shown, and
    printed at the end
--guideline FILE  text that the page shows, such as rules of annotation
--order {"|".join(ORDERS)}=active  what is asked for next: what most is learned from, the order of
    the text, or any
--check N=10  one sentence in N is drawn at random and not learned from before the model is saved:
    the accuracy shown is estimated by them; 0 for none
--against OTHER  a second annotator's file: agreement, and the tokens to settle
--sentences N={MOST_SENTENCES}  of a longer text take the first so many
--seed N=1  decides what is random
--port N={PORT}  where to listen; 0 for any port that is free
--host {"|".join(HOSTS)}={HOSTS[0]}  a name of this machine; others are not served
""",
    """\
  perceptron-nlp annotate text.txt --out gold.conllu
  perceptron-nlp annotate text.txt --out gold.conllu --column upos,feats,lemma
  perceptron-nlp annotate --draft udpipe.conllu --out gold.conllu
  perceptron-nlp annotate text.txt --out gold.conllu --against other.conllu""",
)


def run_annotate(chosen: argparse.Namespace) -> None:
    """Serve until interrupted; the address goes to standard output."""
    needed_uvicorn()
    others = [chosen.model, chosen.draft, chosen.guideline, chosen.against]
    text = chosen.text or [*filter(None, [chosen.draft])]
    if not text:
        raise pn.ArgumentError("TEXT: there is none; name a text, or a draft (--draft)")
    check_there([*text, *filter(None, others)])
    check_stdin(text, quiet=False)
    check_apart(chosen.out, text, "the text")
    check_apart(chosen.out, filter(None, others), "one of the other files")
    guideline = None if chosen.guideline is None else read_guideline(chosen.guideline)
    with Session(
        text,
        chosen.out,
        column=chosen.column,
        tags=chosen.tags,
        model=chosen.model,
        draft=chosen.draft,
        order=chosen.order,
        check=chosen.check,
        seed=chosen.seed,
        sentences=chosen.sentences,
        background=True,
    ) as session:
        desk = Desk(session, chosen.against, guideline, say)
        with make_server(desk, host=chosen.host, port=chosen.port) as server:
            serve_until_interrupted(server)
        for column, found in session.progress().draft.items():
            within = f"{percent(found.low)} to {percent(found.high)}"
            say(f"{chosen.draft}: {percent(found.share)} of {column} were right ({within})")


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


COMPLETION = Verb(
    """\
Print a script that lets a shell complete verbs and options; file names are completed where no
option is. Needs the extra completion.""",
    """\
SHELL  bash, zsh, fish, tcsh or powershell
""",
    f"""\
  {PROGRAM} completion bash > ~/.local/share/bash-completion/completions/{PROGRAM}
  {PROGRAM} completion fish > ~/.config/fish/completions/{PROGRAM}.fish
  source <({PROGRAM} completion zsh)       # in ~/.zshrc, after compinit""",
)


def run_completion(chosen: argparse.Namespace) -> None:
    """Print the script."""
    try:
        shtab = importlib.import_module("shtab")
    except ImportError:
        raise missing_extra("shtab", "completion") from None
    if chosen.shell not in shtab.SUPPORTED_SHELLS:
        raise pn.ArgumentError(
            f"SHELL: there are scripts for {', '.join(shtab.SUPPORTED_SHELLS)}, not for"
            f" {chosen.shell!r}{did_you_mean(chosen.shell, shtab.SUPPORTED_SHELLS)}"
        )
    print(shtab.complete(_parser_of_all(shtab.FILE), chosen.shell))


def _parser_of_all(files: dict[str, str]) -> argparse.ArgumentParser:
    """Return one parser of all verbs, whose values are completed as files."""

    def parser(prog: str, **unused: Any) -> argparse.ArgumentParser:
        found = parser_of(prog.rpartition(" ")[2])
        for action in found.actions():
            if action.nargs != 0:
                action.complete = files  # type: ignore[attr-defined]
        return found

    whole = argparse.ArgumentParser(PROGRAM)
    whole.add_argument("-V", "--version", action="version", help="show the version")
    verbs = whole.add_subparsers(parser_class=cast("Any", parser))
    for verb, about in VERBS.items():
        verbs.add_parser(verb, help=about)
    return whole
