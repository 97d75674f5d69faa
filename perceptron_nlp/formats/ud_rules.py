"""The rules of Universal Dependencies for CoNLL-U up to level 2, as data.

Names and levels are those of the validator of Universal Dependencies where it has the rule. Level 1
is the file: characters, lines, fields and IDs, by the rules of the reader (conllu_rules.py). Level
2 is what stands in the fields: metadata, text, values, tree and enhanced graph. What depends on a
language (its features, relations and auxiliaries) is level 3 and up, and not here.

Sources: https://universaldependencies.org/format.html and
https://universaldependencies.org/contributing/validation-rules.html
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple
from unicodedata import category, is_normalized

from perceptron_nlp.text.layout import CONLLU_COLUMNS, wrong_conllu_value

LEVELS = (1, 2)


class Rule(NamedTuple):
    """The level of a rule, what breaks it, and the cure; a finding may say both more closely."""

    level: int
    what: str
    cure: str


class Finding(NamedTuple):
    """A line that breaks a rule.

    path, line : the name of its file, and its number there, from 1
    level, rule : 1 or 2, and the name of the rule, a key of `RULES`
    what, cure : what is wrong, and what to do
    """

    path: str
    line: int
    level: int
    rule: str
    what: str
    cure: str

    def __str__(self) -> str:
        """Return the finding as a line: ``file:line: [level rule] what; cure``."""
        rest = f"; {self.cure}" if self.cure else ""
        return f"{self.path}:{self.line}: [{self.level} {self.rule}] {self.what}{rest}"


# Level, name, what is wrong, cure: {cure} is what should stand there.
_TABLE = """\
1 | invalid-utf8 | is not UTF-8 | convert the file to UTF-8 (iconv -f LATIN1 -t UTF-8)
1 | byte-order-mark | a byte order mark begins the file | take off its three bytes
1 | carriage-return | carriage returns in line breaks from here on | take them off (tr -d '\\r')
1 | extra-empty-line | a second empty line | leave one between sentences, none before
1 | missing-empty-line | the last sentence has no empty line behind it | add one
1 | empty-sentence | comments without a sentence | delete the empty line below, or them
1 | fields | is not as many fields as there are columns | correct the line
1 | ids | is not the ID that follows | correct the numbers
1 | leading-whitespace | begins with white space | take it off
1 | trailing-whitespace | ends with white space | take it off
1 | repeated-whitespace | has white space twice in a row | leave one space
1 | invalid-whitespace | has white space, which FORM, LEMMA and MISC may | take it out
1 | invalid-whitespace-mwt | has white space, which a multiword token may not | make two tokens
1 | unicode-normalization | is not in Unicode's form NFC | normalize the file (uconv -x nfc)
2 | missing-sent-id | no # sent_id | add one that no other sentence has
2 | multiple-sent-id | a second # sent_id | leave one
2 | invalid-sent-id | is not # sent_id = ID, without spaces | write it so
2 | slash-in-sent-id | has a slash, which treebanks in parallel use | write another mark
2 | non-unique-sent-id | is the ID of an earlier sentence, too | give it another
2 | missing-text | no # text | add the text of the sentence
2 | multiple-text | a second # text | leave one
2 | text-trailing-whitespace | # text ends with white space | take it off
2 | text-form-mismatch | FORM is not what # text has | correct one of them, or SpaceAfter=No before
2 | missing-spaceafter | no space in # text | add SpaceAfter=No to MISC, or the space to # text
2 | text-extra-chars | # text goes on | add the tokens that are missing, or take the rest off
2 | spaceafter-value | has SpaceAfter, whose one value is No | write SpaceAfter=No
2 | spaceafter-empty-node | SpaceAfter of an empty node | take it off
2 | spaceafter-mwt-node | SpaceAfter of a word in a multiword token | move it to the range
2 | misc-spaces | has an unknown escape of spaces | write \\s \\t \\r \\n \\p \\\\ or \\u00A0
2 | empty-misc | has an empty attribute | write attributes with one | between them
2 | misc-extra-space | has a space at an end of an attribute | take it off
2 | repeated-misc | has an attribute twice | leave one
2 | unknown-upos | is not one of the 17 tags | write one of them
2 | missing-upos | a word without UPOS | write its tag; X if there is none that fits
2 | invalid-feature | is not Name=Value with capitals first, joined by bars | write it so, or _
2 | unsorted-features | is not sorted by name | write {cure}
2 | repeated-feature | names a feature twice | leave one; join its values by a comma
2 | unsorted-feature-values | has values that are not sorted | write {cure}
2 | repeated-feature-value | has a value twice | leave one
2 | nonempty-field | a value where ranges or empty nodes have none | take it off
2 | invalid-head | is not the number of a word of the sentence, nor 0 | write one
2 | head-self-loop | is the word itself | write another
2 | missing-head | no HEAD where other words have one | add it
2 | missing-root | no word has HEAD 0 | give it to the root
2 | multiple-roots | a second word with HEAD 0 | attach it
2 | non-tree | the word depends on itself through others | attach one of them elsewhere
2 | 0-is-not-root | HEAD is 0, and DEPREL is not root | write root
2 | 0-is-root | DEPREL is root, and HEAD is not 0 | write another relation
2 | invalid-deprel | is not relation or relation:subtype of a to z | write it so
2 | invalid-deps | names a node that is not in its sentence | write numbers of nodes
2 | unsorted-deps | is not sorted by head and relation | write {cure}
2 | repeated-deps | has a relation twice | leave one
2 | invalid-edeprel | has a relation in other characters than letters | write it so
2 | enhanced-0-root | has head 0 without root, or root without head 0 | correct one
2 | deps-self-loop | DEPS of a word that name the word itself | write another
2 | edeps-only-sometimes | no DEPS where other words have them | add them
"""
RULES: dict[str, Rule] = {
    name: Rule(int(level), what.strip(), cure.strip())
    for level, name, what, cure in (row.split(" | ", 3) for row in _TABLE.splitlines())
}
UD_TAGS = {
    "ADJ": "adjective",
    "ADP": "adposition",
    "ADV": "adverb",
    "AUX": "auxiliary",
    "CCONJ": "coordinating conjunction",
    "DET": "determiner",
    "INTJ": "interjection",
    "NOUN": "noun",
    "NUM": "numeral",
    "PART": "particle",
    "PRON": "pronoun",
    "PROPN": "proper noun",
    "PUNCT": "punctuation",
    "SCONJ": "subordinating conjunction",
    "SYM": "symbol",
    "VERB": "verb",
    "X": "other",
}
"""The 17 universal parts of speech, with what they are."""

_PAIR = re.compile(
    r"[A-Z0-9][A-Za-z0-9]*(?:\[[a-z0-9]+\])?=[A-Z0-9][A-Za-z0-9]*(?:,[A-Z0-9][A-Za-z0-9]*)*"
)
_DEPREL = re.compile(r"[a-z]+(?::[a-z]+)?")
_ESCAPED = re.compile(r"(?:\\(?:[strnp\\]|u[0-9A-Fa-f]{4})|[^\\\s])*")
_ONCE = {
    "SpaceAfter",
    "CorrectForm",
    "CorrectSpaceAfter",
    "Lang",
    "Translit",
    "LTranslit",
    "Gloss",
    "LId",
}
_TWOSPACES = re.compile(r"\s\s")
SPACE = re.compile(r"\s")


def _pairs(value: str) -> list[tuple[str, str]]:
    return [(name, of) for name, _, of in (pair.partition("=") for pair in value.split("|"))]


def _ordered(value: str) -> str:
    return "|".join(sorted(value.split("|"), key=lambda pair: pair.partition("=")[0].lower()))


def _by_value(value: str) -> str:
    return "|".join(
        f"{name}={','.join(sorted(of.split(','), key=str.lower))}" for name, of in _pairs(value)
    )


def ordered_features(value: str) -> str:
    """Return FEATS with names, and values of each name, in the order of the alphabet."""
    return _by_value(_ordered(value)) if "=" in value else value


def wrong_ud_value(column: str, value: str) -> str | None:
    """Return which rule of values a value breaks, and the cure; None if none."""
    for rule, columns, is_broken in VALUE_RULES:
        if value != "_" and column in columns and is_broken(value):
            return f"{RULES[rule].what}; {RULES[rule].cure}"
    return None


def _other_than(value: str, ordered: str) -> str | None:
    return None if value.lower() == ordered.lower() else ordered


def _has_repeated(names: Sequence[str]) -> bool:
    return len(set(names)) < len(names)


def _deps(value: str) -> list[tuple[tuple[int, ...], str]]:
    found = [
        (head, relation) for head, _, relation in (one.partition(":") for one in value.split("|"))
    ]
    return [(tuple(map(int, head.split("."))), relation) for head, relation in found]


def _deps_in_order(value: str) -> str:
    return "|".join(
        f"{'.'.join(map(str, head))}:{relation}" for head, relation in sorted(_deps(value))
    )


def _is_relation(relation: str) -> bool:
    first, *rest = relation.split(":")
    return bool(re.fullmatch("[a-z]+", first)) and all(
        part and all(c == "_" or category(c) in _LETTERS for c in part) for part in rest
    )


_LETTERS = {"Ll", "Lm", "Lo", "Mn", "Mc", "Me"}
_ALL = CONLLU_COLUMNS
_Test = Callable[[str], object]
# A rule, the columns that it holds for, and what is true of a value that breaks it; a str is
# what should stand there. Rules that follow one that is broken are not asked.
VALUE_RULES: tuple[tuple[str, tuple[str, ...], _Test], ...] = (
    ("unicode-normalization", _ALL, lambda value: not is_normalized("NFC", value)),
    ("leading-whitespace", _ALL, SPACE.match),
    ("trailing-whitespace", _ALL, lambda value: value[-1:].isspace()),
    ("repeated-whitespace", _ALL, _TWOSPACES.search),
    ("invalid-whitespace", (*_ALL[:1], *_ALL[3:9]), SPACE.search),
    ("unknown-upos", ("upos",), lambda value: value not in UD_TAGS),
    ("invalid-feature", ("feats",), lambda value: not all(map(_PAIR.fullmatch, value.split("|")))),
    ("repeated-feature", ("feats",), lambda value: _has_repeated([n for n, _ in _pairs(value)])),
    (
        "repeated-feature-value",
        ("feats",),
        lambda value: any(_has_repeated(of.split(",")) for _, of in _pairs(value)),
    ),
    ("unsorted-features", ("feats",), lambda value: _other_than(value, _ordered(value))),
    ("unsorted-feature-values", ("feats",), lambda value: _other_than(value, _by_value(value))),
    ("invalid-deprel", ("deprel",), lambda value: not _DEPREL.fullmatch(value)),
    ("invalid-deps", ("deps",), lambda value: wrong_conllu_value("deps", value)),
    ("repeated-deps", ("deps",), lambda value: _has_repeated(value.split("|"))),
    ("unsorted-deps", ("deps",), lambda value: _other_than(value, _deps_in_order(value))),
    ("invalid-edeprel", ("deps",), lambda value: not all(_is_relation(r) for _, r in _deps(value))),
    (
        "enhanced-0-root",
        ("deps",),
        lambda value: any((h == (0,)) != (r.partition(":")[0] == "root") for h, r in _deps(value)),
    ),
    ("empty-misc", ("misc",), lambda value: "" in value.split("|")),
    (
        "misc-extra-space",
        ("misc",),
        lambda value: any(part != part.strip() for pair in _pairs(value) for part in pair),
    ),
    (
        "repeated-misc",
        ("misc",),
        lambda value: _has_repeated([name for name, _ in _pairs(value) if name in _ONCE]),
    ),
    (
        "spaceafter-value",
        ("misc",),
        lambda value: any(
            (n == "SpaceAfter" and of != "No") or n == "NoSpaceAfter" for n, of in _pairs(value)
        ),
    ),
    (
        "misc-spaces",
        ("misc",),
        lambda value: any(
            n in ("SpacesAfter", "SpacesBefore", "SpacesInToken") and not _ESCAPED.fullmatch(of)
            for n, of in _pairs(value)
        ),
    ),
)
