from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.tag.decode import SentenceDecoder

_Ints = npt.NDArray[np.int32]
_Longs = npt.NDArray[np.int64]

def views_of(text: bytes) -> list[bytes]: ...

class SentenceFeatures:
    def __new__(cls, decoder: SentenceDecoder, columns: Sequence[Sequence[bytes]]) -> Self: ...
    def fired(self, labels: npt.ArrayLike) -> tuple[_Longs, _Ints, _Ints, _Longs, _Ints]: ...
    def keyed(
        self, labels: npt.ArrayLike
    ) -> tuple[_Longs, _Ints, _Ints, npt.NDArray[np.uint64]]: ...
    def weights(self, starts: _Longs, rows: _Longs, labels: npt.ArrayLike) -> _Ints: ...
    def after(self, i: int, past: Sequence[int]) -> _Ints: ...
