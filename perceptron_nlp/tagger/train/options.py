"""The options of training: each declared once, with its default, its range and its help text.

From the fields of TrainingOptions come the checks, the command line (cli/options.py), the table in
the documentation (docs/reference/options.md) and the options in a model's training record.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import Any, TypedDict, TypeVar

from perceptron_nlp._checks import check_choice, check_int
from perceptron_nlp._core.model.frozenmodel import WIDEST_BEAM
from perceptron_nlp._core.table.weights import MAX_TABLE_BITS
from perceptron_nlp._core.train.train import RULES
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.tag.context import WIDEST_WINDOW
from perceptron_nlp.tagger.train.sources import RawSource

AUTO = "auto"
# Options that are not given are those of the preset.
PRESETS: Mapping[str, Mapping[str, Any]] = {
    # One token at a time, without pairs of words: the fastest to tag with.
    "fast": {},
    # One token at a time, with pairs where there is text enough to learn them from.
    "default": {},
    # Four runs summed, and a beam over whole sentences where labels are learned whole: some ten
    # times the training.
    "accurate": {"runs": 4},
}
# The step of each rule, and the margin that the gold label must have. AdaGrad's pair is the one of
# the literature on greedy taggers; a perceptron's scores have no unit, so its step is 1.
RATES = {"perceptron": 1.0, "margin": 1.0, "passive-aggressive": 1.0, "adagrad": 0.1}
# Passes after which dev sets gain no more: a rule that learns from narrow successes needs fewer.
EPOCHS = {"perceptron": 10, "margin": 10, "passive-aggressive": 10, "adagrad": 8}
MARGINS = {"perceptron": 0.0, "margin": 1.0, "passive-aggressive": 1.0, "adagrad": 1.0}
GROUPS = ("data", "features", "learning", "output", "large scale")


@dataclass(frozen=True, slots=True)
class Declaration:
    """Everything about an option but its name, its type and its default.

    Attributes
    ----------
    group : one of GROUPS
    help : what it does, in a sentence without a period
    low, high : its range; None where it has none
    choices : the values it may have; empty for any
    unset : what its default None stands for; empty for an option that does nothing then
    metavar : the name of its value on the command line; empty for a flag
    """

    group: str
    help: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    unset: str = ""
    metavar: str = "N"


def _option(default: Any, group: str, help: str, **how: Any) -> Any:
    return field(default=default, metadata={"option": Declaration(group, help, **how)})


def declaration(option: Field[Any]) -> Declaration:
    """Return the declaration of a field of TrainingOptions."""
    declared: Declaration = option.metadata["option"]
    return declared


def is_flag(option: Field[Any]) -> bool:
    """Tell if an option's value is true or false."""
    return str(option.type).startswith("bool")


def _check(option: Field[Any], value: object) -> None:
    """Raise unless a value has the type and the range of an option."""
    declared, kind = declaration(option), str(option.type)
    if value is None and kind.endswith("None"):
        return
    if declared.choices:
        check_choice(option.name, value, declared.choices)
    elif kind in ("int", "int | None"):
        check_int(option.name, value, int(declared.low or 0), int(declared.high or 0))
    elif kind.startswith("bool"):
        if not isinstance(value, bool):
            raise ArgumentTypeError(f"{option.name}: a bool is needed, not {type(value).__name__}")
    elif kind.startswith("float"):
        _check_number(option.name, value, declared.low or 0.0, declared.high or 0.0)


