"""The program ``perceptron-nlp``: find the verb, run it, report every failure in a line.

Exit statuses: 0 done; 1 an unexpected failure of the program, or findings of ``validate``; 2 bad
input or usage, or too little memory; 130 interrupted; 143 terminated. Set
``PERCEPTRON_NLP_TRACEBACK=1`` to see where an error came from.
"""

from __future__ import annotations

import _thread
import argparse
import contextlib
import gc
import importlib
import os
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import Any, NoReturn

import perceptron_nlp as pn
from perceptron_nlp._checks import did_you_mean
from perceptron_nlp.cli.parsing import PROGRAM, UsageError, VerbParser, folded, help_width
from perceptron_nlp.cli.terminal import escape_what_does_not_fit, say, silence, write_message

DONE, FAILED, BAD_INPUT = 0, 1, 2
# Shells add the number of a signal to this.
STOPPED = 128
TRACEBACK = "PERCEPTRON_NLP_TRACEBACK"

VERBS = {
    "train": "train a tagger on labeled files",
    "tag": "tag files, or standard input",
    "evaluate": "compare a tagger's labels with gold ones",
    "crossval": "evaluate a training without a test set, by cross-validation",
    "curve": "show how accuracy grows with the training text",
    "inspect": "show what is in a model",
    "explain": "show why each token gets its label",
    "serve": "try a tagger on a page in the browser",
    "annotate": "make a treebank on a page in the browser, with a tagger that learns meanwhile",
    "compress": "make a model smaller",
    "merge": "make one model of several by averaging their scores",
    "resume": "train a model further, on other files",
    "calibrate": "calibrate the confidences of a model",
    "compare": "show which of two taggers is better, where, and whether it may be chance",
    "doctor": "find gold labels that are likely wrong",
    "validate": "check CoNLL-U by the rules of Universal Dependencies",
    "distill": "train a fast tagger with slower ones as teachers, on raw text too",
    "tune": "search for the options that suit your files",
    "models": "list the models that have names",
    "study": "run the perceptron family on a corpus, with pictures",
    "completion": "print a script that completes verbs and options in a shell",
}
# Each verb has a module of its name, imported when it is asked for, but these.
_MODULES = {
    "compare": "insight",
    "inspect": "insight",
    "doctor": "insight",
    "annotate": "extras",
    "study": "extras",
    "completion": "extras",
    "distill": "models",
    "curve": "crossval",
    "resume": "train",
    "calibrate": "models",
    "compress": "models",
    "merge": "models",
    "serve": "explain",
}
# These print warnings with the rest of the record, or while they run.
_PRINTS_WARNINGS = ("distill", "crossval", "curve")
_WITHOUT_LOGGING = ("tag", "serve")
TAGGING_VERBS = ("tag", "evaluate")
_TAGGING_MODULES = ("perceptron_nlp.tagger.tagger", "perceptron_nlp.formats.corpus")
HELP = f"""\
usage: {PROGRAM} VERB ...

Averaged-perceptron taggers: train on your own files, tag fast, ship one small model.

verbs:
{{verbs}}

options:
  -h, --help     show this help; {PROGRAM} VERB --help, or help VERB, shows that of a verb
  -V, --version  show the version

examples:
  {PROGRAM} train train.conllu --dev dev.conllu --model en.model
  {PROGRAM} tag en < text.txt
  {PROGRAM} tag en.model new.conllu -o tagged.conllu
  {PROGRAM} evaluate en.model test.conllu

exit status: 0 done, 1 unexpected failure (validate: findings), 2 bad input or usage,
130 interrupted, 143 terminated.
{TRACEBACK}=1 shows where an error came from; NO_COLOR, FORCE_COLOR, TERM=dumb and
COLUMNS are respected.
"""
_ARGUMENT = r"([a-z_]+)(?=: |'s )"
# New objects; 700 is usual.
_COLLECTED_EVERY = 100_000
# Address space that a verb takes on import: NumPy with one thread of OpenBLAS, and the rest.
_NUMPY_BYTES = 96 << 20
_VERB_BYTES = 24 << 20


