"""What a second pass sees of the labels of a first one: columns of its own."""

from __future__ import annotations

from collections.abc import Sequence

from perceptron_nlp.text.sentence import Sentence

WHOLE, UPOS, AGREEMENT = "pass1", "pass1-upos", "pass1-agreement"
COLUMNS = (WHOLE, UPOS, AGREEMENT)
_AGREEING = ("Case=", "Gender=", "Number=")


def seen(sentence: Sequence[str], labels: Sequence[str]) -> Sentence:
    """A sentence as the second pass sees it, with the first pass's joint labels."""
    words = sentence.words if isinstance(sentence, Sentence) else sentence
    columns = dict(sentence.columns) if isinstance(sentence, Sentence) else {}
    pieces = [label.split("|") for label in labels]
    columns[WHOLE] = tuple(labels)
    columns[UPOS] = tuple(found[0] for found in pieces)
    columns[AGREEMENT] = tuple(
        "|".join(piece for piece in found if piece.startswith(_AGREEING)) or "_" for found in pieces
    )
    return Sentence(words, columns)
