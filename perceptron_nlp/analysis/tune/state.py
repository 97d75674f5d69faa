"""What tuning has measured, kept in a file, so that the same search goes on where it stopped.

A search is decided by its measurements alone: begun anew with those that are there already, it
takes the same way and comes to the same end. The file is one JSON object: ``format`` =
``perceptron_nlp tuning``, ``format_version``, ``identity`` (data, column, fixed options, folds)
and ``measured``, by what was trained. It is replaced whole or not at all.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from perceptron_nlp.errors import ArgumentError, ModelError
from perceptron_nlp.formats import read_file_bytes, replace_file

FORMAT = "perceptron_nlp tuning"
FORMAT_VERSION = 1
_OF_DATA = {"train": "TRAIN", "dev": "DEV"}


@dataclass(frozen=True, slots=True)
class Measured:
    """One training, scored on the sentences that were held out.

    Attributes
    ----------
    curve : share of the held-out words that were right after each epoch; a list a run, none
        where nothing was held out while training
    best_epoch : the epoch of the first run that was kept
    used : the options that it was trained with, those among them that the program decided
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
        """Raises TypeError or ValueError unless everything is of its type and in its range."""
        if len(self.given) != len(self.right):
            raise ValueError("counts of different lengths")
        whole = [self.best_epoch, self.work, *self.given, *self.right]
        if not all(type(number) is int and number >= 0 for number in whole):
            raise ValueError("counts that are no whole numbers")
        if any(right > given for given, right in zip(self.given, self.right, strict=True)):
            raise ValueError("more right than given")
        if not isinstance(self.used.get("update"), str):
            raise ValueError("no options")
        for run in self.curve:
            if not run or not all(type(x) in (int, float) and 0 <= x <= 1 for x in run):
                raise ValueError("a curve that is none")


class TuningState:
    """Everything measured so far, by key.

    Parameters
    ----------
    path : the file; None to keep it in memory
    identity : what is tuned, and on what

    Raises
    ------
    FileError, ModelError : the file cannot be read, or is no such state
    ArgumentError : it is that of another search; the message tells what differs
    """

    def __init__(self, path: str | os.PathLike[str] | None, identity: dict[str, Any]) -> None:
        self.path = None if path is None else os.fspath(path)
        self._identity: dict[str, Any] = json.loads(json.dumps(identity))
        self._measured: dict[str, Measured] = {}
        if self.path is not None and os.path.lexists(self.path):
            self._read(self.path)

    def get(self, key: str) -> Measured | None:
        """What was measured, if it was."""
        return self._measured.get(key)

    def put(self, key: str, measured: Measured) -> None:
        """Keep a measurement, in the file too.

        Raises FileError if that cannot be written.
        """
        self._measured[key] = measured
        if self.path is not None:
            content = {
                "format": FORMAT,
                "format_version": FORMAT_VERSION,
                "identity": self._identity,
                "measured": {k: asdict(m) for k, m in self._measured.items()},
            }
            replace_file(self.path, (json.dumps(content, sort_keys=True) + "\n").encode())

    def _read(self, path: str) -> None:
        try:
            content = json.loads(read_file_bytes(path))
            known = (content["format"], content["format_version"]) == (FORMAT, FORMAT_VERSION)
        except (ValueError, TypeError, KeyError, RecursionError):
            known = False
        if not known:
            raise ModelError(
                f"{path}: not the state of a tuning that this version can go on from;"
                " name another file"
            )
        try:
            self._compare(dict(content["identity"]), path)
            for key, entry in content["measured"].items():
                measured = Measured(**entry)
                measured.check()
                self._measured[key] = measured
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if isinstance(error, ArgumentError):
                raise
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
