from typing import Any

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]
_Ints = NDArray[np.int32]

UPDATE: np.dtype[np.void]

class Rows:
    count: int
    width: int
    values: _Floats
    columns: _Ints | None
    starts: NDArray[np.int64] | None
    def __init__(
        self,
        values: _Floats,
        columns: _Ints | None,
        starts: NDArray[np.int64] | None,
        count: int,
        width: int,
    ) -> None: ...
    @property
    def is_sparse(self) -> bool: ...
    def scores(self, weights: _Floats, bias: _Floats) -> _Floats: ...

class Learner:
    def __init__(
        self,
        rows: Rows,
        gold: _Ints,
        weights: _Floats,
        bias: _Floats,
        class_rates: _Floats,
        *,
        margin: float,
        strict: bool,
        intercept: bool,
    ) -> None: ...
    def keep_average(self, owed: _Floats, owed_bias: _Floats, seen: int) -> None: ...
    def keep_updates(self, room: int) -> None: ...
    def train(
        self,
        order: NDArray[np.int64],
        step: int,
        rate: float,
        rates: _Floats | None = None,
        patience: int = -1,
    ) -> int: ...
    def logged(self) -> NDArray[Any]: ...
    @property
    def seen(self) -> int: ...
    @property
    def quiet(self) -> int: ...
    @property
    def updates(self) -> int: ...
    @property
    def mistakes(self) -> int: ...

def owed_to_mean(weights: _Floats, owed: _Floats, seen: int) -> None: ...
def mean_to_owed(weights: _Floats, mean: _Floats, seen: int) -> _Floats: ...
def tally_votes(
    points: Rows,
    kept: Rows,
    updates: tuple[_Ints, _Ints, _Ints, _Floats, _Floats],
    scores: _Floats,
    tally: _Floats,
    *,
    one: float,
) -> None: ...
