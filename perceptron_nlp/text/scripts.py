"""Edit scripts: labels that turn a form into its lemma, or into words, to be learned like others.

A script for lemmas counts characters instead of naming them: "take 2 off the end, add *e*". Applied
to a form,

1. the form is read in the letters of the treebank (ALPHABET) and lower-cased, each for itself;
2. ``drop_front`` characters are dropped in front and ``front`` is put there, ``drop_back`` behind
   and ``back`` is put there;
3. unless ``acute`` is None, every acute accent is taken away, and if it is above 0, one is set on
   the ``acute``-th letter from the end that can bear one (Greek accents move: θάλασσας, θαλασσών);
4. the case is restored: ``l`` leaves lower case, ``k`` keeps the capitals of the form, ``t`` makes
   the first letter a capital, ``u`` all.

What no such script can do is a literal: ``=be``. The text of a script, such as ``l,0,,2,e`` or
``l,0,,1,α,2``, is the label that a tagger learns. Sources: counting scripts after G. Chrupała,
"Simple data-driven context-sensitive lemmatization" (2006); T. Müller et al., "Joint lemmatization
and morphological tagging with Lemming" (2015).

Split scripts make several words of one token, such as *de le* of French *du*: ``c3,2`` cuts the
last 3 and then 2 characters off (the words are the token in pieces), ``c1,*,2`` one in front and 2
behind, the star being the word between; ``r1|e|le`` drops the last character, adds *e* to what is
left, and puts *le* behind as a word of its own.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import NamedTuple

from perceptron_nlp.errors import FormatError, quote
from perceptron_nlp.text.tagset import ALIKE, ENTITY, character_of, visible, word_hash

LEMMA = "lemma"
"""The column that scripts of the first kind fill."""
CASES = "lktu"
# In characters: what a script may drop at either end, put there, and have as a literal.
MOST_DROPPED, LONGEST_PIECE, LONGEST_LITERAL = 255, 64, 1000
_ACUTE = "\u0301"
_ESCAPED = r"[%,\s\x00-\x1f\x7f\u2028\u2029\x85]"
# What would break a line, or has no UTF-8.
_UNWRITABLE = r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]"
TURKIC = {"I": "ı", "İ": "i"}
_TURKIC_UPPER = {"ı": "I", "i": "İ"}
_WRITTEN = dict(zip(ALIKE[0] + ALIKE[1], ALIKE[1] + ALIKE[0], strict=True))
ALPHABET = frozenset({*TURKIC, *_WRITTEN})
"""Letters that an alphabet may have, each being otherwise than in most languages: I is lower-cased
to ı, İ to i, and for one of tagset.ALIKE the other is read, which the treebank writes."""


class Script(NamedTuple):
    """An edit script, or the lemma itself as a literal; see the module."""

    case: str = "l"
    drop_front: int = 0
    front: str = ""
    drop_back: int = 0
    back: str = ""
    acute: int | None = None
    literal: str | None = None

    def __str__(self) -> str:
        if self.literal is not None:
            return "=" + escape(self.literal)
        text = (
            f"{self.case},{self.drop_front},{escape(self.front)},"
            f"{self.drop_back},{escape(self.back)}"
        )
        return text if self.acute is None else f"{text},{self.acute}"

    def apply(self, form: str, alphabet: str = "") -> str | None:
        """Return the lemma that the script makes of a form; None if it leaves nothing of it."""
        if self.literal is not None:
            return self.literal
        form = read_in(form, alphabet)
        if self.drop_front + self.drop_back >= len(form):
            return None
        end = len(form) - self.drop_back
        stem = lowered(form, alphabet)[self.drop_front : end]
        lemma = self.front + stem + self.back
        if lemma != lemma.strip(" "):
            return None
        if self.acute is not None:
            lemma = with_acute(lemma, self.acute)
        if self.case == "l":
            return lemma
        if self.case == "u":
            return raised(lemma, alphabet)
        if self.case == "t":
            return raised(lemma[:1], alphabet) + lemma[1:]
        if len(form) > 1 and form.isupper():
            return raised(lemma, alphabet)
        first = len(self.front)
        kept = [
            raised(letter, alphabet) if form[self.drop_front + i] != stem[i] else letter
            for i, letter in enumerate(lemma[first : first + len(stem)])
        ]
        return lemma[:first] + "".join(kept) + lemma[first + len(stem) :]

    def brief(self) -> str:
        """Return the script for people to read: ``-2 +e``, ``be``, ``as it is``."""
        if self.literal is not None:
            return self.literal
        pieces = []
        if self.drop_front or self.front:
            pieces += [f"-{self.drop_front}" + (f" +{self.front}" if self.front else ""), "…"]
        if self.drop_back:
            pieces.append(f"-{self.drop_back}")
        if self.back:
            pieces.append(f"+{self.back}")
        if self.acute is not None:
            pieces.append(f"accent {self.acute}" if self.acute else "no accent")
        if self.case != "l":
            pieces.append({"k": "capitals kept", "t": "capital first", "u": "capitals"}[self.case])
        return " ".join(pieces) or "as it is"


# A model's labels are looked at as it is loaded, and again as it begins to tag.
@lru_cache(maxsize=4096)
def parse_script(text: str) -> Script:
    """Return the script that a label says; raise FormatError if it is none."""
    if text.startswith("="):
        literal = unescape(text[1:])
        if literal and len(literal) <= LONGEST_LITERAL and is_writable(literal):
            return Script(literal=literal)
    fields = text.split(",")
    if len(fields) in (5, 6) and fields[0] in CASES and len(fields[0]) == 1:
        drops = [fields[1], fields[3], *fields[5:]]
        digits = "".join(drops)
        if (
            digits.isascii()
            and digits.isdecimal()
            and min(map(len, drops)) >= 1
            and max(map(len, drops)) <= 3
            and max(map(int, drops)) <= MOST_DROPPED
        ):
            front, back = unescape(fields[2]), unescape(fields[4])
            too_long = max(len(front), len(back)) > LONGEST_PIECE
            if not too_long and is_writable(front + back):
                acute = int(fields[5]) if len(fields) == 6 else None
                return Script(fields[0], int(fields[1]), front, int(fields[3]), back, acute)
    raise FormatError(f"{quote(text)} is no edit script")


def read_in(form: str, alphabet: str) -> str:
    """Return a form as scripts see it: without NOT_SEEN, in letters that the treebank writes."""
    form = visible(form)
    if not {*alphabet} & {*form}:
        return form
    return "".join(_WRITTEN.get(own, own) if own in alphabet else own for own in form)


def lowered(text: str, alphabet: str = "") -> str:
    """Return the text in lower case, code point by code point: its length stays."""
    if "I" not in alphabet:
        low = text.lower()
        # A final Σ becomes ς there, which depends on its place.
        if len(low) == len(text) and "Σ" not in text:
            return low
    return "".join(_low(letter, "I" in alphabet) for letter in text)


def _low(letter: str, turkic: bool) -> str:
    low = (turkic and TURKIC.get(letter)) or letter.lower()
    return low if len(low) == 1 else letter


def raised(text: str, alphabet: str = "") -> str:
    """Return the text in capitals, code point by code point."""
    pieces = []
    for letter in text:
        high = ("I" in alphabet and _TURKIC_UPPER.get(letter)) or letter.upper()
        pieces.append(high if len(high) == 1 else letter)
    return "".join(pieces)


@lru_cache(maxsize=4096)
def bare_letter(letter: str) -> str:
    """Return a letter without its acute accent."""
    parts = unicodedata.normalize("NFD", letter)
    if _ACUTE not in parts:
        return letter
    bare = unicodedata.normalize("NFC", parts.replace(_ACUTE, "", 1))
    return bare if len(bare) == 1 else letter


@lru_cache(maxsize=4096)
def accented_letter(letter: str) -> str | None:
    """Return a letter with an acute accent, if there is such a code point."""
    accented = unicodedata.normalize("NFC", letter + _ACUTE)
    return accented if len(accented) == 1 and bare_letter(accented) == letter else None


def without_acute(text: str) -> str:
    return text if text.isascii() else "".join(map(bare_letter, text))


def with_acute(text: str, place: int) -> str:
    bare, left = list(without_acute(text)), place
    for i in range(len(bare) - 1, -1, -1):
        if not left:
            break
        accented = accented_letter(bare[i])
        if accented is not None:
            left -= 1
            if not left:
                bare[i] = accented
    return "".join(bare)


def escape(text: str) -> str:
    """Return a piece of a label without commas, percent signs, white space and controls."""
    return re.sub(_ESCAPED, lambda found: f"%{ord(found.group()):x};", text)


def unescape(text: str) -> str:
    """Return what `escape` was given; raise FormatError for a number that is no code point."""
    if "%" not in text:
        return text

    def letter(found: re.Match[str]) -> str:
        number = int(found.group(1), 16)
        if number > 0x10FFFF:
            raise FormatError(f"{quote(text)} is no part of an edit script")
        return chr(number)

    return re.sub(r"%([0-9a-f]{1,6});", letter, text)


WHOLE = "_"
"""The label of a token that is one word."""
MOST_WORDS = 16
_CUT = r"c([0-9]{1,3}(?:,[0-9]{1,3})*(?:,\*(?:,[0-9]{1,3})*)?)"
_REWRITE = r"r([0-9]{1,3})\|([^|]*)((?:\|[^|]+)+)"


def split_plan(label: str) -> tuple[list[int]] | tuple[int, bytes, list[bytes]] | None:
    """Return what a split script says: None for WHOLE, else a plan.

    It is (the lengths of the words, 0 for the stem) of a token in pieces; else (characters dropped
    at the end, what is added there, the words behind), in UTF-8. Raises FormatError if the label is
    no split script.
    """
    if label == WHOLE:
        return None
    cut = re.fullmatch(_CUT, label) if label[:1] == "c" else None
    if cut is not None:
        pieces = cut.group(1) if "*" in cut.group(1) else f"0,{cut.group(1)}"
        lengths = [int(number) for number in pieces.replace("*", "0").split(",")]
        if lengths.count(0) == 1 and len(lengths) <= MOST_WORDS:
            return (lengths,)
    rewrite = re.fullmatch(_REWRITE, label)
    if rewrite is not None and int(rewrite.group(1)) <= MOST_DROPPED:
        added = unescape(rewrite.group(2))
        rest = [unescape(word) for word in rewrite.group(3)[1:].split("|")]
        too_long = max(map(len, (added, *rest))) > LONGEST_PIECE
        if len(rest) < MOST_WORDS and not too_long and all(map(is_word, (f"_{added}_", *rest))):
            return int(rewrite.group(1)), added.encode(), [word.encode() for word in rest]
    raise FormatError(f"{quote(label)} is no split script")


def split(label: str, token: str) -> tuple[str, ...] | None:
    """Return the words that a script makes of a token; None if it does not apply to it.

    Raises FormatError if the label is no split script.
    """
    plan = split_plan(label)
    if plan is None:
        return (token,)
    if len(plan) == 1:
        letters = letters_of(token)
        stem = len(letters) - sum(plan[0])
        if stem < 1:
            return None
        places = accumulate((length or stem for length in plan[0]), initial=0)
        words = tuple("".join(letters[a:b]) for a, b in pairwise(places))
        return words if all(word == word.strip(" ") for word in words) else None
    dropped, added, rest = plan
    letters = letters_of(token)
    first = "".join(letters[: len(letters) - dropped]) + added.decode()
    if dropped > len(letters) or not first or first.endswith(" "):
        return None
    return (first, *(word.decode() for word in rest))


STEMS = "stems"
"""A column of tokens: the cuts that leave the stem of another token, ``a|c``."""
STEM_LETTERS = "abcdefghijklmnopqrstuvwxyz"
MOST_STEM_CUTS = len(STEM_LETTERS)
SEVERAL = 1


def stem_cuts(labels: Iterable[str]) -> list[tuple[int, int]]:
    """Return the cuts of split scripts: how many characters they leave before and behind a stem."""
    return sorted({cut for cut in map(stem_cut, labels) if cut is not None})[:MOST_STEM_CUTS]


def stem_cut(label: str) -> tuple[int, int] | None:
    plan = split_plan(label)
    if plan is None:
        return 0, 0
    if len(plan) > 1:
        return None
    stem = plan[0].index(0)
    return sum(plan[0][:stem]), sum(plan[0][stem:])


def token_hash(token: str) -> int:
    return max(word_hash(token) >> 32, SEVERAL + 1)


def is_word(text: str) -> bool:
    """Return True for what a line of CoNLL-U can hold as a word."""
    return bool(text) and text == text.strip(" ") and is_writable(text)


def is_writable(text: str) -> bool:
    return text.isprintable() or not re.search(_UNWRITABLE, text)


def letters_of(text: str) -> Sequence[str]:
    """Return the characters of a text, of which an HTML entity is one as it is written."""
    if "&" not in text:
        return text
    whole = ((*found.span(), character_of(found) != found[0]) for found in ENTITY.finditer(text))
    letters: list[str] = []
    at = 0
    for begin, end, is_one in whole:
        letters += text[at:begin]
        letters += [text[begin:end]] if is_one else text[begin:end]
        at = end
    return [*letters, *text[at:]]
