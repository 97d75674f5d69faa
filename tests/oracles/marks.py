"""Marks about words as their page tells it, in Python: the core must find the same."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterator, Sequence

from oracles.atoms import Atoms
from oracles.patterns import patterns
from perceptron_nlp.text.atoms import character_type
from perceptron_nlp.text.tagset import (
    ENTITY,
    NOT_SEEN,
    NOTHING,
    PARAGRAPH,
    SPACE,
    character_of,
    seen,
)

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
NOTE = "\u00b9"
DASHES = ("-", "\u2013", "\u2014")
LETTERS, DIGITS = "aAc", "n" + NOTE
NAMES = LETTERS + DIGITS
CASELESS, EAST_ASIAN = "chkzs", "hkz"
AT_END = ".,;:!?\u2026"
WIDE = "\u3002\uff01\uff1f"
WIDE_OPENING = "\u3008\u300a\u300c\u300e\u3010\u2018\u201c\uff08(["
WIDE_CLOSING = "\u3009\u300b\u300d\u300f\u3011\u2019\u201d\uff09)]'"
FINAL = ".!?\u2026\u0589\u061f\u0964\u06d4" + WIDE
PICTURE = re.compile("[\u2190-\u21ff\u2300-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff]")
OPERATOR = re.compile(r"(?=.{1,4}$)(?![<>]{2,}$)-*[<>=+|\u2190-\u22ff][-<>=+|\u2190-\u22ff]*")
UNITS = "%$\u00a3\u00b0\u20ac"
ADDED = ("url", "email", "host", "tag", "emoji", "emoticon")
"""Kinds of patterns that may stand behind the end of a sentence."""
END_KINDS = {"!": "exclamation", "?": "question", "\u061f": "question", "\u2026": "ellipsis"}
LEAST_NOTED = 4
MOST_ORDINAL_DIGITS = 2
CASELESS_END = 6


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

    def is_word(self, at: int) -> bool:
        return 0 <= at < len(self.looks) and self.looks[at] in LETTERS

    def joins(self, mark: int, name: int) -> bool:
        """Does a mark join names, as in os.path.Join or `os.Path`?"""
        own = self.looks[mark] if 0 <= mark < len(self.looks) else " "
        return own in "`(" or (own in "./_@=" and self.is_name(name))

    def noted(self, at: int) -> int:
        """Return how many atoms of a note end there: [12] or a raised number."""
        looks = self.looks
        if at < 2 or at >= len(looks) or looks[at] != "]" or looks[at - 2] != "[":
            return int(looks[at : at + 1] == NOTE) if at >= 0 else 0
        is_letter = looks[at - 1] in LETTERS and self.sizes[at - 1] == 1
        return 3 if looks[at - 1] in "n" + NOTE or is_letter else 0

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


def unspaced(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield ends of sentences, and the words before them, behind which a space is missing."""
    for begin, _, own, _ in _chunks(words, gaps):
        for found in re.finditer("[.!?]+", own.looks):
            at, behind = found.end() - 1, found.end()
            word = len(own.looks[: found.start()].rstrip(")]}\"'")) - 1
            if word < 0 or behind == len(own.looks) or found[0].endswith(".."):
                continue
            last, first = words[begin + word], words[begin + behind]
            if character_type(seen(last)[0]) in EAST_ASIAN:
                is_end = character_type(seen(first)[0]) in EAST_ASIAN
            else:
                is_number = own.looks[word] in DIGITS
                start = len(own.looks[: word + 1].rstrip(DIGITS if is_number else LETTERS))
                stop = len(own.looks) - len(own.looks[behind:].lstrip(LETTERS))
                has_more = stop > behind + 1 or _n_seen([first]) > 1
                letter = seen(words[begin + stop - 1])[-1]
                is_word = own.looks[stop : stop + 1] in ("", "'") and not is_number
                is_word = character_type(letter) != "A" if has_more else is_word
                is_behind = own.looks[behind] == "c" and own.looks[stop : stop + 1] != "."
                is_end = is_word if own.looks[behind] == "A" else is_behind
                is_caseless = own.looks[word] == "c" and _n_bytes(last) >= CASELESS_END
                shortest = LEAST_NOTED - (own.looks[start : start + 1] == "a")
                is_end &= is_caseless or (
                    _n_seen(words[begin + start : begin + word + 1]) >= shortest
                )
                is_end &= not own.is_name(start - 1) and not re.search(
                    "(?s:.)[A-Z]", _written([first])
                )
                is_end &= not any(
                    re.search("[^\0-`][A-Z]", _written([own_word]))
                    for own_word in words[begin + start : begin + word + 1]
                )
                is_end &= not own.joins(start - 1, start - 2) and not own.joins(stop, stop + 1)
            if is_end:
                yield "unspaced", begin + at, True
                if own.looks[at - 1] not in ".!?":
                    yield "unspaced", begin + at - 1, False


