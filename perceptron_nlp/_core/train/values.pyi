import numpy as np
from numpy.typing import NDArray

from perceptron_nlp._core.table.weights import WeightTable

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int32]
_Samples = tuple[_Floats, _Ints | None, NDArray[np.int64] | None]

class Learner:
    table: WeightTable
    def __init__(
        self,
        table: WeightTable,
        samples: _Samples,
        width: int,
        gold: _Ints,
        class_rates: _Floats,
        *,
        margin: float,
        strict: bool,
        intercept: bool,
        averaged: bool,
        logs: bool,
    ) -> None: ...
    def take_up(self, weights: _Floats, totals: _Floats, done: int) -> None: ...
    def state(self) -> tuple[_Floats, _Floats]: ...
    def train(
        self,
        order: NDArray[np.int64],
        size: int,
        rate: float,
        rates: _Floats | None = None,
        patience: int = -1,
    ) -> int: ...
    def logged(self) -> tuple[NDArray[np.int64], _Floats, _Ints, _Ints]: ...
    @property
    def quiet(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def mistakes(self) -> int: ...

def scores_of(samples: _Samples, count: int, weights: _Floats, bias: _Floats) -> _Floats: ...
def walk_votes(
    products: _Floats,
    updates: tuple[_Ints, _Ints, _Ints, _Floats, _Floats],
    scores: _Floats,
    tally: _Floats,
) -> None: ...
