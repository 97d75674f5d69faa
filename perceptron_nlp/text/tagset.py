"""Labels and their numbers, in an order that depends on nothing but the labels; words as hashes.

Places between the atoms of running text have labels of their own, which words beside them settle.
"""

from __future__ import annotations

import itertools
import re
import sys
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from perceptron_nlp._core.features.extract import hash64
from perceptron_nlp.errors import ArgumentError, ArgumentTypeError, quote

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

MAX_LABELS = 65_536
SCHEMES = ("bio", "iobes", "iob1")
"""Ways of writing spans as labels; see spans.py."""
SPAN_PREFIXES = {"B": "B", "I": "I", "E": "E", "S": "S", "L": "E", "U": "S"}
# In these columns an underscore means no label; in others it is a value like FEATS'
# "no features".
UNLABELED = "_"
UNLABELED_COLUMNS = frozenset({"upos", "xpos", "lemma", "head", "deprel"})

GAPS = NOTHING, SPACE, PARAGRAPH = "0", "1", "p"
"""Gaps behind an atom."""
GOES_ON, TOKEN, SENTENCE = LABELS = ("I", "T", "S")
"""Labels of an atom."""
CASED, CASELESS = "Aa", "c"
"""Classes of letters that are atoms each, where tokens of a treebank end within runs of them."""
MATCHES, LONGEST_ENTRY = "matches", 12
"""The column of what entries match about a place, and their most characters."""
SIDES = ("before", "after", "before_ending", "after_ending")
"""What makes a place certain: the word before it, that behind it, or the endings of these."""
WORD_PLACES = tuple(gap + look for gap in (NOTHING, SPACE) for look in "Aac9")
"""Of a place beside a word the gap, and how the atom on the other side looks."""

SMALL = "small_letters"
"""The column of atoms that tells of capitalized ones how often training has them so."""
SMALL_CLASSES = {"1": 2, "2": 5, "3": 20}
"""How often training has a word in small letters, from so many times on; more seldom it is 0."""

Words = Mapping[str, Mapping[str, Mapping[str, Sequence[str]]]]
"""Words or endings by one of SIDES, one of WORD_PLACES, and the label that stands there."""

ENDS = ("exclamation", "question", "ellipsis", "closed", "bracketed", "dash", "unspaced", "year")
"""Ends of sentences before a capital or caseless letter: marks but full stops, these before a
``dash``, ``unspaced`` or behind three digits (``year``), and all before quotes (``closed``) or
brackets (``bracketed``)."""
NO_ENDS = ("trailing", "short", "colon", "symbol", "operator")
"""What ends none before a small letter, if there are capitals: dots, the full stop of a short word,
colons, other marks. An ``operator``, a sign or arrow between spaces, or %, ends none at all."""
PATTERN_KINDS = (
    *("url", "email", "host", "file", "handle", "tag", "version", "date", "time", "number"),
    *("fraction", "name", "initials", "emoji", "emoticon", "entity", "code", "acronym", "dots"),
    *("markup", "ordinal", "bracket", "quote", "emphasis", "note", "comma", "stop"),
    *(*ENDS, *NO_ENDS, "item", "hyphen"),
)
"""What most languages treat alike, found in text by the core (patterns.h), whose order this is. Up
to ``markup`` they are one token: of addresses those up to ``tag``; ``version`` has numbers of
networks, ``time`` all numbers with colons; ``name`` is *AT&T*, *C++* or *°C*, ``initials`` *H&M*,
``entity`` *&nbsp;*, ``code`` *B12*, ``acronym`` *U.S.A.*, ``dots`` three or more, or so many of
another mark (*---*), ``markup`` *</b>*. No sentence ends behind the full stop of an ``ordinal``
(*3. března*), which ends a token. ``bracket``, ``quote`` and ``emphasis`` (stars, low lines, back
quotes) are tokens where they enclose words, and no sentence ends behind the closing one before a
small letter; ``note`` is a small raised number or *[1]* behind a word, or behind an end, as
addresses; ``comma`` one between words, or a semicolon, ``stop`` a full stop before a closing
quote; no sentence ends behind an ``item``, the marks or number that begin a line. Tokens end on
both sides of a ``hyphen`` in a word or on none."""
OF_MARKS = frozenset(PATTERN_KINDS[PATTERN_KINDS.index("ordinal") :])
FEW_ODD = {"ordinal": 1, "bracket": 1, "quote": 1, "emphasis": 3, "hyphen": 0}
"""Kinds that languages agree about: so many odd examples say nothing, nor do two of the others."""
WELL_MET = 350
"""Who has met a mark so often has learned more of it than when it mostly ends sentences."""
MOST_CUT = {"number": 0.1, "fraction": 0.4, "initials": 0.4, "ordinal": 0.1, "note": 0.25}
MOST_CUT |= dict.fromkeys(("bracket", "quote", "emphasis", "comma", "stop", "item"), 0.05)
MOST_CUT |= dict.fromkeys((*ENDS, *NO_ENDS, "hyphen"), 0.03) | {"ellipsis": 0.2, "closed": 0.1}
"""Of a kind that goes on within the share that training may cut, unless it is the usual one."""
USUALLY_CUT = 0.2
FEW_MET = 10
"""So many patterns of a kind are taken to have been met at least."""
OF_NUMBERS = frozenset({"version", "date", "time", "fraction"})
"""Kinds that training treats as it does numbers, as far as it has met few of them."""

