from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.extract import FeatureProgram
from perceptron_nlp._core.weights import WeightTable

RULES: tuple[str, ...]
BLOCK: int

class TrainingSet:
    def __new__(
        cls,
        program: FeatureProgram,
        table: WeightTable,
        *,
        strings: Sequence[Sequence[bytes]],
        tokens: npt.NDArray[np.int32],
        lengths: npt.NDArray[np.int64],
        gold: npt.NDArray[np.int32],
        label_hashes: npt.NDArray[np.uint64],
        forced: npt.NDArray[np.int32],
        min_count: int = 1,
        n_open: int | None = None,
    ) -> Self: ...

def learn(
    data: TrainingSet,
    order: npt.NDArray[np.int64],
    *,
    rule: str = "perceptron",
    rate: float = 1.0,
    margin: float = 1.0,
    right_to_left: bool = False,
    scales: npt.NDArray[np.float64] | None = None,
) -> tuple[int, int, int]: ...
