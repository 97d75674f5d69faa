"""The named things that a template can look at, and the grammar of one atom.

::

    atom    =  "tag[" -k "]"                    the label given k words ago (k = 1, 2, 3, 4)
            |  "first" | "last"                 is this the first, the last word of the sentence
            |  "bias"                           always the same
            |  [ "column:" NAME "." ] view [ "." affix ] [ "[" offset "]" ]
            |  "column:" NAME [ "[" offset "]" ]        a column of the input as it stands

    view    =  word        as written
            |  lower       lower-cased, code point by code point
            |  norm        lower-cased; numbers and hyphenated words become classes
            |  shape       X upper case, x letter, d digit, others as they are; runs collapsed
            |  shape4      the same with runs cut at four
            |  folded      lower-cased, Latin letters without marks; a e, i u, b p, d t, g k as one
            |  flags       case, digit, hyphen and other marks of the word in one value
            |  capital | allcaps | hasdigit | hashyphen     one mark: 1 or 0

    affix   =  prefixK | suffixK                the first, the last K code points (K = 1 … 16)
            |  ngramsA-B                        all n-grams of A to B code points, edges marked
            |  pieces                           what stands between the bars of the value: a|b

An offset counts words from the one being tagged: ``[0]`` (or nothing) is the word itself,
``[-1]`` the one before it in the text, ``[1]`` or ``[+1]`` the one after. Beyond the ends of the
sentence each distance has a pad of its own. ``tag[-1]`` is the label given one step ago, in
whatever direction the tagger reads, since training may choose it. What people are shown has all
offsets in the order of the text: the same is ``tag[+1]`` where a tagger reads right to left.
"""

from __future__ import annotations

import re

from perceptron_nlp.errors import TemplateError, quote
from perceptron_nlp.records import record

VIEWS = (
    "word",
    "lower",
    "norm",
    "shape",
    "shape4",
    "folded",
    "flags",
    "capital",
    "allcaps",
    "hasdigit",
    "hashyphen",
)
AFFIXES = ("none", "prefix", "suffix", "ngrams", "pieces")
# These give a word any number of features instead of one.
MANY = ("ngrams", "pieces")
MAX_OFFSET = 8
MAX_HISTORY = 4
MAX_AFFIX = 16

_ATOM = re.compile(r"(?P<name>[^\[\]\s]+?)(?:\[(?P<offset>[+-]?\d{1,9})\])?")
_AFFIX = re.compile(
    r"(?P<kind>prefix|suffix)(?P<k>\d{1,9})|ngrams(?P<low>\d{1,9})-(?P<high>\d{1,9})|(?P<pieces>pieces)"
)


@record()
class Value:
    """Something to see of a single word: a view of a column, perhaps an affix of it.

    Attributes
    ----------
    column : the column looked at; ``"form"`` is the words themselves
    view, affix : names out of VIEWS and AFFIXES
    low, high : the affix's length, or the n-grams' shortest and longest; 0 without affix
    """

    column: str
    view: str
    affix: str = "none"
    low: int = 0
    high: int = 0

    def __str__(self) -> str:
        text = self.view
        if self.column != "form":
            plain = self.view == "word" and self.affix == "none"
            text = f"column:{self.column}" + ("" if plain else f".{self.view}")
        if self.affix == "ngrams":
            return f"{text}.ngrams{self.low}-{self.high}"
        if self.affix in ("none", "pieces"):
            return text if self.affix == "none" else f"{text}.pieces"
        return f"{text}.{self.affix}{self.low}"


@record()
class Atom:
    """One part of a template: a value at an offset, a past label, or a mark of position.

    Attributes
    ----------
    kind : ``"value"``, ``"tag"``, ``"first"``, ``"last"`` or ``"bias"``
    offset : words from the one being tagged; for a tag the steps back (negative)
    value : what is looked at, where kind is ``"value"``
    """

    kind: str
    offset: int = 0
    value: Value | None = None

    def __str__(self) -> str:
        if self.kind == "value":
            return f"{self.value}[{self.offset}]"
        return f"tag[{self.offset}]" if self.kind == "tag" else self.kind

    def in_text_order(self, right_to_left: bool) -> str:
        """The atom as people read it: every offset counts in the order of the text, with its sign.

        Where labels are given from right to left, ``tag[-1]``, the label given one step ago, is
        that of the word after: ``tag[+1]``.
        """
        if self.kind not in ("value", "tag"):
            return self.kind
        offset = -self.offset if right_to_left and self.kind == "tag" else self.offset
        return f"{self.value or 'tag'}[{offset:+d}]" if offset else str(self)


def parse_atom(text: str) -> Atom:
    """Read one atom.

    Raises
    ------
    TemplateError : the text is no atom; the message quotes it and names the nearest one
    """
    match = _ATOM.fullmatch(text)
    if match is None:
        raise TemplateError(f"{quote(text)} is not an atom; write a name and an offset: lower[-1]")
    name, offset = match["name"], int(match["offset"] or 0)
    if name == "tag":
        if not -MAX_HISTORY <= offset <= -1:
            raise TemplateError(
                f"{quote(text)}: labels already given are tag[-1] to tag[-{MAX_HISTORY}]"
            )
        return Atom("tag", offset)
    if name in ("first", "last", "bias"):
        if match["offset"] is not None:
            raise TemplateError(f"{quote(text)}: {name} takes no offset")
        return Atom(name)
    if abs(offset) > MAX_OFFSET:
        raise TemplateError(
            f"{quote(text)}: offsets reach from -{MAX_OFFSET} to {MAX_OFFSET}, not {offset}"
        )
    return Atom("value", offset, _parse_value(name, text))


def _parse_value(name: str, text: str) -> Value:
    column, parts = "form", name.split(".")
    if name.startswith("column:"):
        column = parts[0].removeprefix("column:")
        parts = parts[1:] or ["word"]
        if not column:
            raise TemplateError(f"{quote(text)}: column: needs the name of a column after it")
    view = parts[0]
    if view not in VIEWS:
        raise TemplateError(f"{quote(text)}: no view is called {quote(view)}{_nearest(view)}")
    if len(parts) == 1:
        return Value(column, view)
    match = _AFFIX.fullmatch(".".join(parts[1:]))
    if match is None:
        raise TemplateError(
            f"{quote(text)}: after the view comes prefixK, suffixK, ngramsA-B or pieces,"
            f" not {quote('.'.join(parts[1:]))}"
        )
    if match["pieces"]:
        return Value(column, view, "pieces")
    if match["kind"]:
        low = high = int(match["k"])
    else:
        low, high = int(match["low"]), int(match["high"])
    if not 1 <= low <= high <= MAX_AFFIX:
        raise TemplateError(
            f"{quote(text)}: lengths run from 1 to {MAX_AFFIX}, the shorter one first"
        )
    return Value(column, view, match["kind"] or "ngrams", low, high)


def _nearest(name: str) -> str:
    names = [*VIEWS, "tag", "first", "last", "bias", "column:NAME"]
    # Here, since a program that nothing goes wrong in does without.
    import difflib

    close = difflib.get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]}?" if close else f"; there are {', '.join(names)}"