def _check_number(name: str, value: object, low: float, high: float) -> None:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise ArgumentTypeError(f"{name}: a number is needed, not {type(value).__name__}")
    if not low <= value <= high:
        raise ArgumentError(f"{name}: {value} is not between {low:,} and {high:,.0f}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningOptions:
    """The options that decide what is learned; they go into the model's training record.

    Raises
    ------
    ArgumentError, ArgumentTypeError : a value out of its range; the message names the field
    """

    preset: str = _option(
        "default",
        "learning",
        "what options that are not given are: fast leaves pairs of words out, accurate searches"
        " with a beam and sums four runs",
        choices=tuple(PRESETS),
        metavar="NAME",
    )
    epochs: int | None = _option(
        None,
        "learning",
        "passes over the training sentences",
        low=1,
        high=10_000,
        unset="what suits the rule and the number of runs: 8 with adagrad, else 10",
    )
    seed: int = _option(1, "learning", "decides the order of the sentences", low=0, high=2**64 - 1)
    update: str = _option(
        "adagrad",
        "learning",
        "the learning rule: perceptron learns from mistakes alone; margin, passive-aggressive"
        " (PA-I) and adagrad also from narrow successes",
        choices=tuple(RULES),
        metavar="RULE",
    )
    templates: str | Sequence[Template | str] = _option(
        AUTO,
        "features",
        "the features: the name of a list of the library, or templates (on the command line a file"
        " with one a line); auto: what suits the column and the training sentences, measured on a"
        " part of them",
        metavar="NAME|FILE",
    )
    table_bits: int | None = _option(
        None,
        "large scale",
        "learn in a fixed table of 2^K rows",
        low=1,
        high=MAX_TABLE_BITS,
        unset="a table that grows",
        metavar="K",
    )
    min_count: int = _option(
        1, "features", "leave out features of words seen less often", low=1, high=2**31
    )
    dictionary: tuple[int, float] | None = _option(
        None,
        "features",
        "words seen COUNT times or more, with one label in SHARE of them or more, always get it;"
        " for example 20:0.97, in Python (20, 0.97)",
        unset="none",
        metavar="COUNT:SHARE",
    )
    patience: int | None = _option(
        5, "learning", "stop after N epochs without a better dev score", low=1, high=10_000
    )
    right_to_left: bool | None = _option(
        None, "learning", "read sentences from their end", unset="what suits the column", metavar=""
    )
    beam: int | None = _option(
        None,
        "learning",
        "keep N states in the search for the best labels of a sentence, in training and in"
        " tagging; 1 labels greedily",
        low=1,
        high=WIDEST_BEAM,
        unset="1, or 4 for spans",
    )
    margin: float | None = _option(
        None,
        "learning",
        "the lead over other labels below which margin, passive-aggressive and adagrad learn"
        " greedily",
        low=0,
        high=1e6,
        unset="what suits the column, mostly 1",
        metavar="X",
    )
    rate: float | None = _option(
        None,
        "learning",
        "the step of the learning rule; of passive-aggressive the longest one",
        low=1e-6,
        high=1000,
        unset="0.1 with adagrad, else 1",
        metavar="X",
    )
    cost: float | None = _option(
        None,
        "learning",
        "with a beam, what each wrong label gains while training",
        low=0,
        high=1e6,
        unset="0 with perceptron, else 1",
        metavar="X",
    )
    runs: int | None = _option(
        None,
        "learning",
        "train N times with the seeds SEED, SEED+1, … and sum the weights",
        low=1,
        high=1000,
        unset="1; with the preset accurate 4; with the preset default, if this and epochs are not"
        " given, 2 shorter ones for greedy labels from 10,000 tokens on",
    )
    two_passes: bool | None = _option(
        None,
        "learning",
        "learn columns of features twice, the second time with the labels of the first in view"
        " (stacking)",
        unset="yes with the preset accurate",
        metavar="",
    )
    window: int | None = _option(
        None,
        "features",
        "where templates look at a name's other places: look for them in N sentences on either"
        " side",
        low=0,
        high=WIDEST_WINDOW,
        unset="40",
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            _check(option, getattr(self, option.name))
        self._check_dictionary()
        self._check_update()

    def _check_dictionary(self) -> None:
        if self.dictionary is None:
            return
        if not isinstance(self.dictionary, tuple) or len(self.dictionary) != 2:
            raise ArgumentTypeError(
                "dictionary: a pair (count, share) is needed, such as (20, 0.97)"
            )
        count, share = self.dictionary
        check_int("dictionary's count", count, 1, 2**31)
        if not isinstance(share, int | float) or not 0.5 < share <= 1:
            raise ArgumentError(f"dictionary's share: {share!r} is not above 0.5 and at most 1")

    def _check_update(self) -> None:
        if self.width > 1 and self.update == "passive-aggressive":
            raise ArgumentError(
                "update: passive-aggressive learns from single labels; use beam=1, or adagrad"
            )
        if self.update == "passive-aggressive" and self.margin == 0:
            raise ArgumentError(
                "margin: with 0, passive-aggressive would never learn: where all scores are equal,"
                " as in the beginning, it has no loss; use more than 0, or perceptron"
            )

    @property
    def passes(self) -> int:
        """Passes over the training sentences, at most."""
        return self.epochs or EPOCHS[self.update]

    @property
    def n_runs(self) -> int:
        """Runs that are summed; 1 if not given."""
        return self.runs or 1

    @property
    def width(self) -> int:
        """States kept in the search; 1 if not given."""
        return self.beam or 1

    @property
    def backwards(self) -> bool:
        """Direction: true if sentences are read from their end."""
        return bool(self.right_to_left)

    @property
    def step(self) -> float:
        """The step of the learning rule."""
        return RATES[self.update] if self.rate is None else float(self.rate)

    @property
    def least_lead(self) -> float:
        """The lead below which the rule learns."""
        return MARGINS[self.update] if self.margin is None else float(self.margin)

    @property
    def wrong_label_cost(self) -> float:
        """Score that a wrong label gains while training with a beam."""
        return MARGINS[self.update] if self.cost is None else float(self.cost)

    def record(self) -> dict[str, Any]:
        """Return the options as they go into the model's training record."""
        given = {option.name: getattr(self, option.name) for option in fields(LearningOptions)}
        del given["templates"]
        dictionary = None if self.dictionary is None else list(self.dictionary)
        return given | {"epochs": self.passes, "runs": self.n_runs, "dictionary": dictionary}


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions(LearningOptions):
    """The options of ``perceptron_nlp.train``; every one has a default that suits most treebanks.

    Raises
    ------
    ArgumentError, ArgumentTypeError : a value out of its range; the message names the field
    """

    raw: RawSource | None = _option(
        None,
        "data",
        "text without labels, a sentence a line, its words separated by spaces, or CoNLL-U, whose"
        " words are taken: clusters of words are learned from it, which helps with words that the"
        " training files do not have",
        metavar="FILE",
    )
    lexicon: str | os.PathLike[str] | Mapping[str, str | Iterable[str]] | None = _option(
        None,
        "data",
        "a form, a tab and a label on each line: what it says of words becomes features; the model"
        " keeps it",
        metavar="FILE",
    )
    size: int | str | None = _option(
        None,
        "output",
        "compress the model into a file of this size, such as 400kB or 1.1MB; how is chosen by the"
        " dev set, and what it cost is reported",
        metavar="SIZE",
    )
    resumable: bool = _option(
        False,
        "output",
        "keep in the model what its training needs to go on, so that resume can train it further;"
        " the file becomes several times as large",
        metavar="",
    )
    checkpoint: str | os.PathLike[str] | None = _option(
        None, "output", "save the state of the training in FILE after epochs", metavar="FILE"
    )
    every: int | None = _option(
        None, "output", "epochs between two checkpoints", low=1, high=10_000, unset="1"
    )
    resume: bool = _option(
        False,
        "output",
        "go on from the checkpoint; the model is the same, byte for byte, as without a stop",
        metavar="",
    )
    max_memory: int | str | None = _option(
        None,
        "large scale",
        "for more text than memory: keep the training files on disk (in the folder TMPDIR) and"
        " this process below SIZE, such as 500MB; the model is the same",
        metavar="SIZE",
    )
    engine: str | object | None = _option(
        None,
        "large scale",
        "ray: distribute the sentences among workers, whose weights are mixed after each epoch",
        metavar="NAME",
    )
    workers: int | None = _option(
        None,
        "large scale",
        "with an engine, how many workers; the model depends on it, and one gives what training"
        " without an engine gives",
        low=1,
        high=10_000,
        unset="one a processor",
    )
    read_by: str | None = _option(
        None,
        "large scale",
        "with an engine, program (it reads the text and holds it) or workers (each reads its part"
        " of CoNLL-U files that all machines have); the model is the same",
        choices=("program", "workers"),
        unset="program",
        metavar="WHO",
    )

    def learning(self) -> LearningOptions:
        """Return those that decide what is learned."""
        return LearningOptions(
            **{option.name: getattr(self, option.name) for option in fields(LearningOptions)}
        )


class TrainOptions(TypedDict, total=False):
    """The fields of TrainingOptions as keyword arguments, for type checkers and editors."""

    preset: str
    epochs: int | None
    seed: int
    update: str
    templates: str | Sequence[Template | str]
    table_bits: int | None
    min_count: int
    dictionary: tuple[int, float] | None
    patience: int | None
    right_to_left: bool | None
    beam: int | None
    margin: float | None
    rate: float | None
    cost: float | None
    runs: int | None
    two_passes: bool | None
    window: int | None
    raw: RawSource | None
    lexicon: str | os.PathLike[str] | Mapping[str, str | Iterable[str]] | None
    size: int | str | None
    resumable: bool
    checkpoint: str | os.PathLike[str] | None
    every: int | None
    resume: bool
    max_memory: int | str | None
    engine: str | object | None
    workers: int | None
    read_by: str | None


Options = TypeVar("Options", bound=LearningOptions)


def options_from(given: Mapping[str, Any], kind: type[Options]) -> Options:
    """Return options out of keyword arguments, on top of those of their preset.

    Parameters
    ----------
    given : by name
    kind : LearningOptions or TrainingOptions

    Raises
    ------
    ArgumentTypeError : there is no such option; the message names it
    ArgumentError, ArgumentTypeError : a value out of its range
    """
    known = [option.name for option in fields(kind)]
    unknown = given.keys() - {*known}
    if unknown:
        raise ArgumentTypeError(
            f"{min(unknown)}: there is no such option; there are {', '.join(known)}"
        )
    name = given.get("preset", "default")
    check_choice("preset", name, PRESETS)
    return kind(**{**PRESETS[name], **given})


def make_options(given: Mapping[str, Any]) -> LearningOptions:
    """Return the options that decide what is learned; see options_from."""
    return options_from(given, LearningOptions)
