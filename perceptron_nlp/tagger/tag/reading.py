"""How text in other hands is read, by the words that a model has learned from.

People write Czech, Polish or Greek without accents, and messages in small letters, in capitals, or
with letters that are draaawn out. The core (reading.h) reads words of such sentences as those that
training has: for a model they are no new words then.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple
from unicodedata import combining, normalize

from perceptron_nlp.tagger.model.lemmas import StoredLemmas

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
# accents altogether is written without them.
_LEAST_SHARE, _LEAST_ACCENTED = 0.0001, 0.01


class Reading(NamedTuple):
    """How words are read.

    accents : (a letter, the same with an accent) in code points, those of a letter together, the
        most frequent first
    vocabulary : uint32[n], see TaggerModel
    least : the number of letters of which one has an accent in the mean; 0: no accents
    turkic : I is the capital of ı
    """

    accents: list[tuple[int, int]]
    vocabulary: npt.NDArray[np.uint32] | memoryview
    least: int
    turkic: bool


def reading_of(model: TaggerModel) -> Reading:
    """Return how a model reads words.

    Which letters have accents is seen in the lemmas that it knows: a model without has none.
    """
    known = next((own.lemmas for own in model.parts_by_column if own.lemmas is not None), None)
    text = b"" if known is None else StoredLemmas.of(known.lemmas).strings.text.tobytes()
    accents, least = _accents_of(text)
    return Reading(accents, model.vocabulary, least, known is not None and "I" in known.alphabet)


def _accents_of(text: bytes) -> tuple[list[tuple[int, int]], int]:
    """Return the accents of lemmas in UTF-8, and `least` of Reading."""
    if len(text.decode("ascii", "ignore")) > (1 - _LEAST_ACCENTED / 2) * len(text):
        return [], 0
    counts = Counter(text.decode("utf-8", "surrogatepass"))
    # Parts of speech, which stand behind each lemma, are in capitals.
    times = {letter: n for letter, n in counts.items() if letter.islower()}
    n_letters = sum(times.values())
    accented = sorted(
        (plain, -n, letter)
        for letter, n in times.items()
        if n >= _LEAST_SHARE * n_letters and (plain := _plain(letter)) != letter
    )
    share = -sum(n for _, n, _ in accented) / max(1, n_letters)
    if share < _LEAST_ACCENTED:
        return [], 0
    pairs = [(plain, letter) for plain, _, letter in accented]
    pairs += [(plain.upper(), letter.upper()) for plain, letter in pairs if letter != "ı"]
    pairs += [("I", "İ")] if "ı" in times else []
    # The sort is stable: the most frequent stay the first.
    pairs.sort(key=lambda pair: pair[0])
    return [(ord(a), ord(b)) for a, b in pairs if len(b) == 1], math.ceil(1 / share)


def _plain(letter: str) -> str:
    """Return a small letter without its accents; itself if it has none."""
    parts = normalize("NFD", _STROKES.get(letter, letter))
    is_one = ord(letter) < _END and ord(parts[0]) < _PLAIN_END and all(map(combining, parts[1:]))
    return parts[0] if is_one else letter
