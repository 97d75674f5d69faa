"""Checkpoints: the state of a training in a file, from which it goes on exactly.

The file is a tensor container as that of a model (formats/tensorfile.py), with the metadata
``format`` = ``perceptron_nlp checkpoint``, ``format_version``, ``identity`` (whose training it is:
options, templates, digests of the data) and ``progress``; the arrays of progress.py, and those of
the table as ``table.*``. It is replaced whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    ModelError,
    PerceptronNLPError,
    quote,
)
from perceptron_nlp.formats import (
    check_place,
    read_file_bytes,
    read_tensors,
    replace_file,
    write_tensors,
)
from perceptron_nlp.tagger.train.interrupts import Interrupts
from perceptron_nlp.tagger.train.progress import Progress

FORMAT = "perceptron_nlp checkpoint"
FORMAT_VERSION = "3"
# What is too long to be told.
_IN_WORDS = {
    "train": "data, not these",
    "dev": "dev data, not these",
    "raw": "raw text, not this",
    "tables": "raw text or another lexicon",
    "templates": "templates, not these",
    "choices": "files or options, since from these something else was found out",
}
_GIVEN = ("train", "dev", "raw", "tables", "options")
_EVERY = re.compile(r"([0-9]{1,9}) ?(epochs?|minutes?)?")


@dataclass(frozen=True, slots=True)
class CheckpointOptions:
    """Where and when to save the state of a training.

    Attributes
    ----------
    path : the file
    epochs, minutes : save after so many epochs, or minutes; one of them is 0
    resume : go on from the file
    """

    path: str
    epochs: int = 1
    minutes: int = 0
    resume: bool = False


def take_checkpoint_options(
    options: dict[str, Any], columns: int = 1
) -> list[CheckpointOptions | None]:
    """Take ``checkpoint``, ``every`` and ``resume`` out of a person's options.

    Parameters
    ----------
    options : what the person gave
    columns : how many are learnt, one after the other: the first in the file, the others in
        files of its name and ``.2``, ``.3``, … These need not be there to resume

    Returns
    -------
    for each column, None or where to save its state

    Raises
    ------
    ArgumentError, ArgumentTypeError : one of them cannot be used
    FileError : the file cannot be written; it is there though nobody wants to resume; or it is
        not there though somebody does
    """
    path = options.pop("checkpoint", None)
    every, resume = options.pop("every", None), options.pop("resume", False)
    if not isinstance(resume, bool):
        raise ArgumentTypeError(f"resume: a bool is needed, not {type(resume).__name__}")
    if path is None:
        if resume or every is not None:
            name = "resume" if resume else "every"
            raise ArgumentError(f"{name}: there is no checkpoint without a file; name one for it")
        return [None] * columns
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise ArgumentTypeError(f"checkpoint: a str or path is needed, not {type(path).__name__}")
    first = os.fspath(path)
    names = [first, *(f"{first}.{number}" for number in range(2, columns + 1))]
    return [_checked(name, every, resume, name != first) for name in names]


def _checked(name: str, every: object, resume: bool, optional: bool) -> CheckpointOptions:
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
    epochs, minutes = _parse_every(every)
    return CheckpointOptions(name, epochs, minutes, resume)


def _parse_every(every: object) -> tuple[int, int]:
    if every is None:
        return 1, 0
    if not isinstance(every, int | str) or isinstance(every, bool):
        raise ArgumentTypeError(f"every: a str or int is needed, not {type(every).__name__}")
    match = _EVERY.fullmatch(str(every))
    if match is None or int(match[1]) == 0:
        raise ArgumentError(
            f"every: {quote(every)} is not a number of epochs or minutes, such as 2epochs or"
            " 10minutes"
        )
    number = int(match[1])
    return (0, number) if (match[2] or "").startswith("minute") else (number, 0)


def _difference(name: str, then: Any, now: Any) -> str:
    """How a training that was saved differs from the one at hand, in some words."""
    if name in _IN_WORDS:
        return f"other {_IN_WORDS[name]}"
    if isinstance(then, dict) and isinstance(now, dict):
        name = next(key for key in {**now, **then} if then.get(key) != now.get(key))
        then, now = then.get(name), now.get(name)
    return f"{name} {quote(then)}, not {quote(now)}"


class Checkpoint:
    """Saves the state of one training when it is time, and reads it.

    Parameters
    ----------
    options : where and when
    identity : what a training must agree in to go on from the file, as JSON can say it; what
        differs first is told
    """

    def __init__(self, options: CheckpointOptions, identity: Mapping[str, Any]) -> None:
        self._options = options
        # As JSON gives it back, so that tuples and lists are the same.
        self._identity = json.loads(json.dumps(identity))
        self._saved_at = time.monotonic()

    def read(
        self, n_labels: int, table_bits: int | None
    ) -> tuple[Progress, dict[str, Any] | None, int]:
        """The saved state: progress, the table's arrays (None between runs), its ``done``.

        Without resume, the state of a training that has not begun.

        Raises
        ------
        FileError, ModelError : the file cannot be read, is damaged, or no checkpoint
        ArgumentError : it is that of another training; the message tells what differs
        """
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
        # What was given is told before what follows from it.
        for name in sorted(self._identity, key=lambda name: name not in _GIVEN):
            then, now = saved.get(name), self._identity.get(name)
            if then != now:
                raise ArgumentError(
                    f"checkpoint: {self._options.path} is of a training with"
                    f" {_difference(name, then, now)}; resume with what it was begun with, or"
                    " begin anew with another file"
                )

    def piece_done(self, progress: Progress, table: WeightTable, interrupts: Interrupts) -> None:
        """Between two pieces of an epoch: save where minutes have passed, or on Ctrl-C.

        Raises
        ------
        KeyboardInterrupt : somebody has pressed Ctrl-C; the state is saved
        """
        due = self._options.minutes and self._minutes() >= self._options.minutes
        if interrupts.pressed or due:
            self._save(progress, table)
        self.stop_if(interrupts)

    def stop_if(self, interrupts: Interrupts) -> None:
        """Raise KeyboardInterrupt, with how to go on, where somebody has pressed Ctrl-C."""
        if interrupts.pressed:
            raise KeyboardInterrupt(
                f"the training so far is saved in {self._options.path}; resume=True goes on"
            )

    def epoch_done(self, progress: Progress, table: WeightTable | None) -> None:
        """After an epoch: save where it is time; after the last of a run, always."""
        epochs = self._options.epochs
        if table is None or (epochs and (progress.epoch - 1) % epochs == 0):
            self._save(progress, table)

    def _minutes(self) -> float:
        return (time.monotonic() - self._saved_at) / 60

    def _save(self, progress: Progress, table: WeightTable | None) -> None:
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
        self._saved_at = time.monotonic()
