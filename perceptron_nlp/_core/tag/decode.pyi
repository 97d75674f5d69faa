from collections.abc import Sequence
from typing import Self, overload

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenmodel import FrozenModel

BATCH_TOKENS: int
BATCH_BYTES: int

class KeptSets:
    def __new__(cls, numbers: Sequence[Sequence[int]], sets: Sequence[Sequence[int]]) -> Self: ...

class SentenceDecoder(FrozenModel):
    @property
    def cache_counts(self) -> tuple[int, int]: ...
    @overload
    def tag(
        self, sentences: list[Sequence[str]] | list[tuple[Sequence[str], ...]]
    ) -> list[list[str]]: ...
    @overload
    def tag(
        self,
        sentences: list[Sequence[str]] | list[tuple[Sequence[str], ...]],
        kept: KeptSets | None,
    ) -> list[list[str | None]]: ...
    def tag_with_scores(
        self, sentence: Sequence[str] | tuple[Sequence[str], ...]
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32]]: ...
    def tag_scored(
        self,
        sentences: list[Sequence[str]] | list[tuple[Sequence[str], ...]],
        kept: KeptSets | None = None,
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32]]: ...
