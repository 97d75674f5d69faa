from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

class FeatureIndex:
    def __init__(self, hashes: ArrayLike = ()) -> None: ...
    def __len__(self) -> int: ...
    def encode(
        self,
        samples: Iterable[Mapping[str, str | float | bool] | Iterable[str]],
        grow: bool,
        width: int = 1 << 30,
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int64]]: ...