class Terminated(KeyboardInterrupt):
    """SIGTERM, SIGHUP, or Ctrl-Break of Windows; all that ends in order on Ctrl-C ends so, too."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, that of this process by default, and return the exit status."""
    escape_what_does_not_fit(sys.stdout)
    if arguments is None:
        # The cyclic collector would search through what imports and models make, and find nothing.
        gc.set_threshold(_COLLECTED_EVERY)
    try:
        status = _finish(
            _run(sys.argv[1:], _answering_signals)
            if arguments is None
            else _run(list(arguments), contextlib.nullcontext)
        )
        if arguments is None:
            # The process is about to end, and the collector would look through everything.
            gc.freeze()
        return status
    except BrokenPipeError:
        # The reader has seen enough.
        silence(sys.stdout)
        return DONE
    except KeyboardInterrupt as error:
        number = _signal_behind(error)
        what = "interrupted" if number == signal.SIGINT else "terminated"
        return _report("; ".join(filter(None, [what, str(error)])), error, STOPPED + number)
    except pn.PerceptronNLPError as error:
        return _report(str(error), error, BAD_INPUT)
    except MemoryError as error:
        return _report("there is not enough memory", error, BAD_INPUT)
    except ImportError as error:
        return _report(f"cannot be loaded: {_first_cause(error)}", error, BAD_INPUT)
    except OSError as error:
        silence(sys.stdout)
        where = "<stdout>" if error.filename is None else str(error.filename)
        return _report(f"{where}: {error.strerror or error}", error, BAD_INPUT)
    except Exception as error:
        # Making a class wraps what a signal raises (Python 3.11).
        if (number := _signal_behind(error)) != signal.SIGINT:
            return _report("terminated", error, STOPPED + number)
        message = f"unexpected failure: {type(error).__name__}: {error}"
        return _report(f"{message} (set {TRACEBACK}=1 to see where)", error, FAILED)


def _run(
    arguments: list[str], stoppable: Callable[[], contextlib.AbstractContextManager[None]]
) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        width = max(map(len, VERBS)) + 2
        verbs = "\n".join(f"  {name:<{width}}{about}" for name, about in VERBS.items())
        print(folded(HELP.format(verbs=verbs), help_width()), end="")
        return DONE
    verb = arguments[0]
    if verb == "help":
        return _run([*arguments[1:], "--help"], stoppable)
    if verb in ("-V", "--version"):
        print(f"{PROGRAM} {pn.__version__}")
        return DONE
    if verb not in VERBS:
        kind = "option" if verb.startswith("-") else "verb"
        known = ["--help", "--version"] if kind == "option" else list(VERBS)
        hint = (
            did_you_mean(verb, [*VERBS, "--help", "--version"]) or f"; there are {', '.join(known)}"
        )
        if kind == "option":
            name, _, value = verb.partition("=")
            foreign = importlib.import_module("perceptron_nlp.compat.udpipe").answer(name, value)
            hint = hint if foreign is None else f": {foreign}"
        raise UsageError(f"unknown {kind} {verb}{hint}")
    _prepare_for_little_memory()
    parser = parser_of(verb)
    try:
        chosen = parser.parse(arguments[1:])
        for module in _TAGGING_MODULES if verb in TAGGING_VERBS else ():
            importlib.import_module(module)
        with stoppable(), _warnings_printed(verb, chosen):
            return parser.run(chosen) or DONE
    except SystemExit:
        # argparse has shown the help.
        return DONE
    except (pn.ArgumentError, pn.ArgumentTypeError, pn.MemoryLimitError) as error:
        raise UsageError(_in_options(str(error), parser)) from error


