from collections.abc import Sequence
from typing import Self

from perceptron_nlp._core.decode import SentenceDecoder

class ConlluFiller:
    def __new__(cls, decoder: SentenceDecoder, column: int, labels: Sequence[bytes]) -> Self: ...
    def fill(self, text: bytes) -> bytes | None: ...
