"""Running text cut into tokens by rules: general ones, and those of English.

Tokens are the words of Universal Dependencies: ``don't`` is *do* and *n't*. Every character but
white space is in exactly one token, as it stands. White space always parts tokens; what stands
between white space is a chunk, which is cut by itself.

The time is proportional to the length of the text: expressions that may fail after they read on
have limits on how far they read, the others give nothing back.
"""

from __future__ import annotations

import functools
import re
from itertools import pairwise
from typing import NamedTuple

from perceptron_nlp.text.characters import APOSTROPHE, PICTURE, WORD
from perceptron_nlp.text.english import (
    ABBREVIATIONS,
    BEFORE_NUMBERS,
    CAPITALISED,
    CLIPPED,
    CLITICS,
    CONTRACTIONS,
    PREFIXES,
    SUFFIXES_OF_FILES,
    UNITS,
)

# A chunk that is longer is cut here, so that what is held stays small.
LONGEST_CHUNK = 10_000
# So many characters behind a chunk, in its line, may tell how it is cut.
LOOKS_AHEAD = 4
CHUNK = re.compile(rf"\S{{1,{LONGEST_CHUNK}}}")

_END = f"(?!{WORD})"
# Marks over letters are no \w.
_LETTER = rf"(?:{WORD}|_)"
_NAME = rf"(?:{WORD}|[_-]){{1,63}}+"
_ADDRESSES = rf"""
    (?P<address> (?:https?://|ftp://|www\.) [^\s<>"“”]++
        | (?:mailto:)? [\w.+%-]{{0,64}} @ {_NAME} (?:\.{_NAME}){{0,8}}
        | {_NAME} (?:\.{_NAME}){{0,8}} \.(?i:{SUFFIXES_OF_FILES}) {_END} (?:/[^\s<>"“”]*+)? )
"""
_TOKENS = rf"""
    (?P<whole> (?: \d{{1,4}}(?P<by>[/.-])\d{{1,2}}(?P=by)\d{{2,4}}
            | (?:\d{{1,2}}-)?\d{{3}}-\d{{3}}-\d{{4}} | \d-\d{{4}}
            | [A-Z]{{1,4}}&[A-Z]{{1,3}} | [a-z]&[a-z] | [bcw]/[co]
            | {APOSTROPHE}(?: \d\ds? | (?i:{"|".join(sorted(CLITICS | CLIPPED))}) )
            | \d{{2,4}}{APOSTROPHE}s | \.(?:{SUFFIXES_OF_FILES}) ) {_END}
        | \d{{3}}-\d{{4}} (?![\w-]) | (?:1[0-2]|0?[1-9])/(?:[12]\d|3[01]|0[1-9]) (?![\w/])
        | (?:[A-Za-z]\.){{2,9}}+ (?:[A-Za-z](?!\w))?+
        | [A-Z]{{1,2}}\$ | [wW]/(?!\w\w) | \#[A-Za-z]{_LETTER}++ | \+\d++ )
  | (?P<amount> \d++(?:[.,:]\d++)*+ (?= (?:{UNITS}) {_END} ) )
  | (?P<number> \d++(?:[.,:]\d++)*+ (?:{WORD}++)?+ )
  | (?P<smile> <3++(?!\w) | [<>]?[:;=][-o^']?(?:[)(\]\[|\\@*$]++|[DPpO/])(?![\w/]) | \^[_.]?\^
        | \(:(?!\w) | [xX]D(?!\w) )
  | (?P<word> {WORD}++(?:(?:{APOSTROPHE}|_++){WORD}++)*+ )
  | (?P<picture> {PICTURE} )
  | (?P<run> [.?!…]{{2,}}+ | (?P<same>\S)(?P=same)++ )
  | (?P<single> . )
"""
_HINT_OF_ADDRESS = re.compile(r"@|://|\.(?=\w)")
_TRAILING = ".,;:!?'\"’”)]}>…*"
_DRAWING = re.compile(r"(?=.*?[-=*_~+#]{3})(?:[^\w\s]|_){4,}+", re.DOTALL)
_MAGNITUDE = re.compile(r"\d(?=(?:[mMkKbB]|bn|mn)\Z)")
_CURRENCIES = frozenset("$€£¥")

Span = tuple[int, int]


class _Rules(NamedTuple):
    address: re.Pattern[str]
    token: re.Pattern[str]
    word: re.Pattern[str]


