from typing import Any

import numpy as np
import numpy.typing as npt

def rice_decoded(
    data: npt.NDArray[Any], length: int, low_bits: int
) -> npt.NDArray[np.uint64]: ...
