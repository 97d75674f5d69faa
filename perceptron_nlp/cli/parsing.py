"""Command lines read strictly: no shortened options, and the nearest name for a wrong one."""

from __future__ import annotations

import argparse
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, NoReturn

import perceptron_nlp as pn
from perceptron_nlp._checks import did_you_mean
from perceptron_nlp._display import FORMS
from perceptron_nlp.errors import quote

PROGRAM = "perceptron-nlp"
FORMATS = "auto|conllu|columns|tagged"
_WRITES = ("-o", "--out", "--output", "--model")
_COMMAND, _ROW = r"  (?:\S+ )*perceptron-nlp ", r"  \S.*?\s{2,}"


QUIET = "--quiet  nothing on stderr but errors"
THREADS = "--threads N=1  threads that tag; the result does not depend on it"
TO = """\
--to FORM=text  print the result as text, as json (all of it, shares as fractions), tsv (its main
    table), markdown, latex, or as a page of html (needs the extra report)"""
MODEL_OUT = "--model OUT  where the model is saved (required)"
_LEXICON = """\
--lexicon FILE  a form, a tab and a label on each line: words that are in it, as they are written or
    lower-cased, get no other label than theirs; if a model fills several columns, in """
LEXICON = _LEXICON + "the one that --column names, or else in the first"
SERVE_LEXICON = _LEXICON + "the first"


def picked(chosen: argparse.Namespace, *names: str) -> dict[str, Any]:
    """Return arguments by their names, to be handed on."""
    return {name: getattr(chosen, name) for name in names}


def format_options(formats: str = FORMATS) -> str:
    """Return the options that say how files are read, as VerbParser takes them."""
    return f"""\
--format FORMAT=auto  the files' format: {formats.replace("|", ", ")}; auto is inferred and named on
    stderr
--fields NAMES  names of the columns of column files, such as form,xpos,chunk; _ leaves one out"""


class UsageError(pn.PerceptronNLPError, ValueError):
    """A command line that cannot be followed."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal.

    It is made for every option, and argparse would import shutil for the width, and with it all
    kinds of compression.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=help_width() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return folded(text, width)


def folded(text: str, width: int) -> str:
    """Return a help text in lines no wider than `width`.

    Lines that begin without a space are running text. Commands go on after a backslash, rows of
    a table below the second column. Words are not broken.
    """
    # Here, since a program that shows no help does without.
    import textwrap

    how: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    lines = []
    for line in re.sub(r"(?<=[^\n:])\n(?=[^\s])", " ", text).split("\n"):
        if len(line) <= width:
            lines.append(line)
        elif re.match(_COMMAND, line):
            # An option and its value are one word here.
            bound = re.sub(r"( --?[a-z-]+) (?=[^-\s])", r"\1\0", line)
            parts = textwrap.wrap(bound, width - 2, subsequent_indent=" " * 6, **how)
            lines.append(" \\\n".join(parts).replace("\0", " "))
        else:
            row = re.match(_ROW, line)
            hanging = " " * row.end() if row else ""
            lines += textwrap.wrap(line, width, subsequent_indent=hanging, **how)
    return "\n".join(lines)


def help_width() -> int:
    """Return the width by COLUMNS, or else of the terminal, or else 80."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


class Verb(NamedTuple):
    """Arguments of a verb, and its description.

    description : the first paragraph of the help
    arguments : one a line as the help shows it, with the text for the help after two spaces, which
        indented lines continue: ``TEST...  labeled files``, ``-o, --output OUT  the file``,
        ``--keep  keep labels``. N stands for a whole number, X for a number, NAMES for names
        separated by commas; ``--raw RAW...`` may be given several times; ``N=20`` has a default,
        ``[TEXT]`` is standard input by default; a text that ends in ``(required)`` means it;
        ``old:MODEL`` is kept as ``old``
    examples : command lines, shown at the end of the help
    more : adds further arguments to the parser
    """

    description: str
    arguments: str
    examples: str
    more: Callable[[VerbParser], None] = lambda parser: None


