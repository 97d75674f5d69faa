from typing import Any

import numpy as np
import numpy.typing as npt

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

def bounds_by_group(
    frozen: FrozenWeights, n_groups: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]: ...
def rounded(frozen: FrozenWeights, n_groups: int, scale: float) -> dict[str, npt.NDArray[Any]]: ...
