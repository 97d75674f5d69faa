from collections.abc import Callable, Sequence
from typing import Any

from perceptron_nlp._core.tag.decode import SentenceDecoder

class LemmaDecoder:
    tags: tuple[tuple[bytes, ...], ...]
    def __init__(
        self,
        decoder: SentenceDecoder,
        scripts: Sequence[tuple[Any, ...]],
        known: Sequence[tuple[int, tuple[Any, ...]]],
        lemmas: Sequence[tuple[str, int, int]],
        tags: Sequence[Sequence[bytes]],
        upos: int,
        upos_of: Sequence[int],
        columns: Sequence[int],
        letter_page: Callable[[int], bytes],
    ) -> None: ...

class Lemmatizer:
    def __init__(self, decoder: LemmaDecoder) -> None: ...
