from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.table.weights import WeightTable

MOST_REMEMBERED: int

class HistoryRows:
    def __new__(
        cls, program: FeatureProgram, table: WeightTable, carried: npt.NDArray[np.uint64]
    ) -> Self: ...
