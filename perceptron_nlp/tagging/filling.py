"""CoNLL-U filled in as bytes, for whole files."""

from __future__ import annotations

from collections.abc import Callable

from perceptron_nlp._core.decode import SentenceDecoder
from perceptron_nlp._core.splice import ConlluFiller
from perceptron_nlp.formats import CONLLU_COLUMNS, Corpus, wrong_conllu_value

Fill = Callable[[bytes], bytes | None]


def filler(decoder: SentenceDecoder, corpus: Corpus, column: str) -> Fill | None:
    """What fills a column of whole sentences of a text in, as bytes.

    Parameters
    ----------
    decoder : looks at words alone
    corpus : the text
    column : the column

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
    if any(wrong_conllu_value(column, label) for label in decoder.labels):
        return None
    labels = [label.encode() for label in decoder.labels]
    return ConlluFiller(decoder, columns.index(column), labels).fill
