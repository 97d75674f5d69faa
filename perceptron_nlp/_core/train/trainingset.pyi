from collections.abc import Sequence
from typing import Protocol, Self, type_check_only

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.table.weights import WeightTable

CHECKED: int
CHUNK: int

@type_check_only
class _Space(Protocol):
    def empty(self, n: int, /) -> npt.NDArray[np.int32]: ...
    def check(self) -> None: ...

class TrainingSet:
    def __new__(
        cls,
        program: FeatureProgram,
        table: WeightTable,
        *,
        strings: Sequence[Sequence[bytes]],
        tokens: Sequence[npt.NDArray[np.int32]] | npt.NDArray[np.int32],
        lengths: npt.NDArray[np.int64],
        gold: npt.NDArray[np.int32],
        label_hashes: npt.NDArray[np.uint64],
        forced: npt.NDArray[np.int32],
        min_count: int = 1,
        n_open: int | None = None,
        space: _Space | None = None,
    ) -> Self: ...
