from typing import Any

import numpy as np
import numpy.typing as npt

def rice_decoded(
    data: npt.NDArray[Any] | memoryview,
    length: int,
    low_bits: int,
    code: str = "Q",
    kind: str = "codes",
    starts: npt.NDArray[np.int64] | memoryview | None = None,
) -> memoryview: ...
