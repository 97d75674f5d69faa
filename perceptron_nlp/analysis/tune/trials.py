"""The values of options that tuning tries, its trials, and its result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from perceptron_nlp import EpochReport, TaggerModel, Template, check_place, preset
from perceptron_nlp._checks import check_int
from perceptron_nlp._display import Tabular, percent, points
from perceptron_nlp.analysis.significance import Counts, Interval
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
    """Take the fields of SearchOptions out of a person's options."""
    names = SearchOptions.__dataclass_fields__
    return SearchOptions(**{name: options.pop(name) for name in names if name in options})


def checked_space(
    space: Mapping[str, Sequence[Any]] | None, fixed: Mapping[str, Any]
) -> dict[str, tuple[Any, ...]]:
    """The space to search, or the usual one, without what a person has fixed."""
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
    used: Mapping[str, Any], name: str, value: Any, feature_columns: Sequence[str]
) -> dict[str, Any]:
    """The options with one of them another, in the same form."""
    if name == "templates" and value != AUTO:
        value = [
            str(t) for t in (preset(value, feature_columns) if isinstance(value, str) else value)
        ]
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trial:
    """One choice of options, measured on all held-out sentences.

    Attributes
    ----------
    number : from 1, in the order of the search
    settings : the options that it tries, by name; none for what they are if nothing is said
    epochs : the number of epochs that was best
    score : accuracy, or F1 in a column of spans; a fraction of 1
    curve : share of the held-out words that were right after each epoch, from the first
    work : templates times states of the beam, over all passes: what tagging a word takes
    counts : what was right, sentence by sentence
    behind : how much lower its score is than the best one; None until all trials are done
    error : the standard error of that difference, by resampling sentences; None likewise
    """

    number: int
    settings: Mapping[str, Any]
    epochs: int
    score: float
    curve: tuple[float, ...]
    work: int
    counts: Counts
    behind: float | None = None
    error: float | None = None

    @property
    def within_noise(self) -> bool:
        """True if the best trial is ahead by no more than one standard error."""
        return self.behind is not None and self.error is not None and self.behind <= self.error

    def to_dict(self) -> dict[str, Any]:
        """All but the counts, for JSON."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        del found["counts"]
        settings = plain(self.settings)
        return found | {
            "settings": settings,
            "curve": list(self.curve),
            "within_noise": self.within_noise,
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuningReport:
    """The progress of tuning: after each epoch, and after each trial.

    Attributes
    ----------
    trial, trials : the trial's number from 1, and how many there may be; trial 0 is the last
        measurement of what was chosen
    settings : the options that it tries
    fold, folds : which part is held out, from 1, and how many there are
    epoch : the epoch that is done; None at the end of a trial
    done : the trial, at its end
    best : the best trial so far; None before the first is done
    """

    trial: int
    trials: int
    settings: Mapping[str, Any]
    fold: int
    folds: int
    epoch: EpochReport | None
    done: Trial | None
    best: Trial | None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TuningResult(Tabular):
    """The result of ``perceptron_nlp.tune``.

    Attributes
    ----------
    column : the column that is learned
    measure : ``accuracy``, or ``f1`` in a column of spans
    folds : how many parts were held out in turn; None where there was a dev set
    trials : all trials, in the order of the search
    best : the trial with the highest score
    chosen : of those within noise of the best, the one that takes the least work, then the best
    options : what to give to ``perceptron_nlp.train``; the epochs among them
    expected : the score to expect; where there were folds, of trainings with just these options
        and without a held-out part to stop by
    interval : in which 95 % of the scores lie when the held-out sentences are resampled
    by_fold : the expected score, part by part; one value with a dev set
    stopped : None, or the reason for an end before everything was tried: ``trials`` or ``minutes``
    remarks : what should be known of the folds
    """

    column: str
    measure: str
    folds: int | None
    trials: tuple[Trial, ...]
    best: Trial
    chosen: Trial
    options: dict[str, Any]
    expected: float
    interval: Interval
    by_fold: tuple[float, ...]
    stopped: str | None
    remarks: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        found = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return found | {
            "options": plain(self.options),
            "interval": list(self.interval),
            "by_fold": list(self.by_fold),
            "remarks": list(self.remarks),
            "best": self.best.number,
            "chosen": self.chosen.number,
            "trials": [trial.to_dict() for trial in self.trials],
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each trial, in the order of the search."""
        shown = ("number", "score", "behind", "error", "epochs", "work")
        return [
            {name: getattr(trial, name) for name in shown}
            | {"settings": ", ".join(f"{k}={v}" for k, v in plain(trial.settings).items())}
            for trial in self.trials
        ]

    def __str__(self) -> str:
        low, high = self.interval
        return (
            f"{self.column}: {percent(self.expected)} ({points(low)} to {points(high)})"
            f" expected with {plain(self.options)}; {len(self.trials)} trials"
        )


def plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in values that JSON has; templates are written out."""
    return {
        name: value
        if isinstance(value, str | int | float | None)
        else [item if isinstance(item, int | float) else str(item) for item in value]
        for name, value in settings.items()
    }
