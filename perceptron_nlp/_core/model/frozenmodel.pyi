from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.features.extract import FeatureProgram
from perceptron_nlp._core.model.labelparts import LabelParts

WIDEST_BEAM: int

def allowed_bytes(allowed: Iterable[Iterable[object]], n_labels: int) -> memoryview: ...

class CacheMemory:
    def __new__(cls, n_bytes: int = ...) -> Self: ...
    @property
    def n_bytes(self) -> int: ...
    @property
    def n_words(self) -> int: ...
    def enter(self, cost: int) -> CacheUse: ...

class CacheUse: ...

class FrozenModel:
    @property
    def memory(self) -> CacheMemory: ...
    def __new__(
        cls,
        program: FeatureProgram,
        *,
        keys: npt.NDArray[np.uint64] | memoryview,
        starts: npt.NDArray[np.int64] | memoryview,
        cell_labels: npt.NDArray[np.uint16] | memoryview,
        weights: npt.NDArray[np.int16] | memoryview,
        labels: Sequence[str],
        label_hashes: Sequence[int] | npt.NDArray[np.uint64],
        group_starts: npt.NDArray[np.int64] | memoryview | None = None,
        table_bits: int | None = None,
        right_to_left: bool = False,
        dictionary: Mapping[bytes, int] | None = None,
        lexicon: Mapping[bytes, Sequence[int]] | None = None,
        beam: int = 1,
        allowed: npt.NDArray[np.bool_] | Iterable[Iterable[object]] | None = None,
        parts: LabelParts | None = None,
        memory: CacheMemory | None = None,
        narrow: bool = True,
        as_written: bool = False,
    ) -> Self: ...
    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def looks_around(self) -> bool: ...
    @property
    def narrow(self) -> bool: ...
    @property
    def has_filters(self) -> bool: ...
    @property
    def has_halves(self) -> bool: ...
    def score(
        self, keys: npt.NDArray[np.uint64], values: npt.ArrayLike | None = None
    ) -> npt.NDArray[np.float64]: ...