def parser_of(verb: str) -> VerbParser:
    """Return the parser of a verb, whose module is imported for it."""
    module = importlib.import_module(f"perceptron_nlp.cli.{_MODULES.get(verb, verb)}")
    return VerbParser(verb, getattr(module, verb.upper()), getattr(module, f"run_{verb}"))


@contextlib.contextmanager
def _warnings_printed(verb: str, chosen: argparse.Namespace) -> Iterator[None]:
    """Print the warnings of the library at the end, each once, if the verb does not do so."""
    if verb in _WITHOUT_LOGGING:
        yield
        return
    # Here, since tagging does without.
    import logging

    warned: dict[str, None] = {}
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: warned.setdefault(record.getMessage())  # type: ignore[method-assign]
    logger = logging.getLogger("perceptron_nlp")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        is_quiet = verb in _PRINTS_WARNINGS or getattr(chosen, "quiet", False)
        for warning in () if is_quiet else warned:
            say(f"warning: {warning}")


def _prepare_for_little_memory() -> None:
    # OpenBLAS, which only clusters of words use, takes a thread and 40 MB for each processor.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        import resource
    except ImportError:
        # Windows.
        return
    if resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY:
        _need_room(_VERB_BYTES)
        sys.meta_path.insert(0, _RoomForNumPy)


class _RoomForNumPy:
    """Refuse to import NumPy if OpenBLAS would end the process."""

    @staticmethod
    def find_spec(name: str, path: object, target: object = None) -> None:
        if name == "numpy":
            _need_room(_NUMPY_BYTES)


def _need_room(size: int) -> None:
    """Raise MemoryError here, since libraries that lack memory print pages, or end the process."""
    import mmap

    try:
        mmap.mmap(-1, size).close()
    except OSError as error:
        raise MemoryError from error


@contextlib.contextmanager
def _answering_signals() -> Iterator[None]:
    """Let signals that would stop the process raise, so that work ends in order."""
    before: dict[int, Any] = {}
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK"):
        number = getattr(signal, name, None)
        # A process in the background ignores some.
        if number and signal.getsignal(number) not in (signal.SIG_IGN, None):
            handler = signal.default_int_handler if name == "SIGINT" else _terminate
            before[number] = signal.signal(number, handler)
    hook, sys.unraisablehook = sys.unraisablehook, _raise_again
    try:
        yield
    finally:
        sys.unraisablehook = hook
        for number, old in before.items():
            signal.signal(number, old)


def _raise_again(lost: sys.UnraisableHookArgs) -> None:
    """Raise later what a signal raised where nothing can be raised, as here, or behind imports."""
    if not isinstance(lost.exc_value, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    number = _signal_behind(lost.exc_value)
    if number != signal.SIGINT:
        signal.signal(number, _terminate)

    def interrupt() -> None:
        time.sleep(0.01)
        _thread.interrupt_main(signal.Signals(number))

    _thread.start_new_thread(interrupt, ())


def _terminate(number: int, frame: FrameType | None) -> NoReturn:
    # The next one will not be asked again.
    signal.signal(number, signal.SIG_DFL)
    raise Terminated(number)


def _signal_behind(error: BaseException) -> int:
    found: BaseException | None = error
    while found is not None and not isinstance(found, Terminated):
        found = found.__cause__ or found.__context__
    return signal.SIGINT if found is None else found.number


def _first_cause(error: BaseException) -> str:
    """Return the first line of the error that began a chain; the later ones explain at length."""
    while (earlier := error.__cause__ or error.__context__) is not None:
        error = earlier
    return str(error).strip().partition("\n")[0]


def _finish(status: int) -> int:
    """Flush standard output while a failure can be reported."""
    if sys.stdout is not None:
        sys.stdout.flush()
    return status


def _in_options(message: str, parser: VerbParser) -> str:
    """Return a message about an argument of Python with the name of the option instead."""
    match = re.match(_ARGUMENT, message)
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
