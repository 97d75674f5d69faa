from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

class LabelParts:
    def __new__(
        cls,
        parts: Sequence[Sequence[int]],
        n_parts: int,
        slots: Sequence[int] | None = ...,
        families: Sequence[object] | None = ...,
        n_wholes: int = ...,
    ) -> Self: ...
    @property
    def n_parts(self) -> int: ...
    def best(
        self, part_scores: npt.NDArray[np.float64] | npt.NDArray[np.int32], but: int = ...
    ) -> tuple[int, float | None]: ...
