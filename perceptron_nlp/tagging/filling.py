"""CoNLL-U filled in as bytes, for whole files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from perceptron_nlp._core.decode import SentenceDecoder
from perceptron_nlp._core.splice import ConlluFiller
from perceptron_nlp.formats import CONLLU_COLUMNS, wrong_conllu_value

if TYPE_CHECKING:
    from perceptron_nlp.formats import Corpus

Fill = Callable[[bytes], bytes | None]


def fill_in_turn(fills: Sequence[Fill | None]) -> Fill | None:
    """What fills one column after the other in; None where one of them cannot be."""
    able = [fill for fill in fills if fill is not None]
    if len(able) < len(fills):
        return None
    if len(able) == 1:
        return able[0]

    def run(text: bytes) -> bytes | None:
        done: bytes | None = text
        for fill in able:
            done = None if done is None else fill(done)
        return done
    return run


def filler(decoder: SentenceDecoder, corpus: Corpus, column: str, written: Sequence[str]
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
    return ConlluFiller(decoder, columns.index(column), labels).fill
