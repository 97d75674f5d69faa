"""``perceptron-nlp completion``: print a script for the completion of a shell."""

from __future__ import annotations

import argparse
import importlib
from typing import Any, cast

import perceptron_nlp as pn
from perceptron_nlp._checks import did_you_mean
from perceptron_nlp.cli.main import VERBS, parser_of
from perceptron_nlp.cli.parsing import PROGRAM, Verb
from perceptron_nlp.errors import missing_extra

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
