"""The values of options that tuning tries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from perceptron_nlp import TaggerModel, Template, check_place, preset
from perceptron_nlp._checks import check_int
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote
from perceptron_nlp.features.templates import check_templates
from perceptron_nlp.tagger.train.options import AUTO, MARGINS, RATES, LearningOptions, make_options

# In the order in which they matter on treebanks; each is tried with the best of those before it.
SPACE: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "templates": ("fast", "default"),
        "right_to_left": (True, False),
        "beam": (1, 4),
        "update": ("adagrad", "perceptron"),
        "margin": (0.5, 1.0, 2.0, 4.0),
        "rate": (0.05, 0.1, 0.2),
        "min_count": (1, 2),
    }
)
# Epochs are scored one by one; the seed is no setting; patience only saves time.
NOT_TRIED = ("epochs", "seed", "patience")
TRIALS = 20
MAX_TRIALS = 100_000
MAX_MINUTES = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchOptions:
    """Options of the search.

    Attributes
    ----------
    space : values to try, by the names of options; None for SPACE without what is fixed
    trials : at most so many are made
    minutes : no trial begins later than this; None for no limit
    state : None, or the file that holds what was measured
    """

    space: Mapping[str, Sequence[Any]] | None = None
    trials: int = TRIALS
    minutes: int | None = None
    state: str | os.PathLike[str] | None = None

    def __post_init__(self) -> None:
        check_int("trials", self.trials, 1, MAX_TRIALS)
        if self.minutes is not None:
            check_int("minutes", self.minutes, 1, MAX_MINUTES)
        if self.state is not None:
            check_place(self.state)


def take_search_options(options: dict[str, Any]) -> SearchOptions:
    """Take the fields of SearchOptions out of a person's options.

    Raises
    ------
    ArgumentError, ArgumentTypeError : one of them cannot be used
    FileError : the state cannot be written to its file
    """
    names = SearchOptions.__dataclass_fields__
    return SearchOptions(**{name: options.pop(name) for name in names if name in options})


def checked_space(
    space: Mapping[str, Sequence[Any]] | None, fixed: Mapping[str, Any]
) -> dict[str, tuple[Any, ...]]:
    """The space to search, or the usual one, without what a person has fixed.

    Raises
    ------
    ArgumentError, ArgumentTypeError, TemplateError : a name or value that cannot be tried
    """
    if space is None:
        return {
            name: tuple(value for value in values if _fits(fixed, name, value))
            for name, values in SPACE.items()
            if name not in fixed
        }
    if not isinstance(space, Mapping):
        raise ArgumentTypeError(f"space: a mapping is needed, not {type(space).__name__}")
    checked = {}
    for name, values in space.items():
        if name not in LearningOptions.__dataclass_fields__ or name in NOT_TRIED:
            raise ArgumentError(f"space: {quote(name)} is not an option that can be tried")
        if name in fixed:
            raise ArgumentError(f"space: {name} is fixed, too; leave it out of one of them")
        if isinstance(values, str) or not isinstance(values, Sequence) or not values:
            raise ArgumentTypeError(f"space: {name} needs a list of values to try")
        for value in values:
            make_options({**fixed, name: value})
        checked[name] = tuple(
            _templates(value) if name == "templates" else value for value in values
        )
    return checked


def _templates(value: Any) -> str | tuple[Template, ...]:
    if not isinstance(value, str):
        return check_templates(value)
    if value != AUTO:
        preset(value)
    return value


def _fits(fixed: Mapping[str, Any], name: str, value: Any) -> bool:
    try:
        make_options({**fixed, name: value})
    except ArgumentError:
        return False
    return True


def columns_of(values: Sequence[Any]) -> set[str]:
    """The columns that lists of templates look at."""
    return {
        column
        for value in values
        if not isinstance(value, str)
        for template in check_templates(value)
        for column in template.columns
    }


def used_by(model: TaggerModel) -> dict[str, Any]:
    """The options that a model was trained with, nothing left open, in values that JSON has."""
    used = dict(model.record["options"])
    rule = used["update"]
    for name, usual in (("margin", MARGINS), ("rate", RATES), ("cost", MARGINS)):
        if used.get(name) is None:
            used[name] = usual[rule]
    return {**used, "beam": model.beam, "templates": [str(t) for t in model.templates]}


def instead(
    used: Mapping[str, Any], name: str, value: Any, evidence: Sequence[str]
) -> dict[str, Any]:
    """The options with one of them another, in the same form."""
    if name == "templates" and value != AUTO:
        value = [str(t) for t in (preset(value, evidence) if isinstance(value, str) else value)]
    if name == "dictionary" and value is not None:
        value = list(value)
    return {**used, name: value}


def matters(name: str, used: Mapping[str, Any]) -> bool:
    """Return True if an option changes anything, given the others."""
    if name == "rate":
        # Whatever its step, a perceptron makes the same mistakes.
        return bool(used["update"] != "perceptron")
    if name == "margin":
        return bool(used["update"] != "perceptron" and used["beam"] == 1)
    return name != "cost" or bool(used["beam"] > 1)
