"""Marks about words as their page tells it, in Python: the core must find the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from perceptron_nlp.text.atoms import character_type
from perceptron_nlp.text.tagset import NOTHING, PARAGRAPH, SPACE, seen

Mark = tuple[str, int, bool]
"""What segment.marks_of yields: the kind, the atom, whether a sentence ends with it."""

QUOTES, SINGLE = '"\u00ab\u00bb\u2039\u203a\u201c\u201d\u201e', "\u2018\u201a"
# What opens and closes only where the other is there, too.
PAIRED = "'_"
EMPHASIS = "*_`"
OPENING = f"([{{{QUOTES}{SINGLE}*`"
CLOSING = f")]}}{QUOTES}*`"
CLOSES_SINGLE = f"'`{SINGLE}"
RAISED = "\u00b9\u00b2\u00b3\u2070\u2074\u2075\u2076\u2077\u2078\u2079"
NOTE = "\x01"
DASHES = ("-", "\u2013", "\u2014")
NAMES, LETTERS = "aAcn" + NOTE, "aAc"
CASELESS = "chkzs"
AT_END = ".,;:!?\u2026"
FINAL = ".!?\u2026\u0589\u061f"
END_KINDS = {"!": "exclamation", "?": "question", "\u061f": "question", "\u2026": "ellipsis"}
LEAST_NOTED = 4


class Chunk:
    """Atoms with nothing between.

    looks : a character of each: a what begins small, A with a capital, c several caseless letters,
        . for one of them is h, n a number, NOTE a raised one, else the mark
    """

    def __init__(self, words: Sequence[str]) -> None:
        self.looks = "".join(map(look, words))
        self.sizes = [*map(len, words)]

    def is_name(self, at: int) -> bool:
        return 0 <= at < len(self.looks) and self.looks[at] in NAMES

    def opens(self, at: int) -> bool:
        mark = self.looks[at]
        if mark not in PAIRED:
            return mark in OPENING
        if not self.is_name(at + 1) or (self.sizes[at + 1] == 1 and not self.is_name(at + 2)):
            return False
        return mark in self.looks[at + 1 + len(self.looks[at + 1 :].rstrip(self._unnamed())) :]

    def _unnamed(self) -> str:
        return "".join({*self.looks} - {*NAMES})

    def closes(self, at: int, begin: int) -> bool:
        mark = self.looks[at]
        if mark not in PAIRED:
            return mark in CLOSING + NOTE
        return bool({*self.looks[:begin]} & {*(CLOSES_SINGLE if mark == "'" else mark)})

    def is_of_others(self, at: int, word: int, kind: str, other: str) -> bool:
        mark, step = self.looks[at], -1 if word < at else 1
        if kind == "note" and self.looks[at - 1 : at] == NOTE:
            return True
        is_paired = mark == other or mark + other == "`'"
        if (kind == "note" and self.is_name(word)) or (kind == "emphasis" and not is_paired):
            letters, k = 0, word
            while 0 <= k < len(self.looks) and self.looks[k] in LETTERS and letters < LEAST_NOTED:
                letters += self.sizes[k]
                k += step
            if letters < LEAST_NOTED:
                return True
        if at == word - step and (kind == "emphasis" or mark == "'"):
            return False
        return kind != "note" and mark * 2 in self.looks[max(0, at - 1) : at + 2]


def breaks_of(text: str, spans: Sequence[tuple[int, int]]) -> list[bool]:
    """Return of each atom whether a line ends behind it, but no paragraph need."""
    begins = [*(begin for begin, _ in spans), len(text)][1 : len(spans) + 1]
    return [
        bool({*"\n\r"} & {*text[end:begin]}) for (_, end), begin in zip(spans, begins, strict=True)
    ]


def kind_of(mark: str) -> str:
    if mark == NOTE:
        return "note"
    return "bracket" if mark in "([{}])" else "emphasis" if mark in EMPHASIS else "quote"


def look(word: str) -> str:
    first = seen(word)[0]
    if first in RAISED:
        return NOTE
    own = character_type(first)
    if own in CASELESS:
        return "c" if len(word) > 1 and word[0] != "&" else "h"
    return own if own in "aA" else "n" if own == "9" else first


def ordinals(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield full stops of numbers in digits, or Roman ones, before a small letter."""
    for at in range(1, len(words) - 1):
        if (look(words[at]), gaps[at - 1], gaps[at]) == (".", NOTHING, SPACE):
            is_number = character_type(seen(words[at - 1])[0]) == "9"
            if look(words[at + 1]) == "a" and (is_number or not words[at - 1].strip("IVXLC")):
                yield "ordinal", at, False


