from collections.abc import Callable, Mapping, Sequence
from typing import Self, TypeAlias

from perceptron_nlp._core.tag.decode import SentenceDecoder

MOST_BYTES: int
_SplitScript: TypeAlias = tuple[Sequence[int]] | tuple[int, bytes, Sequence[bytes]] | None

def patterns_in(text: bytes, page_of: Callable[[int], bytes]) -> list[tuple[int, int, int]]: ...

class TextCutter:
    def __new__(
        cls,
        cut: SentenceDecoder,
        certain: Mapping[tuple[int, int, int], str],
        words: Sequence[tuple[int, int, int]],
        page_of: Callable[[int], bytes],
        splits: SentenceDecoder | None,
        scripts: Sequence[_SplitScript],
        window: int,
        held: int,
        lead: int | None = None,
    ) -> Self: ...
    def cut_text(self, text: bytes, at_end: bool) -> CutText: ...
    def give_back(self, found: CutText) -> None: ...

class CutText:
    @property
    def taken(self) -> tuple[int, int]: ...
    @property
    def n_sentences(self) -> int: ...
    def sentences(self) -> list[list[tuple[int, int, tuple[str, ...]]]]: ...
