"""Treebanks as running text: tokens, spaces and paragraphs of CoNLL-U as they were written."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from perceptron_nlp.formats.conllu_layout import ConlluLayout
from perceptron_nlp.text.sentence import Sentence

_NEW_PARAGRAPH = re.compile(r"^# ?new(?:par|doc)\b", re.MULTILINE)


class SurfaceToken(NamedTuple):
    """A token as it is written: a word, or a range of words written as one (French *du*).

    Attributes
    ----------
    first, n_words : the number of its first word in the sentence, from 0, and how many they are
    space_after : False if MISC says ``SpaceAfter=No``
    """

    form: str
    first: int
    n_words: int
    space_after: bool


class RunningText(NamedTuple):
    """A text with the places of its tokens.

    Attributes
    ----------
    tokens : begin and end of each token, in characters
    ends : for each token whether a sentence ends with it
    """

    text: str
    tokens: list[tuple[int, int]]
    ends: list[bool]


def surface_tokens(sentence: Sentence) -> list[SurfaceToken]:
    """Return the tokens of a sentence; of one that is not from CoNLL-U, its words."""
    layout = sentence.layout
    if not isinstance(layout, ConlluLayout) or "misc" not in layout.names:
        return [SurfaceToken(word, i, 1, True) for i, word in enumerate(sentence.words)]
    cells = layout.cells()
    stride = len(layout.names) + 1
    form, misc = layout.names.index("form"), layout.names.index("misc")
    tokens: list[SurfaceToken] = []
    covered = word = 0
    for at in range(0, len(cells), stride):
        number, _, last = cells[at].partition("-")
        if "." in number:
            continue
        space_after = "SpaceAfter=No" not in cells[at + misc].split("|")
        if last:
            covered = int(last)
            n_words = covered - int(number) + 1
            tokens.append(SurfaceToken(cells[at + form], word, n_words, space_after))
        else:
            if int(number) > covered:
                tokens.append(SurfaceToken(cells[at + form], word, 1, space_after))
            word += 1
    return tokens


def opens_paragraph(sentence: Sentence) -> bool:
    """Return True if ``# newpar`` or ``# newdoc`` stands before the sentence."""
    layout = sentence.layout
    return isinstance(layout, ConlluLayout) and bool(
        _NEW_PARAGRAPH.search(layout.text[: layout.start])
    )


def running_text(sentences: Iterable[Sentence]) -> RunningText:
    """Return sentences as one text: an empty line before each paragraph, else one space."""
    pieces: list[str] = []
    tokens: list[tuple[int, int]] = []
    ends: list[bool] = []
    place, space = 0, True
    for sentence in sentences:
        gap = "\n\n" if pieces and opens_paragraph(sentence) else " " if pieces and space else ""
        for token in surface_tokens(sentence):
            pieces += (gap, token.form)
            place += len(gap)
            tokens.append((place, place + len(token.form)))
            ends.append(False)
            place += len(token.form)
            space = token.space_after
            gap = " " if space else ""
        ends[-1] = True
    return RunningText("".join(pieces), tokens, ends)
