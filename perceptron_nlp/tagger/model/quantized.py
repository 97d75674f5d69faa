"""Averaged weights as small integers, sorted: the form that tags and is saved."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from perceptron_nlp.errors import ArgumentError
from perceptron_nlp.records import record
from perceptron_nlp.tagger.tag.latearrays import held_in, late_arrays

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp._core.model.frozenweights import FrozenWeights

LARGEST = 32767
# Steps that the heaviest weight must keep when the scale is chosen for sums; with fewer, rounding
# would begin to change labels.
FINE_STEPS = 256


@late_arrays(keys="uint64", group_starts="int64", starts="int64", labels="uint16", weights="int16")
@record(eq=False)
class QuantisedWeights:
    """Weights in units of 1 / scale, rows grouped by template and sorted by key.

    Numbers from a file may be given as memoryviews, which are arrays when they are looked at.

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
    def of(
        cls, frozen: FrozenWeights, n_groups: int, scale: float | None = None
    ) -> QuantisedWeights:
        """Round to a power of two: the finest with which every sum of one weight of each group
        fits 16 bits, so that scores can be added in 16 bits; where that is too coarse, the finest
        with which every weight does. Or to the scale that is given, with which every weight must
        fit.

        Raises
        ------
        ArgumentError : a weight is not finite
        """
        import numpy as np

        largest = float(np.abs(frozen.weights).max(initial=0.0))
        if not math.isfinite(largest):
            raise ArgumentError("values: weights have grown past all bounds; scale the values down")
        if scale is None:
            scale = _finest(LARGEST, largest)
            # Rounding may add half a step for each group.
            for_sums = _finest(LARGEST - (n_groups + 1) / 2, _largest_sum(frozen, n_groups))
            if for_sums * largest >= FINE_STEPS:
                scale = for_sums
        whole = np.rint(frozen.weights * scale)
        counts = np.diff(frozen.starts)
        row_of_cell = np.repeat(np.arange(len(counts)), counts)
        kept_cells = np.flatnonzero(whole)
        counts = np.bincount(row_of_cell[kept_cells], minlength=len(counts))
        rows = np.flatnonzero(counts)
        # No key is there twice, so the first sort need not be stable: np.lexsort's are.
        order = rows[np.argsort(frozen.keys[rows])]
        order = order[np.argsort(frozen.groups[order], kind="stable")]
        # Cells move with their rows: the new place of each is its row's new start plus its rank.
        new_starts = np.concatenate([[0], np.cumsum(counts[order])])
        old_starts = np.concatenate([[0], np.cumsum(counts)])
        cells = kept_cells[
            np.repeat(old_starts[order] - new_starts[:-1], counts[order])
            + np.arange(new_starts[-1])
        ]
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
        return len(held_in(self, "keys"))

    @property
    def n_cells(self) -> int:
        """Weights that are not 0."""
        return len(held_in(self, "weights"))

    def groups(self) -> npt.NDArray[Any]:
        """int64[n_rows]: the template of each row."""
        import numpy as np

        return np.repeat(np.arange(len(self.group_starts) - 1), np.diff(self.group_starts))


def _finest(room: float, value: float) -> float:
    """The largest power of two that keeps the value within the room."""
    return 2.0 ** math.floor(math.log2(room / value)) if value > 0 else 1.0


def _largest_sum(frozen: FrozenWeights, n_groups: int) -> float:
    """What no sum of one weight of each group, all of one label, can exceed in size.

    In a fixed table every template may meet every row.
    """
    import numpy as np

    if frozen.table_bits is not None:
        return n_groups * float(np.abs(frozen.weights).max(initial=0.0))
    place = (
        np.repeat(frozen.groups.astype(np.int64), np.diff(frozen.starts)) * frozen.n_labels
        + frozen.labels
    )
    high = np.zeros(n_groups * frozen.n_labels)
    low = np.zeros(n_groups * frozen.n_labels)
    np.maximum.at(high, place, frozen.weights)
    np.minimum.at(low, place, frozen.weights)
    sums = np.concatenate([bounds.reshape(n_groups, -1).sum(0) for bounds in (high, -low)])
    return float(sums.max(initial=0.0))