@functools.cache
def _rules() -> _Rules:
    """The expressions, made when they are needed: most programs tag without, and start faster."""
    flags = re.VERBOSE | re.DOTALL
    return _Rules(
        re.compile(_ADDRESSES, flags),
        re.compile(_TOKENS, flags),
        re.compile(f"{WORD}++(?:(?:{APOSTROPHE}|_++){WORD}++)*+"),
    )


def chunk_tokens(text: str, start: int, end: int) -> list[Span]:
    """Where the tokens of a chunk, a part of the text without white space, begin and end."""
    chunk = text[start:end]
    if chunk.isalpha():
        cut = CONTRACTIONS.get(chunk.lower()) if len(chunk) < 9 else None
        if cut is None:
            return [(start, end)]
        return [(start, start + cut), (start + cut, end)]
    if _DRAWING.fullmatch(chunk):
        return [(start, end)]
    rules = _rules()
    addresses = _HINT_OF_ADDRESS.search(chunk) is not None
    found: list[Span] = []
    at = start
    while at < end:
        match = rules.address.match(text, at, end) if addresses else None
        match = match or rules.token.match(text, at, end)
        kind = match.lastgroup if match is not None else None
        stop = match.end() if match is not None else at + 1
        if kind == "word":
            stop = _word_end(text, at, stop, end)
            _add_word(text, at, stop, found)
        elif kind == "address":
            stop = _address_end(text, at, stop)
            found.append((at, stop))
        elif kind == "number" and at > start and text[at - 1] in _CURRENCIES:
            magnitude = _MAGNITUDE.search(text, at, stop)
            stop = magnitude.end() if magnitude is not None else stop
            found.append((at, stop))
        else:
            found.append((at, stop))
        at = stop
    return found


def _address_end(text: str, start: int, end: int) -> int:
    """Punctuation at the end of an address is not its own, but for a bracket that it opened."""
    brackets = "(" in text[start:end]
    while end > start + 1 and text[end - 1] in _TRAILING:
        if text[end - 1] == ")" and brackets:
            break
        end -= 1
    return end


def _word_end(text: str, start: int, end: int, limit: int) -> int:
    """A word's end, with what belongs to it: a prefix's word, an abbreviation's full stop."""
    after = text[end : end + 1]
    if after == "-" and end + 1 < limit and text[start:end].lower() in PREFIXES:
        match = _rules().word.match(text, end + 1, limit)
        if match is not None:
            return match.end()
    while after == "." and end + 1 < limit and (text[end + 1].islower() or text[end + 1].isdigit()):
        match = _rules().word.match(text, end + 1, limit)
        if match is None:
            break
        end = match.end()
        after = text[end : end + 1]
    # Two full stops are that of an abbreviation and that of the sentence; three are dots.
    if (
        after == "."
        and end < limit
        and text[end : end + 3] != "..."
        and _abbreviates(text, start, end)
    ):
        return end + 1
    return end


_NUMBER_AHEAD = re.compile(r"\.[ \t]{0,2}#?\d")


def _abbreviates(text: str, start: int, end: int) -> bool:
    if end - start > 8:
        return False
    if end - start == 1:
        return text[start].isupper() and text[start] != "I"
    word = text[start:end].lower()
    if word not in ABBREVIATIONS or (word in CAPITALISED and not text[start].isupper()):
        return False
    return word not in BEFORE_NUMBERS or _NUMBER_AHEAD.match(text, end) is not None


def _add_word(text: str, start: int, end: int, found: list[Span]) -> None:
    """Add a word, its clitics as tokens of their own."""
    cuts: list[int] = []
    last = end
    while True:
        tail = text[max(start, last - 3) : last].lower()
        mark = max(tail.rfind(mark) for mark in "'’`´")
        if mark < 0:
            break
        if tail[mark + 1 :] == "t" and mark == 1 and tail[0] == "n":
            cut = last - 3
        elif tail[mark + 1 :] in CLITICS:
            cut = last - len(tail) + mark
        else:
            break
        if cut <= start:
            break
        cuts.append(cut)
        last = cut
    if not cuts:
        cut = CONTRACTIONS.get(text[start:end].lower(), 0) if end - start < 9 else 0
        cuts = [start + cut] if cut else []
    found += pairwise([start, *reversed(cuts), end])
