"""Trainings that are measured on held-out sentences, each of them once.

They are kept in Optuna's journal on request. A search depends on its measurements alone: begun
again with those that are there, it takes the same way and comes to the same end. Each training is a
trial of the study in the file; the study's attribute ``identity`` tells the data, the column, the
fixed options and the folds.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np

from perceptron_nlp import EpochReport, Sentence, TaggerModel, train
from perceptron_nlp.analysis.significance import Counts, span_counts, word_counts
from perceptron_nlp.analysis.tune.trials import plain, used_by
from perceptron_nlp.errors import ArgumentError, ModelError, PerceptronNLPError, missing_extra
from perceptron_nlp.text.spans import is_span_column

_NAME = "perceptron_nlp tune"
_OF_DATA = ("train", "dev")
# Each line of a journal begins so.
_BEGIN = b'{"op_code"'


@dataclass(frozen=True, slots=True)
class Measured:
    """One training, scored on the sentences that were held out.

    curve : accuracy on the held-out tokens after each epoch; a list a run, none where nothing was
        held out while training
    best_epoch : the epoch of the first run that was kept
    used : the options that it was trained with, those among them that the program has chosen
    work : see Trial
    given, right : counts for each held-out sentence; see Counts
    """

    curve: list[list[float]]
    best_epoch: int
    used: dict[str, Any]
    work: int
    given: list[int]
    right: list[int]

    def check(self) -> None:
        """Raise ValueError, TypeError or AttributeError unless this can have been measured."""
        counts = all(
            isinstance(n, int) and n >= 0 for n in [*self.given, *self.right, self.work]
        ) and all(right <= given for right, given in zip(self.right, self.given, strict=True))
        curves = all(
            bool(curve) and all(isinstance(x, float) and 0 <= x <= 1 for x in curve)
            for curve in self.curve
        )
        if not (counts and curves and self.best_epoch >= 1 and self.used.keys()):
            raise ValueError("a measurement that cannot be")


def optuna() -> Any:
    """Return Optuna."""
    try:
        import optuna as library
    except ImportError:
        raise missing_extra("Optuna", "tune") from None
    return library


@contextmanager
def silenced() -> Iterator[None]:
    """Keep Optuna's messages off standard error, but for errors; the user's setting comes back."""
    logs = optuna().logging
    verbosity = logs.get_verbosity()
    logs.set_verbosity(logs.ERROR)
    try:
        yield
    finally:
        logs.set_verbosity(verbosity)


class Storage:
    """The trainings that were measured already, in memory or in a file, too.

    Raises ModelError if the file holds no state of a search; ArgumentError if it is of one with
    another identity.
    """

    def __init__(self, path: str | os.PathLike[str] | None, identity: dict[str, Any]) -> None:
        self.path = None if path is None else os.fspath(path)
        self._identity: dict[str, Any] = json.loads(json.dumps(identity))
        self._measured: dict[str, Measured] = {}
        self._study: Any = None
        if self.path is not None and os.path.exists(self.path):
            self._read(self.path)

    def get(self, key: str) -> Measured | None:
        """Return what a training has given; None where it was not measured yet."""
        return self._measured.get(key)

    def put(self, key: str, measured: Measured, score: float) -> None:
        """Keep what a training has given, on disk before this returns."""
        self._measured[key] = measured
        if self.path is not None:
            if self._study is None:
                self._study = optuna().create_study(
                    study_name=_NAME, storage=_journal(self.path), direction="maximize"
                )
                self._study.set_user_attr("identity", self._identity)
            attributes = {"key": key, "measured": asdict(measured)}
            self._study.add_trial(optuna().create_trial(value=score, user_attrs=attributes))

    def _read(self, path: str) -> None:
        with open(path, "rb") as handle:
            data = handle.read()
        if not data:
            return
        whole = data[: data.rfind(b"\n") + 1]
        if not whole.startswith(_BEGIN):
            raise ModelError(
                f"{path}: not the state of a tuning that this version can go on from;"
                " name another file"
            )
        try:
            for line in whole.splitlines():
                json.loads(line)
            study = optuna().load_study(study_name=_NAME, storage=_journal(path))
            self._compare(study.user_attrs.get("identity", self._identity), path)
            if len(whole) < len(data):
                # Whoever wrote the last line was killed meanwhile, or the disk was full.
                os.truncate(path, len(whole))
                study = optuna().load_study(study_name=_NAME, storage=_journal(path))
            if "identity" not in study.user_attrs:
                study.set_user_attr("identity", self._identity)
            self._study = study
            for trial in study.trials:
                measured = Measured(**trial.user_attrs["measured"])
                measured.check()
                self._measured[str(trial.user_attrs["key"])] = measured
        except PerceptronNLPError:
            raise
        except Exception as error:
            # Optuna takes a damaged journal for what it says, and fails in many ways.
            raise ModelError(f"{path}: the state's content is not valid: {error}") from None

    def _compare(self, saved: dict[str, Any], path: str) -> None:
        for name, now in self._identity.items():
            if saved.get(name) != now:
                what = "other data" if name in _OF_DATA else f"{name} {saved.get(name)}"
                raise ArgumentError(
                    f"state: {path} is of a search with {what}, not"
                    f" {'these' if name in _OF_DATA else now}; go on with what it was begun with,"
                    " or name another file"
                )


class _NoLock:
    """In place of Optuna's file, which a killed program leaves, and the next one waits for.

    A line is appended by one call, and no measurement depends on what others measure.
    """

    def acquire(self) -> bool:
        return True

    def release(self) -> None:
        return


def _journal(path: str) -> Any:
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    return JournalStorage(JournalFileBackend(path, lock_obj=cast("Any", _NoLock())))


@dataclass(frozen=True, slots=True)
class Part:
    """Sentences to learn from, and others, with their gold labels, to be scored on."""

    train: Sequence[Sentence]
    held_out: Sequence[Sentence]
    gold: Sequence[Sequence[str | None]]


@dataclass(eq=False)
class Bench:
    """Measures options on every part, or remembers what was measured.

    There is one part with a dev set, else one a fold. ``fixed`` are options that all trainings
    have; ``has_dev`` tells if the only part's held-out text is a dev set, on which a training may
    stop early.
    """

    parts: list[Part]
    column: str
    fields: Sequence[str] | None
    fixed: dict[str, Any]
    storage: Storage
    has_dev: bool

    def __post_init__(self) -> None:
        labels = {label for part in self.parts for gold in part.gold for label in gold}
        self.spans = is_span_column(label for label in labels if label is not None)
        self._count = span_counts if self.spans else word_counts
        self._gold = [
            self._count(part.gold, [[label or "" for label in gold] for gold in part.gold]).gold
            for part in self.parts
        ]

    def measure(
        self,
        settings: Mapping[str, Any],
        number: int,
        epochs: int | None,
        callback: Callable[[EpochReport], object],
    ) -> tuple[Measured, Counts]:
        """Train on one part with these settings and score."""
        key = json.dumps(
            {"settings": plain(settings), "part": number, "epochs": epochs}, sort_keys=True
        )
        found = self.storage.get(key)
        if found is None:
            found = self._train(settings, self.parts[number], epochs, callback)
            self.storage.put(key, found, sum(found.right) / max(1, sum(found.given)))
        gold = self._gold[number]
        if len(found.given) != len(gold):
            raise ModelError(
                f"{self.storage.path}: the state's content is not valid: counts of"
                f" {len(found.given)} sentences in place of {len(gold)}"
            )
        return found, Counts(gold, np.array(found.given, np.int64), np.array(found.right, np.int64))

    def _train(
        self,
        settings: Mapping[str, Any],
        part: Part,
        epochs: int | None,
        callback: Callable[[EpochReport], object],
    ) -> Measured:
        curve: list[list[float]] = []

        def heard(report: EpochReport) -> None:
            if report.dev_accuracy is not None:
                if report.epoch == 1:
                    curve.append([])
                curve[-1].append(report.dev_accuracy)
            callback(report)

        options = {**self.fixed, **settings}
        if epochs is not None:
            options["epochs"] = epochs
        elif not self.has_dev:
            # The curves of all parts are needed to their ends to choose one number of epochs.
            options["patience"] = None
        tagger = train(
            part.train,
            dev=part.held_out if epochs is None else None,
            column=self.column,
            fields=self.fields,
            callback=heard,
            **options,
        )
        model = tagger.model
        given = tagger.tag_sents(model.inputs(part.held_out))
        counts = self._count(part.gold, given)
        return Measured(
            curve,
            int(model.record["best_epoch"]),
            used_by(model),
            _work(model),
            counts.given.tolist(),
            counts.right.tolist(),
        )


def _work(model: TaggerModel) -> int:
    first = 0 if model.first is None else _work(model.first)
    return first + len(model.templates) * model.beam
