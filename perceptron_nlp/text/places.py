"""Places between the atoms of running text: gaps, labels, and the words that settle them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NOTHING, SPACE, PARAGRAPH = "0", "1", "p"
"""Gaps behind an atom."""
GOES_ON, TOKEN, SENTENCE = LABELS = ("I", "T", "S")
"""Labels of an atom."""
SIDES = ("before", "after", "before_ending", "after_ending")
"""What makes a place certain: the word before it, that behind it, or the endings of these."""
WORD_PLACES = tuple(gap + look for gap in (NOTHING, SPACE) for look in "Aac9")
"""Of a place beside a word the gap, and how the atom on the other side looks."""

Words = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]
"""Words or endings by one of SIDES, one of WORD_PLACES, and the label that stands there."""


def are_certain_words(found: Any) -> bool:
    """Tell if something read from a file is what Words are."""
    return isinstance(found, dict) and all(
        side in SIDES
        and isinstance(places, dict)
        and all(
            place in WORD_PLACES
            and isinstance(labels, dict)
            and all(
                label in LABELS
                and isinstance(known, list)
                and all(isinstance(word, str) and word for word in known)
                for label, known in labels.items()
            )
            for place, labels in places.items()
        )
        for side, places in found.items()
    )


def known_words(words: Words) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    """Yield the side, the place, the label that stands there, and the words that know it."""
    for side, places in words.items():
        for place, labels in places.items():
            for label, known in labels.items():
                yield side, place, label, known
