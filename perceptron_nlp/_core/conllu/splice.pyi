from collections.abc import Sequence
from typing import Self

from perceptron_nlp._core.tag.decode import ColumnsDecoder, SentenceDecoder

class ConlluFiller:
    def __new__(
        cls,
        decoder: SentenceDecoder | ColumnsDecoder,
        columns: Sequence[int],
        labels: Sequence[Sequence[bytes]],
    ) -> Self: ...
    def fill(self, text: bytes | memoryview) -> bytes | None: ...
    def fill_into(self, text: bytes | memoryview, memory: bytearray) -> int: ...
