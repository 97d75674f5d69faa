"""Trials of tuning, and its result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perceptron_nlp import EpochReport
from perceptron_nlp._display import percent, points
from perceptron_nlp.analysis.compare.significance import Counts, Interval


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
        return {
            "number": self.number,
            "settings": plain(self.settings),
            "epochs": self.epochs,
            "score": self.score,
            "curve": list(self.curve),
            "work": self.work,
            "behind": self.behind,
            "error": self.error,
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
class TuningResult:
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
        return {
            "column": self.column,
            "measure": self.measure,
            "folds": self.folds,
            "options": plain(self.options),
            "expected": self.expected,
            "interval": list(self.interval),
            "by_fold": list(self.by_fold),
            "best": self.best.number,
            "chosen": self.chosen.number,
            "stopped": self.stopped,
            "remarks": list(self.remarks),
            "trials": [trial.to_dict() for trial in self.trials],
        }

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
