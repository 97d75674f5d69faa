"""What can be seen of one word, in plain Python strings."""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Sequence
from itertools import groupby

import xxhash

from perceptron_nlp.features.templates import Value
from perceptron_nlp.text import tagset

HYPHENS = "-\u2010\u2011"


def is_upper(char: str) -> bool:
    return char.isupper() or char.istitle()


def lower(word: str) -> str:
    """Code point by code point; of a mapping to several, the first."""
    return "".join(char.lower()[0] for char in word)


def norm(word: str) -> str:
    """The normal form of NLTK's averaged-perceptron tagger, on code points."""
    if "-" in word and not word.startswith("-"):
        return "!HYPHEN"
    if len(word) == 4 and word.isdigit():
        return "!YEAR"
    if word[:1].isdigit():
        return "!DIGITS"
    return lower(word)


def folded(word: str) -> str:
    """Lower case; letters from U+00E0 to U+017F without marks; e u b d g as a i p t k."""
    found = ""
    for char in lower(word):
        pieces = unicodedata.normalize("NFD", char)
        if "\u0300" <= char <= "\u036f":
            continue
        if "\u00e0" <= char <= "\u017f" and pieces[0].isascii():
            char = pieces[0]
        found += "i" if char == "\u0131" else char
    return found.translate(str.maketrans("eubdg", "aiptk"))


def shape_class(char: str) -> str:
    if is_upper(char):
        return "X"
    if char.isalpha():
        return "x"
    return "d" if char.isdigit() else char


def shape(word: str, longest: int) -> str:
    runs = groupby(map(shape_class, word))
    return "".join(char * min(longest, len(list(run))) for char, run in runs)


def flags(word: str) -> int:
    """The sum of: 1 first capital, 2 all capitals, 4 capital inside, 8 digit, 16 all digits,
    32 hyphen, 64 no letter, 128 another character."""
    letters = [char for char in word if is_upper(char) or char.isalpha()]
    digits = [char for char in word if char not in letters and char.isdigit()]
    hyphens = [char for char in word if char in HYPHENS]
    others = len(word) - len(letters) - len(digits) - len(hyphens)
    marks = (
        is_upper(word[:1]),
        bool(letters) and all(map(is_upper, letters)),
        any(map(is_upper, word[1:])),
        bool(digits),
        bool(digits) and len(digits) == len(word),
        bool(hyphens),
        not letters,
        others > 0,
    )
    return sum(bit << place for place, bit in enumerate(marks))


def view(word: str, name: str) -> str:
    """One view of a word, as the text whose hash stands for it."""
    marks = flags(word)
    views = {
        "word": word,
        "lower": lower(word),
        "norm": norm(word),
        "shape": shape(word, 1),
        "shape4": shape(word, 4),
        "folded": folded(word),
        "flags": chr(marks),
        "capital": str(marks & 1),
        "allcaps": str(marks >> 1 & 1),
        "hasdigit": str(marks >> 3 & 1),
        "hashyphen": str(marks >> 5 & 1),
    }
    return views[name]


def ngrams(text: str, low: int, high: int) -> list[str]:
    """With edges \\x02 and \\x03; a text of over 48 gives those of its first and last 24."""
    whole = "\x02" + text + "\x03"
    pieces = [whole] if len(text) <= 48 else [whole[:25], whole[-25:]]
    return [
        piece[i : i + k]
        for piece in pieces
        for k in range(low, high + 1)
        for i in range(len(piece) - k + 1)
    ]


def seen(word: str, value: Value) -> list[str]:
    """The texts that a value has for a word: one, or as many as there are n-grams."""
    text = view(tagset.seen(word), value.view)
    if value.affix == "prefix":
        return [text[: value.low]]
    if value.affix == "suffix":
        return [text[-value.low :]]
    if value.affix == "pieces":
        return [piece for piece in text.split("|") if piece]
    return ngrams(text, value.low, value.high) if value.affix == "ngrams" else [text]


def text_hash(text: str) -> int:
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


def feature_key(hashes: Sequence[int], seed: int) -> int:
    """The key of a feature of these values: XXH64 of each as eight little-endian bytes."""
    return xxhash.xxh64_intdigest(struct.pack(f"<{len(hashes)}Q", *hashes), seed)
