from collections.abc import Callable, Sequence
from typing import Self, TypeAlias

from perceptron_nlp._core.tag.agree import ColumnsDecoder
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp._core.text.cutter import CutText

GiveLemmas: TypeAlias = Callable[[list[str], list[bool], list[tuple[int, ...]]], Sequence[str]]

def is_text(text: bytes | bytearray | memoryview) -> bool: ...

class TextFiller:
    def __new__(
        cls,
        columns: Sequence[tuple[int, SentenceDecoder, Sequence[bytes]]],
        lemmas: tuple[int, Sequence[int], GiveLemmas] | None,
        agreement: tuple[ColumnsDecoder, Sequence[int]] | None = ...,
    ) -> Self: ...
    def conllu(self, found: CutText, number: int) -> bytes: ...
