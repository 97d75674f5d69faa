from typing import Any

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.train.trainingset import TrainingSet

def learn_sequences(
    data: TrainingSet,
    order: npt.NDArray[np.int64],
    *,
    rule: str = ...,
    rate: float = ...,
    beam: int = ...,
    cost: float = ...,
    right_to_left: bool = ...,
    allowed: npt.NDArray[Any] | None = ...,
) -> tuple[int, int, int]: ...