Patterns = Mapping[str, Sequence[int]]
"""By kind how many patterns training met, and how many of them it treated in another way."""


_VOWELS = {*range(0x591, 0x5C8), *range(0x64B, 0x653), 0x670} - {0x5BE, 0x5C0, 0x5C3, 0x5C6}
NOT_SEEN = "\u00ad\u061c\u0640\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2060\ufeff"
NOT_SEEN += "".join(map(chr, [*sorted(_VOWELS), *range(0x2066, 0x2070)]))
"""Soft hyphens, what draws Arabic words out, vowels of Hebrew and Arabic, what joins nothing."""
ENTITY = re.compile("&(#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,7});")
"""An HTML entity that was left over; Windows-1252 is what &#128; to &#159; are."""
APOSTROPHES = "\u2019\u02bc"
"""Marks that are seen as an apostrophe, though one of them is a letter to Unicode."""
COMPOSING = "".join(map(chr, [*range(0x300, 0x370), 0x653, 0x654, 0x655, 0x3099, 0x309A]))
"""Marks that letters are composed with."""
_COMPOSING = re.compile(rf"[^\W\d_][{COMPOSING}\u1161-\u1175\u11a8-\u11c2]+")
ALIKE = ("\u064a\u0643\u0218\u0219\u021a\u021b", "\u06cc\u06a9\u015e\u015f\u0162\u0163")
"""Letters for which others are written: Arabic yeh and kaf for Persian, cedillas for commas."""
_LEFT_OUT = dict.fromkeys(map(ord, NOT_SEEN))
_SEEN = {**_LEFT_OUT, **str.maketrans(f"\u2010\u2011{APOSTROPHES}{ALIKE[0]}", f"--''{ALIKE[1]}")}


def seen(text: str) -> str:
    """Return a text as features see it: typographic apostrophes and hyphens as those of ASCII.

    Else as `visible`, and letters are those that they are written for (ALIKE).

    >>> seen("co\\u00adoperate\u2019s")
    "cooperate's"
    """
    text = ENTITY.sub(character_of, text) if "&" in text else text
    return text if text.isascii() else _COMPOSING.sub(_composed, text.translate(_SEEN) or text)


def visible(text: str) -> str:
    """Return a text without NOT_SEEN, unless that is all; entities and marked letters are one."""
    text = ENTITY.sub(character_of, text) if "&" in text else text
    return text if text.isascii() else _COMPOSING.sub(_composed, text.translate(_LEFT_OUT) or text)


