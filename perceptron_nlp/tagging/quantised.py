"""Averaged weights as small integers, sorted: the form that tags and is saved."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.weights import FrozenWeights
from perceptron_nlp.errors import ArgumentError

LARGEST = 32767


@dataclass(frozen=True, slots=True, eq=False)
class QuantisedWeights:
    """Weights in units of 1 / scale, rows grouped by template and sorted by key.

    Attributes
    ----------
    keys : uint64[n_rows], ascending within each group
    group_starts : int64[n_groups + 1]; group g has the rows group_starts[g] to
        group_starts[g + 1]
    starts : int64[n_rows + 1]; row r has the cells starts[r] to starts[r + 1]
    labels : uint16[n_cells], ascending within a row
    weights : int16[n_cells], none of them 0
    scale : a power of two
    table_bits : None (exact keys) or the size of the fixed table
    """

    keys: npt.NDArray[np.uint64]
    group_starts: npt.NDArray[np.int64]
    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[np.uint16]
    weights: npt.NDArray[np.int16]
    scale: float
    table_bits: int | None

    @classmethod
    def of(cls, frozen: FrozenWeights, n_groups: int) -> QuantisedWeights:
        """Round to the finest power of two that lets the heaviest weight fit 16 bits.

        Raises
        ------
        ArgumentError : a weight is not finite
        """
        largest = float(np.abs(frozen.weights).max(initial=0.0))
        if not math.isfinite(largest):
            raise ArgumentError("values: weights have grown past all bounds; scale the values down")
        scale = 2.0 ** math.floor(math.log2(LARGEST / largest)) if largest > 0 else 1.0
        whole = np.rint(frozen.weights * scale)
        counts = np.diff(frozen.starts)
        row_of_cell = np.repeat(np.arange(len(counts)), counts)
        kept_cells = np.flatnonzero(whole)
        counts = np.bincount(row_of_cell[kept_cells], minlength=len(counts))
        rows = np.flatnonzero(counts)
        order = rows[np.lexsort((frozen.keys[rows], frozen.groups[rows]))]
        # Cells move with their rows: the new place of each is its row's new start plus its rank.
        new_starts = np.concatenate([[0], np.cumsum(counts[order])])
        old_starts = np.concatenate([[0], np.cumsum(counts)])
        cells = kept_cells[
            np.repeat(old_starts[order] - new_starts[:-1], counts[order])
            + np.arange(new_starts[-1])]
        group_sizes = np.bincount(frozen.groups[order], minlength=n_groups)
        return cls(
            keys=frozen.keys[order],
            group_starts=np.concatenate([[0], np.cumsum(group_sizes)]).astype(np.int64),
            starts=new_starts.astype(np.int64),
            labels=frozen.labels[cells].astype(np.uint16),
            weights=whole[cells].astype(np.int16),
            scale=scale,
            table_bits=frozen.table_bits,
        )

    @property
    def n_rows(self) -> int:
        """Features with a weight that is not 0."""
        return len(self.keys)

    @property
    def n_cells(self) -> int:
        """Weights that are not 0."""
        return len(self.weights)

    def groups(self) -> npt.NDArray[Any]:
        """int64[n_rows]: the template of each row."""
        return np.repeat(np.arange(len(self.group_starts) - 1), np.diff(self.group_starts))
