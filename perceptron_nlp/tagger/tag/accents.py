"""Accents that text may lack: which letters of a language have them, and how often.

People write Czech, Polish, Romanian or Greek without them. What the core puts back, of a sentence
that has none, is what makes a word of training of one that training does not have.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import combining, normalize

from perceptron_nlp.tagger.model.lemmas import StoredLemmas
from perceptron_nlp.text.scripts import TURKIC

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from perceptron_nlp.tagger.model.model import TaggerModel

# Latin letters of which Unicode does not say that they are others with a stroke or without a dot.
_STROKES = {"ł": "l", "đ": "d", "ð": "d", "ø": "o", "ı": "i"}
# Letters of Latin and Greek script end here, those without accents and all: in others, marks make
# letters of their own, which nobody leaves out.
_PLAIN_END, _END = 0x400, 0x2000
# An accented letter is one of a language if so many of its letters are; a language with fewer
# accents altogether is read as it is.
_LEAST_SHARE, _LEAST_ACCENTED = 0.0001, 0.01


class Accents(NamedTuple):
    """How sentences without accents are read.

    letters : (a letter, the same with an accent, that as a small letter) in code points, those of a
        letter together, the most frequent first
    vocabulary : uint32[n], see TaggerModel
    least : the number of letters of which one has an accent in the mean
    """

    letters: list[tuple[int, int, int]]
    vocabulary: npt.NDArray[np.uint32] | memoryview
    least: int


def accents_of(model: TaggerModel) -> Accents | None:
    """Return how a model reads sentences without accents; None if its language has hardly any.

    The letters are those of the lemmas that it knows: a model without lemmas has none.
    """
    known = next((own.lemmas for own in model.parts_by_column if own.lemmas is not None), None)
    if known is None:
        return None
    text = StoredLemmas.of(known.lemmas).strings.text.tobytes()
    if len(text.decode("ascii", "ignore")) > (1 - _LEAST_ACCENTED / 2) * len(text):
        return None
    counts = Counter(text.decode("utf-8", "surrogatepass"))
    # Parts of speech, which stand behind each lemma, are in capitals.
    times = {letter: n for letter, n in counts.items() if letter.islower()}
    n_letters = sum(times.values())
    accented = [
        (plain, -n, letter)
        for letter, n in times.items()
        if n >= _LEAST_SHARE * n_letters and (plain := _plain(letter)) != letter
    ]
    share = -sum(n for _, n, _ in accented) / max(1, n_letters)
    if share < _LEAST_ACCENTED:
        return None
    letters = []
    for plain, _, letter in sorted(accented):
        letters.append((plain, letter, letter))
        if len(letter.upper()) == 1 and letter not in TURKIC.values():
            letters.append((plain.upper(), letter.upper(), letter))
    if "ı" in times:
        letters.append(("I", "İ", "i"))
    # The sort is stable: the most frequent stay the first.
    letters.sort(key=lambda own: own[0])
    numbers = [(ord(plain), ord(letter), ord(small)) for plain, letter, small in letters]
    return Accents(numbers, model.vocabulary, math.ceil(1 / share))


def _plain(letter: str) -> str:
    """Return a small letter without its accents; itself if it has none."""
    parts = normalize("NFD", _STROKES.get(letter, letter))
    is_one = ord(letter) < _END and ord(parts[0]) < _PLAIN_END and all(map(combining, parts[1:]))
    return parts[0] if is_one else letter