def _composed(found: re.Match[str]) -> str:
    """Return a letter and its marks as Unicode's normal form C has them; marks change no places."""
    from unicodedata import is_normalized, normalize  # for the few texts that have any

    text = found[0][0]
    for mark in found[0][1:]:
        one = normalize("NFC", text[-1] + mark)
        is_one = len(one) == 1 and all(is_normalized("NFC", own) for own in (text[-1], mark))
        text = text[:-1] + one if is_one else text + mark
    return text


def character_of(entity: re.Match[str]) -> str:
    """Return what an HTML entity stands for, or itself where that is a space or nothing."""
    from html.entities import name2codepoint  # for the few texts that have any

    name = entity[1]
    if name[0] != "#":
        point = name2codepoint.get(name, ord("'") if name == "apos" else 0)
    else:
        point = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    if point in range(128, 160):
        point = ord(bytes([point]).decode("cp1252", "ignore") or "\0")
    is_character = point > 32 and point != 0x7F and point <= sys.maxunicode
    if not is_character or point in range(0xD800, 0xE000) or chr(point).isspace():
        return entity[0]
    return chr(point)


class TagSet:
    """A fixed set of labels, numbered from 0 in the order of their code points.

    labels : the labels, in any order, repeated or not; at most 65,536 different ones

    Raises ArgumentTypeError if ``labels`` is one str, or a label is not a str; ArgumentError if
    more than 65,536 labels, or a label that no file format can carry: empty, with a tab or a line
    break in it, or not encodable as UTF-8.


    >>> TagSet(["VERB", "NOUN", "VERB"]).labels
    ('NOUN', 'VERB')
    """

    __slots__ = ("_ids", "_labels")

    def __init__(self, labels: Iterable[str]) -> None:
        if isinstance(labels, (str, bytes)):
            raise ArgumentTypeError("labels: a list of labels is needed, not one str")
        distinct = dict.fromkeys(labels)
        names = [label for label in distinct if isinstance(label, str) and label]
        # All at once, since most labels are printable.
        sound = len(names) == len(distinct) and "".join(names).isprintable()
        for label in () if sound else distinct:
            check_label(label)
        if len(distinct) > MAX_LABELS:
            raise ArgumentError(
                f"labels: {len(distinct):,} different labels; at most {MAX_LABELS:,} are possible"
            )
        self._labels = tuple(sorted(distinct))
        self._ids = {label: number for number, label in enumerate(self._labels)}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels; the place of each is its number."""
        return self._labels

    def id_of(self, label: str) -> int:
        """Return the number of a label, or -1 if it is not in the set."""
        return self._ids.get(label, -1)

    def ids_of(self, labels: Iterable[str]) -> list[int]:
        """Return the numbers of labels, -1 for each that is not in the set."""
        get = self._ids.get
        return [get(label, -1) for label in labels]

    def label_of(self, number: int) -> str:
        """Return the label of a number in ``range(len(self))``; ArgumentError otherwise."""
        if not 0 <= number < len(self._labels):
            raise ArgumentError(f"number: {number} is not one of the {len(self)} labels")
        return self._labels[number]

    def to_list(self) -> list[str]:
        """Return the labels in order, as JSON holds them; ``TagSet(...)`` makes the set again."""
        return list(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __contains__(self, label: object) -> bool:
        return label in self._ids

    def __eq__(self, other: object) -> bool:
        return self._labels == other._labels if isinstance(other, TagSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._labels)

    def __repr__(self) -> str:
        return f"TagSet({list(self._labels)!r})"


def check_label(label: object) -> None:
    """Raise what TagSet does for a label that no file format can carry."""
    if not isinstance(label, str):
        raise ArgumentTypeError(f"labels: a label must be a str, not {type(label).__name__}")
    if not label:
        raise ArgumentError("labels: a label is empty")
    if "\t" in label or "\n" in label or "\r" in label:
        raise ArgumentError(f"labels: {quote(label)} holds a tab or a line break")
    try:
        label.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ArgumentError(f"labels: {quote(label)} holds a lone surrogate") from error


def known_labels(column: str, labels: Sequence[str]) -> Sequence[str | None]:
    """Return the labels of a column as a file has them, None where a word has none."""
    if column.lower() in UNLABELED_COLUMNS and UNLABELED in labels:
        return [None if label == UNLABELED else label for label in labels]
    return labels


def is_span_column(labels: Iterable[str]) -> bool:
    """Return True if labels are all ``O`` or ``PREFIX-TYPE``, at least one of the latter."""
    found = False
    for label in set(labels):
        if label == "O":
            continue
        prefix, hyphen, kind = label.partition("-")
        if not (hyphen and kind and prefix in SPAN_PREFIXES):
            return False
        found = True
    return found


def word_bytes(word: str) -> bytes:
    """Return the bytes of a word that the core hashes: UTF-8, a lone surrogate as three bytes."""
    return word.encode("utf-8", "surrogatepass")


class Strings(NamedTuple):
    """Strings one after the other, not decoded yet.

    text : their UTF-8
    starts : int64[n + 1], where each begins in it, and where the last one ends
    """

    text: memoryview
    starts: memoryview

    @classmethod
    def of(cls, strings: Iterable[str]) -> Strings:
        """Return strings encoded."""
        # Here, since tagging has what a file has.
        from array import array

        texts = [word_bytes(text) for text in strings]
        ends = itertools.accumulate(map(len, texts), initial=0)
        return cls(memoryview(b"".join(texts)), memoryview(array("q", ends)))

    def decoded(self) -> list[str]:
        """Return the strings."""
        whole, starts = self.text.tobytes(), self.starts.tolist()
        return [
            whole[begin:end].decode("utf-8", "surrogatepass")
            for begin, end in itertools.pairwise(starts)
        ]


def word_hash(word: str) -> int:
    """Return the hash of a word, or a label, 0 to 2**64 - 1, as in the key of a feature."""
    return hash64(word_bytes(word))


def is_in(vocabulary: npt.NDArray[np.uint32] | memoryview, word: str) -> bool:
    """Tell if a word is in the vocabulary of a training."""
    half = word_hash(word) >> 32
    at = bisect_left(vocabulary, half)
    return at < len(vocabulary) and bool(vocabulary[at] == half)


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


def are_small_words(found: Any) -> bool:
    """Tell if something read from a file is what atoms.small_words gives."""
    return isinstance(found, dict) and all(
        often in SMALL_CLASSES
        and isinstance(words, list)
        and all(isinstance(word, str) and word for word in words)
        for often, words in found.items()
    )


def are_entries(found: Any) -> bool:
    """Tell if something read from a file is words that may match about a place."""
    return isinstance(found, (list, str)) and all(
        isinstance(word, str) and 0 < len(word) <= LONGEST_ENTRY for word in found
    )


def holds(kind: str, patterns: Patterns) -> bool:
    """Tell if patterns of a kind go on within, by how training treated them."""
    met, cut = patterns.get(kind, (0, 0))
    if met < FEW_MET and kind in OF_NUMBERS and not holds("number", patterns):
        return False
    most = MOST_CUT.get(kind, USUALLY_CUT)
    if kind in OF_MARKS:
        is_learned = kind in ("exclamation", "question") and met >= WELL_MET
        return not is_learned and cut < max(1 + FEW_ODD.get(kind, 2), most * met)
    return cut < (most * met if met >= FEW_MET else min(most, USUALLY_CUT) * FEW_MET)


def held_bits(patterns: Patterns) -> int:
    """Return the kinds that hold as the core has them, a bit each."""
    return sum(1 << number for number, kind in enumerate(PATTERN_KINDS) if holds(kind, patterns))


def are_abbreviations(found: object) -> bool:
    """Tell if something read from a file is a list of abbreviations."""
    return isinstance(found, list) and all(
        isinstance(word, str) and len(word.split()) == 1 for word in found
    )


def are_patterns(found: Any) -> bool:
    """Tell if something read from a file is what Patterns are."""
    return isinstance(found, dict) and all(
        kind in PATTERN_KINDS
        and isinstance(counts, list)
        and len(counts) == 2
        and all(type(count) is int and count >= 0 for count in counts)
        for kind, counts in found.items()
    )
