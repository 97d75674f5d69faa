"""Atoms of running text: the pieces that tokens and sentences are put together from.

An atom is a run of letters, a run of digits, or any other single character, each with the combining
marks behind it, and characters that are not seen (tagset.py) about it; in scripts without spaces
every character is an atom, and so it is in others if tokens of the treebank end within runs of
letters. Behind each atom stands a gap: nothing, white space, or an empty line. No character but
white space is left out. A segmentation labels each atom: it goes on (``I``), a token ends (``T``),
or a sentence does (``S``).
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache

from perceptron_nlp._core.features.extract import hash64_each
from perceptron_nlp.text.tagset import (
    APOSTROPHES,
    LABELS,
    NOT_SEEN,
    NOTHING,
    PARAGRAPH,
    SPACE,
    WORD_PLACES,
    Words,
    word_bytes,
)

EMPTY_LINE = r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|[\f\u2029]"
"""White space that ends a paragraph."""
LINE_BREAK = r"[\n\r\u2028\u0085\v]"
LONG_GAP = 1000
"""Characters of white space from which on a stretch of it is shortened."""
_LONG_GAP = rf"\s{{{LONG_GAP},}}"

# Han, Kana, Bopomofo, Thai, Lao, Myanmar, Khmer, Tai scripts are written without spaces: where runs
# of their code points begin and end, in turns. (To compile a pattern of them takes milliseconds.)
_UNSPACED = tuple(
    map(
        ord,
        "\u0e00\u0f00\u1000\u10a0\u1780\u1800\u1950\u19e0\u1a20\u1ab0\u2e80\u2fe0\u3005\u3008"
        "\u3021\u302a\u3031\u3036\u3038\u3130\u31a0\u31c0\u31f0\u3200\u3400\u4dc0\u4e00\ua000"
        "\ua9e0\uaa00\uaa60\uaae0\uf900\ufb00\uff66\uffa0\U00016fe0\U0001b300"
        "\U00020000\U00040000",
    )
)
# Of an abbreviation between full stops.
_MOST_PARTS = 8
_JOINERS = frozenset("\u200c\u200d")


class _Classes(dict[int, str]):
    """The class of each code point, found when it is first met: one of L, H, D, M, Z, S, O.

    single : classes of letters (letter_class) of which every one is an atom
    """

    def __init__(self, single: str = "") -> None:
        self._single = single

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        category = unicodedata.category(letter)
        if letter.isspace():
            found = "S"
        elif letter in NOT_SEEN:
            found = "Z"
        elif category[0] == "M" or letter in _JOINERS:
            found = "M"
        elif category == "Nd":
            found = "D"
        elif category[0] == "L" and letter not in APOSTROPHES:
            is_single = bisect_right(_UNSPACED, code) % 2 or letter_class(letter) in self._single
            found = "H" if is_single else "L"
        else:
            found = "O"
        self[code] = found
        return found


character_classes = cache(_Classes)


def ending(word: str) -> str:
    """Return how a word begins, by its class, and its last three characters."""
    return letter_class(word[0]) + word[-3:]


def small_numbers(small: Mapping[str, Sequence[str]]) -> list[tuple[int, int]]:
    """Return small words as the core has them: the hash of each, and its class."""
    found: list[tuple[int, int]] = []
    for often, words in small.items():
        found += zip(hash64_each([*map(word_bytes, words)]), itertools.repeat(int(often)))
    return found


def known_words(words: Words) -> Iterator[tuple[str, str, str, Sequence[str]]]:
    """Yield the side, the place, the label that stands there, and the words that know it."""
    for side, places in words.items():
        for place, labels in places.items():
            for label, known in labels.items():
                yield side, place, label, known


def word_numbers(words: Words) -> list[tuple[int, int, int]]:
    """Return what words know of places as the core has it.

    Returns
    -------
    of each word 0 and its hash, of each ending how its word begins, as the core sees it, from 1,
    and its hash; then two bits for each place: first those behind the word, then those before it,
    in the order of WORD_PLACES; 0 for nothing, else the place of the label in LABELS, from 1
    """
    # By strings, whose hashes have a key: whoever writes a model chooses them.
    numbers: dict[tuple[int, str], int] = {}
    for side, place, label, known in known_words(words):
        behind = len(WORD_PLACES) * side.startswith("after")
        bits = 2 * (behind + WORD_PLACES.index(place))
        for word in known:
            key = 0, word
            if side.endswith("ending"):
                key = _look_number(word[:1]) + 1, word[1:]
            others = numbers.get(key, 0) & ~(3 << bits)
            numbers[key] = others | (LABELS.index(label) + 1) << bits
    hashes = hash64_each([word_bytes(word) for _, word in numbers])
    return [(look, own, x) for own, ((look, _), x) in zip(hashes, numbers.items(), strict=True)]


PAGE = 256
_KINDS = {"S": 0, "L": 1, "M": 2, "Z": 2, "D": 3, "H": 4, "O": 4}
_LOOKS = " Aac9"
# Of caseless letters the scripts that a word does not go on from one into another, the last being
# all others without spaces: where runs of their code points begin and end, in turns.
_SCRIPTS = {
    "h": (0x3041, 0x30A0),
    "k": (0x30A0, 0x3100, 0x31F0, 0x3200, 0xFF66, 0xFFA0),
    "z": (0x3005, 0x3008, 0x3021, 0x302A, 0x3400, 0xA000, 0xF900, 0xFB00, 0x20000, 0x40000),
    "s": _UNSPACED,
}
_LOOK_CLASSES = 0x110000  # above all characters


@cache
def class_page(number: int, single: str = "") -> bytes:
    """Return how the core sees PAGE characters from number x PAGE on, one byte each.

    The lowest three bits are the kind (white space, letter, mark, digit, other; of letters of the
    classes `single` each is an atom); those above are the type: 0 for a mark, else the place in
    ``Aac9hkzs``, from 1.
    """
    codes = range(number * PAGE, (number + 1) * PAGE)
    classes, types = character_classes(single), _LOOKS + "".join(_SCRIPTS)
    return bytes(
        _KINDS[classes[code]] | max(0, types.find(character_type(chr(code)), 1)) << 3
        for code in codes
    )


def character_type(letter: str) -> str:
    """Return ``A a c 9``, or of scripts without spaces ``h k z s``; else the mark."""
    look = letter_class(letter)
    scripts = (name for name, runs in _SCRIPTS.items() if bisect_right(runs, ord(letter)) % 2)
    return next(scripts, look) if look == "c" else look


def place_numbers(places: Mapping[str, str]) -> dict[tuple[int, int, int], str]:
    """Return the labels of places by how the core sees their keys: (last, gap, first)."""
    gaps = NOTHING + SPACE + PARAGRAPH
    return {
        (_look_number(key[0]), gaps.index(key[1]), _look_number(key[2])): label
        for key, label in places.items()
        if len(key) == 3 and key[1] in gaps
    }


def _look_number(look: str) -> int:
    number = _LOOKS.find(look, 1)
    return ord(look) if number < 0 else _LOOK_CLASSES + number


@lru_cache(maxsize=1 << 14)
def letter_class(letter: str) -> str:
    """Return ``A a c 9`` for a capital, a small letter, another letter, a digit; else the mark.

    Georgian letters have capitals in Unicode, with which no word begins: they are other letters.
    """
    if letter.isdigit():
        return "9"
    if not letter.isalpha() or letter in APOSTROPHES:
        return letter
    if letter.isupper() or letter.istitle():
        return "A"
    return "a" if letter.islower() and letter.title() != letter else "c"


class LineCount:
    """Lines of places in a text, in ascending order, while its front is forgotten."""

    def __init__(self) -> None:
        self._line, self._at = 1, 0
        self._left_out: list[tuple[int, int]] = []

    def leave_out(self, place: int, breaks: int) -> None:
        """Count line breaks that stood before a place and are not in the text."""
        self._left_out.append((place, breaks))

    def of(self, text: str, place: int) -> int:
        """Return the line of a place that is not before the last one asked for, from 1."""
        self._line += text.count("\n", self._at, place)
        while self._left_out and self._left_out[0][0] <= place:
            self._line += self._left_out.pop(0)[1]
        self._at = place
        return self._line

    def forget(self, text: str, gone: int) -> None:
        """Leave out the first `gone` characters of the text; places are counted behind them."""
        self.of(text, max(gone, self._at))
        self._at -= gone
        self._left_out = [(place - gone, breaks) for place, breaks in self._left_out]


def with_gaps_shortened(text: str, piece: str, lines: LineCount) -> str:
    """Return the text with a piece behind it, in which no stretch of white space is long."""
    parts, begin, length = [text], 0, len(text)
    for gap in re.finditer(_LONG_GAP, piece):
        short = _shorter(gap)
        parts += (piece[begin : gap.start()], short)
        length += gap.start() - begin + len(short)
        lines.leave_out(length, gap.group().count("\n") - short.count("\n"))
        begin = gap.end()
    return "".join([*parts, piece[begin:]])


def _shorter(gap: re.Match[str]) -> str:
    """Return white space that separates tokens and sentences as a long stretch of it does."""
    if re.search(EMPTY_LINE, gap.group()):
        return "\n\n"
    return "\n" if re.search(LINE_BREAK, gap.group()) else " "


def is_of_letters(word: str) -> bool:
    """Tell if a word is made of letters and their marks."""
    return {*word.translate(character_classes(""))} <= {*"LHMZ"}


def is_abbreviation(word: str) -> bool:
    """Tell if a word is what may stand before the full stop of an abbreviation.

    >>> [is_abbreviation(word) for word in ("Dr", "z.B", "x..y", "", "et al")]
    [True, True, False, False, False]
    """
    parts = word.split(".")
    return len(parts) <= _MOST_PARTS and all(part and is_of_letters(part) for part in parts)


def is_glued(text: str, place: int) -> bool:
    """Tell if text goes on at a place without white space."""
    return place < len(text) and not text[place].isspace()