class VerbParser(argparse.ArgumentParser):
    """The parser of one verb, and the function that runs it, given the arguments."""

    def __init__(
        self, name: str, verb: Verb, run: Callable[[argparse.Namespace], int | None]
    ) -> None:
        super().__init__(
            prog=f"{PROGRAM} {name}",
            description=verb.description,
            epilog=f"examples:\n{verb.examples}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        self.run = run
        self.declare(verb.arguments)
        verb.more(self)

    def declare(self, arguments: str, group: str | None = None) -> None:
        """Add arguments, written as in Verb, to a group of options or outside."""
        into = self if group is None else self.group(group)
        for argument in re.split(r"\n(?=\S)", arguments.strip()) if arguments else ():
            head, about = argument.split("  ", 1)
            about = " ".join(about.replace("%", "%%").split())
            names = [word.rstrip(",") for word in head.split() if word.startswith("-")]
            metavar, _, default = head.split()[-1].partition("=")
            if metavar in names:
                into.add_argument(*names, action="store_true", help=about)
                continue
            how: dict[str, Any] = {"help": about}
            dest, _, metavar = ("", "", metavar) if names else metavar.rpartition(":")
            bare = metavar.strip("[].")
            if metavar.startswith("["):
                how |= {"nargs": "*", "default": []} if "..." in metavar else _OR_STDIN
            elif metavar != bare and names:
                # One value each: a name that follows is not the option's.
                how |= {"action": "append", "default": []}
            elif metavar != bare:
                how["nargs"] = "+"
            if default:
                how |= {"default": default, "help": f"{about} (default: {default})"}
            if names:
                how["required"] = about.endswith("(required)")
            into.add_argument(
                *(names or [dest or bare.lower()]), metavar=bare, type=_TYPES.get(bare, str), **how
            )

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message} (see {self.prog} --help)")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """Return the arguments of a verb; options and file names may stand in any order."""
        options, names = _split_at_dashes(arguments)
        self._check_options(options)
        if not {"-h", "--help"} & {*options}:
            # argparse would lay out all options for its messages, which show none.
            self.usage = self.prog
        found, rest = self.parse_known_intermixed_args([*options, *map(_as_name, names)])
        if rest:
            self.error(f"unexpected argument {rest[0]}")
        return found

    def group(self, title: str) -> argparse._ArgumentGroup:
        """Return the group of options of a title, added to the help if it is new."""
        for group in self._action_groups:
            if group.title == title:
                return group
        return self.add_argument_group(title)

    def knows(self, option: str) -> bool:
        """Return True for an option of the verb (``--epochs``)."""
        return option in self._option_string_actions

    def actions(self) -> list[argparse.Action]:
        """Return all arguments and options, in the order of the help."""
        return list(self._actions)

    def _check_options(self, arguments: Iterable[str]) -> None:
        """Check the options first, so that a misspelled one is not reported as missing."""
        following = iter(arguments)
        for argument in following:
            if argument[:1] != "-" or argument == "-" or re.fullmatch(r"-\d+|-\d*\.\d+", argument):
                continue
            name, equals, value = argument.partition("=")
            if value == "--":
                # argparse makes an empty list of it.
                self.error(f"argument {name}: -- is no value")
            # A short option may have its value right behind it: -oOUT.
            if not self.knows(name if name.startswith("--") else argument[:2]):
                foreign = importlib.import_module("perceptron_nlp.compat.udpipe")
                hint = foreign.answer(name, value if equals else next(following, ""))
                if not hint and name in _WRITES[:3]:
                    hint = next((f"here it is {own}" for own in _WRITES if self.knows(own)), None)
                if name == "--model" and any(own.dest == "model" for own in self._actions):
                    hint = "the model comes first, without an option"
                if hint is not None:
                    raise UsageError(f"unknown option {name}: {hint}")
                self.error(
                    f"unknown option {name}" + did_you_mean(name, self._option_string_actions)
                )


def whole_number(text: str) -> int:
    """Return the whole number in a text; argparse reports anything else."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a whole number") from None


def a_number(text: str) -> float:
    """Return the number in a text; argparse reports anything else."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{quote(text)} is not a number") from None


def _numbers_list(text: str) -> list[float]:
    try:
        return [float(number) for number in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is not numbers separated by commas"
        ) from None


def _form(text: str) -> str:
    if text not in FORMS:
        raise argparse.ArgumentTypeError(
            f"{quote(text)} is none of {', '.join(FORMS)}" + did_you_mean(text, FORMS)
        )
    return text


_OR_STDIN = {"nargs": "?", "default": "-"}
_TYPES: dict[str, Callable[[str], Any]] = {
    "N": whole_number,
    "X": a_number,
    "FORM": _form,
    "NAMES": lambda text: [name.strip() for name in text.split(",")],
    "X,Y,…": _numbers_list,
}


def _split_at_dashes(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    given = list(arguments)
    if "--" not in given:
        return given, []
    at = given.index("--")
    return given[:at], given[at + 1 :]


def _as_name(argument: str) -> str:
    """Return a name after ``--`` in a form that argparse takes for no option."""
    return f"./{argument}" if argument.startswith("-") and argument != "-" else argument
