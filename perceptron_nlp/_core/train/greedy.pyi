import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.train.trainingset import TrainingSet

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
