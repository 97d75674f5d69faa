from typing import Any

import numpy as np
import numpy.typing as npt

def rice_decoded(
    data: npt.NDArray[Any],
    length: int,
    low_bits: int,
    dtype: npt.DTypeLike = ...,
    kind: str = "codes",
    starts: npt.NDArray[np.int64] | None = None,
) -> npt.NDArray[Any]: ...
