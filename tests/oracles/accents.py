"""How sentences without accents are read, said a second time (accents.h)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

LONGEST, MOST_PUT = 40, 4
Letters = Sequence[tuple[str, str, str]]
"""A letter, the same with an accent, and that as a small letter."""


def as_read(
    words: Sequence[str], letters: Letters, known: Collection[str], least: int
) -> Sequence[str]:
    """Return the words of a sentence as they are read."""
    text = "".join(words)
    accents = {accented for _, accented, _ in letters} | {*map(chr, range(0x300, 0x370))}
    n_letters = sum(letter.isalpha() if letter.isascii() else 1 for letter in text)
    if not letters or accents & {*text} or n_letters < least:
        return words
    return [_read(word, letters, known) for word in words]


def _read(word: str, letters: Letters, known: Collection[str]) -> str:
    small = "".join(map(_small, word))
    may_be = any(plain == letter for plain, _, _ in letters for letter in word)
    if (
        not may_be
        or len(word.encode("utf-8", "surrogatepass")) > LONGEST
        or word in known
        or small in known
    ):
        return word
    for n in range(1, MOST_PUT + 1):
        for own, low in _with_accents(list(word), list(small), letters, 0, n):
            if own in known or (small != word and low in known):
                return own
    return word


def _with_accents(
    own: list[str], low: list[str], letters: Letters, begin: int, n: int
) -> Iterator[tuple[str, str]]:
    if n == 0:
        yield "".join(own), "".join(low)
        return
    for at in range(begin, len(own)):
        for plain, accented, small in letters:
            if own[at] == plain:
                before = own[at], low[at]
                own[at], low[at] = accented, small
                yield from _with_accents(own, low, letters, at + 1, n - 1)
                own[at], low[at] = before


def _small(letter: str) -> str:
    has_plain_case = letter.isascii() or "\u0391" <= letter <= "\u03a9"
    return letter.lower() if has_plain_case else letter
