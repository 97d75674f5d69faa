"""Running text cut into tokens by rules: general ones for any script, and those of English.

Tokens are the words of Universal Dependencies: ``don't`` is *do* and *n't*. Every character but
white space is in exactly one token, as it stands. White space always separates tokens; what stands
between white space is a chunk, which is cut by itself.

Words are known by what they are not: neither white space nor punctuation, symbols or controls.
Python's ``\\w`` would cut words at combining marks, such as the vowels of Devanagari.

The time is proportional to the length of the text: expressions that may fail after they read on
have limits on how far they read, the others give nothing back.
"""

from __future__ import annotations

import functools
import re
from itertools import pairwise
from typing import NamedTuple

# Punctuation, symbols and controls; the two joiners (U+200C, U+200D) and the soft hyphen belong to
# words.
_NOT_WORD = (
    r"\s!-/:-@\[-`{-~\x00-\x1f\x7f-\xa9\xab\xac\xae-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7\u037e\u0387"
    r"\u055a-\u055f\u0589\u058a\u05be\u05c0\u05c3\u05c6\u05f3\u05f4\u0609-\u060d\u061b-\u061f"
    r"\u066a-\u066d\u06d4\u0700-\u070d\u0964\u0965\u0970\u0e4f\u0e5a\u0e5b\u104a-\u104f\u10fb"
    r"\u1360-\u1368\u166d\u166e\u17d4-\u17db\u1800-\u180a\u2000-\u200b\u200e-\u206f\u20a0-\u20cf"
    r"\u2100-\u214f\u2190-\u2bff\u2e00-\u2e7f\u3000-\u3004\u3008-\u3020\u3030\u303d\u30fb\ud800-\udfff"
    r"\ufe10-\ufe19\ufe30-\ufe6f\ufeff\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    r"\uffe0-\uffee\ufff0-\uffff\U0001d000-\U0001d24f\U0001f000-\U0001faff"
)
# A character of words, a digit included.
WORD = f"[^{_NOT_WORD}]"
APOSTROPHE = "['’`´]"
# A picture with what may follow it: skin tones, variants, tags, joined pictures. Two letters of
# flags are one flag.
PICTURE = (
    r"[\U0001f1e6-\U0001f1ff]{2}|[\u2600-\u27bf\U0001f000-\U0001faff]"
    r"(?:[\ufe0f\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]"
    r"|\u200d[\u2600-\u27bf\U0001f000-\U0001faff])*+"
)
# What ends a sentence, in scripts that have their own full stop too.
FULL_STOPS = frozenset(".!?…‽։؟۔।॥።។。！？｡．")


def entries(text: str) -> frozenset[str]:
    """Return what stands in a text between white space, for tables."""
    return frozenset(text.split())


# A full stop after these belongs to them. The first group hardly ever ends a sentence.
TITLES = entries("""
    mr mrs ms dr prof rev hon gen col lt sgt capt maj cpl cmdr gov sen rep reps pres supt fr sr st
    ft mt messrs mme mlle vs no nos vol fig figs sec ch pp p.o e.g i.e eg ie cf viz approx est attn
    spec conf arrv ext ph p.s ps
""")
OTHER_ABBREVIATIONS = entries("""
    inc ltd co corp bros llc plc dept univ assn etc al jr esq ave blvd rd hwy
    jan feb mar apr jun jul aug sept sep oct nov dec mon tue tues wed thu thur thurs fri sat sun
    a.m p.m a.k.a ph.d m.d d.c o.k hr hrs yr yrs lb lbs oz tel fax mob ass't gov't drs sts pvt
    calif fla mass mich minn penn tenn tex va wash wis ill ariz colo conn ont que
""")
ABBREVIATIONS = TITLES | OTHER_ABBREVIATIONS
# Those that are words too, and so are abbreviations with a capital letter alone.
CAPITALIZED = entries("""
    no sat sun mar mon wed est co gen col hon rep sec ch fig fr mass wash ill tenn conn pres al ph
    ave rev mt fax ext wis tex fri dec jun jan la
""") - {"al", "no"}
# Before a number alone.
BEFORE_NUMBERS = entries("no nos pp p vol fig figs sec ch")

# Words written as one, and the length of the first part of each.
CONTRACTIONS = {
    **dict.fromkeys(entries("cannot gonna gotta"), 3),
    **{
        word: len(word) - 2
        for word in entries("""
        dont wont cant didnt doesnt isnt couldnt wouldnt shouldnt havent hasnt hadnt wasnt werent
        arent aint ive youve weve theyve youre theyre wanna youll theyll""")
    },
    **{word: len(word) - 1 for word in entries("im thats theres whats hes shes heres")},
}
CLITICS = entries("s re ve ll d m")
# With an apostrophe before them.
CLIPPED = entries("em til tis twas cause n bout cuz round")

# These keep their hyphen.
PREFIXES = entries("""
    non pre post anti pro co ex multi re semi mid un sub inter intra e micro macro mini neo ultra
    counter bi tri vice over under super hyper pseudo quasi trans de dis mis out psycho eco bio
    extra infra meta mega out proto socio techno tele x
""")
UNITS = (
    r"am|pm|AM|PM|a\.m|p\.m|[ck]?m²?|mm|km|kg|mg|ml|lbs?|oz|ft|sq|k|K|hrs?|mins?|mph|mpg|gb|"
    r"mb|GB|MB|KB|kb|Hz|MHz|GHz|mW|kW|MW|kWh|MWh|yrs?|yo"
)
SUFFIXES_OF_FILES = (
    "com|org|net|edu|gov|mil|int|info|biz|co|uk|ca|au|de|fr|ru|jp|us|tv|io|eu|"
    "doc|docx|xls|xlsx|ppt|pdf|txt|jpe?g|gif|png|html?|php|asp|aspx|exe|zip|mp3|csv|rtf|wav|avi|"
    "url|xml|json|py|js"
)
# Words that stand behind an abbreviation mostly where a sentence begins.
STARTERS = entries("""
    The A An This That These Those He She It We They You I In On At For From With But And So If As
    When While After Before Since What Why How Who Where There Here Please Thanks Thank My Our His
    Her Their Its Your Not No Yes All Some Any Do Does Did Is Are Was Were Can Could Will Would Then
    However Also Let Just Now To By Because Although Though Once One Both Each Many Most
""")


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
    """Return the expressions, made when needed: most programs tag without, and start faster."""
    flags = re.VERBOSE | re.DOTALL
    return _Rules(
        re.compile(_ADDRESSES, flags),
        re.compile(_TOKENS, flags),
        re.compile(f"{WORD}++(?:(?:{APOSTROPHE}|_++){WORD}++)*+"),
    )


def chunk_tokens(text: str, start: int, end: int) -> list[Span]:
    """Return begin and end of the tokens of a chunk, a part of the text without white space."""
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
    """Return the end of an address without punctuation, but for a bracket that it opened."""
    brackets = "(" in text[start:end]
    while end > start + 1 and text[end - 1] in _TRAILING:
        if text[end - 1] == ")" and brackets:
            break
        end -= 1
    return end


def _word_end(text: str, start: int, end: int, limit: int) -> int:
    """Return the end of a word, with the word of its prefix, the full stop that it has."""
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
    if word not in ABBREVIATIONS or (word in CAPITALIZED and not text[start].isupper()):
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
