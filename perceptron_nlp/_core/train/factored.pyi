import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.labelparts import LabelParts
from perceptron_nlp._core.train.trainingset import TrainingSet

def learn_factored(
    data: TrainingSet,
    labels: LabelParts,
    order: npt.NDArray[np.int64],
    *,
    rule: str = ...,
    rate: float = ...,
    margin: float = ...,
    right_to_left: bool = ...,
) -> tuple[int, int, int]: ...
