"""How much memory a training may take, and whether it keeps to that."""

from __future__ import annotations

import os
import sys
from typing import Any

from perceptron_nlp._core.weights import WeightTable
from perceptron_nlp.errors import ArgumentError, MemoryLimitError
from perceptron_nlp.tagging.sizes import parse_size

# What reading needs at a time: a piece of text, its numbers, and the library's own pages.
ROOM = 24 << 20
# What averaging, rounding and sorting the weights take at the end is a share of the table. With
# rows of all labels it depends on how many of a row's labels have a weight, mostly few: so many
# bytes for a row and for each label, half as much again as was measured with 5 and with 17 labels.
# With others 0.7 to 1.14 were measured; with four runs, which are summed, 1.4 in place of 0.5.
ROW_BYTES, LABEL_BYTES, USUAL_LABELS = 80, 45, 4
CELL_SHARE, SHARE_OF_RUN = 1.25, 0.5
# The core has rows of all labels up to this many.
MOST_ROW_LABELS = 32


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
        self._share = 0.0
        held = resident()
        if held is None:
            raise ArgumentError("max_memory: this system does not tell how much memory a process"
                                " holds; leave max_memory out")
        if size < held + ROOM:
            raise MemoryLimitError(
                f"max_memory: {_megabytes(size)} are too few: this process holds"
                f" {_megabytes(held)} before it has read anything, and reading needs"
                f" {_megabytes(ROOM)}; allow at least {_megabytes(held + ROOM)}")

    def watch(self, table: WeightTable, *, runs: int, is_fixed: bool, has_gradients: bool
              ) -> None:
        """From now on, leave room to make a model of this table within the limit.

        Parameters
        ----------
        table : learns
        runs : how many tables are learnt one after the other, and summed
        is_fixed : whether the table has a fixed size
        has_gradients : whether it was made for AdaGrad
        """
        self._table = table
        share, n = CELL_SHARE, table.n_labels
        if n <= MOST_ROW_LABELS and not is_fixed:
            # float64 for each label: a weight, what it owes, AdaGrad's square; in groups of four.
            row = 8 * _in_fours(_in_fours(n) + (2 * n if has_gradients else n))
            share = (ROW_BYTES + LABEL_BYTES * min(n, USUAL_LABELS)) / row
        self._share = share * (1 + SHARE_OF_RUN * (runs - 1))

    def check(self) -> None:
        """Raise MemoryLimitError where what is held, and what the model will need, are too much."""
        held = resident() or 0
        needed = 0 if self._table is None else int(self._share * self._table.bytes_used)
        if held + needed <= self._size:
            return
        making = (f", and making a model of what it has learnt takes up to {_megabytes(needed)}"
                  " more" if needed else "")
        raise MemoryLimitError(
            f"max_memory: {_megabytes(self._size)} are too few: this process holds"
            f" {_megabytes(held)}{making}. Sentences are kept on disc, but distinct words, features"
            " and their weights in memory: set table_bits or preset=\"fast\", which have fewer, or"
            " allow more")


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
        1 if sys.platform == "darwin" else 1024)


def _in_fours(number: int) -> int:
    return -(-number // 4) * 4


def _megabytes(size: int) -> str:
    return f"{-(-size // 10**6):,} MB"
