"""Checkpoints: the state of a training after an epoch, in a file, from which it goes on exactly.

The file is a tensor container like that of a model (formats/tensorfile.py), with the metadata
``format`` = ``perceptron_nlp checkpoint``, ``format_version``, ``identity`` (what is trained:
options, templates, digests of the data) and ``progress``; the arrays of Progress, and those of the
table as ``table.*``. It is replaced whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._checks import check_path
from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.errors import ArgumentError, FileError, ModelError, PerceptronNLPError, quote
from perceptron_nlp.formats import (
    check_place,
    read_file_bytes,
    read_tensors,
    replace_file,
    write_tensors,
)
from perceptron_nlp.tagger.model.state import RunState

Array = npt.NDArray[Any]

FORMAT = "perceptron_nlp checkpoint"
FORMAT_VERSION = "5"
_PARTS = {
    "keys": np.uint64,
    "groups": np.uint16,
    "starts": np.int64,
    "labels": np.uint32,
    "weights": np.float64,
}
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


@dataclass(slots=True)
class RunResult:
    """Weights that a finished run has learned, the epoch that they are from, a record per epoch.

    `state` is what the weights are the average of, or None.
    """

    weights: FrozenWeights
    best_epoch: int
    epochs: list[dict[str, Any]]
    state: RunState | None = None


@dataclass(slots=True)
class Progress:
    """The current run, and those that are finished.

    Attributes
    ----------
    best, best_score, best_epoch : the weights that did best on the dev set so far
    epochs : a record for each epoch that is done
    best_state : what the best weights are the average of, where states are kept
    """

    finished: list[RunResult] = field(default_factory=list)
    best: FrozenWeights | None = None
    best_score: float = -1.0
    best_epoch: int = 0
    epochs: list[dict[str, Any]] = field(default_factory=list)
    best_state: RunState | None = None

    @property
    def run(self) -> int:
        """The number of the current run, from 1."""
        return len(self.finished) + 1

    @property
    def done(self) -> int:
        """Number of epochs of the current run that are done."""
        return len(self.epochs)

    def after_run(self, weights: FrozenWeights, state: RunState | None) -> Progress:
        """Return the progress after a run with these weights, which are the average of `state`."""
        result = RunResult(weights, self.best_epoch or self.done, self.epochs, state)
        return Progress([*self.finished, result])

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """Return one JSON object and arrays."""
        described: dict[str, Any] = {
            "best_score": self.best_score,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "finished": [
                {"best_epoch": run.best_epoch, "epochs": run.epochs} for run in self.finished
            ],
            "states": {},
        }
        weights = {"best": self.best} | {f"run{k}": r.weights for k, r in enumerate(self.finished)}
        states = {"best": self.best_state} | {
            f"run{k}": r.state for k, r in enumerate(self.finished)
        }
        arrays = {
            f"{name}.{part}": getattr(found, part)
            for name, found in weights.items()
            if found is not None
            for part in _PARTS
        }
        for name, state in states.items():
            if state is not None:
                described["states"][name], more = state.to_parts(f"{name}.state.")
                arrays |= more
        return described, arrays

    @classmethod
    def from_parts(
        cls,
        described: Mapping[str, Any],
        arrays: Mapping[str, Array],
        n_labels: int,
        table_bits: int | None,
    ) -> Progress:
        """Return the progress from what to_parts gave."""
        states = {
            name: RunState.from_parts(state, arrays, f"{name}.state.", n_labels)
            for name, state in described["states"].items()
        }
        finished = [
            RunResult(
                _weights(f"run{number}", arrays, n_labels, table_bits),
                int(run["best_epoch"]),
                list(run["epochs"]),
                states.get(f"run{number}"),
            )
            for number, run in enumerate(described["finished"])
        ]
        best = None
        if "best.keys" in arrays:
            best = _weights("best", arrays, n_labels, table_bits)
        return cls(
            finished,
            best,
            float(described["best_score"]),
            int(described["best_epoch"]),
            list(described["epochs"]),
            states.get("best"),
        )


def _weights(
    name: str, arrays: Mapping[str, Array], n_labels: int, table_bits: int | None
) -> FrozenWeights:
    parts = {part: arrays[f"{name}.{part}"] for part in _PARTS}
    if any(array.ndim != 1 or array.dtype != _PARTS[part] for part, array in parts.items()):
        raise ModelError(f"{name}: its arrays are of other types")
    starts, labels = parts["starts"], parts["labels"]
    if (
        len(starts) != len(parts["keys"]) + 1
        or len(parts["groups"]) != len(parts["keys"])
        or starts[0] != 0
        or starts[-1] != len(labels)
        or (np.diff(starts) < 1).any()
        or len(parts["weights"]) != len(labels)
        or (len(labels) and int(labels.max()) >= n_labels)
    ):
        raise ModelError(f"{name}: its arrays do not fit together")
    return FrozenWeights(n_labels, **parts, table_bits=table_bits)


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    """File of the state of a training, how often it is saved, and if training goes on from it."""

    path: str
    every: int = 1
    resume: bool = False


def checkpoint_options(
    path: str | os.PathLike[str] | None, every: int | None, resume: bool, n_columns: int = 1
) -> list[CheckpointOptions | None]:
    """Return for each column None, or where its state is saved.

    path, every, resume : the options ``checkpoint``, ``every`` and ``resume``
    n_columns : columns that are learned, one after the other: the first in the file, the others in
        files of its name and ``.2``, ``.3``, … These may be missing on resuming

    Raises ArgumentError, ArgumentTypeError if one of the options cannot be used; FileError if the
    file cannot be written; it exists already, and `resume` is not given; or it is missing, and
    `resume` is given.
    """
    if path is None:
        if resume or every is not None:
            name = "resume" if resume else "every"
            raise ArgumentError(f"{name}: there is no checkpoint; name its file as checkpoint")
        return [None] * n_columns
    check_path("checkpoint", path)
    first = os.fspath(path)
    names = [first, *(f"{first}.{number}" for number in range(2, n_columns + 1))]
    return [_checked(name, every or 1, resume, name != first) for name in names]


def _checked(name: str, every: int, resume: bool, optional: bool) -> CheckpointOptions:
    check_place(name)
    there = os.path.lexists(name)
    if resume and optional and not there:
        resume = False
    if resume and not there:
        raise FileError(f"{name}: there is no checkpoint to resume from; begin without resume")
    if there and not resume:
        raise FileError(
            f"{name}: there is a checkpoint already; resume goes on from it, or else remove it"
        )
    return CheckpointOptions(name, every, resume)


def _difference(name: str, then: Any, now: Any) -> str:
    """Tell in a few words how a saved training differs from the current one."""
    if name in _IN_WORDS:
        return f"other {_IN_WORDS[name]}"
    if isinstance(then, dict) and isinstance(now, dict):
        name = next(key for key in {**now, **then} if then.get(key) != now.get(key))
        then, now = then.get(name), now.get(name)
    return f"{name} {quote(then)}, not {quote(now)}"


class Checkpoint:
    """Saves the state of one training after epochs, and reads it.

    ``identity`` is what a training must agree in to go on from the file, as JSON can express it.
    """

    def __init__(self, options: CheckpointOptions, identity: Mapping[str, Any]) -> None:
        self._options = options
        # As JSON gives it back, so that tuples and lists are the same.
        self._identity = json.loads(json.dumps(identity))

    def read(
        self, n_labels: int, table_bits: int | None
    ) -> tuple[Progress, dict[str, Any] | None, int]:
        """Return the saved progress, the table's arrays (None between runs), its ``done``."""
        path = self._options.path
        if not self._options.resume:
            return Progress(), None, 0
        tensors, metadata = read_tensors(read_file_bytes(path), path)
        if metadata.get("format") != FORMAT or metadata.get("format_version") != FORMAT_VERSION:
            raise ModelError(f"{path}: not a checkpoint that this version can resume from")
        try:
            self._compare(json.loads(metadata["identity"]))
            described = json.loads(metadata["progress"])
            progress = Progress.from_parts(described, tensors, n_labels, table_bits)
            table = {
                name.removeprefix("table."): array
                for name, array in tensors.items()
                if name.startswith("table.")
            }
            return progress, table or None, int(described["done"])
        except ArgumentError:
            raise
        except (PerceptronNLPError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelError(f"{path}: the checkpoint's content is not valid: {error}") from None

    def _compare(self, saved: Any) -> None:
        # What was given is named before what follows from it.
        for name in sorted(self._identity, key=lambda name: name not in _GIVEN):
            then, now = saved.get(name), self._identity.get(name)
            if then != now:
                raise ArgumentError(
                    f"checkpoint: {self._options.path} is of a training with"
                    f" {_difference(name, then, now)}; resume with what it was begun with, or"
                    " begin again with another file"
                )

    def save(self, progress: Progress, table: WeightTable | None) -> None:
        """Save the state after an epoch if it is time; after the last epoch of a run, always."""
        if table is not None and progress.done % self._options.every:
            return
        described, arrays = progress.to_parts()
        described["done"] = 0 if table is None else table.done
        if table is not None:
            arrays |= {f"table.{name}": array for name, array in table.to_arrays().items()}
        replace_file(
            self._options.path,
            write_tensors(
                {name: np.ascontiguousarray(array) for name, array in arrays.items()},
                {
                    "format": FORMAT,
                    "format_version": FORMAT_VERSION,
                    "identity": json.dumps(self._identity, sort_keys=True),
                    "progress": json.dumps(described, sort_keys=True),
                },
            ),
        )
