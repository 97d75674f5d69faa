"""CoNLL-U filled in as bytes, for whole files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._core.conllu.splice import ConlluFiller
from perceptron_nlp._core.tag.decode import SentenceDecoder
from perceptron_nlp.formats import CONLLU_COLUMNS, wrong_conllu_value

if TYPE_CHECKING:
    from perceptron_nlp.formats import Corpus


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


def fill_in_turn(fills: Sequence[Fill | None]) -> Fill | None:
    """What fills one column after the other in; None where one of them cannot be."""
    able = [fill for fill in fills if fill is not None]
    return None if len(able) < len(fills) else Fill([one for fill in able for one in fill.fillers])


def filler(
    decoder: SentenceDecoder, corpus: Corpus, column: str, written: Sequence[str]
) -> Fill | None:
    """What fills a column of whole sentences of a text in, as bytes.

    Parameters
    ----------
    decoder : looks at words alone
    corpus : the text
    column : the column
    written : how each of the decoder's labels is written

    Returns
    -------
    None where the text must be read sentence by sentence: it is not CoNLL-U of ten columns, or
    the column cannot hold a label. Else a function from bytes (``Corpus.take_blocks``) to the
    same with the column filled in; it gives None for sentences that it is not sure of, right or
    wrong, and those must be read too. Several threads may call it.
    """
    columns = ("id", "form", *corpus.column_names)
    if corpus.format != "conllu" or columns != CONLLU_COLUMNS or column not in columns[2:]:
        return None
    if any(wrong_conllu_value(column, label) for label in written):
        return None
    labels = [label.encode() for label in written]
    return Fill([ConlluFiller(decoder, columns.index(column), labels)])
