"""``perceptron-nlp completion``: print a script for the completion of a shell."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import NamedTuple

import perceptron_nlp as pn
from perceptron_nlp._checks import did_you_mean
from perceptron_nlp.cli.main import VERBS, parser_of
from perceptron_nlp.cli.parsing import PROGRAM, Verb


class Option(NamedTuple):
    """One option of a verb: ``--dev``, or ``-o`` and ``--output``."""

    names: tuple[str, ...]
    about: str
    takes_value: bool


COMPLETION = Verb(
    """\
Print a script that lets a shell complete verbs and options; file names are completed where no
option is.""",
    """\
SHELL  bash, zsh or fish
""",
    f"""\
  {PROGRAM} completion bash > ~/.local/share/bash-completion/completions/{PROGRAM}
  {PROGRAM} completion fish > ~/.config/fish/completions/{PROGRAM}.fish
  source <({PROGRAM} completion zsh)       # in ~/.zshrc, after compinit""",
)


def run_completion(chosen: argparse.Namespace) -> None:
    """Print the script."""
    if chosen.shell not in SCRIPTS:
        raise pn.ArgumentError(
            f"SHELL: there are scripts for {', '.join(SCRIPTS)}, not for"
            f" {chosen.shell!r}{did_you_mean(chosen.shell, SCRIPTS)}"
        )
    print(SCRIPTS[chosen.shell]({verb: list(options_of(verb)) for verb in VERBS}))


def options_of(verb: str) -> Iterator[Option]:
    """Yield the options of a verb, in the order of its help."""
    for action in parser_of(verb).actions():
        if action.option_strings:
            # Up to the first clause: a menu has a line for each.
            about = (action.help or "").partition(";")[0].partition(" (default")[0]
            yield Option(
                tuple(action.option_strings),
                about % vars(action) if "%" in about else about,
                action.nargs != 0,
            )


def _bash(options: dict[str, list[Option]]) -> str:
    cases = "\n".join(
        f"        {verb}) options={_quoted(' '.join(n for o in of for n in o.names))} ;;"
        for verb, of in options.items()
    )
    first = _quoted(" ".join([*options, "--help", "--version"]))
    return f"""\
_perceptron_nlp() {{
    local current=${{COMP_WORDS[COMP_CWORD]}} options=
    if [[ $COMP_CWORD -eq 1 ]]; then
        COMPREPLY=($(compgen -W {first} -- "$current"))
        return
    fi
    case ${{COMP_WORDS[1]}} in
{cases}
    esac
    COMPREPLY=()
    if [[ $current == -* ]]; then
        COMPREPLY=($(compgen -W "$options" -- "$current"))
    fi
}}
complete -o default -F _perceptron_nlp {PROGRAM}"""


def _zsh(options: dict[str, list[Option]]) -> str:
    verbs = "\n".join(f"        {_quoted(f'{verb}:{about}')}" for verb, about in VERBS.items())
    cases = "\n".join(
        f"        {verb}) _arguments "
        + " ".join(_quoted(_zsh_option(option, name)) for option in of for name in option.names)
        + " '*:file:_files' ;;"
        for verb, of in options.items()
    )
    return f"""\
#compdef {PROGRAM}
_perceptron_nlp() {{
    local -a verbs=(
{verbs}
    )
    if (( CURRENT == 2 )); then
        _describe verb verbs
        return
    fi
    local verb=$words[2]
    shift words
    (( CURRENT-- ))
    case $verb in
{cases}
    esac
}}
compdef _perceptron_nlp {PROGRAM}"""


def _zsh_option(option: Option, name: str) -> str:
    about = option.about.replace("\\", "\\\\").replace("[", r"\[").replace("]", r"\]")
    about = about.replace(":", r"\:")
    return f"*{name}[{about}]" + (":value:_files" if option.takes_value else "")


def _fish(options: dict[str, list[Option]]) -> str:
    lines = [
        f"complete -c {PROGRAM} -n __fish_use_subcommand -f -a {verb} -d {_fish_quoted(about)}"
        for verb, about in VERBS.items()
    ]
    for verb, of in options.items():
        for option in of:
            names = " ".join(
                f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                for name in option.names
            )
            value = " -r" if option.takes_value else ""
            lines.append(
                f"complete -c {PROGRAM} -n '__fish_seen_subcommand_from {verb}' {names}"
                f"{value} -d {_fish_quoted(option.about)}"
            )
    return "\n".join(lines)


def _quoted(text: str) -> str:
    """Quote a text for bash or zsh."""
    return "'" + text.replace("'", "'\\''") + "'"


def _fish_quoted(text: str) -> str:
    """Quote a text for fish."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: dict[str, Callable[[dict[str, list[Option]]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
