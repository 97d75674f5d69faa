from collections.abc import Sequence
from typing import Self

from perceptron_nlp._core.tag.decode import SentenceDecoder

class ColumnsDecoder:
    decoders: tuple[SentenceDecoder, ...]
    labels: tuple[tuple[str, ...], ...]
    def __new__(
        cls,
        decoders: Sequence[SentenceDecoder],
        labels: Sequence[Sequence[str]],
        scales: Sequence[float],
        combinations: tuple[Sequence[tuple[int, ...]], Sequence[bytes], Sequence[bytes]],
    ) -> Self: ...
