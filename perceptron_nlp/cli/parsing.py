"""Command lines read strictly: no shortened options, and the nearest name for a wrong one."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NoReturn

import perceptron_nlp as pn
from perceptron_nlp._checks import did_you_mean

PROGRAM = "perceptron-nlp"
FORMATS = "auto|conllu|columns|tagged"
_COMMAND = re.compile(r"  (?:\S+ )*perceptron-nlp ")
_ROW = re.compile(r"  \S.*?\s{2,}")
_NUMBER = re.compile(r"-\d+|-\d*\.\d+")


class UsageError(pn.PerceptronNLPError, ValueError):
    """A command line that cannot be followed."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal.

    It is asked for with every option, and finding out the width as argparse does would import
    shutil, and with it all kinds of compression.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=help_width() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return folded(text, width)


def folded(text: str, width: int) -> str:
    """A help text in lines no wider than this.

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
        elif _COMMAND.match(line):
            parts = textwrap.wrap(line, width - 2, subsequent_indent=" " * 6, **how)
            lines.append(" \\\n".join(parts))
        else:
            row = _ROW.match(line)
            hanging = " " * row.end() if row else ""
            lines += textwrap.wrap(line, width, subsequent_indent=hanging, **how)
    return "\n".join(lines)


def help_width() -> int:
    """What COLUMNS says, or how wide the terminal is; 80 where neither tells."""
    given = os.environ.get("COLUMNS", "")
    if given.isascii() and given.isdecimal() and int(given):
        return int(given)
    try:
        return os.get_terminal_size(sys.__stdout__.fileno()).columns or 80  # type: ignore[union-attr]
    except (AttributeError, ValueError, OSError):
        return 80


class VerbParser(argparse.ArgumentParser):
    """The parser of one verb.

    Parameters
    ----------
    verb : its name
    run : what runs it, given the arguments
    description : what it does
    examples : command lines, shown at the end of the help
    """

    def __init__(
        self, verb: str, run: Callable[[argparse.Namespace], None], description: str, examples: str
    ) -> None:
        super().__init__(
            prog=f"{PROGRAM} {verb}",
            description=description,
            epilog=f"examples:\n{examples}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        self.run = run

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        raise UsageError(f"{message} (see {self.prog} --help)")

    def parse(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The arguments of a verb; options may stand anywhere, names of files too.

        Raises UsageError; SystemExit after ``--help`` was shown.
        """
        options, names = _split_at_dashes(arguments)
        self._check_options(options)
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
        """Is there such an option (``--epochs``)?"""
        return option in self._option_string_actions

    def actions(self) -> list[argparse.Action]:
        """All arguments and options, in the order of the help."""
        return list(self._actions)

    def _check_options(self, arguments: Iterable[str]) -> None:
        """First of all, so that a misspelt option is not reported as a missing one."""
        for argument in arguments:
            if not argument.startswith("-") or argument == "-" or _NUMBER.fullmatch(argument):
                continue
            name = argument.partition("=")[0]
            # A short option may have its value right behind it: -oOUT.
            if not self.knows(name if name.startswith("--") else argument[:2]):
                self.error(
                    f"unknown option {name}" + did_you_mean(name, self._option_string_actions)
                )


def names_list(text: str) -> list[str]:
    """Names parted by commas."""
    return [name.strip() for name in text.split(",")]


def whole_number(text: str) -> int:
    """A whole number; argparse reports what is none."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def a_number(text: str) -> float:
    """A number; argparse reports what is none."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def add_format_options(parser: argparse._ActionsContainer, formats: str = FORMATS) -> None:
    """The options that say how files are read."""
    parser.add_argument(
        "--format",
        default="auto",
        metavar="FORMAT",
        help=f"the files' format: {formats.replace('|', ', ')} (default: auto, found by looking and"
        " named on stderr)",
    )
    parser.add_argument(
        "--fields",
        type=names_list,
        metavar="NAMES",
        help="names of the columns of column files, such as form,xpos,chunk; _ leaves one out",
    )


def add_lexicon_option(parser: VerbParser, *, column: bool = True) -> None:
    """``--lexicon`` of the verbs that tag; `column` tells whether they have ``--column``, too."""
    which = "the one that --column names, or else in the first" if column else "the first"
    parser.add_argument(
        "--lexicon",
        metavar="FILE",
        help="a form, a tab and a label on each line: words that are in it, as they are written or"
        " lower-cased, get no other label than theirs; where a model fills several columns, in"
        f" {which}",
    )


def add_json_option(verb: VerbParser) -> None:
    """``--json``, of verbs that print shares."""
    verb.add_argument("--json", action="store_true", help="one JSON object, shares as fractions")


def add_quiet_option(parser: argparse._ActionsContainer) -> None:
    """``--quiet``."""
    parser.add_argument("--quiet", action="store_true", help="nothing on stderr but errors")


def add_threads_option(parser: VerbParser) -> None:
    """``--threads``."""
    parser.add_argument(
        "--threads",
        type=whole_number,
        default=1,
        metavar="N",
        help="threads that tag (default: 1); the result does not depend on it",
    )


def _split_at_dashes(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    given = list(arguments)
    if "--" not in given:
        return given, []
    at = given.index("--")
    return given[:at], given[at + 1 :]


def _as_name(argument: str) -> str:
    """A name after ``--``, in a form that argparse takes for no option."""
    return f"./{argument}" if argument.startswith("-") and argument != "-" else argument
