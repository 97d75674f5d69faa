"""Checkpoints: after an epoch, the model so far, with all that its training needs to go on exactly.

The file is a model like any other: it tags, and `Tagger.resume` takes it. Its training record has,
as ``checkpoint``, what the training must agree in to go on; its state (model/state.py) is that of
the best epoch of each run, and that of the last epoch. It is replaced whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from perceptron_nlp._checks import check_path
from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp.errors import ArgumentError, FileError, ModelError, quote
from perceptron_nlp.formats import check_place, read_file_bytes, replace_file
from perceptron_nlp.tagger.model.file import model_from_bytes, model_to_bytes
from perceptron_nlp.tagger.model.model import TaggerModel
from perceptron_nlp.tagger.model.state import RunState

# Where the training record has what the training must agree in.
RECORD = "checkpoint"
# Differences that are too long to be quoted.
_IN_WORDS = {
    "train": "data, not these",
    "dev": "dev data, not these",
    "raw": "raw text, not this",
    "tables": "raw text or another lexicon",
    "templates": "templates, not these",
    "choices": "files or options, since something else was chosen by these",
}
_GIVEN = ("train", "dev", "raw", "tables", "options")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """File of a training so far, how often it is saved, and if training goes on from it."""

    path: str
    every: int = 1
    resume: bool = False

    @classmethod
    def of(
        cls, path: str | os.PathLike[str] | None, every: int | None, resume: bool
    ) -> Checkpoint | None:
        """Return what the options ``checkpoint``, ``every`` and ``resume`` ask for, or None.

        Raises ArgumentError, ArgumentTypeError if one of the options cannot be used; FileError as
        `of_column` does.
        """
        if path is None:
            if resume or every is not None:
                name = "resume" if resume else "every"
                raise ArgumentError(f"{name}: there is no checkpoint; name its file as checkpoint")
            return None
        check_path("checkpoint", path)
        return cls(os.fspath(path), every or 1, resume).of_column(0)

    def of_column(self, number: int) -> Checkpoint:
        """Return the checkpoint of a column, from 0, which are learned one after the other.

        The first is in the file, the others in files of its name and ``.2``, ``.3``, … These may
        be missing on resuming. Raises FileError if the file cannot be written; it exists already,
        and `resume` is not given; or it is missing, and `resume` is given.
        """
        path = f"{self.path}.{number + 1}" if number else self.path
        check_place(path)
        there = os.path.lexists(path)
        if self.resume and not there and not number:
            raise FileError(f"{path}: there is no checkpoint to resume from; begin without resume")
        if there and not self.resume:
            raise FileError(
                f"{path}: there is a checkpoint already; resume goes on from it, or else remove it"
            )
        return Checkpoint(path, self.every, self.resume and there)

    def save(self, model: TaggerModel, identity: Mapping[str, Any]) -> None:
        """Save a model with its states; `identity` is what a training must agree in to go on."""
        found = model.replace(record={**model.record, RECORD: dict(identity)})
        replace_file(self.path, model_to_bytes(found))

    def read(
        self, identity: Mapping[str, Any], n_labels: int, table_bits: int | None
    ) -> tuple[list[dict[str, Any]], list[tuple[RunState, FrozenWeights]]] | None:
        """Return the epochs and, of each run and in the end to go on from, a state and its average.

        None without `resume`. `identity` is as JSON can express it; the number is that of labels,
        or of label components. Raises ArgumentError if the training is another one; ModelError if
        the file is damaged, or no checkpoint.
        """
        if not self.resume:
            return None
        model = model_from_bytes(read_file_bytes(self.path), self.path)
        saved = model.record.get(RECORD)
        if model.state is None or not isinstance(saved, dict):
            raise ModelError(
                f"{self.path}: not a checkpoint, but a model; Tagger.resume goes on with models"
            )
        self._compare(saved, json.loads(json.dumps(identity)))
        try:
            epochs = [{**entry, "run": entry["run"]} for entry in model.record["epochs"]]
            states = model.state.states
            return epochs, [(state, state.average(n_labels, table_bits)) for state in states]
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(f"{self.path}: the checkpoint is not valid: {error}") from None

    def _compare(self, saved: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
        # What was given is named before what follows from it.
        for name in sorted(identity, key=lambda name: name not in _GIVEN):
            then, now = saved.get(name), identity.get(name)
            if then != now:
                raise ArgumentError(
                    f"checkpoint: {self.path} is of a training with {_difference(name, then, now)};"
                    " resume with what it was begun with, or begin again with another file"
                )


def _difference(name: str, then: Any, now: Any) -> str:
    """Return in a few words how a saved training differs from the current one."""
    if name in _IN_WORDS:
        return f"other {_IN_WORDS[name]}"
    if isinstance(then, dict) and isinstance(now, dict):
        name = next(key for key in {**now, **then} if then.get(key) != now.get(key))
        then, now = then.get(name), now.get(name)
    return f"{name} {quote(then)}, not {quote(now)}"
