from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.train import TrainingSet

class LabelParts:
    def __new__(cls, parts: Sequence[Sequence[int]], n_parts: int,
                 slots: Sequence[int] | None = ...) -> Self: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def n_parts(self) -> int: ...
    def best(self, part_scores: npt.NDArray[np.float64] | npt.NDArray[np.int32],
             but: int = ...) -> tuple[int, float | None]: ...

class CopiedRows:
    def __init__(self) -> None: ...

def learn_factored(
    data: TrainingSet, labels: LabelParts, order: npt.NDArray[np.int64], *, rule: str = ...,
    rate: float = ..., margin: float = ..., right_to_left: bool = ...,
    copies: CopiedRows | None = ...,
) -> tuple[int, int, int]: ...
