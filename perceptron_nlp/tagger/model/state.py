"""What a training needs to go on: current weights, what their averages owe, AdaGrad's sums.

A state is arrays by feature key, in one order whatever the order of learning: so two trainings
that learnt the same have equal states, and states of shards can be mixed (combine/mix.py).
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
from perceptron_nlp.tagger.model.ensemble import Rows, Union
from perceptron_nlp.tagger.train.options import LearningOptions

Array = npt.NDArray[Any]
_PARTS = {
    "keys": np.uint64,
    "groups": np.uint16,
    "counts": np.uint32,
    "labels": np.uint32,
    "w": np.float64,
    "owed": np.float64,
    "g": np.float64,
}
# Where each weight has one.
_BY_CELL = ("labels", "w", "owed", "g")


@dataclass(frozen=True, slots=True, eq=False)
class RunState:
    """The state of one training run; its average is ``w - owed / done``, weight by weight.

    Attributes
    ----------
    keys : uint64[n_rows], ascending: feature keys, or rows of a fixed table
    groups : uint16[n_rows]; the template of each row, 0 in a fixed table
    counts : uint32[n_rows]; weights in each row
    labels : uint32[n_cells], ascending in a row; numbers of labels, or of their parts
    w : float64[n_cells]; the weights as they stand
    owed : float64[n_cells]; the sum of each weight's steps, each times the number of words that
        were done before it
    g : float64[n_cells], AdaGrad's sums of squares; None with other rules
    done : labelled words learnt from so far
    epochs : passes made so far; those to come have the numbers after it
    """

    keys: Array
    groups: Array
    counts: Array
    labels: Array
    w: Array
    owed: Array
    g: Array | None
    done: int
    epochs: int

    @classmethod
    def of(cls, table: WeightTable, epochs: int) -> RunState:
        """What a table has learnt, in canonical order."""
        found = table.to_arrays()
        union = Union([Rows(found["keys"], found["groups"], found["counts"], found["labels"])])
        rows = union.rows(np.ones(union.n_cells, bool))
        sorted_cells = {}
        for name in ("w", "owed", "g"):
            if name in found:
                sorted_cells[name] = np.empty(union.n_cells)
                sorted_cells[name][union.places[0]] = found[name]
        return cls(
            rows.keys,
            rows.groups,
            rows.counts.astype(np.uint32),
            rows.labels,
            sorted_cells["w"],
            sorted_cells["owed"],
            sorted_cells.get("g"),
            table.done,
            epochs,
        )

    def arrays(self) -> dict[str, Array]:
        """By name, as WeightTable takes them."""
        found = {name: getattr(self, name) for name in _PARTS}
        return {name: array for name, array in found.items() if array is not None}

    def to_parts(self, prefix: str) -> tuple[dict[str, Any], dict[str, Array]]:
        """As one JSON object and arrays, whose names begin with `prefix`."""
        return (
            {"done": self.done, "epochs": self.epochs},
            {prefix + name: array for name, array in self.arrays().items()},
        )

    @classmethod
    def from_parts(
        cls,
        described: Mapping[str, Any],
        arrays: Mapping[str, Array],
        prefix: str,
        n_labels: int,
        n_groups: int = 1 << 16,
    ) -> RunState:
        """What to_parts gave, every part of it checked; `n_groups` is how many templates there are.

        Raises
        ------
        PerceptronNLPError, KeyError, TypeError, ValueError : the parts are not of a run
        """
        with_g = prefix + "g" in arrays
        parts = {name: arrays[prefix + name] for name in _PARTS if with_g or name != "g"}
        if any(array.ndim != 1 or array.dtype != _PARTS[name] for name, array in parts.items()):
            raise ArgumentError("state: its arrays are of other types")
        n_rows, n_cells = len(parts["keys"]), len(parts["w"])
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
            with_g and (parts["g"] < 0).any()
        ):
            raise ArgumentError("state: not all of its numbers can be")
        counts = [described["done"], described["epochs"]]
        if any(type(count) is not int or not 0 <= count < 1 << 62 for count in counts):
            raise ArgumentError("state: its counts are not whole numbers")
        return cls(
            parts["keys"],
            parts["groups"],
            parts["counts"],
            parts["labels"],
            parts["w"],
            parts["owed"],
            parts.get("g"),
            counts[0],
            counts[1],
        )

    def put_into(self, table: WeightTable) -> None:
        """Have a table that has learnt nothing, or was cleared, go on from here.

        Raises ArgumentError where the table is of another kind.
        """
        table.from_arrays(self.arrays(), self.done)

    def average(self, n_labels: int, table_bits: int | None) -> FrozenWeights:
        """The averaged weights, as a learner would give them."""
        table = WeightTable(n_labels, table_bits=table_bits, gradients=self.g is not None)
        self.put_into(table)
        return table.average()

    def renumbered(self, numbers: Sequence[int]) -> RunState:
        """With label k as label numbers[k]; the order of labels may not change."""
        labels = np.asarray(numbers, np.uint32)[self.labels] if len(self.labels) else self.labels
        return replace(self, labels=labels)

    def average_begun_anew(self) -> RunState:
        """With the same weights, and averages that are of words to come alone."""
        return replace(self, owed=np.zeros_like(self.owed), done=0)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingState:
    """All that a training of one column needs to go on, besides the model.

    Attributes
    ----------
    options : how it learns
    runs : the state of each run; the sum of their averages is the model
    """

    options: LearningOptions
    runs: tuple[RunState, ...]

    def to_parts(self, prefix: str) -> tuple[dict[str, Any], dict[str, Array]]:
        """As one JSON object and arrays, whose names begin with `prefix`."""
        runs, arrays = [], {}
        for number, run in enumerate(self.runs):
            described, more = run.to_parts(f"{prefix}{number}.")
            runs.append(described)
            arrays.update(more)
        return {"options": self.options.record(), "runs": runs}, arrays

    @classmethod
    def from_parts(
        cls,
        described: Mapping[str, Any],
        arrays: Mapping[str, Array],
        prefix: str,
        n_labels: int,
        n_groups: int,
    ) -> TrainingState:
        """What to_parts gave, every part of it checked; see RunState.

        Raises
        ------
        PerceptronNLPError, KeyError, TypeError, ValueError : the parts are not of a training
        """
        given = dict(described["options"])
        if given["dictionary"] is not None:
            given["dictionary"] = tuple(given["dictionary"])
        options = LearningOptions(**given)
        runs = tuple(
            RunState.from_parts(run, arrays, f"{prefix}{number}.", n_labels, n_groups)
            for number, run in enumerate(described["runs"])
        )
        if len(runs) != options.n_runs or any(
            (run.g is None) == (options.update == "adagrad") for run in runs
        ):
            raise ArgumentError("state: its runs are not those of its options")
        return cls(options, runs)
