"""Labelling in bulk, without a Python object for each token: CoNLL-U columns and word buffers.

Buffers are UTF-8 bytes and offsets, as Arrow lays out lists of strings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from perceptron_nlp._core.conllu.splice import ConlluFiller
from perceptron_nlp._core.tag.agree import ColumnsDecoder
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError
from perceptron_nlp.formats import CONLLU_COLUMNS, wrong_conllu_value
from perceptron_nlp.tagger.tag.threads import CHUNK

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.formats import Corpus
    from perceptron_nlp.tagger.tag.agree import AgreeingColumns
    from perceptron_nlp.tagger.tag.label import Labeller


class Fill:
    """Fills one column after the other in; several threads may call it.

    It gives None for sentences that it is not sure of, right or wrong; those must be read.
    """

    def __init__(self, fillers: Sequence[ConlluFiller]) -> None:
        self.fillers = fillers

    def __call__(self, text: bytes | memoryview) -> bytes | None:
        done = self.fillers[0].fill(text)
        for each in self.fillers[1:]:
            done = None if done is None else each.fill(done)
        return done

    def into(self, text: bytes | memoryview, memory: bytearray) -> int | None:
        """The same, written into memory that can be used again, and grows; how many bytes."""
        for each in self.fillers[:-1]:
            done = each.fill(text)
            if done is None:
                return None
            text = done
        length = self.fillers[-1].fill_into(text, memory)
        return None if length < 0 else length


def filler(
    corpus: Corpus, labellers: Mapping[str, Labeller], agreeing: AgreeingColumns | None = None
) -> Fill | None:
    """Return what fills columns of whole sentences of a text, as bytes; see Tagger.filler.

    `labellers` are what labels each column, `agreeing` those of them whose labels are to agree.

    None if the text must be read sentence by sentence: it is not CoNLL-U of ten columns, a labeller
    looks at more than words, or a column cannot hold a label.
    """
    columns = ("id", "form", *corpus.column_names)
    if corpus.format != "conllu" or columns != CONLLU_COLUMNS:
        return None
    encoded = {}
    for column, labeller in labellers.items():
        if not labeller.words_alone or column not in columns[2:]:
            return None
        labels = labeller.written_labels
        if any(wrong_conllu_value(column, label) for label in labels):
            return None
        encoded[column] = [label.encode() for label in labels]

    def filling(decoder: SentenceDecoder | ColumnsDecoder, names: Sequence[str]) -> ConlluFiller:
        places = [columns.index(name) for name in names]
        return ConlluFiller(decoder, places, [encoded[name] for name in names])

    fillers = []
    together = () if agreeing is None else agreeing.columns
    if agreeing is not None and agreeing.decoder is not None:
        fillers.append(filling(agreeing.decoder, together))
    fillers += [
        filling(labeller.decoder, [column])
        for column, labeller in labellers.items()
        if column not in together
    ]
    return Fill(fillers)


class Words(NamedTuple):
    """Sentences of words in buffers whose offsets were checked.

    data : uint8[n_bytes]
    tokens : int64, where each word begins in the data, and where the last one ends
    sentences : int64, the first word of each sentence, and the end of the last one
    """

    data: npt.NDArray[np.uint8]
    tokens: npt.NDArray[np.int64]
    sentences: npt.NDArray[np.int64]

    @property
    def n_tokens(self) -> int:
        """Number of tokens in the sentences."""
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
    import numpy as np

    return np.asarray(view.cast("B"))


def _offsets(name: str, given: object, highest: int, unit: str) -> npt.NDArray[np.int64]:
    """Return a copy, which nobody else can change while it is in use."""
    # Here, since filling columns of files does without NumPy.
    import numpy as np

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


def label_buffers(
    decoder: SentenceDecoder | ColumnsDecoder, words: Words, threads: int, n_columns: int = 1
) -> list[npt.NDArray[np.uint16]]:
    """Return the numbers of the tokens' labels, column by column."""
    # Here, since filling columns of files does without them.
    import numpy as np

    from perceptron_nlp._core.tag.crew import Crew

    numbers = [np.empty(words.n_tokens, np.uint16) for _ in range(n_columns)]
    crew = Crew(decoder, 0 if len(words.sentences) <= CHUNK else threads - 1)
    out = numbers if isinstance(decoder, ColumnsDecoder) else numbers[0]
    crew.buffers(words.data, words.tokens, words.sentences, out)
    return numbers
