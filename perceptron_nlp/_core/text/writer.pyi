from collections.abc import Sequence
from typing import Self

from perceptron_nlp._core.tag.decode import ColumnsDecoder, SentenceDecoder
from perceptron_nlp._core.text.cutter import CutText
from perceptron_nlp._core.text.lemmatizer import LemmaDecoder

def is_text(text: bytes | bytearray | memoryview) -> bool: ...
def may_have_gap(text: bytes | bytearray | memoryview, least: int) -> bool: ...

class TextFiller:
    def __new__(
        cls,
        columns: Sequence[tuple[int, SentenceDecoder, Sequence[bytes]]],
        lemmas: tuple[int, Sequence[int], LemmaDecoder] | None,
        agreement: tuple[ColumnsDecoder, Sequence[int]] | None = ...,
    ) -> Self: ...
    def conllu(self, found: CutText, number: int) -> bytes: ...
    def tagged(self, found: CutText) -> bytes: ...
    def labeled(
        self, found: CutText
    ) -> tuple[bytes, bytes, bytes, bytes, bytes, list[bytes], tuple[bytes, bytes] | None]: ...
