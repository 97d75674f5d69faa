"""The program ``perceptron-nlp``: finds the verb, runs it, and turns every failure into a line.

Exit statuses: 0 done; 1 an unexpected failure of the program or its machine; 2 bad input or
usage; 130 interrupted. Set ``PERCEPTRON_NLP_TRACEBACK=1`` to see where an error came from.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence

import perceptron_nlp as pn
from perceptron_nlp.cli.parsing import PROGRAM, UsageError, VerbParser, folded, help_width, nearest
from perceptron_nlp.cli.style import escape_what_does_not_fit, say, silence, write_message

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
TRACEBACK = "PERCEPTRON_NLP_TRACEBACK"

# Each is a module of this package, imported when it is asked for.
VERBS = {
    "train": "train a tagger on labelled files",
    "tag": "tag files, or standard input",
    "evaluate": "compare a tagger's labels with gold ones",
    "inspect": "show what is in a model",
    "explain": "show why each word gets its label",
    "serve": "try a tagger on a page in the browser",
    "compress": "make a model smaller",
    "merge": "make one model of several, whose scores are the mean of theirs",
    "resume": "train a model further, on other files",
    "calibrate": "teach a model how sure it may be of its labels",
    "compare": "tell which of two taggers is better, where, and whether it may be chance",
    "doctor": "find gold labels that are likely wrong",
    "distill": "train a fast tagger with slower ones as teachers, on raw text too",
    "tune": "search for the options that suit your files",
    "study": "run the perceptron family on a corpus, with pictures",
    "completion": "print what lets a shell complete verbs and options",
}
TAGGING_VERBS = ("tag", "evaluate")
HELP = f"""\
usage: {PROGRAM} VERB ...

Averaged-perceptron taggers: train on your own files, tag fast, ship one small model.

verbs:
{{verbs}}

options:
  -h, --help  show this help; {PROGRAM} VERB --help shows that of a verb
  --version   show the version

examples:
  {PROGRAM} train train.conllu --dev dev.conllu --model en.model
  {PROGRAM} tag en < text.txt
  {PROGRAM} tag en.model new.conllu -o tagged.conllu
  {PROGRAM} evaluate en.model test.conllu

exit status: 0 done, 1 unexpected failure, 2 bad input or usage, 130 interrupted.
{TRACEBACK}=1 shows where an error came from; NO_COLOR, FORCE_COLOR, TERM=dumb and
COLUMNS are respected.
"""
_ARGUMENT = re.compile(r"([a-z_]+)(?=: |'s )")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line and return the exit status.

    Parameters
    ----------
    arguments : those after the program's name; None for those of this process
    """
    escape_what_does_not_fit(sys.stdout)
    try:
        status = _finish(_run(list(sys.argv[1:] if arguments is None else arguments)))
        if arguments is None:
            # The process is about to end, and the collector would look through everything.
            gc.freeze()
        return status
    except BrokenPipeError:
        # The reader has seen enough.
        silence(sys.stdout)
        return DONE
    except KeyboardInterrupt as error:
        return _report("; ".join(["interrupted", *filter(None, [str(error)])]), error, INTERRUPTED)
    except pn.PerceptronNLPError as error:
        return _report(str(error), error, BAD_INPUT)
    except MemoryError as error:
        return _report("there is not enough memory", error, FAILED)
    except OSError as error:
        silence(sys.stdout)
        where = "<stdout>" if error.filename is None else str(error.filename)
        return _report(f"{where}: {error.strerror or error}", error, BAD_INPUT)
    except Exception as error:
        message = f"unexpected failure: {type(error).__name__}: {error}"
        return _report(f"{message} (set {TRACEBACK}=1 to see where)", error, FAILED)


def _run(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, VERBS)) + 2
        verbs = "\n".join(f"  {name:<{width}}{about}" for name, about in VERBS.items())
        print(folded(HELP.format(verbs=verbs), help_width()), end="")
        return DONE
    verb = arguments[0]
    if verb == "--version":
        print(f"{PROGRAM} {pn.__version__}")
        return DONE
    if verb not in VERBS:
        kind = "option" if verb.startswith("-") else "verb"
        known = ["--help", "--version"] if kind == "option" else list(VERBS)
        hint = nearest(verb, known) or f"; there are {', '.join(known)}"
        raise UsageError(f"unknown {kind} {verb}{hint}")
    with _nothing_collected():
        module = importlib.import_module(f"perceptron_nlp.cli.{verb}")
        parser: VerbParser = module.parser()
    try:
        with _nothing_collected():
            chosen = parser.parse(arguments[1:])
            if verb in TAGGING_VERBS:
                _import_for_tagging()
        module.run(chosen)
    except SystemExit:
        # argparse has shown the help.
        return DONE
    except (pn.ArgumentError, pn.ArgumentTypeError, pn.MemoryLimitError) as error:
        raise UsageError(_in_options(str(error), parser)) from error
    return DONE


def _import_for_tagging() -> None:
    """Import what tagging takes, without what only takes time."""
    # NumPy's library of linear algebra, which tagging does not use, starts its threads on import.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    importlib.import_module("perceptron_nlp.tagger.tagger")
    importlib.import_module("perceptron_nlp.formats.corpus")


@contextlib.contextmanager
def _nothing_collected() -> Iterator[None]:
    """Imports make much that the cyclic collector would look through, and nothing that it would
    find."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


def _finish(status: int) -> int:
    """Write what is still to be written now, while a failure can be reported."""
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


def _in_options(message: str, parser: VerbParser) -> str:
    """A message that names an argument of Python, with the option in its place."""
    match = _ARGUMENT.match(message)
    if match is None:
        return message
    option = "--" + match[1].replace("_", "-")
    if not parser.knows(option):
        return message
    rest = message[match.end() :]
    # Further on, a name of one word may be the word.
    return option + (re.sub(rf"\b{match[1]}\b", option, rest) if "_" in match[1] else rest)


def _report(message: str, error: BaseException, status: int) -> int:
    if os.environ.get(TRACEBACK, "0") not in ("", "0"):
        # Here, since it takes long to import.
        import traceback

        write_message("".join(traceback.format_exception(error)))
    say(f"{PROGRAM}: {message}")
    return status
