"""The preset ``best``: which options suit a column, by folds of the training text, in given time.

Each step of SCHEDULE is trained on two thirds of the text and judged on the last, three times; it
is taken if it labels more tokens rightly than what was taken before, by more than the standard
error of the difference (Q. McNemar, 1947, "Note on the sampling error of the difference between
correlated proportions"). The time decides how many steps are tried, so that it depends on the
machine. The model's record has what was taken and what each step was worth; of the same steps come
the same bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from math import sqrt
from typing import Any, NamedTuple

from perceptron_nlp._display import percent, points
from perceptron_nlp.crossfit import crossfit, in_turn, unheard
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.features.templatefile import preset
from perceptron_nlp.sampling import permutation
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.tag.label import make_labeler
from perceptron_nlp.tagger.train.auto import ENDINGS, SHORT_NGRAMS
from perceptron_nlp.tagger.train.columns import holds_features
from perceptron_nlp.tagger.train.data import Examples
from perceptron_nlp.tagger.train.loop import Callback, EpochReport
from perceptron_nlp.tagger.train.options import BEST, LearningOptions, TrainingOptions

Learn = Callable[[Examples, LearningOptions, Callback], TaggerModel]

FOLDS, SEED, MINUTES = 3, 1, 10.0
SCHEDULE: tuple[tuple[str, Mapping[str, Any]], ...] = (
    ("preset=accurate", {"preset": "accurate"}),
    ("beam=1 runs=8", {"beam": 1, "runs": 8}),
    ("runs=8", {"runs": 8}),
    ("pairs of words", {"templates": (*preset("default"), *ENDINGS, SHORT_NGRAMS)}),
    ("right_to_left=False", {"right_to_left": False}),
    ("two_passes=False", {"two_passes": False}),
    ("cost=2", {"cost": 2.0}),
)
"""Steps in the order in which they are tried, each upon those that were taken before."""


class _Late(Exception):
    """Raised in a training that the time does not allow."""


class _Trial(NamedTuple):
    """right : of each labeled token, if its label was."""

    right: list[bool]
    seconds: float


def checked(chosen: TrainingOptions) -> TrainingOptions:
    """Return the options with minutes; raise ArgumentError for what does not go with them."""
    if chosen.preset != BEST:
        raise ArgumentError(
            "minutes: they bound what the preset best tries; give that preset, or leave them out"
        )
    for name in ("resumable", "checkpoint", "max_memory", "calibrate"):
        if getattr(chosen, name):
            raise ArgumentError(
                f"{name}: the preset best trains many times to choose options; name another one, or"
                f" leave {name} out"
            )
    return chosen if chosen.minutes else replace(chosen, minutes=MINUTES)


def chosen_by_folds(
    examples: Examples, given: LearningOptions, seconds: float, learn: Learn
) -> tuple[LearningOptions, list[str]]:
    """Return options for a column, and what each step was worth.

    given : options with the preset BEST; those that are set are not tried otherwise
    seconds : of wall time, for the trials and the training that follows, as far as that is known
    learn : trains on a part of the examples
    """
    deadline = time.monotonic() + seconds
    options = replace(given, preset="default")
    usual = {option.name: option.default for option in fields(LearningOptions)}
    usual["preset"] = BEST
    kept = {name for name, value in usual.items() if getattr(given, name) != value}
    folds = in_turn(permutation(len(examples.sentences), SEED), FOLDS)
    if not all(examples.part(fold).n_labeled for fold in folds):
        return options, ["too little text to choose by: options are those of the preset default"]

    known: list[object] = []

    def measured(tried: LearningOptions, like: _Trial | None) -> _Trial | None:
        """Return a trial, `like` being the best one before; None for what was tried already."""
        begin, right = time.monotonic(), list[bool]()
        reserved = 0.0 if like is None else like.seconds

        def look(_: EpochReport | None = None) -> None:
            now = time.monotonic()
            # The whole text takes half as long again as the two thirds of a fold.
            if now + max(reserved, now - begin if right else 0.0) / 2 > deadline:
                raise _Late

        def trained(rest: list[int]) -> TaggerModel:
            look()
            with unheard():
                return learn(examples.part(rest), tried, look)

        def judged(model: TaggerModel, held_out: list[int]) -> tuple[TaggerModel, list[bool]]:
            own = examples.part(held_out)
            labels = make_labeler(model).label(model.inputs(own.sentences))
            return model, [
                label == gold
                for sentence, golds in zip(labels, own.gold, strict=True)
                for label, gold in zip(sentence, golds, strict=True)
                if gold is not None
            ]

        for model, own in crossfit(folds, trained, judged):
            if not right:
                kind = {**model.record["options"]}
                if kind["beam"] == 1:
                    kind["cost"] = None
                if (kind, model.templates) in known:
                    return None
                known.append((kind, model.templates))
            right += own
        return _Trial(right, time.monotonic() - begin)

    def fits(settings: Mapping[str, Any]) -> bool:
        return "two_passes" not in settings or holds_features(examples)

    notes = []
    try:
        best = measured(options, None)
        assert best is not None
        share = sum(best.right) / len(best.right)
        notes.append(f"by {FOLDS} folds of train: preset=default, {percent(share)}")
        for name, settings in SCHEDULE:
            tried = replace(options, **settings)
            if kept & settings.keys() or not fits(settings):
                continue
            trial = measured(tried, best)
            if trial is None:
                continue
            better = sum(a > b for a, b in zip(trial.right, best.right, strict=True))
            worse = sum(a < b for a, b in zip(trial.right, best.right, strict=True))
            gain = points((better - worse) / len(best.right), sign=True)
            is_taken = better - worse > sqrt(better + worse)
            notes.append(f"{name}: {gain}, {'taken' if is_taken else 'left'}")
            if is_taken:
                best, options = trial, tried
    except _Late:
        notes.append("the time was over before all steps were tried")
    return options, notes