def _n_bytes(word: str) -> int:
    return len(word.encode("utf-8", "surrogatepass"))


def _n_seen(words: Sequence[str]) -> int:
    """Return how many characters of words are seen, entities as one."""
    return sum(character not in NOT_SEEN for character in _written(words))


def _written(words: Sequence[str]) -> str:
    return ENTITY.sub(character_of, "".join(words))


def _chunks(words: Sequence[str], gaps: Sequence[str]) -> Iterator[tuple[int, str, Chunk, str]]:
    """Yield chunks of atoms: where each begins, what stands before it, itself, what is behind."""
    begin = 0
    for end, gap in enumerate(gaps, 1):
        if gap == NOTHING and end < len(gaps):
            continue
        if end - begin > 1:
            before = look(words[begin - 1]) if begin and gaps[begin - 1] == SPACE else ""
            behind = look(words[end]) if gap == SPACE and end < len(words) else ""
            yield begin, before, Chunk(words[begin:end]), behind
        begin = end


def _n_opening(own: Chunk) -> int:
    begin = 0
    while begin + 1 < len(own.looks) and own.opens(begin):
        begin += 1
    return begin


def opened(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield places before marks that open within a sentence."""
    for begin, before, own, _ in _chunks(words, gaps):
        n_opening = _n_opening(own)
        if n_opening and before:
            kind = kind_of(own.looks[0])
            is_emphasis = kind == "emphasis" and own.is_name(n_opening) and before in LETTERS + "h"
            if is_emphasis or (own.looks[n_opening] == "a" and before in f"{NAMES}h,"):
                yield kind, begin - 1, False


def enclosed(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield the places beside brackets, quotes and the like that enclose words."""
    for start, _, own, behind in _chunks(words, gaps):
        begin, looks = _n_opening(own), own.looks
        end = begin + max(1, len(looks[begin:].rstrip(AT_END)))
        if own.is_name(begin):
            for at in range(begin):
                kind = kind_of(looks[at])
                if not own.is_of_others(at, begin, kind, looks[end - 1]):
                    yield kind, start + at, False
        for kind, at in _closing(own, begin, end, behind):
            yield kind, start + at, False


def _closing(own: Chunk, begin: int, end: int, behind: str) -> Iterator[tuple[str, int]]:
    looks, last = own.looks, end - 1
    opening = looks[begin - 1] if begin else ""
    while last > begin:
        size = own.noted(last)
        size = size if last - size >= begin else 0
        if not size and not own.closes(last, begin):
            break
        last -= size or 1
    has_word = own.is_name(last)
    if last == end - 1 or not (has_word or looks[last] in ".!?\u2026"):
        return
    is_noted = own.noted(last + 1) == 1 or own.noted(last + 3) > 1
    is_cut = own.is_word(last - 1) and own.sizes[last - 1] > 1
    if looks[last] == "." and behind != "a" and is_cut and is_noted:
        yield "note", last - 1
    is_within = bool({*looks[begin:last]} & {*"([{"})
    at = last
    while at + 1 < end:
        at += 1
        is_listed = own.noted(at + 2) > 1
        kind = "note" if is_listed else kind_of(looks[at])
        is_other = own.is_of_others(at, last, kind, "" if is_listed else opening)
        if is_listed:
            if not is_other:
                yield from ((kind, place) for place in range(at - 1, at + 2))
            at += 2
        elif is_other or (kind == "bracket" and is_within):
            if kind != "emphasis" or looks[at] != opening:
                continue
        else:
            is_stop = kind == "quote" and at == last + 1 and looks[last] == "."
            yield ("stop" if is_stop else kind), at - 1
        is_paired = kind == "emphasis" and looks[at : at + 1] == opening
        is_beside = has_word and (is_paired or kind == "note")
        if at + 1 == len(looks) and behind and (is_beside or behind == "a"):
            yield kind, at


def wide(words: Sequence[str], gaps: Sequence[str]) -> Iterator[Mark]:
    """Yield ends of sentences in scripts without spaces, and the tokens before them."""
    begin = 0
    for end, gap in enumerate(gaps, 1):
        if gap != NOTHING or end == len(gaps):
            if end - begin > 2:
                for kind, at, is_end in _wide(Chunk(words[begin:end])):
                    yield kind, begin + at, is_end
            begin = end


def _wide(own: Chunk) -> Iterator[Mark]:
    looks, mark = own.looks, -1
    while mark + 2 < len(looks):
        mark += 1
        if looks[mark] not in WIDE:
            continue
        at, has_closed = mark + 1, False
        while at < len(looks):
            is_listed = at + 2 < len(looks) and own.noted(at + 2) > 1
            closes = looks[at] in WIDE_CLOSING
            has_closed |= closes
            if not (closes or is_listed or looks[at] == NOTE or PICTURE.match(looks[at])):
                break
            at += 3 if is_listed else 1
        if at == mark + 1 or at >= len(looks):
            continue
        if looks[at] in WIDE_OPENING or (not has_closed and own.is_name(at)):
            kind = "closed" if has_closed else "note"
            yield from ((kind, place, False) for place in range(mark, at - 1))
            yield kind, at - 1, True
            mark = at - 1


def leads(mark: str, gap: str) -> bool:
    """Is a mark that begins a line none of its text?"""
    return mark in ">/" or (mark in "#%;" and gap == SPACE)


def ends(words: Sequence[str], gaps: Sequence[str], breaks: Sequence[bool]) -> Iterator[Mark]:
    """Yield what ends sentences in most languages, or ends none."""
    looks, begin, follows = "".join(map(look, words)), 0, False
    for end, gap in enumerate(gaps, 1):
        if gap == NOTHING and end < len(gaps):
            continue
        own, whole = Chunk(words[begin:end]), words[begin:end]
        limit, start = min(end + 3, len(words)), end
        while breaks[end - 1] and start < limit and leads(looks[start], gaps[start]):
            start += 1
        if gap == SPACE:
            kind, is_end = _final(own, looks, words, gaps, (start, limit, start > end))
        else:
            kind, is_end = "", False
        first = _first_behind(looks, gaps, end, limit)
        may_begin = first is not None and looks[first] in "Ach"
        if not kind and gap == SPACE and follows and may_begin and _is_addition(whole):
            kind, is_end = "note", True
        if kind:
            yield kind, end - 1, is_end
        if kind == "year":
            yield kind, end - 2, False
        is_inner = gap == SPACE and end < len(words) and not breaks[end - 1]
        is_operator = not follows and OPERATOR.fullmatch(own.looks)
        if is_inner and (is_operator or own.looks[-1] in UNITS):
            yield "operator", end - 1, False
        rest = own.looks
        while rest and (rest[-1] in CLOSING + PAIRED or PICTURE.match(rest[-1])):
            rest = rest[:-1]
        is_tagged = own.looks[0] == "#" or bool(PICTURE.match(own.looks[0]))
        follows = gap != PARAGRAPH and (rest[-1:] in [*FINAL] or (follows and is_tagged))
        if follows and gap == SPACE and not breaks[end - 1] and PICTURE.match(looks[end]):
            is_over = end + 1 == len(words) or gaps[end] == PARAGRAPH
            if gaps[end] == SPACE and end + 1 < len(words):
                second = _first_behind(looks, gaps, end + 1, limit)
                is_over = second is not None and looks[second] in "Ach"
                is_over |= PICTURE.match(looks[end + 1]) is not None
            if is_over:
                yield "emoji", end - 1, False
        begin = end


def _is_addition(words: Sequence[str]) -> bool:
    """Are atoms with nothing between pictures, or patterns that may stand behind an end?"""
    begins = [sum(map(len, words[:at])) for at in range(len(words) + 1)]
    atoms = Atoms([*itertools.pairwise(begins)], [NOTHING] * (len(words) - 1) + [SPACE])
    found = {begin: (kind, end) for kind, begin, end in patterns("".join(words), atoms)}
    at = 0
    while at < len(words):
        kind, end = found.get(at, ("", at + 1))
        if kind not in ADDED and not PICTURE.match(look(words[at])):
            return False
        at = end
    return True


def _first_behind(looks: str, gaps: Sequence[str], at: int, limit: int) -> int | None:
    """Return what stands behind a space, but for marks that open."""
    for place in range(at, limit):
        is_apart = looks[place] == "\u00ab" and gaps[place] == SPACE
        is_opening = looks[place] in OPENING + "_\u00a1\u00bf"
        if not is_opening or (gaps[place] != NOTHING and not is_apart):
            return place
    return None


def _final(
    own: Chunk, looks: str, words: Sequence[str], gaps: Sequence[str], behind: tuple[int, int, bool]
) -> tuple[str, bool]:
    end, limit, is_led = behind
    last, closed = len(own.looks) - 1, ""
    while last > 0:
        size = 1 if PICTURE.match(own.looks[last]) else own.noted(last)
        if not size and own.looks[last] in CLOSING + PAIRED:
            closed, size = closed + own.looks[last], 1
        if not size:
            break
        last -= size
    if last < 0 or own.looks[last] in f"{NAMES}h":
        return "", False
    mark = own.looks[last]
    has_dash = mark in FINAL and end < limit and looks[end] in DASHES and gaps[end] == SPACE
    first = _first_behind(looks, gaps, end + has_dash, limit)
    if first is None:
        return "", False
    is_bare = last == len(own.looks) - 1
    trails = mark == "\u2026" or (mark == "." and own.looks[last - 1 : last] == ".")
    if looks[first] == "a":
        is_host = words[first] == "www" and gaps[first] == NOTHING and words[first + 1][0] == "."
        if not is_bare or has_dash or words[first].startswith("http") or is_host:
            return "", False
        if trails:
            return "trailing", False
        is_short = own.is_word(last - 1) and own.sizes[last - 1] < LEAST_NOTED
        if mark == "." and is_short and not own.is_name(last - 2):
            return "short", False
        is_no_end = mark not in FINAL + ",([{"
        return ("colon" if mark in ":;" else "symbol") if is_no_end else "", False
    if mark not in FINAL or looks[first] not in "Achn" + NOTE:
        return "", False
    if not is_bare and not closed:
        return "note", True
    if looks[first] in "n" + NOTE:
        return "", False
    if closed:
        is_bracketed = bool({*closed} & {*")]}"})
        return "" if trails else "bracketed" if is_bracketed else "closed", True
    if mark in END_KINDS or trails:
        return END_KINDS.get(mark, "ellipsis"), True
    if has_dash:
        return "dash", True
    is_number = (
        own.looks[last - 1 : last] in ("n", NOTE) and own.sizes[last - 1] > MOST_ORDINAL_DIGITS
    )
    if is_number and not own.is_name(last - 2):
        return "year", True
    is_closed = last > 0 and own.looks[last - 1] in CLOSING + "_"
    is_long = is_closed or (own.is_word(last - 1) and own.sizes[last - 1] >= LEAST_NOTED)
    kind = "note" if is_led else "emphasis" if looks[end] in EMPHASIS else ""
    return kind if is_long else "", True


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
            are_leads = {*looks} <= {*"#>/%;"}
            is_item &= len(looks) == 1 or are_leads or bool({*looks} & {*NAMES, "h"})
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
    yield from unspaced(words, gaps)
    yield from opened(words, gaps)
    yield from enclosed(words, gaps)
    yield from wide(words, gaps)
    yield from (mark for mark in ends(words, gaps, breaks) if mark[0] != "emoji")
