from collections.abc import Callable, Mapping, Sequence
from typing import Self, TypeAlias

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.tag.decode import SentenceDecoder

MOST_BYTES: int
MOST_MATCHED: int
_SplitScript: TypeAlias = tuple[Sequence[int]] | tuple[int, bytes, Sequence[bytes]] | None

class TextAtoms:
    def __new__(cls, text: bytes, page_of: Callable[[int], bytes]) -> Self: ...
    def spans(self) -> tuple[list[tuple[int, int]], bytes]: ...
    def patterns(self) -> list[tuple[int, int, int]]: ...
    def marks(self) -> list[tuple[int, int, bool]]: ...
    def matches(self, entries: Sequence[bytes]) -> list[str]: ...

class TextCutter:
    def __new__(
        cls,
        cut: SentenceDecoder,
        certain: Mapping[tuple[int, int, int], str],
        words: Sequence[tuple[int, int, int]],
        small: Sequence[tuple[int, int]],
        page_of: Callable[[int], bytes],
        splits: SentenceDecoder | None,
        scripts: Sequence[_SplitScript],
        stems: Sequence[tuple[int, int]],
        cuts: Sequence[tuple[int, int]],
        window: int,
        held: int,
        entries: Sequence[bytes] | None = None,
        abbreviations: Sequence[int] = (),
        lead: int | None = None,
        parted: bool = False,
        uncapitalized: bool = False,
        wrapped: bool = False,
        reading: tuple[Sequence[tuple[int, int]], npt.NDArray[np.uint32] | memoryview, int, bool]
        | None = None,
    ) -> Self: ...
    def cut_text(
        self, text: bytes, at_end: bool, labels: bytes = b"", n_before: int = 0, line: bytes = b""
    ) -> CutText: ...
    def as_read(self, words: Sequence[str]) -> Sequence[str]: ...
    def give_back(self, found: CutText) -> None: ...

class CutText:
    @property
    def taken(self) -> tuple[int, int]: ...
    @property
    def rest(self) -> tuple[bytes, int, bytes]: ...
    @property
    def n_sentences(self) -> int: ...
    def spans(self) -> list[tuple[int, int]]: ...
    def word_list(self) -> list[str]: ...
    def sentences(self) -> list[list[tuple[int, int, tuple[str, ...]]]]: ...
