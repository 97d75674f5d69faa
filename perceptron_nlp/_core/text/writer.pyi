from collections.abc import Sequence
from typing import Self

import numpy as np
import numpy.typing as npt

from perceptron_nlp._core.tag.decode import ColumnsDecoder, ListJob, SentenceDecoder
from perceptron_nlp._core.text.cutter import CutText
from perceptron_nlp._core.text.lemmatizer import LemmaDecoder

def is_text(text: bytes | bytearray | memoryview) -> bool: ...
def may_have_gap(text: bytes | bytearray | memoryview, least: int) -> bool: ...

class TextFiller:
    def __new__(
        cls,
        columns: Sequence[tuple[int, SentenceDecoder, Sequence[str]]],
        lemmas: tuple[int, Sequence[int], LemmaDecoder] | None,
        agreement: tuple[ColumnsDecoder, Sequence[int]] | None = ...,
    ) -> Self: ...
    def share(self, job: ListJob) -> None: ...
    def tag_buffers(
        self,
        data: npt.NDArray[np.uint8],
        tokens: npt.NDArray[np.int64],
        sentences: npt.NDArray[np.int64],
        outs: list[npt.NDArray[np.uint16]],
        begin: int,
        end: int,
    ) -> tuple[bytes, bytes] | None: ...
    def conllu(self, found: CutText, number: int) -> bytes: ...
    def tagged(self, found: CutText) -> bytes: ...
    def labeled(
        self, found: CutText
    ) -> tuple[bytes, bytes, bytes, bytes, bytes, list[bytes], tuple[bytes, bytes] | None]: ...
