from collections.abc import Sequence
from typing import Self, overload

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.tag.agree import ColumnsDecoder
from perceptron_nlp._core.tag.decode import KeptSets, SentenceDecoder

class Crew:
    def __new__(cls, decoder: SentenceDecoder | ColumnsDecoder, helpers: int) -> Self: ...
    @overload
    def lists(
        self, sentences: list[Sequence[str]] | list[tuple[Sequence[str], ...]]
    ) -> list[list[str]]: ...
    @overload
    def lists(
        self,
        sentences: list[Sequence[str]] | list[tuple[Sequence[str], ...]],
        kept: KeptSets | None,
    ) -> list[list[str | None]]: ...
    def buffers(
        self,
        data: npt.NDArray[np.uint8],
        tokens: npt.NDArray[np.int64],
        sentences: npt.NDArray[np.int64],
        out: npt.NDArray[np.uint16] | list[npt.NDArray[np.uint16]],
    ) -> None: ...
