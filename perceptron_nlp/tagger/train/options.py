"""The options of training: each declared once, with its default, its range and its help text.

From the fields of TrainingOptions come the checks, the command line (cli/training.py), the table in
the documentation (docs/reference/options.md) and the options in a model's training record.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

from perceptron_nlp._checks import check_choice, check_flag, check_int, check_number, check_options
from perceptron_nlp._core.model.frozenmodel import WIDEST_BEAM
from perceptron_nlp._core.table.weights import MAX_TABLE_BITS
from perceptron_nlp._core.train.driver import RULES
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, in_message
from perceptron_nlp.features.templates import Template
from perceptron_nlp.tagger.model.derived import WIDEST_WINDOW

if TYPE_CHECKING:
    from perceptron_nlp.tagger.train.clusters import RawSource

AUTO = "auto"
# fast: one token at a time, without pairs of words, the fastest to tag with. default: several runs
# summed, and pairs where there is text enough to learn them from. accurate: more runs, and a beam
# over whole sentences where labels are learned whole; some ten times the training of fast.
BEST = "best"
PRESETS = ("fast", "default", "accurate", BEST)
RUNS_OF_ACCURATE = 4
# The step of each rule, and the margin that the gold label must have: AdaGrad's are those of the
# literature on greedy taggers; a perceptron's scores have no unit.
RATES = {"perceptron": 1.0, "margin": 1.0, "passive-aggressive": 1.0, "adagrad": 0.1}
# Passes after which dev sets gain no more: a rule that learns from narrow successes needs fewer.
EPOCHS = {"perceptron": 10, "margin": 10, "passive-aggressive": 10, "adagrad": 8}
MARGINS = {"perceptron": 0.0, "margin": 1.0, "passive-aggressive": 1.0, "adagrad": 1.0}
GROUPS = ("data", "features", "learning", "output", "large scale")


class Declaration(NamedTuple):
    """Everything about an option but name, type and default; `unset` is the meaning of None."""

    group: str
    help: str
    range: tuple[float, float] = (0, 0)
    choices: tuple[str, ...] = ()
    unset: str = ""
    metavar: str = "N"


def _option(default: Any, group: str, help: str, **how: Any) -> Any:
    return field(default=default, metadata={"option": Declaration(group, help, **how)})


def declaration(option: Field[Any]) -> Declaration:
    """Return the declaration of a field of TrainingOptions."""
    declared: Declaration = option.metadata["option"]
    return declared


def _check(option: Field[Any], value: object) -> None:
    """Raise unless a value has the type and the range of an option."""
    declared, kind = declaration(option), str(option.type)
    if value is None and kind.endswith("None"):
        return
    if declared.choices:
        check_choice(option.name, value, declared.choices)
    elif kind in ("int", "int | None"):
        check_int(option.name, value, int(declared.range[0]), int(declared.range[1]))
    elif kind.startswith("bool"):
        check_flag(option.name, value)
    elif kind.startswith("float"):
        check_number(option.name, value, *declared.range)


@dataclass(frozen=True, slots=True, kw_only=True)
class LearningOptions:
    """The options that decide what is learned; they go into the model's training record."""

    preset: str = _option(
        "default",
        "learning",
        "fast leaves pairs of words out; accurate searches with a beam and sums four runs or six;"
        " best chooses by folds of train, in some minutes",
        choices=PRESETS,
        metavar="NAME",
    )
    epochs: int | None = _option(
        None,
        "learning",
        "passes over the training sentences",
        range=(1, 10_000),
        unset="what suits the rule and the runs: 8 or 6 with adagrad, else 10",
    )
    seed: int = _option(1, "learning", "decides the order of the sentences", range=(0, 2**64 - 1))
    update: str = _option(
        "adagrad",
        "learning",
        "the learning rule; all but perceptron learn from narrow successes, too",
        choices=tuple(RULES),
        metavar="RULE",
    )
    templates: str | Sequence[Template | str] = _option(
        AUTO,
        "features",
        "the features: a list of the library, or templates (on the command line a file with one a"
        " line); auto: what suits the training sentences, measured on a part of them",
        metavar="NAME|FILE",
    )
    table_bits: int | None = _option(
        None,
        "large scale",
        "learn in a fixed table of 2^K rows",
        range=(1, MAX_TABLE_BITS),
        unset="a table that grows",
        metavar="K",
    )
    min_count: int = _option(
        1, "features", "leave out features of words seen less often", range=(1, 2**31)
    )
    dictionary: tuple[int, float] | None = _option(
        None,
        "features",
        "words seen COUNT times or more always get a label of SHARE of them or more (20:0.97)",
        unset="none",
        metavar="COUNT:SHARE",
    )
    patience: int | None = _option(
        5, "learning", "stop after N epochs without a better dev score", range=(1, 10_000)
    )
    right_to_left: bool | None = _option(
        None, "learning", "read sentences from their end", unset="what suits the column"
    )
    beam: int | None = _option(
        None,
        "learning",
        "keep N states in the search for the best labels of a sentence; 1 labels greedily",
        range=(1, WIDEST_BEAM),
        unset="1, or 4 for spans",
    )
    margin: float | None = _option(
        None,
        "learning",
        "the lead over other labels below which all rules but perceptron learn, if greedy",
        range=(0, 1e6),
        unset="1; 4 for features below 100,000 tokens or with new labels",
        metavar="X",
    )
    rate: float | None = _option(
        None,
        "learning",
        "the step of the learning rule; of passive-aggressive the longest one",
        range=(1e-6, 1000),
        unset="0.1 with adagrad, else 1",
        metavar="X",
    )
    cost: float | None = _option(
        None,
        "learning",
        "with a beam, what each wrong label gains while training",
        range=(0, 1e6),
        unset="0 with perceptron, else 1",
        metavar="X",
    )
    runs: int | None = _option(
        None,
        "learning",
        "train N times with the seeds SEED, SEED+1, … and sum the weights",
        range=(1, 1000),
        unset="1; accurate 4 or 6; default 4 shorter ones, from 100,000 tokens on 2 if greedy",
    )
    two_passes: bool | None = _option(
        None,
        "learning",
        "stacking: learn columns of features twice, the second time with a view of the first",
        unset="yes with the preset accurate",
    )
    window: int | None = _option(
        None,
        "features",
        "how far templates see a name's other places: N sentences on either side",
        range=(0, WIDEST_WINDOW),
        unset="40",
    )

    def __post_init__(self) -> None:
        for option in fields(self):
            _check(option, getattr(self, option.name))
        if self.dictionary is not None:
            self._check_dictionary(self.dictionary)
        self._check_update()

    def _check_dictionary(self, given: object) -> None:
        if not isinstance(given, tuple) or len(given) != 2:
            raise ArgumentTypeError(
                "dictionary: a pair (count, share) is needed, such as (20, 0.97)"
            )
        count, share = given
        check_int("dictionary's count", count, 1, 2**31)
        if not isinstance(share, int | float) or not 0.5 < share <= 1:
            raise ArgumentError(
                f"dictionary's share: {in_message(share)} is not above 0.5 and at most 1"
            )

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
        """Runs that are summed; if not given, those of the preset."""
        return self.runs or (RUNS_OF_ACCURATE if self.preset == "accurate" else 1)

    @property
    def width(self) -> int:
        """States kept in the search; 1 if not given."""
        return self.beam or 1

    @property
    def is_right_to_left(self) -> bool:
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
        given: dict[str, Any] = {}
        for option in fields(LearningOptions):
            value = getattr(self, option.name)
            # So that a rate of 1 and one of 1.0, as the shell reads it, are the same bytes.
            is_float = str(option.type).startswith("float") and value is not None
            given[option.name] = float(value) if is_float else value
        del given["templates"]
        dictionary = None
        if self.dictionary is not None:
            dictionary = [self.dictionary[0], float(self.dictionary[1])]
        return given | {"epochs": self.passes, "runs": self.n_runs, "dictionary": dictionary}

    @classmethod
    def of_record(cls, record: Mapping[str, Any]) -> LearningOptions:
        """Return the options, but templates, that `record` gave; errors are those of options_from.

        `record` may come from a file, so that anything may stand in it.
        """
        given = dict(record)
        if isinstance(given.get("dictionary"), list):
            given["dictionary"] = tuple(given["dictionary"])
        return options_from(given, cls)


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingOptions(LearningOptions):
    """The options of ``perceptron_nlp.train``; every one has a default that suits most treebanks.

    Raises
    ------
    ArgumentError, ArgumentTypeError : a value out of its range
    """

    raw: RawSource | None = _option(
        None,
        "data",
        "text without labels, a tokenized sentence a line, or CoNLL-U, to learn clusters from; one"
        " file each time",
        metavar="FILE",
    )
    lexicon: str | os.PathLike[str] | Mapping[str, str | Iterable[str]] | None = _option(
        None,
        "data",
        "a form, a tab and a label on each line, which become features; the model keeps them",
        metavar="FILE",
    )
    abbreviations: str | os.PathLike[str] | Sequence[str] | None = _option(
        None,
        "data",
        "abbreviations, one a line, that running text is cut with; for models that learn text",
        metavar="FILE",
    )
    learn_dev: bool = _option(
        False,
        "data",
        "when all is decided by the dev set, or without one by a tenth of train, train again on all"
        " of it; nothing is left then that tells the accuracy on new text",
    )
    calibrate: str | None = _option(
        None,
        "data",
        "without a dev set, fit confidences to five parts of the training text, each labeled by"
        " what is trained on the others; six times the training",
        choices=("folds",),
        unset="the dev set, or no confidences",
        metavar="HOW",
    )
    size: int | str | None = _option(
        None,
        "output",
        "make the model of this size, such as 400kB; the dev set, which it needs, says how",
        metavar="SIZE",
    )
    resumable: bool = _option(
        False,
        "output",
        "keep in the model what resume needs to train it further; several times as large",
    )
    checkpoint: str | os.PathLike[str] | None = _option(
        None, "output", "save the state of the training in FILE after epochs", metavar="FILE"
    )
    every: int | None = _option(
        None, "output", "epochs between two checkpoints", range=(1, 10_000), unset="1"
    )
    resume: bool = _option(
        False, "output", "go on from the checkpoint, to the same bytes as without a stop"
    )
    max_memory: int | str | None = _option(
        None,
        "large scale",
        "keep the training text on disk (in TMPDIR) and this process below SIZE, such as 500MB",
        metavar="SIZE",
    )
    minutes: float | None = _option(
        None,
        "learning",
        "about the wall time that columns of tags take with the preset best",
        range=(0.01, 100_000),
        unset="10",
        metavar="N",
    )
    threads: int | None = _option(
        None,
        "large scale",
        "learn so many columns and runs at a time; one with a checkpoint or max_memory",
        range=(1, 1024),
        unset="one a processor for several columns, else 1",
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
    abbreviations: str | os.PathLike[str] | Sequence[str] | None
    learn_dev: bool
    calibrate: str | None
    size: int | str | None
    resumable: bool
    checkpoint: str | os.PathLike[str] | None
    every: int | None
    resume: bool
    max_memory: int | str | None
    minutes: float | None
    threads: int | None


Options = TypeVar("Options", bound=LearningOptions)


def options_from(given: Mapping[str, Any], kind: type[Options]) -> Options:
    """Return options out of keyword arguments; ArgumentError, ArgumentTypeError for bad ones."""
    check_options(given, [option.name for option in fields(kind)])
    return kind(**given)


def make_options(given: Mapping[str, Any]) -> LearningOptions:
    """Return the options that decide what is learned; see options_from."""
    return options_from(given, LearningOptions)
