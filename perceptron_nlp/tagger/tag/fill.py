"""Columns of CoNLL-U filled in, from bytes to bytes, without a Python object for each token."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._core.conllu.splice import ConlluFiller
from perceptron_nlp._core.tag.decode import ColumnsDecoder, SentenceDecoder
from perceptron_nlp.formats import CONLLU_COLUMNS, wrong_conllu_value

if TYPE_CHECKING:
    from perceptron_nlp.formats import Corpus
    from perceptron_nlp.tagger.tag.agreeing_columns import AgreeingColumns
    from perceptron_nlp.tagger.tag.label import Labeler


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
    corpus: Corpus, labelers: Mapping[str, Labeler], agreeing: AgreeingColumns | None = None
) -> Fill | None:
    """Return what fills columns of whole sentences of a text, as bytes; see Tagger.filler.

    `labelers` are what labels each column, `agreeing` those of them whose labels are to agree.

    None if the text must be read sentence by sentence: it is not CoNLL-U of ten columns, a labeler
    looks at more than words, or a column cannot hold a label.
    """
    columns = ("id", "form", *corpus.column_names)
    if corpus.format != "conllu" or columns != CONLLU_COLUMNS:
        return None
    encoded = {}
    for column, labeler in labelers.items():
        if not labeler.words_alone or column not in columns[2:]:
            return None
        labels = labeler.written_labels
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
        filling(labeler.decoder, [column])
        for column, labeler in labelers.items()
        if column not in together
    ]
    return Fill(fillers)
