"""Trainings that are measured on sentences held out, each of them once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_nlp.analysis.compare.significance import Counts, span_counts, word_counts
from perceptron_nlp.analysis.tune.searchspace import used_by
from perceptron_nlp.analysis.tune.storage import Measured, Storage
from perceptron_nlp.analysis.tune.trials import plain
from perceptron_nlp.errors import ModelError
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.train.api import train
from perceptron_nlp.tagger.train.loop import EpochReport
from perceptron_nlp.text.sentence import Sentence
from perceptron_nlp.text.spans import is_span_column


@dataclass(frozen=True, slots=True)
class Part:
    """Sentences to learn from, and others, with their gold labels, to be scored on."""

    train: Sequence[Sentence]
    held_out: Sequence[Sentence]
    gold: Sequence[Sequence[str | None]]


class Bench:
    """Measures options on every part, or remembers what was measured.

    Parameters
    ----------
    parts : one with a dev set, else one a fold
    column, fields : what is learnt; see train
    fixed : options that all trainings have
    storage : what was measured already
    has_dev : is the only part's held-out text a dev set, on which a training may stop early?
    """

    def __init__(
        self,
        parts: list[Part],
        column: str,
        fields: Sequence[str] | None,
        fixed: dict[str, Any],
        storage: Storage,
        has_dev: bool,
    ) -> None:
        self.parts = parts
        self.column = column
        self.fixed = fixed
        self.has_dev = has_dev
        self._fields = fields
        self._storage = storage
        labels = {label for part in parts for gold in part.gold for label in gold}
        self.spans = is_span_column(label for label in labels if label is not None)
        self._count = span_counts if self.spans else word_counts
        self._gold = [
            self._count(part.gold, [[label or "" for label in gold] for gold in part.gold]).gold
            for part in parts
        ]

    def measure(
        self,
        settings: Mapping[str, Any],
        number: int,
        epochs: int | None,
        callback: Callable[[EpochReport], object],
    ) -> tuple[Measured, Counts]:
        """Train on one part with these settings and score.

        With `epochs`, just so many, and nothing is held out to choose the best of them by.
        """
        key = json.dumps(
            {"settings": plain(settings), "part": number, "epochs": epochs}, sort_keys=True
        )
        found = self._storage.get(key)
        if found is None:
            found = self._train(settings, self.parts[number], epochs, callback)
            self._storage.put(key, found, sum(found.right) / max(1, sum(found.given)))
        gold = self._gold[number]
        if len(found.given) != len(gold):
            raise ModelError(
                f"{self._storage.path}: the state's content is not valid: counts of"
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
            fields=self._fields,
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
