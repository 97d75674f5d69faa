from collections.abc import Iterator, Sequence
from typing import Protocol, Self, type_check_only

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.table.weights import WeightTable

CHECKED: int

@type_check_only
class _Records(Protocol):
    def append(self, numbers: npt.NDArray[np.int32], /) -> None: ...
    def take(
        self, starts: npt.NDArray[np.int64], sizes: npt.NDArray[np.int64], /
    ) -> npt.NDArray[np.int32]: ...

@type_check_only
class _Stored(Protocol):
    @property
    def starts(self) -> npt.NDArray[np.int64]: ...
    @property
    def records(self) -> _Records: ...
    def chunks(
        self,
    ) -> Iterator[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int64]]]: ...
    def ranges(self) -> Iterator[tuple[int, int]]: ...
    def check(self) -> None: ...

class TrainingSet:
    def __new__(
        cls,
        program: FeatureProgram,
        table: WeightTable,
        *,
        strings: Sequence[Sequence[bytes]],
        lengths: npt.NDArray[np.int64],
        label_hashes: npt.NDArray[np.uint64],
        forced: npt.NDArray[np.int32],
        tokens: npt.NDArray[np.int32] | None = None,
        gold: npt.NDArray[np.int32] | None = None,
        min_count: int = 1,
        n_open: int | None = None,
        stored: _Stored | None = None,
    ) -> Self: ...
    def bring_in(self, order: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]: ...
