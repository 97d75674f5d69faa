"""How much memory a training may take, and whether it keeps to that."""

from __future__ import annotations

import os
import sys
from typing import Any

from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.errors import ArgumentError, MemoryLimitError
from perceptron_nlp.tagger.model.sizes import parse_size

# What reading needs at a time: a piece of text, its numbers, and the library's own pages.
ROOM = 24 << 20
# What averaging, rounding and sorting the weights take at the end. With rows of all labels it
# depends on how many of a row's labels have a weight, mostly few: so many bytes for a feature, for
# one that has learnt something, and for each label, half as much again as was measured with 5 and
# with 17 labels. With others it is a share of the table, of which 0.7 to 1.14 were measured. Four
# runs, which are summed, took 1.4 where one took 0.5.
FEATURE_BYTES, ROW_BYTES, LABEL_BYTES, USUAL_LABELS = 20, 80, 45, 4
CELL_SHARE, SHARE_OF_RUN = 1.25, 0.5


class MemoryLimit:
    """A bound on the resident memory of this process, looked at while it reads and learns.

    Parameters
    ----------
    size : bytes, at least what the process has already and some room to read into

    Attributes
    ----------
    option : what it was asked for by

    Raises
    ------
    MemoryLimitError : too small for any training
    ArgumentError : the system does not tell what a process holds
    """

    option = "max_memory"

    def __init__(self, size: int) -> None:
        self._size = size
        self._table: WeightTable | None = None
        self._runs = 1.0
        held = resident()
        if held is None:
            raise ArgumentError(
                "max_memory: this system does not tell how much memory a process"
                " holds; leave max_memory out"
            )
        if size < held + ROOM:
            raise MemoryLimitError(
                f"max_memory: {_megabytes(size)} are too few: this process holds"
                f" {_megabytes(held)} before it has read anything, and reading needs"
                f" {_megabytes(ROOM)}; allow at least {_megabytes(held + ROOM)}"
            )

    def watch(self, table: WeightTable, *, runs: int) -> None:
        """From now on, leave room to make a model of this table within the limit.

        Parameters
        ----------
        table : learns
        runs : how many tables are learnt one after the other, and summed
        """
        self._table = table
        self._runs = 1 + SHARE_OF_RUN * (runs - 1)

    def _needed(self) -> int:
        """Bytes that making a model will take."""
        if self._table is None:
            return 0
        rows, n = self._table.rows_learnt, self._table.n_labels
        needed = (
            CELL_SHARE * self._table.bytes_used
            if rows is None
            else self._table.n_rows * FEATURE_BYTES
            + rows * (ROW_BYTES + LABEL_BYTES * min(n, USUAL_LABELS))
        )
        return int(self._runs * needed)

    def check(self) -> None:
        """Raise MemoryLimitError where what is held, and what the model will need, are too much."""
        held = resident() or 0
        needed = self._needed()
        if held + needed <= self._size:
            return
        making = (
            f", and making a model of what it has learnt takes up to {_megabytes(needed)} more"
            if needed
            else ""
        )
        raise MemoryLimitError(
            f"max_memory: {_megabytes(self._size)} are too few: this process holds"
            f" {_megabytes(held)}{making}. Sentences are kept on disc, but distinct words, features"
            ' and their weights in memory: set table_bits or preset="fast", which have fewer, or'
            " allow more"
        )


def take_memory_limit(options: dict[str, Any]) -> MemoryLimit | None:
    """Take ``max_memory`` out of a person's options.

    Raises
    ------
    ArgumentError, ArgumentTypeError : it is no size
    MemoryLimitError : it is too small for any training
    """
    size = options.pop("max_memory", None)
    return None if size is None else MemoryLimit(parse_size(size, "max_memory"))


def resident() -> int | None:
    """Bytes of memory that this process holds; where only the most it ever held is known, that.

    None where the system tells neither.
    """
    try:
        with open("/proc/self/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (
        1 if sys.platform == "darwin" else 1024
    )


def _megabytes(size: int) -> str:
    return f"{-(-size // 10**6):,} MB"
