from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, overload

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.model.frozenmodel import FrozenModel

BATCH_TOKENS: int
BATCH_BYTES: int
HELD_TO: int
NOTHING_MET: tuple[Any, Any]

class ListJob:
    found: list[list[list[str | None]]]
    unread: BaseException | None
    def __new__(
        cls, sentences: list[Sequence[str]] | list[tuple[Sequence[str], ...]], n_columns: int = 1
    ) -> Self: ...

class TokenConstraints:
    def __new__(cls, numbers: Sequence[Sequence[int]], sets: Sequence[Sequence[int]]) -> Self: ...

class SettledTable:
    n_labels: tuple[int, ...]
    def __new__(
        cls,
        keys: npt.NDArray[np.uint32] | memoryview,
        labels: Iterable[int],
        looks_first: bool,
        n_before: int,
        hashes: Sequence[Sequence[int]] = (),
        lead: float = 0,
    ) -> Self: ...
    def find(
        self, word: bytes, is_first: bool, before: Sequence[int]
    ) -> tuple[int, bool] | None: ...

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
        constraints: TokenConstraints | None,
    ) -> list[list[str | None]]: ...
    def share(self, job: ListJob, constraints: TokenConstraints | None = None) -> None: ...
    def seen_as(self, word: str) -> str: ...
    def tag_scored(
        self,
        sentences: list[Sequence[str]] | list[tuple[Sequence[str], ...]],
        constraints: TokenConstraints | None = None,
        settled: npt.NDArray[np.int32] | None = None,
        met_with: tuple[Any, Any] = ...,
    ) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.int32]]: ...

class ColumnsDecoder:
    decoders: tuple[SentenceDecoder, ...]
    labels: tuple[tuple[str, ...], ...]
    met_with: list[tuple[Any, Any]]
    def __new__(
        cls,
        decoders: Sequence[SentenceDecoder],
        labels: Sequence[Sequence[str]],
        scales: Sequence[float],
        weights: Sequence[float],
        combinations: tuple[Sequence[tuple[int, ...]], Sequence[bytes], Sequence[bytes]],
        settled: Sequence[SettledTable | None] = (),
    ) -> Self: ...
    def agree(
        self,
        numbers: list[npt.NDArray[np.int64]],
        scores: list[npt.NDArray[np.float64]],
        held: Callable[[int], Iterable[tuple[Sequence[int] | None, bool]]],
    ) -> None: ...
