from collections.abc import Sequence

from perceptron_nlp._core.decode import SentenceDecoder

class ConlluFiller:
    def __init__(self, decoder: SentenceDecoder, column: int, labels: Sequence[bytes]) -> None: ...
    def fill(self, text: bytes) -> bytes | None: ...
