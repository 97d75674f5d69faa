"""Split scripts: labels that make several words of one token, such as *de le* of French *du*.

``c3,2`` cuts the last 3 and then 2 characters off (the words are the token in pieces); ``r1|e|le``
drops the last character, adds *e* to what is left, and puts *le* behind as a word of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.text.scripts import LONGEST_PIECE, MOST_DROPPED, escape, unescape

WHOLE = "_"
"""The label of a token that is one word."""
MOST_WORDS = 16
_CUT = re.compile(r"c([0-9]{1,3}(?:,[0-9]{1,3})*)")
_REWRITE = re.compile(r"r([0-9]{1,3})\|([^|]*)((?:\|[^|]+)+)")


def make_split(token: str, words: Sequence[str]) -> str:
    """Return the script that makes these words of a token; WHOLE for the token itself.

    Raises
    ------
    FormatError : more words, or longer ones, than a script can make
    """
    if len(words) == 1 and words[0] == token:
        return WHOLE
    if len(words) > MOST_WORDS or max(map(len, (token, *words))) > LONGEST_PIECE:
        raise FormatError(
            f"token {quote(token)} of {len(words)} words is more than a script can make:"
            f" {MOST_WORDS} words of {LONGEST_PIECE} characters"
        )
    if "".join(words) == token:
        return "c" + ",".join(str(len(word)) for word in words[1:])
    first = words[0]
    same = 0
    while same < min(len(token), len(first)) and token[same] == first[same]:
        same += 1
    pieces = [f"r{len(token) - same}", _escaped(first[same:]), *map(_escaped, words[1:])]
    return "|".join(pieces)


def split(label: str, token: str) -> tuple[str, ...] | None:
    """Return the words that a script makes of a token; None if it does not apply to it.

    Raises
    ------
    FormatError : the label is no split script
    """
    if label == WHOLE:
        return (token,)
    cut = _CUT.fullmatch(label)
    if cut is not None:
        lengths = [int(number) for number in cut.group(1).split(",")]
        if 0 in lengths or len(lengths) >= MOST_WORDS:
            raise FormatError(f"{quote(label)} is no split script")
        begin = len(token) - sum(lengths)
        if begin < 1:
            return None
        words = [token[:begin]]
        for length in lengths:
            words.append(token[begin : begin + length])
            begin += length
        return tuple(words)
    rewrite = _REWRITE.fullmatch(label)
    if rewrite is None or int(rewrite.group(1)) > MOST_DROPPED:
        raise FormatError(f"{quote(label)} is no split script")
    rest = [unescape(word) for word in rewrite.group(3)[1:].split("|")]
    added, dropped = unescape(rewrite.group(2)), int(rewrite.group(1))
    if len(rest) >= MOST_WORDS or max(map(len, (added, *rest))) > LONGEST_PIECE:
        raise FormatError(f"{quote(label)} is no split script")
    if dropped > len(token) or not (first := token[: len(token) - dropped] + added):
        return None
    return (first, *rest)


def _escaped(text: str) -> str:
    return escape(text).replace("|", "%7c;")