def commas(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield both sides of commas and semicolons between words."""
    looks = "".join(map(look, words))
    for at in range(1, len(words) - 1):
        is_within = gaps[at - 1] == gaps[at] == NOTHING and looks[at] in ",;"
        if is_within and looks[at - 1] in LETTERS and looks[at + 1] in LETTERS:
            yield "comma", at - 1, False
            yield "comma", at, False


def enclosed(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield the places beside brackets, quotes and the like that enclose words."""
    begin = 0
    for end, gap in enumerate(gaps, 1):
        if gap == NOTHING and end < len(gaps):
            continue
        if end - begin > 1:
            before = look(words[begin - 1]) if begin and gaps[begin - 1] == SPACE else ""
            behind = look(words[end]) if gap == SPACE and end < len(words) else ""
            for kind, at in _enclosed(before, Chunk(words[begin:end]), behind):
                yield kind, begin + at, False
        begin = end


def _enclosed(before: str, own: Chunk, behind: str) -> Iterator[tuple[str, int]]:
    looks, begin = own.looks, 0
    while begin + 1 < len(looks) and own.opens(begin):
        begin += 1
    end = begin + max(1, len(looks[begin:].rstrip(AT_END)))
    if own.is_name(begin):
        for at in range(begin):
            kind = kind_of(looks[at])
            if not own.is_of_others(at, begin, kind, looks[end - 1]):
                yield kind, at
    if begin and looks[begin] == "a" and before and before in f"{NAMES}h,":
        yield kind_of(looks[0]), -1
    last = end - 1
    while last > begin and own.closes(last, begin):
        last -= 1
    if not own.is_name(last) and looks[last] not in ".!?\u2026":
        return
    is_within = bool({*looks[begin:last]} & {*"([{"})
    for at in range(last + 1, end):
        kind = kind_of(looks[at])
        is_part = kind == "bracket" and is_within
        if is_part or own.is_of_others(at, last, kind, looks[begin - 1] if begin else ""):
            continue
        is_stop = kind == "quote" and at == last + 1 and looks[last] == "."
        yield ("stop" if is_stop else kind), at - 1
        if at + 1 == len(looks) and behind == "a":
            yield kind, at


def ends(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield what ends sentences in most languages, or ends none."""
    looks, begin = "".join(map(look, words)), 0
    for end, gap in enumerate(gaps, 1):
        if gap == NOTHING and end < len(gaps):
            continue
        own, begin = looks[begin:end], end
        open_end = own.rstrip(CLOSING + NOTE + PAIRED) or own[0]
        mark, at = open_end[-1], end
        if gap != SPACE or mark in f"{NAMES}h":
            continue
        has_dash = mark in FINAL and looks[at : at + 1] in DASHES
        has_dash = has_dash and gaps[at] == SPACE
        at += has_dash
        at += looks[at : at + 1] in tuple(OPENING + "_\u00a1\u00bf") and gaps[at] == NOTHING
        if at >= len(words):
            continue
        trails = mark == "\u2026" or (mark == "." and open_end[-2:] == "..")
        if looks[at] == "a":
            is_closed = open_end != own or has_dash
            is_host = words[at] == "www" and gaps[at] == NOTHING and words[at + 1][0] == "."
            if is_closed or words[at].startswith("http") or is_host:
                continue
            if trails:
                yield "trailing", end - 1, False
            elif mark not in FINAL + ",([{":
                yield "colon" if mark in ":;" else "symbol", end - 1, False
        elif mark in FINAL and looks[at] in "Ach":
            if open_end != own:
                yield "closed", end - 1, True
            elif mark in END_KINDS or trails:
                yield END_KINDS.get(mark, "ellipsis"), end - 1, True
            elif has_dash:
                yield "dash", end - 1, True


def items(
    words: Sequence[str], gaps: Sequence[str], breaks: Sequence[bool], ended: Collection[int] = ()
) -> Iterator[Mark]:
    """Yield what lines begin with: a mark and behind it a number, one letter, or a Roman number.

    breaks : whether a line ends behind each atom
    ended : the atoms that are known to end sentences, behind which a dash begins one
    """
    begin, before_item, goes_on = 0, True, False
    for end, gap in enumerate(gaps, 1):
        if gap == NOTHING and end < len(gaps):
            continue
        if before_item:
            looks = "".join(map(look, words[begin:end]))
            letters = "".join(
                word for word, own in zip(words[begin:end], looks, strict=True) if own in "aAch"
            )
            is_item = len(letters) < 2 or (len(letters) < 5 and not letters.strip("IVXLC"))
            is_item &= len(looks) == 1 or bool({*looks} & {*NAMES, "h"})
            digits = sum(len(word) for word in words[begin:end] if look(word) in ("n", NOTE))
            is_item &= not (goes_on and digits > 3 and not letters and looks[-1] == ".")
            is_inner = gap == SPACE and not breaks[end - 1] and end < len(gaps)
            if is_item and is_inner and not {looks[-1], look(words[end])} <= {"n", NOTE}:
                yield "item", end - 1, False
            before_item = is_item and not {*looks} & {*NAMES, "h"}
        is_open = {look(words[end - 1])[0]} <= {*NAMES, *CASELESS, ",", ";"}
        goes_on = is_open if breaks[end - 1] else goes_on and before_item
        before_item |= breaks[end - 1] or gap == PARAGRAPH
        before_item |= end - 1 in ended and end < len(words) and look(words[end]) in DASHES
        begin = end


def marks(words: Sequence[str], gaps: Sequence[str], breaks: Sequence[bool]) -> Iterator[Mark]:
    """Yield all of them."""
    yield from items(words, gaps, breaks)
    yield from ordinals(words, gaps)
    yield from commas(words, gaps)
    yield from enclosed(words, gaps)
    yield from ends(words, gaps)
