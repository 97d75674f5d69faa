"""How words of sentences in other hands are read, said a second time (reading.h)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby

LONGEST, MOST_PUT, LEAST_CASED = 40, 4, 10
Accents = Sequence[tuple[str, str]]
"""A letter, and the same with an accent."""
Form = Callable[[str], str | None]
"""Tells as what training has a word, if it does."""


def as_read(
    words: Sequence[str], accents: Accents, known: Collection[str], least: int, turkic: bool = False
) -> list[str]:
    """Return the words of a sentence as they are read."""
    text = "".join(words)
    all_accents = {accented for _, accented in accents} | {*map(chr, range(0x300, 0x370))}
    n_letters = sum(letter.isalpha() if letter.isascii() else 1 for letter in text)
    n_small, n_capital = sum(map(str.islower, text)), sum(map(str.isupper, text))
    is_small = n_small >= LEAST_CASED and not n_capital
    is_capital = n_capital >= LEAST_CASED and not n_small

    def form(word: str) -> str | None:
        small = _small(word, turkic)
        title = _capital(small[:1], turkic) + small[1:]
        if word in known:
            return word
        if small in known and small != word:
            return small if is_capital else word
        return title if (is_small or is_capital) and title in known else None

    is_plain = bool(accents) and not all_accents & {*text} and n_letters >= least
    return [_read(word, form, accents if is_plain else ()) for word in words]


def _read(word: str, form: Form, accents: Accents) -> str:
    if len(word.encode("utf-8", "surrogatepass")) > LONGEST:
        return word
    undrawn = [_undrawn(word, most) for most in (2, 1)]
    for other in (word, *undrawn):
        found = form(other)
        if found is not None:
            return found
    for n in range(1, MOST_PUT + 1):
        for other in _with_accents(list(word), accents, 0, n):
            found = form(other)
            if found is not None:
                return found
    return word


def _undrawn(word: str, most: int) -> str:
    """Return a word with so many of each letter that stands three times or more."""
    runs = ["".join(run) for _, run in groupby(word)]
    return "".join(run[:most] if len(run) > 2 and run.isalpha() else run for run in runs)


def _with_accents(letters: list[str], accents: Accents, begin: int, n: int) -> Iterator[str]:
    if n == 0:
        yield "".join(letters)
        return
    for at in range(begin, len(letters)):
        before = letters[at]
        for plain, accented in accents:
            if before == plain:
                letters[at] = accented
                yield from _with_accents(letters, accents, at + 1, n - 1)
                letters[at] = before


def _small(word: str, turkic: bool) -> str:
    low = {"İ": "i", **({"I": "ı"} if turkic else {})}
    letters = [low.get(letter, letter.lower()[0]) for letter in word]
    if len(word) > 1 and word[-1] == "Σ":
        letters[-1] = "ς"
    return "".join(letters)


def _capital(letter: str, turkic: bool) -> str:
    if letter == "i" and turkic:
        return "İ"
    return letter.upper() if len(letter.upper()) == 1 else letter
