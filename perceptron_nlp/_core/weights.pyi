from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

MAX_TABLE_BITS: int

class WeightTable:
    def __new__(
        cls, n_labels: int, *, table_bits: int | None = None, gradients: bool = False
    ) -> Self: ...
    @property
    def n_labels(self) -> int: ...
    @property
    def table_bits(self) -> int | None: ...
    @property
    def n_rows(self) -> int: ...
    @property
    def done(self) -> int: ...
    @property
    def bytes_used(self) -> int: ...
    @property
    def rows_learnt(self) -> int | None: ...
    def advance(self, examples: int = 1) -> None: ...
    def score(
        self, keys: npt.NDArray[np.uint64], values: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.float64]: ...
    def update(
        self,
        keys: npt.NDArray[np.uint64],
        label: int,
        step: float,
        values: npt.ArrayLike | None = None,
        group: int = 0,
    ) -> None: ...
    def update_adagrad(
        self,
        keys: npt.NDArray[np.uint64],
        label: int,
        sign: float,
        rate: float,
        values: npt.ArrayLike | None = None,
        group: int = 0,
    ) -> None: ...
    def average(self) -> FrozenWeights: ...
    def last(self) -> FrozenWeights: ...
    def to_arrays(self) -> dict[str, npt.NDArray[Any]]: ...
    def from_arrays(self, arrays: Mapping[str, npt.NDArray[Any]], done: int) -> None: ...
    def clear(self) -> None: ...

class FrozenWeights:
    n_labels: int
    keys: npt.NDArray[np.uint64]
    groups: npt.NDArray[np.uint16]
    starts: npt.NDArray[np.int64]
    labels: npt.NDArray[np.uint32]
    weights: npt.NDArray[np.float64]
    table_bits: int | None
    def __init__(
        self,
        n_labels: int,
        keys: npt.NDArray[np.uint64],
        groups: npt.NDArray[np.uint16],
        starts: npt.NDArray[np.int64],
        labels: npt.NDArray[np.uint32],
        weights: npt.NDArray[np.float64],
        *,
        table_bits: int | None = None,
    ) -> None: ...
    def score(
        self, keys: npt.NDArray[np.uint64], values: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.float64]: ...
