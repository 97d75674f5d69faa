from collections.abc import Sequence
from typing import Protocol

import numpy as np
import numpy.typing as npt

class _Digest(Protocol):
    def update(self, data: bytes, /) -> None: ...

def number_conllu(
    texts: Sequence[bytes | bytearray],
    columns: Sequence[int],
    *,
    underscore_is_none: bool,
    digest: _Digest,
) -> tuple[list[list[bytes]], npt.NDArray[np.int32], npt.NDArray[np.int64]] | None: ...
