from collections.abc import Callable, Sequence
from typing import Any, Self

from perceptron_nlp._core.tag.decode import SentenceDecoder, SettledTable

class LemmaDecoder:
    tags: tuple[tuple[bytes, ...], ...]
    def __new__(
        cls,
        decoder: SentenceDecoder,
        scripts: Sequence[tuple[Any, ...]],
        known: Sequence[tuple[int, tuple[Any, ...]]],
        lemmas: tuple[memoryview, memoryview, memoryview],
        tags: Sequence[Sequence[bytes]],
        upos: int,
        upos_of: Sequence[bytes],
        columns: Sequence[int],
        letter_page: Callable[[int], bytes],
        settled: SettledTable | None = None,
    ) -> Self: ...

class Lemmatizer:
    def __new__(cls, decoder: LemmaDecoder) -> Self: ...
