"""What a training needs to go on: weights, their totals and time stamps, AdaGrad's sums.

A state is arrays by feature key, in one order whatever the order of learning: so two trainings that
learned the same have equal states, and states of shards can be mixed (combine/merge.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp._core.table.weights import WeightTable
from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.tagger.model.cells import Rows, Union
from perceptron_nlp.tagger.model.weights import Reader, Writer

Array = npt.NDArray[Any]

_PARTS = {
    "keys": "U64",
    "groups": "U16",
    "counts": "U32",
    "labels": "U32",
    "last_update": "I64",
    "weight": "F64",
    "total": "F64",
    "squares": "F64",
}
# Where each weight has one.
_BY_CELL = ("labels", "weight", "total", "squares")


@dataclass(frozen=True, slots=True, eq=False)
class RunState:
    """The state of one training run; its average is ``sums / done``, weight by weight.

    keys : uint64[n_rows], ascending: feature keys, or rows of a fixed table
    groups : uint16[n_rows]; the template of each row, 0 in a fixed table
    counts : uint32[n_rows]; weights in each row
    labels : uint32[n_cells], ascending in a row; numbers of labels, or of their parts
    last_update : int64[n_rows]; the words that were done when each row was last settled
    weight : float64[n_cells]; the weights as they stand
    total : float64[n_cells]; the sum of each weight after each word up to ``last_update``
    squares : float64[n_cells], AdaGrad's sums of squares; None with other rules
    done : labeled words learned from so far
    epochs : passes made so far; those to come have the numbers after it
    """

    keys: Array
    groups: Array
    counts: Array
    labels: Array
    last_update: Array
    weight: Array
    total: Array
    squares: Array | None
    done: int
    epochs: int

    @classmethod
    def of(cls, table: WeightTable, epochs: int) -> RunState:
        """Return the state of a table, in canonical order."""
        found = table.to_arrays()
        union = Union([Rows(found["keys"], found["groups"], found["counts"], found["labels"])])
        rows = union.rows(np.ones(union.n_cells, bool))
        sorted_cells = {}
        for name in _BY_CELL[1:]:
            if name in found:
                sorted_cells[name] = np.empty(union.n_cells)
                sorted_cells[name][union.places[0]] = found[name]
        if not all(np.isfinite(numbers).all() for numbers in sorted_cells.values()):
            raise ArgumentError("values: weights have grown past all bounds; scale the values down")
        stamps = found["last_update"][np.argsort(found["keys"])]
        numbers = (sorted_cells["weight"], sorted_cells["total"], sorted_cells.get("squares"))
        return cls.at(rows, stamps, *numbers, table.done, epochs)

    @classmethod
    def at(
        cls,
        rows: Rows,
        last_update: Array,
        weight: Array,
        total: Array,
        squares: Array | None,
        done: int,
        epochs: int,
    ) -> RunState:
        """Return the state of these cells."""
        counts = rows.counts.astype(np.uint32)
        where = (rows.keys, rows.groups, counts, rows.labels)
        return cls(*where, last_update, weight, total, squares, done, epochs)

    @classmethod
    def settled(
        cls, union: Union, weight: Array, sums: Array, squares: Array | None, done: int, epochs: int
    ) -> RunState:
        """Return the state of these cells, those of zeros left out; ``sums`` are the property's."""
        kept = (weight != 0) | (sums != 0) | (False if squares is None else squares != 0)
        rows = union.rows(kept)
        stamps = np.full(len(rows.keys), done, np.int64)
        own = None if squares is None else squares[kept]
        return cls.at(rows, stamps, weight[kept], sums[kept], own, done, epochs)

    @property
    def rows(self) -> Rows:
        """Places of its numbers."""
        return Rows(self.keys, self.groups, self.counts, self.labels)

    @property
    def last_updates(self) -> list[int]:
        """For each epoch, how many rows were updated in it for the last time."""
        if not self.done:
            return [0] * self.epochs
        epochs = np.minimum(self.last_update * self.epochs // self.done, self.epochs - 1)
        counts: list[int] = np.bincount(epochs, minlength=self.epochs).tolist()
        return counts

    @property
    def stamps(self) -> Array:
        """The time stamp of each cell, which is that of its row: int64[n_cells]."""
        return np.asarray(np.repeat(self.last_update, self.counts))

    @property
    def sums(self) -> Array:
        """The sum of each weight after each word that was done: float64[n_cells]."""
        return np.asarray(self.total + (self.done - self.stamps) * self.weight)

    def arrays(self) -> dict[str, Array]:
        """By name, as WeightTable takes them."""
        found = {name: getattr(self, name) for name in _PARTS}
        return {name: array for name, array in found.items() if array is not None}

    def write(self, writer: Writer) -> dict[str, Any]:
        """Return the description in a model file, and put the arrays."""
        for name, array in self.arrays().items():
            writer.put(name, array)
        return {"done": self.done, "epochs": self.epochs}

    @classmethod
    def read(
        cls, described: Mapping[str, Any], reader: Reader, n_labels: int, n_groups: int = 1 << 16
    ) -> RunState:
        """Return what `write` described, every part checked; `n_groups` are templates."""
        with_squares = f"{reader.prefix}squares" in reader.tensors
        parts = {
            name: np.asarray(reader.numbers(name, dtype))
            for name, dtype in _PARTS.items()
            if with_squares or name != "squares"
        }
        n_rows, n_cells = len(parts["keys"]), len(parts["weight"])
        by_cell = {name: array for name, array in parts.items() if name in _BY_CELL}
        if (
            any(
                len(array) != (n_cells if name in by_cell else n_rows)
                for name, array in parts.items()
            )
            or int(parts["counts"].sum(dtype=np.uint64)) != n_cells
        ):
            raise ArgumentError("state: its arrays do not fit together")
        if (n_cells and int(parts["labels"].max()) >= n_labels) or (
            parts["keys"][1:] <= parts["keys"][:-1]
        ).any():
            raise ArgumentError("state: its keys or labels are out of order or range")
        if n_rows and int(parts["groups"].max()) >= n_groups:
            raise ArgumentError(f"state: rows of more than the {n_groups} templates that there are")
        if not all(np.isfinite(array).all() for array in by_cell.values()) or (
            with_squares and (parts["squares"] < 0).any()
        ):
            raise ArgumentError("state: not all of its numbers can be")
        counts = [described["done"], described["epochs"]]
        if any(type(count) is not int or not 0 <= count < 1 << 62 for count in counts):
            raise ArgumentError("state: its counts are not whole numbers")
        stamps = parts["last_update"]
        if n_rows and not 0 <= int(stamps.min()) <= int(stamps.max()) <= counts[0]:
            raise ArgumentError("state: rows were settled at words that were never done")
        squares = parts.pop("squares", None)
        return cls(**parts, squares=squares, done=counts[0], epochs=counts[1])

    def put_into(self, table: WeightTable) -> None:
        """Put the state into a table that has learned nothing, or was cleared."""
        table.from_arrays(self.arrays(), self.done)

    def average(self, n_labels: int, table_bits: int | None) -> FrozenWeights:
        """The averaged weights, as a learner would give them."""
        table = WeightTable(n_labels, table_bits=table_bits, gradients=self.squares is not None)
        self.put_into(table)
        return table.average()

    def renumbered(self, numbers: Sequence[int]) -> RunState:
        """With label k as label numbers[k]; the order of labels may not change."""
        labels = np.asarray(numbers, np.uint32)[self.labels] if len(self.labels) else self.labels
        return replace(self, labels=labels)

    def average_begun_anew(self) -> RunState:
        """With the same weights, and averages that are of words to come alone."""
        return replace(
            self,
            total=np.zeros_like(self.total),
            last_update=np.zeros_like(self.last_update),
            done=0,
        )


@dataclass(frozen=True, slots=True, eq=False)
class TrainingState:
    """Options and runs of a training of one column; the averages of the runs are summed.

    options : as in the training record (LearningOptions.record)
    last : of a checkpoint, the last epoch of the last run, where that is not the best one; or None
    """

    options: Mapping[str, Any]
    runs: tuple[RunState, ...]
    last: RunState | None = None

    @property
    def states(self) -> tuple[RunState, ...]:
        """The state of each run, and in the end that to go on from."""
        return (*self.runs, self.last or self.runs[-1])

    def write(self, writer: Writer) -> dict[str, Any]:
        """Return the description in a model file, and put the arrays."""
        runs = [*self.runs, *([] if self.last is None else [self.last])]
        described = [run.write(writer.under(str(number))) for number, run in enumerate(runs)]
        return {"options": dict(self.options), "runs": described}

    @classmethod
    def read(
        cls, described: Mapping[str, Any], reader: Reader, n_labels: int, n_groups: int
    ) -> TrainingState:
        """Return what `write` described, every part checked; see RunState."""
        options = dict(described["options"])
        n_runs = options["runs"]
        runs = tuple(
            RunState.read(run, reader.under(str(number)), n_labels, n_groups)
            for number, run in enumerate(described["runs"])
        )
        if len(runs) - n_runs not in (0, 1) or any(
            (run.squares is None) == (options["update"] == "adagrad") for run in runs
        ):
            raise ArgumentError("state: its runs are not those of its options")
        return cls(options, runs[:n_runs], runs[n_runs] if len(runs) > n_runs else None)
