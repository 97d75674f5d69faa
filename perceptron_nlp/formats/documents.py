"""Where documents begin: ``# newdoc`` in CoNLL-U, ``-DOCSTART-`` in column files."""

from __future__ import annotations

import re

from perceptron_nlp.formats.columns import ColumnLayout
from perceptron_nlp.formats.conllu_layout import ConlluLayout
from perceptron_nlp.text.sentence import Sentence

_NEWDOC = re.compile(r"^# ?newdoc\b", re.MULTILINE)
_DOCSTART = re.compile(r"^-DOCSTART-(?:\s|$)", re.MULTILINE)


def opens_document(sentence: Sentence) -> bool:
    """Does a mark stand before the sentence in its file that says that a document begins?"""
    layout = sentence.layout
    if isinstance(layout, ConlluLayout):
        return _NEWDOC.search(layout.text[: layout.start]) is not None
    if isinstance(layout, ColumnLayout):
        return _DOCSTART.search(layout.text[: layout.start]) is not None
    return False
