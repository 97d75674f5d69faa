"""The options of training on the command line, as perceptron_nlp.TrainingOptions declares them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import Field, fields
from typing import Any

import perceptron_nlp as pn
from perceptron_nlp.cli.inputs import check_apart
from perceptron_nlp.cli.parsing import VerbParser, a_number, whole_number
from perceptron_nlp.tagger.train.checkpoint import checkpoint_options
from perceptron_nlp.tagger.train.options import GROUPS, LearningOptions, declaration

OPTIONS = {option.name: option for option in fields(pn.TrainingOptions)}
LEARNING = tuple(option.name for option in fields(LearningOptions))


def add_options(verb: VerbParser, names: Iterable[str] = tuple(OPTIONS), **help: str) -> None:
    """Add options of training to a verb, each in the group that it is declared in.

    Parameters
    ----------
    names : the options, in any order
    **help : by name, text in place of the declared one
    """
    wanted = set(names)
    for title in GROUPS:
        for option in OPTIONS.values():
            if option.name in wanted and declaration(option).group == title:
                _add_option(verb.group(title), option, help.get(option.name))


def _add_option(group: argparse._ActionsContainer, option: Field[Any], text: str | None) -> None:
    declared = declaration(option)
    usual = declared.unset if option.default is None else option.default
    text = text or declared.help
    if declared.choices:
        text = f"{', '.join(declared.choices[:-1])} or {declared.choices[-1]}: {text}"
    if usual not in ("", False):
        text += f" (default: {usual})"
    how: dict[str, Any] = {"help": text.replace("%", "%%")}
    if str(option.type).startswith("bool"):
        how["action"] = argparse.BooleanOptionalAction if option.default is None else "store_true"
    else:
        how["metavar"] = declared.metavar
        how["type"] = _type_of(option)
    if option.name == "raw":
        how |= {"nargs": "+", "default": []}
    group.add_argument("--" + option.name.replace("_", "-"), **how)


def _type_of(option: Field[Any]) -> Callable[[str], Any]:
    if option.name == "dictionary":
        return _count_and_share
    kind = str(option.type)
    if kind.startswith("float"):
        return a_number
    return whole_number if kind in ("int", "int | None") else str


def options_given(
    chosen: argparse.Namespace, names: Iterable[str] = tuple(OPTIONS)
) -> dict[str, Any]:
    """Return the options that a command line gives, checked; the others keep their defaults.

    Raises
    ------
    ArgumentError, ArgumentTypeError, TemplateError : one of them cannot be used
    """
    given = {name: getattr(chosen, name) for name in names}
    options = {
        name: value
        for name, value in given.items()
        if value not in (None, []) and (value is not False or OPTIONS[name].default is None)
    }
    if "templates" in options:
        options["templates"] = templates_named(options["templates"])
    pn.TrainingOptions(**options)
    return options


def templates_named(name: str) -> str | tuple[pn.Template, ...]:
    """Return the templates of a name: a list of the library, ``auto``, or a file."""
    if name in (pn.TrainingOptions().templates, *pn.preset_names()):
        return name
    if name.endswith(".txt") or os.path.basename(name) != name or os.path.exists(name):
        return pn.read_templates(name)
    pn.preset(name)
    return name


def _count_and_share(text: str) -> tuple[int, float]:
    count, _, share = text.partition(":")
    try:
        return int(count), float(share)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not COUNT:SHARE, such as 20:0.97") from None


def check_checkpoint(chosen: argparse.Namespace, inputs: Sequence[str]) -> None:
    """Check before files are read that a checkpoint can be saved or resumed from.

    Raises
    ------
    ArgumentError : an option needs a checkpoint
    FileError : it cannot be written or is missing, or it is one of the other files
    """
    if chosen.checkpoint is not None:
        check_apart(chosen.checkpoint, inputs, "one of the files to learn from")
        if os.path.realpath(chosen.checkpoint) == os.path.realpath(chosen.model):
            raise pn.FileError(
                f"{chosen.checkpoint}: is the model, too; name another file for the checkpoint"
            )
    checkpoint_options(chosen.checkpoint, chosen.every, chosen.resume)


def how_to_go_on(checkpoint: str | None) -> str:
    """Return the message on a training that was interrupted."""
    if checkpoint is None or not os.path.lexists(checkpoint):
        return ""
    return (
        f"the training up to its last whole epoch is saved in {checkpoint}; the same command with"
        " --resume goes on"
    )
