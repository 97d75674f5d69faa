"""The name that a sentence has in its file: ``# sent_id`` in CoNLL-U."""

from __future__ import annotations

import re

from perceptron_nlp.formats.conllu_layout import ConlluLayout
from perceptron_nlp.text.sentence import Sentence

_SENT_ID = re.compile(r"^# ?sent_id *= *(.*?)\s*$", re.MULTILINE)


def sentence_id(sentence: Sentence) -> str | None:
    """The sentence's name; None where its file gives it none."""
    layout = sentence.layout
    if not isinstance(layout, ConlluLayout):
        return None
    found = _SENT_ID.search(layout.text[: layout.start])
    return found[1] if found else None
