"""Words in plain buffers: UTF-8 bytes and offsets, as Arrow lays lists of strings out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perceptron_nlp.errors import ArgumentError, ArgumentTypeError


class Words:
    """Sentences of words in buffers whose offsets were checked.

    Parameters
    ----------
    data : uint8[n_bytes]
    tokens : int64, where each word begins in the data, and where the last one ends
    sentences : int64, the first word of each sentence, and the end of the last one
    """

    __slots__ = ("data", "sentences", "tokens")

    def __init__(
        self,
        data: npt.NDArray[np.uint8],
        tokens: npt.NDArray[np.int64],
        sentences: npt.NDArray[np.int64],
    ) -> None:
        self.data = data
        self.tokens = tokens
        self.sentences = sentences

    @property
    def n_tokens(self) -> int:
        """How many words the sentences have."""
        return int(self.sentences[-1] - self.sentences[0])


def words_of(data: object, token_offsets: object, sentence_offsets: object) -> Words:
    """The checked form of buffers that a caller gives; see Tagger.tag_buffers."""
    text = _bytes(data)
    tokens = _offsets("token_offsets", token_offsets, len(text), "bytes of data")
    sentences = _offsets("sentence_offsets", sentence_offsets, len(tokens) - 1, "tokens")
    return Words(text, tokens, sentences)


def _bytes(data: object) -> npt.NDArray[np.uint8]:
    try:
        view = memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        raise ArgumentTypeError(
            f"data: bytes or a buffer of bytes is needed, not {type(data).__name__}"
        ) from None
    if view.itemsize != 1 or not view.c_contiguous:
        raise ArgumentTypeError(
            "data: a contiguous buffer of single bytes is needed, not one of"
            f" {view.itemsize}-byte items" + ("" if view.c_contiguous else " with gaps")
        )
    return np.asarray(view.cast("B"))


def _offsets(name: str, given: object, highest: int, unit: str) -> npt.NDArray[np.int64]:
    """A copy, which nobody else can change while it is in use."""
    try:
        raw = np.asarray(given)
    except ValueError:
        raise ArgumentTypeError(f"{name}: a flat array of whole numbers is needed") from None
    if raw.ndim != 1 or (raw.dtype.kind not in "iu" and raw.size):
        raise ArgumentTypeError(
            f"{name}: a flat array of whole numbers is needed, not {raw.ndim} dimensions of"
            f" {raw.dtype}"
        )
    if not raw.size:
        raise ArgumentError(
            f"{name}: is empty; it has one offset more than there are items, so [0] stands for none"
        )
    offsets = np.array(raw, np.int64)
    falls = np.flatnonzero(offsets[1:] < offsets[:-1])
    if len(falls):
        at = int(falls[0])
        raise ArgumentError(
            f"{name}[{at + 1}]: {offsets[at + 1]} is below {offsets[at]}, which"
            " comes before it; offsets must not fall"
        )
    if offsets[0] < 0 or offsets[-1] > highest:
        at = 0 if offsets[0] < 0 else len(offsets) - 1
        raise ArgumentError(
            f"{name}[{at}]: {offsets[at]} is not between 0 and {highest}, the number of {unit}"
        )
    return offsets
