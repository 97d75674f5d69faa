"""How far a training has come: all that is needed, beside the table, to go on exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenweights import FrozenWeights
from perceptron_nlp.errors import ModelError
from perceptron_nlp.tagger.model.state import RunState

Array = npt.NDArray[Any]
_PARTS = {
    "keys": np.uint64,
    "groups": np.uint16,
    "starts": np.int64,
    "labels": np.uint32,
    "weights": np.float64,
}


@dataclass(slots=True)
class RunResult:
    """What a finished run has learnt: its weights, the epoch they are of, a record per epoch.

    `state` is None, or what the weights are the average of.
    """

    weights: FrozenWeights
    best_epoch: int
    epochs: list[dict[str, Any]]
    state: RunState | None = None


@dataclass(slots=True)
class Progress:
    """The run at hand, and those that are finished.

    Attributes
    ----------
    finished : the runs before this one
    epoch : its epoch at hand, from 1
    position : how many of that epoch's sentences are done
    counts : (examples, mistakes, updates) among them
    best, best_score, best_epoch : the weights that did best on the dev set so far
    epochs : a record for each epoch that is done
    best_state : what the best weights are the average of, where states are kept
    """

    finished: list[RunResult] = field(default_factory=list)
    epoch: int = 1
    position: int = 0
    counts: tuple[int, int, int] = (0, 0, 0)
    best: FrozenWeights | None = None
    best_score: float = -1.0
    best_epoch: int = 0
    epochs: list[dict[str, Any]] = field(default_factory=list)
    best_state: RunState | None = None

    @property
    def run(self) -> int:
        """The number of the run at hand, from 1."""
        return len(self.finished) + 1

    def add(self, sentences: int, counts: tuple[int, int, int]) -> None:
        """Count sentences that were learnt from."""
        self.position += sentences
        self.counts = (
            self.counts[0] + counts[0],
            self.counts[1] + counts[1],
            self.counts[2] + counts[2],
        )

    def end_epoch(self, record: dict[str, Any]) -> None:
        """Go on to the next epoch."""
        self.epochs.append(record)
        self.epoch, self.position, self.counts = self.epoch + 1, 0, (0, 0, 0)

    def end_run(self, weights: FrozenWeights, state: RunState | None = None) -> None:
        """Go on to the next run; `weights` are this one's, the average of `state`."""
        done = RunResult(weights, self.best_epoch or self.epoch - 1, self.epochs, state)
        fresh = Progress([*self.finished, done])
        for name in self.__slots__:
            setattr(self, name, getattr(fresh, name))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, Array]]:
        """As one JSON object and arrays."""
        described: dict[str, Any] = {
            "epoch": self.epoch,
            "position": self.position,
            "counts": list(self.counts),
            "best_score": self.best_score,
            "best_epoch": self.best_epoch,
            "epochs": self.epochs,
            "finished": [
                {"best_epoch": run.best_epoch, "epochs": run.epochs} for run in self.finished
            ],
        }
        arrays = {} if self.best is None else _to_arrays("best", self.best)
        for number, run in enumerate(self.finished):
            arrays |= _to_arrays(f"run{number}", run.weights)
        states = {
            "best": self.best_state,
            **{f"run{number}": run.state for number, run in enumerate(self.finished)},
        }
        described["states"] = {}
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
        """What to_parts gave.

        Raises
        ------
        KeyError, TypeError, ValueError : the parts are not of a training
        """
        states = {
            name: RunState.from_parts(state, arrays, f"{name}.state.", n_labels)
            for name, state in described["states"].items()
        }
        finished = [
            RunResult(
                _from_arrays(f"run{number}", arrays, n_labels, table_bits),
                int(run["best_epoch"]),
                list(run["epochs"]),
                states.get(f"run{number}"),
            )
            for number, run in enumerate(described["finished"])
        ]
        examples, mistakes, updates = (int(count) for count in described["counts"])
        best = None
        if "best.keys" in arrays:
            best = _from_arrays("best", arrays, n_labels, table_bits)
        return cls(
            finished,
            int(described["epoch"]),
            int(described["position"]),
            (examples, mistakes, updates),
            best,
            float(described["best_score"]),
            int(described["best_epoch"]),
            list(described["epochs"]),
            states.get("best"),
        )


def _to_arrays(name: str, weights: FrozenWeights) -> dict[str, Array]:
    return {f"{name}.{part}": getattr(weights, part) for part in _PARTS}


def _from_arrays(
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
    return FrozenWeights(
        n_labels,
        parts["keys"],
        parts["groups"],
        starts,
        labels,
        parts["weights"],
        table_bits=table_bits,
    )
